"""Weights on disk: what was saved is loaded, and what is not whole or not ours is refused in one sentence."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import save_file

from implicature.agents.contracts import Pair
from implicature.files import write_atomic
from implicature.training.config import Config
from implicature.training.pairs import new_pragmatic_pair
from implicature.training.runs.checkpoint import load_tree, read_notes, save_tree


def pair(seed: int, width: int = 2) -> Pair:
    config = Config.of(width=width, q_hidden=4, layers=1, freeze_semantics=True, beta=20.0)
    return new_pragmatic_pair(jax.random.key(seed), config, jnp.eye(3), 3)


SAVED, OTHER, WIDER = pair(0), pair(1), pair(0, width=3)
NOTES = {"stage": "3", "iteration": "250"}


def same(one: Pair, other: Pair) -> bool:
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b) for a, b in pairs)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "pair.safetensors"
    save_tree(path, SAVED, NOTES)
    return path


def sentence(path: Path) -> str:
    """The error of one sentence with which a file is refused."""
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        load_tree(path, SAVED)
    message = str(refused.value)
    assert str(path) in message
    assert message.endswith(".")
    assert "\n" not in message
    return message


def test_what_was_saved_is_loaded(saved: Path):
    loaded = load_tree(saved, OTHER)
    assert same(loaded, SAVED)
    assert not same(loaded, OTHER)
    # Static fields come from the tree that it is loaded into.
    assert eqx.tree_equal(loaded, SAVED)
    assert {name: read_notes(saved)[name] for name in NOTES} == NOTES


def test_every_shape_and_type_is_loaded(tmp_path: Path):
    tree = {
        "one": jnp.asarray(3),
        "none": jnp.zeros((0, 2)),
        "bits": jnp.array([True, False]),
        "deep": (jnp.ones((2, 3)),),
    }
    save_tree(tmp_path / "tree", tree, {})
    loaded = load_tree(tmp_path / "tree", jax.tree.map(jnp.zeros_like, tree))
    assert eqx.tree_equal(loaded, tree)


def test_a_file_cut_anywhere_is_refused(saved: Path):
    whole = saved.read_bytes()
    for length in (0, 1, 8, 9, 100, len(whole) // 2, len(whole) - 1):
        saved.write_bytes(whole[:length])
        assert "is not a whole checkpoint" in sentence(saved)
    saved.write_bytes(whole + b"\0")
    assert "is not a whole checkpoint" in sentence(saved)


def test_one_bit_changed_anywhere_is_refused(saved: Path):
    # The first eight bytes are the header's length; notes and the names of arrays follow, then the data.
    whole = saved.read_bytes()
    header = int.from_bytes(whole[:8], "little") + 8
    for place in [*range(0, header, 13), *range(header, len(whole), 97), len(whole) - 1]:
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        saved.write_bytes(bytes(changed))
        sentence(saved)
    middle = bytearray(whole)
    middle[(header + len(whole)) // 2] ^= 1
    saved.write_bytes(bytes(middle))
    assert "is damaged: its checksum does not match its content." in sentence(saved)


def test_a_changed_note_is_refused_though_the_weights_are_whole(saved: Path):
    saved.write_bytes(saved.read_bytes().replace(b'"250"', b'"350"'))
    assert "is damaged" in sentence(saved)


def foreign(path: Path) -> None:
    save_file({"weight": np.ones(3)}, path)


FOREIGN: dict[str, tuple[Callable[[Path], object], str]] = {
    "another program's safetensors": (foreign, "was not written by implicature."),
    "a pickle": (lambda path: path.write_bytes(pickle.dumps({"weight": np.ones(1000)})), "is not a whole checkpoint"),
    "text": (lambda path: path.write_text("phase,accuracy\n" * 100), "is not a whole checkpoint"),
    "an empty file": (lambda path: path.touch(), "is not a whole checkpoint"),
    "a folder": (lambda path: path.mkdir(), "is not a file."),
    "nothing": (lambda path: None, "does not exist."),
}


@pytest.mark.parametrize(("make", "message"), FOREIGN.values(), ids=FOREIGN)
def test_what_is_not_ours_is_refused(make: Callable[[Path], object], message: str, tmp_path: Path):
    make(tmp_path / "pair.safetensors")
    assert message in sentence(tmp_path / "pair.safetensors")


def test_loading_a_pickle_executes_nothing(tmp_path: Path):
    class Harmful:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "harm"),)

    (tmp_path / "pair.safetensors").write_bytes(pickle.dumps(Harmful()))
    sentence(tmp_path / "pair.safetensors")
    assert not (tmp_path / "harm").exists()


def test_agents_of_another_structure_are_refused(tmp_path: Path):
    save_tree(tmp_path / "pair.safetensors", WIDER, NOTES)
    assert "holds agents of another structure than this run's." in sentence(tmp_path / "pair.safetensors")


def test_the_old_file_survives_a_crash_while_the_new_one_is_written(saved: Path):
    # A real crash: the process is killed by the kernel in the middle of writing, at a file size it may not exceed.
    crash = """
import resource, sys
from pathlib import Path
from implicature.files import write_atomic
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
write_atomic(Path(sys.argv[1]), bytes(100_000))
"""
    died = subprocess.run([sys.executable, "-c", crash, str(saved)], capture_output=True, check=False)
    assert died.returncode < 0
    left = [path for path in saved.parent.iterdir() if path != saved]
    assert [path.stat().st_size for path in left] == [1000]
    assert same(load_tree(saved, OTHER), SAVED)
    # What is left behind does no harm.
    save_tree(saved, OTHER, NOTES)
    assert same(load_tree(saved, SAVED), OTHER)
    assert list(saved.parent.iterdir()) == [saved]


def test_a_file_is_replaced_whole(tmp_path: Path):
    write_atomic(tmp_path / "a", b"old and longer")
    write_atomic(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
