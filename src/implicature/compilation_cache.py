"""JAX's persistent compilation cache. The command line turns it on; a program that imports us does so by calling
`implicature.enable_compilation_cache()`. Importing the package changes nothing."""

import os
import re
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path

MAX_BYTES = 2**30
UNREADABLE = re.compile(r"Error reading persistent compilation cache entry for '([\w.<>-]+)'")


def enable_compilation_cache(folder: str | Path | None = None) -> Path:
    """Keep compiled programs on disk, small ones, too: a command has a hundred of them. Beyond 1 GiB the oldest are
    deleted. Settings that the user has made (JAX_COMPILATION_CACHE_DIR …) stay.

    >>> implicature.enable_compilation_cache().name
    'jax'
    """
    path = Path(folder or os.environ.get("JAX_COMPILATION_CACHE_DIR") or default_folder())
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(path)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    if "jax" in sys.modules and (config := sys.modules["jax"].config).jax_compilation_cache_dir != str(path):
        # JAX has read its environment already.
        config.update("jax_compilation_cache_dir", str(path))
        config.update("jax_persistent_cache_min_compile_time_secs", 0)
    delete_oldest(path, MAX_BYTES)
    replace_unreadable(path)
    return path


def default_folder() -> Path:
    """The user's cache folder; a temporary one for users without a home."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "implicature" / "jax"
    try:
        return Path.home() / ".cache" / "implicature" / "jax"
    except RuntimeError:
        return Path(tempfile.mkdtemp(prefix="implicature-")) / "jax"


def delete_oldest(folder: Path, max_bytes: int) -> None:
    """Delete the oldest entries until the rest fits."""
    with suppress(OSError):
        entries = sorted(
            ((file.stat().st_mtime, file.stat().st_size, file) for file in folder.iterdir()), key=lambda e: e[0]
        )
        total = sum(size for _, size, _ in entries)
        for _, size, file in entries:
            if total <= max_bytes:
                return
            with suppress(OSError):
                file.unlink()
            total -= size


def replace_unreadable(folder: Path) -> None:
    """JAX warns of an entry that it cannot read, compiles again, and does not overwrite the entry. Instead of the
    warning, delete the entry: JAX then writes it anew."""
    show = warnings.showwarning

    def show_or_delete(message, category, filename, lineno, file=None, line=None):
        if found := UNREADABLE.search(str(message)):
            for entry in folder.glob(f"{found[1]}-*"):
                with suppress(OSError):
                    entry.unlink()
        else:
            show(message, category, filename, lineno, file, line)

    if getattr(show, "__name__", "") != show_or_delete.__name__:
        warnings.showwarning = show_or_delete
