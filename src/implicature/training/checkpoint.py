"""Weights on disk: safetensors, written at once or not at all, checked when read. Loading executes nothing."""

import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from implicature.files import write_atomic

FORMAT = "implicature-1"


def _leaves(tree: Any) -> dict[str, Any]:
    """The arrays of a tree by their place in it."""
    found, _ = jax.tree_util.tree_flatten_with_path(eqx.filter(tree, eqx.is_array))
    return {jax.tree_util.keystr(path): leaf for path, leaf in found}


def _checksum(arrays: Mapping[str, np.ndarray], notes: Mapping[str, str]) -> str:
    total = zlib.crc32(repr(sorted(notes.items())).encode())
    for name in sorted(arrays):
        total = zlib.crc32(np.ascontiguousarray(arrays[name]).tobytes(), zlib.crc32(name.encode(), total))
    return str(total)


def save_tree(path: Path, tree: Any, notes: Mapping[str, str]) -> None:
    """Keep the arrays of a tree, and some notes, in one file."""
    arrays = {name: np.asarray(leaf) for name, leaf in _leaves(tree).items()}
    metadata = {**notes, "format": FORMAT, "checksum": _checksum(arrays, notes)}
    # Not ascontiguousarray, which would make a vector of a single number.
    write_atomic(path, save({name: np.asarray(leaf, order="C") for name, leaf in arrays.items()}, metadata))


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A file of weights. What is none is a sentence, and so is whatever its reader stumbles over."""
    if not path.is_file():
        raise ValueError(f"{path} {'is not a file' if path.exists() else 'does not exist'}.")
    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except Exception as problem:
        raise ValueError(f"{path} is not a whole checkpoint ({problem}).") from None


def read_notes(path: Path) -> dict[str, str]:
    """The notes of a file of ours; a sentence where it is not one."""
    with opened(path) as file:
        notes = file.metadata() or {}
    if notes.get("format") != FORMAT:
        raise ValueError(f"{path} was not written by implicature.")
    return notes


def load_tree(path: Path, like: Any) -> Any:
    """A tree of the same build as `like` with the arrays from the file."""
    notes = read_notes(path)
    wanted = _leaves(like)
    with opened(path) as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    own = {name: note for name, note in notes.items() if name not in ("format", "checksum")}
    if notes.get("checksum") != _checksum(arrays, own):
        raise ValueError(f"{path} is damaged: its checksum does not fit its content.")
    if arrays.keys() != wanted.keys() or any(
        arrays[name].shape != leaf.shape or arrays[name].dtype != leaf.dtype for name, leaf in wanted.items()
    ):
        raise ValueError(f"{path} holds agents of another build than this run's.")
    paths, build = jax.tree_util.tree_flatten_with_path(eqx.filter(like, eqx.is_array))
    loaded = jax.tree_util.tree_unflatten(build, [jnp.asarray(arrays[jax.tree_util.keystr(path)]) for path, _ in paths])
    return eqx.combine(loaded, eqx.filter(like, eqx.is_array, inverse=True))
