"""Two agents learn to read between the lines: referential games, theory of mind, exact pragmatics."""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

# Imported when asked for, so that the package itself stays light. __init__.pyi declares them for type checkers.
_LAZY = {
    "Config": "training.config",
    "Context": "games.context",
    "players": "api",
    "load_space": "games.registry",
    "sample_games": "api",
    "explain": "api",
    "teaching_dimensions": "evaluation.teaching_dimension",
    "train": "api",
    "open_run": "training.runs.run",
    "evaluate": "api",
    "language": "api",
    "dialogues": "api",
    "env": "envs.pettingzoo",
    "parallel_env": "envs.pettingzoo",
    "jax_env": "envs.jax_env",
    "enable_compilation_cache": "compilation_cache",
}
__all__ = [*_LAZY]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
