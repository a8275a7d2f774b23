"""Two agents learn to read between the lines."""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

# Compiling takes longer than many a run, so compiled programs are kept on disk, small ones, too: a command has a
# hundred of them. Unless the user has said where.
_cache = str(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "implicature" / "jax")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", _cache)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
if "jax" in sys.modules and (_config := sys.modules["jax"].config).jax_compilation_cache_dir is None:
    # JAX was imported before us and has read its environment already.
    _config.update("jax_compilation_cache_dir", _cache)
    _config.update("jax_persistent_cache_min_compile_time_secs", 0)

# Imported when asked for: the package itself stays light. __init__.pyi tells type checkers of them.
_LATER = {
    "Config": "training.config",
    "load_space": "api",
    "sample_games": "api",
    "explain": "api",
    "teaching": "evaluation.teaching_dimension",
    "train": "api",
    "open_run": "training.run",
    "evaluate": "api",
    "language": "api",
    "dialogues": "api",
    "env": "envs.pettingzoo",
    "parallel_env": "envs.pettingzoo",
    "jax_env": "envs.jax_env",
}
__all__ = [*_LATER]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
