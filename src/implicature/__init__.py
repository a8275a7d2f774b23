"""Two agents learn to read between the lines."""

import os
from pathlib import Path

__version__ = "0.1.0"

# Compiling takes longer than many a run, so compiled programs are kept on disk unless the user has said where or that
# they should not be. JAX reads these when it is first imported.
_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "implicature" / "jax"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_cache))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
