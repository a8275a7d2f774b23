"""Files of weights: loaded to the last bit, or refused in a sentence; never half."""

import json
import os
import struct
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hostility import CASES, JSON, TEXT, assert_sentence, case, deadline, fuzz, mutated, refused
from hypothesis import given
from hypothesis import strategies as st

from implicature.training.config import Config
from implicature.training.runs.checkpoint import load_tree, save_tree
from implicature.training.runs.run import start_run

TREE = {"weights": jnp.arange(6.0).reshape(2, 3), "steps": jnp.asarray(7), "used": jnp.asarray([True, False])}
DTYPES = ["F32", "F64", "F16", "BF16", "F8_E4M3", "I64", "U8", "BOOL", "F4", "C64", "x", ""]


@pytest.fixture
def good(tmp_path: Path) -> bytes:
    save_tree(tmp_path / "good.safetensors", TREE, {"phase": "1"})
    return (tmp_path / "good.safetensors").read_bytes()


def load(kind: str, path: Path, content: bytes) -> bool:
    """Whether it is the tree; else it is refused, and the sentence names the file."""
    path.write_bytes(content)
    found: list[Any] = []
    sentence = case(kind, lambda: found.append(load_tree(path, TREE)))
    assert path.read_bytes() == content
    if sentence is None:
        assert all(jax.tree.leaves(jax.tree.map(lambda a, b: np.array_equal(a, b), found[0], TREE)))
        return True
    assert str(path) in sentence
    assert_sentence(sentence.replace(str(path), "file"))
    return False


def test_checkpoints_with_bytes_changed(tmp_path: Path, good: bytes):
    path = tmp_path / "mine.safetensors"
    assert load("bytes of checkpoints", path, good)
    whole = sum(load("bytes of checkpoints", path, mutated(good, n)) for n in range(CASES["bytes of checkpoints"]))
    # Only what changes nothing (a byte for itself, a space in the header) may be taken for whole.
    assert whole < CASES["bytes of checkpoints"] // 20


def parts(content: bytes) -> tuple[dict[str, Any], bytes]:
    (size,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def joined(header: object, body: bytes, size: int | None = None) -> bytes:
    text = json.dumps(header).encode("utf-8", "replace")
    return struct.pack("<Q", len(text) if size is None else size) + text + body


@given(
    place=st.sampled_from(["__metadata__", "weights", "shape", "dtype", "data_offsets", "format", "checksum"]),
    value=JSON | st.sampled_from(DTYPES) | st.lists(st.integers(-1, 2**64), max_size=3),
    size=st.none() | st.sampled_from([0, 1, 2**31, 2**63 - 1, 2**64 - 1]),
)
@fuzz("headers of checkpoints")
def test_checkpoints_with_any_header(tmp_path: Path, good: bytes, place: str, value: object, size: int | None):
    header, body = parts(good)
    name = next(name for name in header if "weights" in name)
    if place in ("format", "checksum"):
        header["__metadata__"][place] = value
    elif place in ("shape", "dtype", "data_offsets"):
        header[name][place] = value
    else:
        header[name if place == "weights" else place] = value
    load("headers of checkpoints", tmp_path / "mine.safetensors", joined(header, body, size))


@given(
    name=TEXT, shape=st.lists(st.integers(0, 4), max_size=3), kind=st.sampled_from("fdiqb?"), value=st.floats(width=16)
)
@fuzz("arrays of checkpoints")
def test_arrays_of_another_shape_or_kind(tmp_path: Path, name: str, shape: list[int], kind: str, value: float):
    """Written as we write, with the right checksum."""
    other = {**TREE, name: jnp.zeros(shape)} if name else {**TREE, "weights": np.zeros(shape, kind) + np.array(0, kind)}
    if shape == [2, 3] and kind == "f":
        other = {**TREE, "weights": jnp.full((2, 3), value, jnp.float16)}
    save_tree(tmp_path / "other.safetensors", other, {"phase": "1"})
    assert not load(
        "arrays of checkpoints", tmp_path / "mine.safetensors", (tmp_path / "other.safetensors").read_bytes()
    )


def test_what_is_no_file(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("pipe", "zero", "loop", "missing", "."):
        with deadline(5), pytest.raises(ValueError, match=r"is not a file|does not exist"):
            load_tree(tmp_path / name, TREE)


def test_commands_refuse_a_run_whose_weights_are_damaged(tmp_path: Path):
    folder = tmp_path / "[red]run\n"
    run = start_run(folder, Config.of(train_games=10, candidate_sets=2, width=2, layers=1, phases=0, grounded=False))
    path = run.phase_file(0)
    save_tree(path, run.pairs, {"phase": "0"})
    good = path.read_bytes()
    floats = jax.tree.map(lambda leaf: leaf * jnp.nan if eqx.is_inexact_array(leaf) else leaf, run.pairs)
    save_tree(path, floats, {"phase": "0"})
    assert "holds weights that are not finite" in refused(tmp_path, "evaluate", str(folder), "--games", "10")
    for content in (good[:-1], good[:100], b"", good[:-9] + b"\x7f" * 9):
        path.write_bytes(content)
        assert "\\n" not in refused(tmp_path, "evaluate", str(folder), "--games", "10")
        assert path.read_bytes() == content
    path.unlink()
    os.mkfifo(path)
    assert "is not a file" in refused(tmp_path, "evaluate", str(folder), "--games", "10")
