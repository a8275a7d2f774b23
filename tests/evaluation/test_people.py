"""Simulated participants: the fit recovers the rationality and the depth that they were simulated with."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.rsa import soft_recursion
from implicature.evaluation.people import LAPSE_RATE, N_DEPTHS, DecisionArrays, fit_participant, log_likelihood_grid
from implicature.spaces import SPACES

CANDIDATES, DECISIONS = 7, 200


def simulate(beta: float, depth: int, is_teacher: bool, seed: int) -> DecisionArrays:
    """Decisions in random games of numbers-7, sampled from the recursion itself."""
    random = np.random.default_rng(seed)
    table = SPACES["numbers-12"]().table
    games = np.stack([table[random.choice(len(table), CANDIDATES, replace=False)] for _ in range(DECISIONS)])
    recursion = jax.jit(jax.vmap(lambda lexicon: soft_recursion(lexicon, N_DEPTHS - 1, beta)))(jnp.asarray(games))
    rows, target = np.arange(DECISIONS), random.integers(CANDIDATES, size=DECISIONS)
    teacher, student = (np.asarray(one, np.float64) for one in (recursion.teacher, recursion.student))

    def sample(probabilities: np.ndarray) -> np.ndarray:
        return np.array([random.choice(len(row), p=row / row.sum()) for row in probabilities])

    # A simulated student hears an exact teacher of depth 1; nobody listens to a simulated teacher.
    message = sample(teacher[rows, depth if is_teacher else 1, target])
    answer = np.full(DECISIONS, -1) if is_teacher else sample(student[rows, depth, :, message])
    sizes = np.full(DECISIONS, CANDIDATES), np.full(DECISIONS, table.shape[1])
    return DecisionArrays(games, *sizes, message[:, None], np.full(DECISIONS, is_teacher), target, answer)


@pytest.mark.parametrize(("beta", "depth", "is_teacher"), [(4.0, 1, True), (8.0, 2, True), (6.0, 1, False)])
def test_known_parameters_are_recovered_within_their_intervals(beta: float, depth: int, is_teacher: bool):
    fit = fit_participant(simulate(beta, depth, is_teacher, seed=depth))
    assert fit.beta is not None
    assert fit.beta_low is not None
    assert fit.beta_low <= beta <= (fit.beta_high or np.inf)
    assert beta / 2 < fit.beta < 2 * beta
    assert fit.depth_low <= depth <= (N_DEPTHS if fit.depth_high is None else fit.depth_high)
    assert fit.log_likelihood > fit.chance_log_likelihood
    if is_teacher:
        assert fit.depth == depth


def test_a_literal_participant_has_depth_0_and_no_beta():
    fit = fit_participant(simulate(5.0, 0, is_teacher=True, seed=3))
    assert (fit.depth, fit.beta, fit.depth_low) == (0, None, 0)


def test_intervals_cover_the_true_value_about_as_often_as_they_should():
    """Of 8 participants 7.6 are expected inside; 5 or fewer would come once in 170 times."""
    inside = 0
    for seed in range(8):
        fit = fit_participant(simulate(5.0, 1, is_teacher=True, seed=100 + seed))
        inside += (fit.beta_low or 0) <= 5.0 <= (fit.beta_high or np.inf)
    assert inside >= 6


def grid_for_guess(messages: list[int], depths: int) -> np.ndarray:
    """log P at β = 10 of guessing the blue sphere among blue sphere, red sphere, blue cone after these messages."""
    lexicon = np.array([[[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]]], bool)
    one = np.array([1])
    decisions = DecisionArrays(lexicon, 3 * one, 4 * one, np.array([messages]), np.array([False]), 0 * one, 0 * one)
    columns = tuple(jnp.asarray(column) for column in vars(decisions).values())
    return np.asarray(log_likelihood_grid(jnp.asarray([10.0]), columns, jnp.asarray(1), depths))[0]


def test_the_likelihood_of_a_guess_is_the_one_worked_out_by_hand():
    """After "blue", L_0(sphere) = 1/2. At depth 1 and β = 10, S_1(blue | sphere) = 1/2 and
    S_1(blue | cone) = e^5 / (e^5 + e^10)."""
    cone = np.exp(5) / (np.exp(5) + np.exp(10))
    expected = [np.log((1 - LAPSE_RATE) * p + LAPSE_RATE / 3) for p in (0.5, 0.5 / (0.5 + cone))]
    np.testing.assert_allclose(grid_for_guess([0], depths=2), expected, rtol=1e-5)


def test_a_second_message_updates_the_belief_that_the_first_has_left():
    """After "sphere" the literal student is torn between two spheres; "blue" then leaves the blue one with
    probability 1, where "blue" alone leaves it 1/2."""
    expected = np.log((1 - LAPSE_RATE) + LAPSE_RATE / 3)
    assert grid_for_guess([1, 0], depths=1)[0] == pytest.approx(expected, abs=1e-5)
