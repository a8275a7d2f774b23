"""Exact players: values worked out by hand, properties of every game, and the ceilings measured before."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from implicature.agents.rsa import (
    Recursion,
    greedy_accuracy,
    hard_recursion,
    hard_teacher,
    literal_teacher,
    no_clash,
    recursion,
    soft_recursion,
    soft_teacher,
    student,
)
from implicature.games.registry import load_game

# Blue, red, sphere, cone: a blue sphere, a red sphere and a blue cone (the paper's first figure).
THREE = jnp.array([[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]], bool)
PAIRS = jnp.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], bool)

# One shape for all properties, so that each function is compiled once. Candidates without attributes and attributes
# without candidates come up, too.
CANDIDATES, MESSAGES, DEPTH = 4, 5, 4
tables = arrays(bool, (CANDIDATES, MESSAGES))
priors = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any).map(lambda w: np.array(w, "float32") / sum(w))
betas = st.sampled_from([0.0, 10.0, 1000.0])


soft = jax.jit(soft_recursion, static_argnames=("depth", "beta", "start"))
hard = jax.jit(hard_recursion, static_argnames=("depth", "start"))


def both(truth: np.ndarray, beta: float, prior: np.ndarray) -> list[Recursion]:
    return [soft(truth, DEPTH, beta, "share", prior), hard(truth, DEPTH, "indicator", prior)]


# By hand


def test_beliefs_about_three_objects_are_those_worked_out_by_hand():
    played = soft(THREE, depth=1, beta=10.0)
    # S_0: two true messages each, so 1/2. L_0: blue and sphere are said of two, red and cone of one.
    half = 1 / 2
    assert np.allclose(played.teacher[0], THREE / 2)
    assert np.allclose(played.student[0], [[half, 0, half, 0], [0, 1, half, 0], [half, 0, 0, 1]])
    # S_1 of the red sphere: red has value 1 and sphere 1/2, so sphere gets e⁵ / (e⁵ + e¹⁰) = 1 / (1 + e⁵) = 0.0066929.
    # The blue cone is alike; the blue sphere's two messages are both worth 1/2.
    rare, often = 0.0066929, 0.9933071
    assert np.allclose(played.teacher[1], [[half, 0, half, 0], [0, often, rare, 0], [rare, 0, 0, often]], atol=1e-6)
    # L_1 of blue: 0.5 / (0.5 + 0.0066929) = 0.986791 for the blue sphere.
    likely, hardly = 0.986791, 0.013209
    assert np.allclose(played.student[1], [[likely, 0, likely, 0], [0, 1, hardly, 0], [hardly, 0, 0, 1]], atol=1e-6)


def test_literal_teachers_differ_where_candidates_have_different_numbers_of_attributes():
    # {a} and {a, b}. Share: a is said of the first always, of the second half the time, so L_0(a) = 2/3, 1/3.
    truth = jnp.array([[True, False], [True, True]])
    assert np.allclose(soft(truth, 0).student[0], [[2 / 3, 0], [1 / 3, 1]])
    assert np.allclose(soft(truth, 0, start="indicator").student[0], [[1 / 2, 0], [1 / 2, 1]])


@pytest.mark.parametrize("play", [soft_recursion, hard_recursion])
def test_many_games_may_be_the_last_axis(play: Callable[..., Recursion]):
    truth = jax.random.bernoulli(jax.random.key(0), 0.5, (20, 4, 5))
    weights = jax.random.uniform(jax.random.key(1), (20, 4))
    each = jax.vmap(lambda truth, prior: play(truth, 2, prior=prior))(truth, weights)
    together = play(jnp.moveaxis(truth, 0, -1), 2, prior=weights.T)
    for one, other in zip(each, together, strict=True):
        np.testing.assert_allclose(one, jnp.moveaxis(other, -1, 0), atol=1e-6)
    uniform = play(jnp.moveaxis(truth, 0, -1), 2).student[..., 0]
    np.testing.assert_allclose(uniform, play(truth[0], 2).student, atol=1e-6)


def test_a_prior_is_updated_as_bayes_would():
    # Prior 0.6, 0.3, 0.1. Blue: 0.6 · 1/2 against 0.1 · 1/2, so 6/7 and 1/7; sphere: 2/3 and 1/3.
    said = student(literal_teacher(THREE), jnp.array([0.6, 0.3, 0.1]), jnp.zeros((3, 4)))
    assert np.allclose(said, [[6 / 7, 0, 2 / 3, 0], [0, 1, 1 / 3, 0], [1 / 7, 0, 0, 1]])


def test_greedy_players_toss_coins_where_values_tie():
    # At depth 0 the blue sphere's teacher says blue or sphere and he then guesses between two: 1/2. The others have a
    # message of their own. At depth 1 blue and sphere both mean the blue sphere.
    students = soft(THREE, depth=1, beta=10.0).student
    assert np.allclose(greedy_accuracy(THREE, students[0], students[0]), [1 / 2, 1, 1])
    assert np.allclose(greedy_accuracy(THREE, students[1], students[1]), [1, 1, 1])
    # A teacher without a preference says red or sphere of the red sphere: 1/2 · 1 + 1/2 · 1/2 = 3/4. Negative values
    # are values, too.
    indifferent = jnp.full((3, 4), -7.0)
    assert np.allclose(greedy_accuracy(THREE, indifferent, students[0]), [1 / 2, 3 / 4, 3 / 4])


def test_no_clash_finds_all_of_three_pairs_where_recursion_cannot_tell_them_apart():
    # {1,2}, {1,3}, {2,3}: every message is said of two, at every depth.
    belief = soft(PAIRS, 6).student[-1]
    assert np.allclose(belief, PAIRS / 2, atol=1e-6)
    assert np.allclose(greedy_accuracy(PAIRS, belief, belief), 1 / 2)
    words = jax.jit(no_clash)(PAIRS).tolist()
    assert sorted(words) == [0, 1, 2]
    assert all(PAIRS[i, word] for i, word in enumerate(words))


def test_messages_too_rare_for_a_float_still_tell_who_would_send_them():
    # {x, y}, {x, y, z} and {x, z}, β = 1000. To a student with these beliefs the three would say x with chances
    # e⁻⁴⁰⁰, e⁻⁷⁰⁰ and e⁻⁷⁰⁰, all 0 as floats, so after x he believes in the first.
    truth = jnp.array([[1, 1, 0], [1, 1, 1], [1, 0, 1]], bool)
    belief = jnp.array([[0.5, 0.9, 0.0], [0.25, 0.05, 0.95], [0.25, 0.0, 0.95]])
    played = recursion(truth, lambda truth, _: soft_teacher(truth, belief, 1000.0), 1, "share")
    assert np.all(played.teacher[1, :, 0] == 0)
    assert np.allclose(played.student[1, :, 0], [1, 0, 0])


# Of every game


@given(tables, betas, priors)
def test_beliefs_normalise_after_every_message_at_every_depth(truth: np.ndarray, beta: float, prior: np.ndarray):
    for played in both(truth, beta, prior):
        assert np.all(np.asarray(played.student) >= 0)
        assert np.allclose(played.student.sum(axis=1), 1, atol=1e-5)


@given(tables, betas, priors)
def test_teachers_never_say_an_untrue_message(truth: np.ndarray, beta: float, prior: np.ndarray):
    for played in both(truth, beta, prior):
        assert np.all(np.asarray(played.teacher)[:, ~truth] == 0)
        # A candidate without attributes has nothing to say; the indicator start is no distribution.
        assert np.allclose(played.teacher.sum(axis=2)[1:], truth.any(axis=1), atol=1e-5)


@given(tables, betas, priors, st.permutations(range(CANDIDATES)), st.permutations(range(MESSAGES)))
def test_permuting_candidates_and_messages_permutes_beliefs(truth, beta, prior, candidates, messages):
    # Rounding differs with the order and deep beliefs amplify it by β, so compare depths 0 and 1.
    for plain, other in zip(
        both(truth, beta, prior), both(truth[candidates][:, messages], beta, prior[candidates]), strict=True
    ):
        assert np.allclose(plain.student[:2, candidates][:, :, messages], other.student[:2], atol=1e-3)
        assert np.allclose(plain.teacher[:2, candidates][:, :, messages], other.teacher[:2], atol=1e-3)


@given(tables, betas, priors)
def test_whom_the_prior_excludes_is_never_believed_in(truth: np.ndarray, beta: float, prior: np.ndarray):
    for played in both(truth, beta, prior):
        assert np.all(np.asarray(played.student)[:, prior == 0] == 0)


@given(tables, priors)
def test_a_message_true_of_nobody_leaves_the_prior(truth: np.ndarray, prior: np.ndarray):
    for played in both(truth, 10.0, prior):
        unheard = np.asarray(played.student)[:, :, ~truth.any(axis=0)]
        assert np.array_equal(unheard, np.broadcast_to(prior[:, None], unheard.shape))


@given(tables, st.permutations(range(CANDIDATES * MESSAGES)))
def test_without_ties_a_very_rational_teacher_responds_best(truth: np.ndarray, order: list[int]):
    # Twenty different values 1/19 apart: at β = 400 the best is e²¹ times likelier than the next.
    belief = jnp.array(order, jnp.float32).reshape(CANDIDATES, MESSAGES) / 19
    best = jnp.exp(hard_teacher(jnp.asarray(truth), belief))
    assert np.all(np.count_nonzero(best, axis=1) == truth.any(axis=1))
    assert np.allclose(jnp.exp(soft_teacher(jnp.asarray(truth), belief, 400.0)), best, atol=1e-6)


@given(tables, betas)
def test_accuracies_are_chances_and_a_word_of_ones_own_is_always_understood(truth: np.ndarray, beta: float):
    belief = soft(truth, DEPTH, beta, "share", np.full(CANDIDATES, 0.25, np.float32)).student[-1]
    found = np.asarray(greedy_accuracy(jnp.asarray(truth), belief, belief))
    assert np.all((found >= 0) & (found <= 1 + 1e-6))
    own = (truth & (truth.sum(axis=0) == 1)).any(axis=1)
    assert np.allclose(found[own], 1)
    assert np.all(found[~truth.any(axis=1)] == 0)


@pytest.mark.parametrize(("candidates", "messages"), [(7, 5), (7, 12)])
def test_no_clash_words_are_true_distinct_and_as_many_as_a_maximum_matching(candidates: int, messages: int):
    random = np.random.default_rng(0)
    truth = random.random((2000, candidates, messages)) < random.uniform(0.05, 0.6, (2000, 1, 1))
    words = np.asarray(jax.jit(jax.vmap(no_clash))(jnp.asarray(truth)))
    for table, word in zip(truth, words, strict=True):
        given_one = np.flatnonzero(word >= 0)
        assert table[given_one, word[given_one]].all()
        assert len(set(word[given_one].tolist())) == len(given_one)
        matched = maximum_bipartite_matching(csr_array(table), perm_type="column")
        assert len(given_one) == np.count_nonzero(matched >= 0)


# A contract for every player, and what was measured before

PLAYERS: dict[str, Callable] = {
    "literal, share": literal_teacher,
    "literal, indicator": lambda truth: literal_teacher(truth, "indicator"),
    "soft": lambda truth: soft_recursion(truth, 2),
    "hard": lambda truth: hard_recursion(truth, 2),
    "no-clash": no_clash,
    "greedy": lambda truth: greedy_accuracy(truth, literal_teacher(truth), literal_teacher(truth)),
}


@pytest.mark.parametrize("player", PLAYERS.values(), ids=PLAYERS)
def test_every_player_jits_and_vmaps_without_changing_its_mind(player: Callable):
    # Nothing is true of anybody in the last game: that is no reason for NaN.
    games = jnp.stack([THREE, ~THREE, jnp.zeros_like(THREE)])
    together = jax.jit(jax.vmap(player))(games)
    alone = jax.tree.map(lambda *leaves: jnp.stack(leaves), *map(player, games))
    for batched, single in zip(jax.tree.leaves(together), jax.tree.leaves(alone), strict=True):
        assert np.all(np.isfinite(batched))
        assert np.allclose(batched, single, atol=1e-6)


def test_greedy_accuracies_in_numbers_7_are_those_measured_before():
    space, candidates = load_game("numbers-7")

    def play(truth):
        students = soft_recursion(truth, 3).student[jnp.array([0, 1, 3])]
        return jax.vmap(lambda belief: greedy_accuracy(truth, belief, belief)[0])(students)

    random = np.random.default_rng(0)
    games = np.stack([random.choice(space.instances, candidates, replace=False) for _ in range(5000)])
    found = np.asarray(jax.jit(jax.vmap(play))(jnp.asarray(space.table[games])))
    errors = found.std(axis=0) / len(found) ** 0.5
    # Depths 0, 1 and 3, share, β = 10, from 20,000 other games.
    assert np.all(np.abs(found.mean(axis=0) - [0.727, 0.913, 0.982]) < 4 * errors)
