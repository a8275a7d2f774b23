"""A run's own copy of its space."""

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from implicature.spaces import Lexicon, Space, number_sets, objects
from implicature.spaces.io import read_space
from implicature.training.config import Config
from implicature.training.runs.checkpoint import read_notes, read_whole, save_tree
from implicature.training.runs.space_file import FILE, run_space, save_space, space_hash

KITCHEN = Path(__file__).parents[2] / "examples" / "kitchen.csv"
CONFIG = Config.of(candidates=2)


def quiet(text: str) -> None:
    raise AssertionError(text)


def assert_equal(one: Space, other: Space) -> None:
    for field in fields(Space):
        first, second = getattr(one, field.name), getattr(other, field.name)
        if isinstance(first, Lexicon):
            assert (first.words, first.categories) == (second.words, second.categories)
            np.testing.assert_array_equal(first.meaning, second.meaning)
            np.testing.assert_array_equal(first.costs, second.costs)
        elif isinstance(first, np.ndarray):
            assert first.dtype == second.dtype
            np.testing.assert_array_equal(first, second)
        else:
            assert first == second


def kitchen_with_images() -> Space:
    images = np.random.default_rng(0).integers(0, 256, (12, 2, 8, 8, 3), np.uint8)
    return replace(read_space(KITCHEN), images=images)


@pytest.mark.parametrize("make", [lambda: number_sets(4, 2), lambda: read_space(KITCHEN), kitchen_with_images, objects])
def test_every_field_of_a_space_is_kept(make, tmp_path: Path):
    space = make()
    save_space(tmp_path, space, CONFIG)
    kept, candidates = run_space(tmp_path, CONFIG, quiet)
    assert_equal(kept, space)
    assert candidates == 2
    assert space_hash(kept) == read_notes(tmp_path / FILE)["hash"]


def test_the_packages_images_are_not_copied(tmp_path: Path):
    save_space(tmp_path, objects(), CONFIG)
    assert read_whole(tmp_path / FILE)[1].keys() == {"['table']"}
    assert (tmp_path / FILE).stat().st_size < 20_000


@pytest.mark.parametrize(
    ("names", "table"),
    [
        ({"attributes": ["a"]}, np.eye(2, dtype=bool)),
        ({"attributes": ["a", 3]}, np.eye(2, dtype=bool)),
        ({"attributes": ["a", "\x1b[31m"]}, np.eye(2, dtype=bool)),
        ({"attributes": ["a", "b"]}, np.eye(2, dtype=np.float32)),
        ({"attributes": ["a", "b"]}, np.ones((2, 2, 2), dtype=bool)),
        ({"attributes": ["a", "b"], "colour": "red"}, np.eye(2, dtype=bool)),
        ({"attributes": None}, np.eye(2, dtype=bool)),
        ({"attributes": {"a": "b"}}, np.eye(2, dtype=bool)),
        ([], np.eye(2, dtype=bool)),
    ],
)
def test_what_is_no_space_is_refused_in_one_sentence(tmp_path: Path, names: object, table: np.ndarray):
    content = {"name": "mine", **names} if isinstance(names, dict) else names
    save_tree(tmp_path / FILE, {"table": table}, {"hash": "0", "space": json.dumps(content)})
    with pytest.raises(ValueError, match=r"space\.safetensors does not hold the space of a run: restore it\.$"):
        run_space(tmp_path, CONFIG, quiet)


def test_words_costs_and_prior_are_in_the_copy(tmp_path: Path):
    lexicon = Lexicon(("big", "swims"), np.array([[1, 1], [0.4, 1]]), np.array([0.1, 0]), ("size", "life"))
    space = Space("sea", ("legs",), np.array([[False], [True]]), lexicon=lexicon, prior=np.array([2.0, 1.0]))
    save_space(tmp_path, space, CONFIG)
    kept, _ = run_space(tmp_path, CONFIG.replace(candidates=2), quiet)
    assert kept.words == ("big", "swims")
    assert kept.lexicon.categories == ("size", "life")
    np.testing.assert_array_equal(kept.lexicon.meaning, lexicon.meaning)
    np.testing.assert_array_equal(kept.lexicon.costs, lexicon.costs)
    assert kept.prior is not None
    assert kept.prior.tolist() == [2, 1]
    free = replace(space, lexicon=Lexicon(lexicon.words, lexicon.meaning))
    assert len({space_hash(one) for one in (space, free, replace(space, prior=None))}) == 3
