"""JAX's persistent compilation cache. The command line turns it on; a program that imports us does so by calling
`implicature.enable_compilation_cache()`. Importing the package changes nothing."""

import os
import sys
from pathlib import Path


def enable_compilation_cache(folder: str | Path | None = None) -> Path:
    """Keep compiled programs on disk, small ones, too: a command has a hundred of them. Settings that the user has made
    (JAX_COMPILATION_CACHE_DIR …) stay.

    >>> implicature.enable_compilation_cache().name
    'jax'
    """
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "implicature" / "jax"
    given = str(folder or os.environ.get("JAX_COMPILATION_CACHE_DIR") or default)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = given
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    if "jax" in sys.modules and (config := sys.modules["jax"].config).jax_compilation_cache_dir != given:
        # JAX has read its environment already.
        config.update("jax_compilation_cache_dir", given)
        config.update("jax_persistent_cache_min_compile_time_secs", 0)
    return Path(given)
