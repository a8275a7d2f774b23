"""Teaching dimensions against the literature, against brute force, and against each other."""

from itertools import combinations, product
from time import perf_counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from implicature.evaluation.teaching_dimension import levels, no_clash_number, positive_rtd, teaching_dimensions

quick = settings(max_examples=80, deadline=None)


def matrix(*concepts: str) -> np.ndarray:
    return np.array([[x == "1" for x in concept] for concept in concepts])


def powerset(n: int) -> np.ndarray:
    return np.array(list(product([False, True], repeat=n)))


SINGLETONS = matrix("1000", "0100", "0010", "0001")
PAIRS = matrix("110", "101", "011")
# Blue, red, sphere, cone: a blue sphere, a red sphere and a blue cone (the paper's first figure).
THREE_OBJECTS = matrix("1010", "0110", "1001")
# Doliwa et al. 2014, figure 1: the shifts of 11000 and of 11010.
WARMUTH = np.array([np.roll(row, i) for row in matrix("11000", "11010") for i in range(5)])


@st.composite
def classes(draw, most_concepts: int = 6, most_attributes: int = 5, least_size: int = 0) -> np.ndarray:
    """Distinct concepts over a few attributes."""
    n = draw(st.integers(2, most_attributes))
    rows = st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda row: sum(row) >= least_size)
    return np.array(draw(st.lists(rows, min_size=1, max_size=most_concepts, unique_by=tuple)))


def brute_td(c: frozenset, others: list[frozenset], attributes: int, positive: bool) -> int | None:
    pool = sorted(c) if positive else range(attributes)
    for size in range(attributes + 1):
        for s in map(frozenset, combinations(pool, size)):
            if all(s & c != s & o for o in others):
                return size
    return None


def brute_rtd(truth: np.ndarray, positive: bool) -> list[int]:
    left = {i: frozenset(np.flatnonzero(row)) for i, row in enumerate(truth)}
    rtd = {}
    while left:
        td = {i: brute_td(c, [o for o in left.values() if o != c], truth.shape[1], positive) for i, c in left.items()}
        d = min(size for size in td.values() if size is not None)
        rtd |= {i: d for i in left if td[i] == d}
        left = {i: c for i, c in left.items() if td[i] != d}
    return [rtd[i] for i in range(len(truth))]


def brute_no_clash(truth: np.ndarray) -> int:
    concepts = [frozenset(np.flatnonzero(row).tolist()) for row in truth]
    for d in range(truth.shape[1] + 1):
        options = [[frozenset(s) for k in range(d + 1) for s in combinations(c, k)] for c in concepts]
        for sets in product(*options):
            pairs = combinations(range(len(concepts)), 2)
            if not any(sets[i] <= concepts[j] and sets[j] <= concepts[i] for i, j in pairs):
                return d
    raise AssertionError("Distinct concepts are told apart by all of their attributes.")


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_each_set_of_a_powerset_needs_every_attribute(n):
    # Each set has a neighbour that differs in x alone, for every x. All are removed in one stage.
    result = teaching_dimensions(powerset(n))
    assert set(result.td) == set(result.rtd) == {n}
    assert result.hierarchy == ((tuple(range(2**n)), n),)
    # By positive examples a set of k needs its k attributes, once the larger ones are gone: n, n-1 …, 0.
    positive = teaching_dimensions(powerset(n), positive=True)
    assert positive.rtd == tuple(powerset(n).sum(1))
    assert positive.class_rtd == n
    assert positive.class_td is None


def test_singletons_need_one_example():
    result = teaching_dimensions(SINGLETONS)
    assert result.sets == ((0,), (1,), (2,), (3,))
    assert (result.class_td, result.class_rtd) == (1, 1)
    assert no_clash_number(SINGLETONS).number == 1


def test_the_empty_set_among_singletons_has_td_n_but_rtd_of_the_class_one():
    # The empty set differs from {x} in x alone, so all 4 are needed; with the singletons gone it is alone: 0.
    truth = np.vstack([SINGLETONS, np.zeros((1, 4), bool)])
    result = teaching_dimensions(truth)
    assert result.td == (1, 1, 1, 1, 4)
    assert result.rtd == (1, 1, 1, 1, 0)
    assert (result.class_td, result.class_rtd) == (4, 1)
    assert result.hierarchy == (((0, 1, 2, 3), 1), ((4,), 0))
    # No message is true of the empty set: as a game it has no number, and no word of its own.
    assert teaching_dimensions(truth, positive=True, min_size=1).rtd == (1, 1, 1, 1, None)
    assert positive_rtd(truth[None])[0].tolist() == [1, 1, 1, 1, -1]
    assert levels(jnp.asarray(truth)).tolist() == [0, 0, 0, 0, -1]
    assert no_clash_number(truth).number is None
    assert no_clash_number(truth).dimension == 1


def test_warmuths_class_has_rtd_three_though_it_shatters_no_three_points():
    result = teaching_dimensions(WARMUTH)
    assert WARMUTH.shape == (10, 5)
    assert len(np.unique(WARMUTH, axis=0)) == 10
    assert set(result.td) == set(result.rtd) == {3}
    shattered = [len(np.unique(WARMUTH[:, points], axis=0)) == 8 for points in combinations(range(5), 3)]
    assert not any(shattered)


def test_two_of_three_need_two_messages_but_a_word_of_their_own_each():
    # Every attribute is in two of the pairs, so nothing is unique; but 12 → 1, 13 → 3, 23 → 2 never clash:
    # 3 is not in 12, 1 is not in 23, 2 is not in 13.
    result = teaching_dimensions(PAIRS, positive=True)
    assert result.rtd == (2, 2, 2)
    assert levels(jnp.asarray(PAIRS)).tolist() == [-1, -1, -1]
    found = no_clash_number(PAIRS)
    assert (found.number, found.dimension, found.exact) == (1, 1, True)


def test_the_papers_three_objects_have_td_two_and_one_message_each():
    # "Red" and "cone" are unique; the blue sphere needs "blue" and "sphere", or any one once the others are gone.
    result = teaching_dimensions(THREE_OBJECTS, positive=True)
    assert result.sets == ((0, 2), (1,), (3,))
    assert result.hierarchy == (((1, 2), 1), ((0,), 0))
    assert (result.class_td, result.class_rtd) == (2, 1)
    assert teaching_dimensions(THREE_OBJECTS, positive=True, min_size=1).rtd == (1, 1, 1)
    assert positive_rtd(THREE_OBJECTS[None]).tolist() == [[1, 1, 1]]
    assert levels(jnp.asarray(THREE_OBJECTS)).tolist() == [1, 0, 0]


def test_words_of_their_own_may_still_clash():
    # 123 → 1, 12 → 2, 13 → 3 is a matching. But whatever 12 and 13 are given is true of 123, so what 123 is given
    # must be untrue of both: 3 against 12 and 2 against 13.
    found = no_clash_number(matrix("111", "110", "101"))
    assert (found.number, found.dimension, found.exact) == (1, 2, True)


def test_more_candidates_than_words_need_a_second_message():
    # Four sets of three attributes: 12, 13, 23 and 123. With two messages 123 → 12 and 12 → 1, 13 → 3, 23 → 2 differ.
    # Without a clash 123 needs one that is not in 12, not in 13 and not in 23: all three.
    found = no_clash_number(np.vstack([PAIRS, matrix("111")]))
    assert (found.number, found.dimension) == (2, 3)


def test_twins_cannot_be_taught_and_the_others_can():
    # 10 is there twice: no example tells one from the other. 01 is taught by its own attribute.
    found = teaching_dimensions(matrix("10", "01", "10"), positive=True)
    assert found.td == (None, 1, None)
    assert found.rtd == (None, 1, None)
    assert found.class_td is None


def test_a_matching_of_equal_concepts_is_refused():
    with pytest.raises(ValueError, match=r"Concepts 0 and 2 are equal: they must differ\."):
        no_clash_number(matrix("10", "01", "10"))
    with pytest.raises(ValueError, match="without concepts"):
        no_clash_number(np.zeros((0, 3), bool))
    with pytest.raises(ValueError, match="13 candidates"):
        positive_rtd(np.zeros((1, 13, 2), bool))


@pytest.mark.parametrize("positive", [False, True])
@given(truth=classes())
@quick
def test_everything_agrees_with_brute_force(positive, truth):
    result = teaching_dimensions(truth, positive)
    concepts = [frozenset(np.flatnonzero(row)) for row in truth]
    others = [[o for o in concepts if o != c] for c in concepts]
    assert list(result.td) == [brute_td(c, o, truth.shape[1], positive) for c, o in zip(concepts, others, strict=True)]
    assert list(result.rtd) == brute_rtd(truth, positive)
    for c, o, found in zip(concepts, others, result.sets, strict=True):
        assert found is None or all(set(found) & c != set(found) & other for other in o)


@pytest.mark.parametrize("positive", [False, True])
@given(truth=classes(), data=st.data())
@quick
def test_names_and_order_do_not_matter_and_rtd_is_at_most_td(positive, truth, data):
    result = teaching_dimensions(truth, positive)
    assert at_least(result.td, result.rtd)
    attributes = data.draw(st.permutations(range(truth.shape[1])))
    concepts = data.draw(st.permutations(range(len(truth))))
    renamed = teaching_dimensions(truth[concepts][:, attributes], positive)
    assert renamed.td == tuple(result.td[c] for c in concepts)
    assert renamed.rtd == tuple(result.rtd[c] for c in concepts)
    assert no_clash_number(truth[concepts][:, attributes]) == no_clash_number(truth)


@given(truth=classes(4, 4))
@quick
def test_no_clash_is_at_most_rtd_and_agrees_with_brute_force(truth):
    found = no_clash_number(truth)
    assert found.dimension == brute_no_clash(truth) <= max(brute_rtd(truth, True))
    assert (found.number is None) == (not truth.any(1).all())
    assert found.number is None or found.number <= max(1, found.dimension)


@given(truth=classes(7, 6))
@quick
def test_many_games_at_once_agree_with_one_class_at_a_time(truth):
    expected = teaching_dimensions(truth, positive=True, min_size=1).rtd
    batch = np.stack([truth, truth[::-1]])
    assert positive_rtd(batch)[0].tolist() == [-1 if d is None else d for d in expected]
    assert positive_rtd(batch)[1].tolist() == [-1 if d is None else d for d in expected[::-1]]


def at_least(above: tuple[int | None, ...], below: tuple[int | None, ...]) -> bool:
    """Number by number, where None is more than any."""
    return all(a is None or (b is not None and a >= b) for a, b in zip(above, below, strict=True))


def plain_levels(truth: np.ndarray) -> list[int]:
    left = {i: set(np.flatnonzero(row)) for i, row in enumerate(truth)}
    found = [-1] * len(truth)
    for level in range(len(truth)):
        own = [i for i in left if left[i].difference(*(left[j] for j in left if j != i))]
        for i in own:
            found[i] = level
            del left[i]
    return found


def test_levels_of_many_games_agree_with_plain_sets_and_mean_one_message():
    truth = np.random.default_rng(0).random((300, 6, 7)) < 0.4
    found = np.asarray(jax.jit(jax.vmap(levels))(jnp.asarray(truth)))
    assert found.tolist() == [plain_levels(game) for game in truth]
    assert np.all(positive_rtd(truth)[found >= 0] == 1)
    assert {-1, 0, 1, 2} <= set(found.ravel().tolist())


@given(truth=classes(8, 6), positive=st.booleans())
@quick
def test_past_the_budget_the_answer_is_a_bound_that_says_so(truth, positive):
    bound, true = teaching_dimensions(truth, positive, budget=0), teaching_dimensions(truth, positive)
    assert true.exact
    assert bound.exact <= (bound == true)
    assert at_least(bound.td + bound.rtd, true.td + true.rtd)


def test_a_class_too_large_for_the_budget_gets_a_bound():
    truth = np.random.default_rng(1).random((40, 16)) < 0.5
    bound, true = teaching_dimensions(truth, budget=100), teaching_dimensions(truth)
    assert (bound.exact, true.exact) == (False, True)
    assert at_least(bound.td + bound.rtd, true.td + true.rtd)
    assert bound.td != true.td
    rough, fine = no_clash_number(truth[:12], budget=100), no_clash_number(truth[:12])
    assert (rough.exact, fine.exact) == (False, True)
    assert rough.number == fine.number
    assert rough.dimension >= fine.dimension


def test_a_hundred_thousand_games_take_seconds():
    truth = np.random.default_rng(0).random((100_000, 7, 12)) < 0.3
    start = perf_counter()
    found = jax.jit(jax.vmap(levels))(jnp.asarray(truth)).block_until_ready()
    assert found.shape == (100_000, 7)
    assert positive_rtd(truth[:25_000]).shape == (25_000, 7)
    assert perf_counter() - start < 20
