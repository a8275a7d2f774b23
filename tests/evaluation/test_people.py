"""Simulated participants: random clickers are called random, reasoners are recognised, intervals are honest."""

import jax.numpy as jnp
import numpy as np
import pytest

from implicature.evaluation.people import (
    BETAS,
    LAPSES,
    MODELS,
    N_DEPTHS,
    DecisionArrays,
    choice_grid,
    fit_grid,
    fit_participant,
    interval,
    predict_options,
    probability_grid,
)  # fmt: skip
from implicature.evaluation.population import fit_population
from implicature.web.dealing import playable_games
from implicature.web.simulation import Session, deal_session, recovery, simulate_choices


@pytest.fixture(scope="module")
def session() -> Session:
    """The first 60 pragmatic games of numbers-7 that a participant is dealt."""
    return deal_session(playable_games()["numbers-7"], "student", 60)


@pytest.mark.parametrize(
    ("kind", "at_least"), [("random", 0.95), ("literal", 0.9), ("depth 1", 0.75), ("depth 2", 0.7)]
)
def test_people_of_each_kind_are_recognised(session: Session, kind: str, at_least: float):
    """40 of each; docs/people.md has 100 of each and all games."""
    found = recovery(session, kind, 40)
    assert found["recovered"] >= at_least
    if kind != "random":
        assert found["inside"] >= 0.9


def test_a_random_clicker_has_no_depth_and_is_flagged(session: Session):
    random = np.random.default_rng(3)
    choice = simulate_choices(random, session, "random", 10.0, 0.0)
    n_options = session.decisions.n_options
    fit = fit_grid(choice_grid(session.options, choice, n_options), n_options)
    assert (fit.model, fit.better_than_chance, fit.depth, fit.beta) == ("random", False, None, None)
    assert fit.p_chance >= 0.01
    assert fit.log_likelihood == fit.chance_log_likelihood == pytest.approx(-60 * np.log(7), abs=1e-3)


def test_aic_and_bic_count_the_free_parameters(session: Session):
    choice = simulate_choices(np.random.default_rng(4), session, "depth 1", 10.0, 0.05)
    n_options = session.decisions.n_options
    grid = choice_grid(session.options, choice, n_options)
    fit = fit_grid(grid, n_options)
    best = grid.max(axis=(0, 2))
    assert fit.aic["literal"] == pytest.approx(2 - 2 * best[0], abs=0.01)
    assert fit.bic["depth 2"] == pytest.approx(2 * np.log(60) - 2 * best[2], abs=0.01)
    assert fit.bic["random"] == pytest.approx(2 * 60 * np.log(7), abs=0.01)


def three_objects(messages: list[int], is_teacher: bool = False, share: bool = True) -> DecisionArrays:
    """Guessing the blue sphere among blue sphere, red sphere, blue cone after these messages; or saying the last."""
    lexicon = np.array([[[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]]], bool)
    one = np.array([1])
    sizes = 3 * one, 4 * one, np.array([messages]), np.array([is_teacher])
    return DecisionArrays(lexicon, *sizes, 0 * one, 0 * one, np.array([share]))


def probabilities(decisions: DecisionArrays, beta: float, depths: int) -> np.ndarray:
    one = decisions
    columns = (one.share, one.lexicon, one.n_candidates, one.messages, one.is_teacher, one.target)
    return np.asarray(probability_grid(jnp.asarray([beta]), tuple(map(jnp.asarray, columns)), depths))[0, :, 0]


def test_the_likelihood_of_a_guess_is_the_one_worked_out_by_hand():
    """After "blue", L_0(sphere) = 1/2. At depth 1 and β = 10, S_1(blue | sphere) = 1/2 and
    S_1(blue | cone) = e^5 / (e^5 + e^10). With a lapse rate of 0.1, P = 0.9 p + 0.1 / 3."""
    cone = np.exp(5) / (np.exp(5) + np.exp(10))
    expected = [0.5, 0.5 / (0.5 + cone)]
    np.testing.assert_allclose(probabilities(three_objects([0]), 10.0, 2)[:, 0], expected, rtol=1e-5)
    decisions = three_objects([0])
    grid = choice_grid(predict_options(decisions), decisions.choice, decisions.n_options)
    lapse = int(np.abs(LAPSES - 0.1).argmin())
    assert grid[0, 0, lapse] == pytest.approx(np.log(0.9 * 0.5 + 0.1 / 3), rel=1e-5)


def test_a_second_message_updates_the_belief_that_the_first_has_left():
    """After "sphere" the literal student is torn between two spheres; "blue" then leaves the blue one with
    probability 1, where "blue" alone leaves it 1/2."""
    assert probabilities(three_objects([1, 0]), 10.0, 1)[0, 0] == pytest.approx(1, abs=1e-5)


def test_the_recursion_starts_as_the_game_does():
    """ "some" is true of both, "all" of one. Share: S_0(some | all) = 1/2, so L_0(two | some) = 2/3; indicator: 1/2."""
    lexicon, one = np.array([[[1, 0], [1, 1]]], bool), np.array([1])
    guesses = [
        DecisionArrays(
            lexicon, 2 * one, 2 * one, np.array([[0]]), np.array([False]), 0 * one, 0 * one, np.array([share])
        )
        for share in (True, False)
    ]
    found = [probabilities(decisions, 10.0, 1)[0, 0] for decisions in guesses]
    np.testing.assert_allclose(found, [2 / 3, 1 / 2], rtol=1e-5)


def test_open_intervals_stay_open():
    """Six right guesses in the three objects show reasoning, and no depth from 1 on can be ruled out."""
    one = three_objects([0])
    six = DecisionArrays(*(np.repeat(column, 6, axis=0) for column in vars(one).values()))
    fit = fit_participant(six)
    assert (fit.depth, fit.depth_low, fit.depth_high) == (1, 1, None)
    assert interval(np.array([True, True, False]), np.array([1.0, 2.0, 3.0])) == (None, 2.0)
    assert interval(np.array([False, True, True]), np.array([1.0, 2.0, 3.0])) == (2.0, None)


def test_the_population_is_recovered_and_draws_people_together(session: Session):
    """24 people: a third random, two thirds of depth 1 with β = 10."""
    random, n_options = np.random.default_rng(5), session.decisions.n_options
    kinds = ["random"] * 8 + ["depth 1"] * 16
    grids = np.array(
        [choice_grid(session.options, simulate_choices(random, session, kind, 10.0, 0.05), n_options) for kind in kinds]
    )
    chance = np.full(24, -np.log(n_options).sum())
    population = fit_population(grids, chance)
    assert population.proportions.sum() == pytest.approx(1)
    assert population.proportions[0] == pytest.approx(1 / 3, abs=0.06)
    assert population.proportions[MODELS.index("depth 1")] == pytest.approx(2 / 3, abs=0.12)
    assert population.beta == pytest.approx(10, rel=0.35)
    assert population.lapse < 0.15
    called = population.kinds.argmax(axis=1)
    assert np.mean([MODELS[i] == kind for i, kind in zip(called, kinds, strict=True)]) >= 0.9
    # Drawn together: less spread than the single fits.
    single = [BETAS[np.unravel_index(grid[:, 1].argmax(), grid[:, 1].shape)[0]] for grid in grids[8:]]
    assert np.std(np.log(population.betas[8:])) < np.std(np.log(single))
    assert grids.shape[2] == N_DEPTHS
