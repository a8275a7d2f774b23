"""Concept classes as spaces: labelled examples are their words, and they are what the literature says."""

from itertools import combinations

import numpy as np
import pytest

from implicature.evaluation.teaching_dimension import teaching_dimensions
from implicature.games.registry import load_space, space_names
from implicature.spaces import SPACES
from implicature.spaces.concepts import concepts_of, intervals, monomials, powerset, singletons, warmuth


def vc_dimension(concepts: np.ndarray) -> int:
    """The most points on which the class has every labelling."""
    points = range(concepts.shape[1])
    return max(
        size
        for size in range(len(points) + 1)
        for some in combinations(points, size)
        if len(np.unique(concepts[:, some], axis=0)) == 2**size
    )


def test_a_labelled_example_is_true_of_the_concepts_that_agree_with_it():
    space = load_space("singletons-2")  # {x1}, {x2}, ∅
    assert space.words == ("x1=0", "x1=1", "x2=0", "x2=1")
    assert space.lexicon.truth.astype(int).tolist() == [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 1, 0]]
    assert space.categories == ("x1", "x1", "x2", "x2")
    assert [space.label(i) for i in range(3)] == ["10", "01", "00"]
    assert np.array_equal(concepts_of(space), singletons(2))


def test_classes_have_the_concepts_of_their_definition():
    assert len(powerset(4)) == 16
    # 1 … 1, 1 … 2, 1 … 3, 2 … 2, 2 … 3, 3 … 3 and none.
    expected = [[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert intervals(3).astype(int).tolist() == expected
    # Of one variable, on the points 0 and 1: everything, x, not x, nothing.
    assert monomials(1).astype(int).tolist() == [[1, 1], [0, 1], [1, 0], [0, 0]]
    assert len(np.unique(monomials(2), axis=0)) == 3**2 + 1
    assert load_space("monomials-2").words[2:4] == ("01=0", "01=1")


@pytest.mark.parametrize(
    ("name", "td", "rtd"),
    [
        # Every other labelling of the points is a concept, too: all of them must be shown.
        ("powerset-3", 3, 3),
        # ∅ needs every point; once the singletons, each taught by its own point, are gone, nothing else is left.
        ("singletons-7", 7, 1),
        # ∅ needs all points; from the longest interval to the shortest, both ends teach it.
        ("intervals-6", 6, 2),
        # The empty concept needs all 2ⁿ points; from the shortest conjunction on, two opposite points teach it.
        ("monomials-3", 8, 2),
        ("warmuth", 3, 3),
    ],
)
def test_their_teaching_dimensions_are_the_known_ones(name: str, td: int, rtd: int):
    found = teaching_dimensions(concepts_of(load_space(name)))
    assert (found.class_td, found.class_rtd, found.exact) == (td, rtd, True)


def test_warmuths_class_has_ten_concepts_and_vc_dimension_2():
    assert len(np.unique(warmuth(), axis=0)) == 10
    assert vc_dimension(warmuth()) == 2
    assert vc_dimension(powerset(3)) == 3


def test_an_unknown_space_is_answered_with_families_not_with_a_hundred_names():
    assert "warmuth, powerset-2 … 8, singletons-2 … 20" in space_names()
    assert len(SPACES) > 40 > space_names().count(",")
    with pytest.raises(ValueError, match="No space is called 'intervals-99': choose numbers-10, "):
        load_space("intervals-99")
