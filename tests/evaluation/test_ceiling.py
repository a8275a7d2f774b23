"""The bounds of a game: values worked out by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from implicature.evaluation.ceiling import best_return, exact_success

# Blue, sphere, red, cone: a blue sphere, a red sphere and a blue cone.
THREE = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]], float)


def test_the_best_protocol_gives_each_candidate_the_cheapest_word_that_is_left():
    # Colours cost 0.1, shapes 0.02: "sphere" for the blue sphere, "red" for the red one, "cone": 0.98 + 0.9 + 0.98.
    costs = np.array([0.1, 0.02, 0.1, 0.02])
    assert best_return(THREE, costs, np.full(3, 1 / 3)) == pytest.approx(2.86 / 3)


def test_the_best_protocol_gives_up_the_candidate_that_is_least_likely():
    # One word for two: 3/4 · 0.8 for the first, −1/4 · 0.2 for the second.
    assert best_return(np.ones((2, 1)), np.array([0.2]), np.array([0.75, 0.25])) == pytest.approx(0.55)
    # A candidate without a true word says the cheapest: nothing is won, 0.1 is paid.
    assert best_return(np.array([[0, 0], [0.3, 0]]), np.array([0.4, 0.1]), np.full(2, 0.5)) == pytest.approx(0.25)


def test_exact_success_of_many_games_is_that_of_each():
    # Literal players: "blue" or "sphere" is right half the time; from depth 1 on everything is found (test_rsa.py).
    games = np.tile(THREE > 0, (200, 1, 1))
    found = exact_success(jnp.asarray(games), jnp.arange(200) % 3, 1)
    np.testing.assert_allclose(found[:3], [[1 / 2, 1], [1, 1], [1, 1]])
    np.testing.assert_array_equal(found, found[np.arange(200) % 3])
