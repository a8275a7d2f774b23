"""Weights on disk: safetensors, written atomically, checked when read. Loading executes nothing."""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree
from safetensors import safe_open
from safetensors.numpy import save

from implicature.files import write_atomic

FORMAT = "implicature-2"
OLD_FORMATS = ("implicature-1",)


def _arrays(tree: PyTree) -> dict[str, Any]:
    """The arrays of a tree by their path in it."""
    found, _ = jax.tree_util.tree_flatten_with_path(eqx.filter(tree, eqx.is_array))
    return {jax.tree_util.keystr(path): leaf for path, leaf in found}


def _checksum(arrays: Mapping[str, np.ndarray], notes: Mapping[str, str]) -> str:
    total = zlib.crc32(repr(sorted(notes.items())).encode())
    for name in sorted(arrays):
        total = zlib.crc32(np.ascontiguousarray(arrays[name]).tobytes(), zlib.crc32(name.encode(), total))
    return str(total)


def save_tree(path: Path, tree: PyTree, notes: Mapping[str, str]) -> None:
    """Store the arrays of a tree, and some notes, in one file."""
    arrays = {name: np.asarray(leaf) for name, leaf in _arrays(tree).items()}
    metadata = {**notes, "format": FORMAT, "checksum": _checksum(arrays, notes)}
    # Not ascontiguousarray, which would turn a scalar into a vector.
    content = save({name: np.asarray(leaf, order="C") for name, leaf in arrays.items()}, metadata)
    write_atomic(path, sort_header(content))


def sort_header(content: bytes) -> bytes:
    """safetensors writes metadata in random order; sorted, equal runs have equal files."""
    size = int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8 : 8 + size]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[8 + size :]


@contextmanager
def open_safetensors(path: Path) -> Iterator[Any]:
    """A file of weights; an error that names the file where it is none, or damaged."""
    if not path.is_file():
        raise ValueError(f"{path} {'is not a file' if path.exists() else 'does not exist'}.")
    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except Exception as error:
        raise ValueError(f"{path} is not a whole checkpoint ({error}).") from None


def read_notes(path: Path) -> dict[str, str]:
    with open_safetensors(path) as file:
        notes = file.metadata() or {}
    if notes.get("format") not in (FORMAT, *OLD_FORMATS):
        raise ValueError(f"{path} was not written by implicature.")
    return notes


def read_whole(path: Path) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """Notes and arrays; an error where a byte of them has changed."""
    notes = read_notes(path)
    with open_safetensors(path) as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    own = {name: note for name, note in notes.items() if name not in ("format", "checksum")}
    if notes.get("checksum") != _checksum(arrays, own):
        raise ValueError(f"{path} is damaged: its checksum does not match its content.")
    return notes, arrays


def is_old(path: Path) -> bool:
    """Whether an earlier version wrote the file."""
    try:
        return read_notes(path)["format"] in OLD_FORMATS
    except ValueError:
        return False


def load_tree(path: Path, like: PyTree, upgrade: Callable[[str], str] | None = None) -> PyTree:
    """A tree of the same structure as `like` with the arrays from the file. `upgrade` renames those of old formats."""
    notes, arrays = read_whole(path)
    expected = _arrays(like)
    if notes["format"] in OLD_FORMATS and upgrade is not None:
        arrays = {upgrade(name): array for name, array in arrays.items()}
    if arrays.keys() != expected.keys() or any(
        arrays[name].shape != leaf.shape or arrays[name].dtype != leaf.dtype for name, leaf in expected.items()
    ):
        raise ValueError(f"{path} holds agents of another structure than this run's.")
    paths, structure = jax.tree_util.tree_flatten_with_path(eqx.filter(like, eqx.is_array))
    leaves = [jnp.asarray(arrays[jax.tree_util.keystr(path)]) for path, _ in paths]
    loaded = jax.tree_util.tree_unflatten(structure, leaves)
    return eqx.combine(loaded, eqx.filter(like, eqx.is_array, inverse=True))
