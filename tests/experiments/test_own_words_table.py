"""The best protocol of games with words of one's own: values worked out by hand."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest

from implicature.experiments.beyond.own_words import best_protocol
from implicature.games.sampling import Game
from implicature.training.config import Config
from implicature.training.task import make_task


def games_with(*candidates: list[int]) -> Game:
    return jax.vmap(lambda one: Game(one, jnp.asarray(0), jnp.arange(3)))(jnp.array(candidates))


def test_the_best_protocol_is_the_mean_over_games():
    # 0, 1 and 10 of ten: "none" at 0.1, "some" for nothing, and "most" at 0.05 rather than "all" at 0.1: 0.95. Of 1, 3
    # and 4 only "some" is true: 1/3.
    task = make_task(Config.of(space="quantifiers", candidates=3))
    assert best_protocol(task, games_with([0, 1, 10], [4, 1, 3])) == pytest.approx((0.95 + 1 / 3) / 2)
    noisy = replace(task, rules=replace(task.rules, noise=0.1))
    assert best_protocol(noisy, games_with([0, 1, 10])) is None


def test_where_nothing_tells_candidates_apart_the_most_salient_is_found():
    # Three blue things of weights 7, 2 and 1, and words for colours only.
    task = make_task(Config.of(space="shapes-salience", candidates=3))
    assert best_protocol(task, games_with([0, 1, 2])) == pytest.approx(0.7)
