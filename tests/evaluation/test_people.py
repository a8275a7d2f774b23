"""Simulated participants: what they were made with is what is found of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.rsa import soft_recursion
from implicature.evaluation.people import DEPTHS, SLIP, Choices, fit, likelihoods
from implicature.spaces import SPACES

CANDIDATES, DECISIONS = 7, 200


def simulated(beta: float, depth: int, teaches: bool, seed: int) -> Choices:
    """Choices in random games of numbers-7, drawn from the recursion itself."""
    random = np.random.default_rng(seed)
    table = SPACES["numbers-12"]().table
    games = np.stack([table[random.choice(len(table), CANDIDATES, replace=False)] for _ in range(DECISIONS)])
    both = jax.jit(jax.vmap(lambda truth: soft_recursion(truth, DEPTHS - 1, beta)))(jnp.asarray(games))
    rows, target = np.arange(DECISIONS), random.integers(CANDIDATES, size=DECISIONS)
    hers, his = (np.asarray(one, np.float64) for one in (both.teacher, both.student))

    def drawn(chances: np.ndarray) -> np.ndarray:
        return np.array([random.choice(len(one), p=one / one.sum()) for one in chances])

    # A student hears an exact teacher of depth 1; a teacher is heard by nobody in particular.
    word = drawn(hers[rows, depth if teaches else 1, target])
    answer = np.full(DECISIONS, -1) if teaches else drawn(his[rows, depth, :, word])
    full = np.full(DECISIONS, CANDIDATES), np.full(DECISIONS, table.shape[1])
    return Choices(games, *full, word[:, None], np.full(DECISIONS, teaches), target, answer)


@pytest.mark.parametrize(("beta", "depth", "teaches"), [(4.0, 1, True), (8.0, 2, True), (6.0, 1, False)])
def test_known_parameters_are_recovered_within_their_intervals(beta: float, depth: int, teaches: bool):
    found = fit(simulated(beta, depth, teaches, seed=depth))
    assert found.beta is not None
    assert found.beta_low is not None
    assert found.beta_low <= beta <= (found.beta_high or np.inf)
    assert beta / 2 < found.beta < 2 * beta
    assert found.depth_low <= depth <= (DEPTHS if found.depth_high is None else found.depth_high)
    assert found.log_likelihood > found.chance
    if teaches:
        assert found.depth == depth


def test_a_literal_participant_has_depth_0_and_no_beta():
    found = fit(simulated(5.0, 0, teaches=True, seed=3))
    assert (found.depth, found.beta, found.depth_low) == (0, None, 0)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """Of 8 participants 7.6 are expected inside; 5 or fewer would come once in 170 times."""
    inside = 0
    for seed in range(8):
        found = fit(simulated(5.0, 1, teaches=True, seed=100 + seed))
        inside += (found.beta_low or 0) <= 5.0 <= (found.beta_high or np.inf)
    assert inside >= 6


def test_the_likelihood_of_a_guess_is_the_one_worked_out_by_hand():
    """Blue sphere, red sphere, blue cone; "blue" heard, the sphere guessed. L_0 is 1/2. At depth 1 and β = 10
    S_1(blue | sphere) = 1/2 and S_1(blue | cone) = e^5 / (e^5 + e^10)."""
    truth = np.array([[[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]]], bool)
    one = np.array([1])
    choices = Choices(truth, 3 * one, 4 * one, np.array([[0]]), np.array([False]), 0 * one, 0 * one)
    columns = tuple(jnp.asarray(column) for column in vars(choices).values())
    cone = np.exp(5) / (np.exp(5) + np.exp(10))
    wanted = [np.log((1 - SLIP) * chance + SLIP / 3) for chance in (0.5, 0.5 / (0.5 + cone))]
    np.testing.assert_allclose(likelihoods(jnp.asarray([10.0]), columns, jnp.asarray(1), 2)[0], wanted, rtol=1e-5)


def test_a_second_word_is_judged_by_what_the_first_has_left():
    """After "sphere" the literal student is torn between two spheres; "blue" then leaves the blue one: its chance is 1,
    where "blue" alone leaves 1/2."""
    truth = np.array([[[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]]], bool)
    one = np.array([1])
    choices = Choices(truth, 3 * one, 4 * one, np.array([[1, 0]]), np.array([False]), 0 * one, 0 * one)
    columns = tuple(jnp.asarray(column) for column in vars(choices).values())
    found = float(likelihoods(jnp.asarray([10.0]), columns, jnp.asarray(1), 1)[0, 0])
    assert found == pytest.approx(np.log((1 - SLIP) + SLIP / 3), abs=1e-5)
