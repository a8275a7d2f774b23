"""Pairs play test games. Exact pairs find as many targets as their beliefs say."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.contracts import Pair
from implicature.agents.exact import ExactModel, ExactStudent, ExactTeacher
from implicature.agents.rsa import greedy_accuracy, soft_recursion
from implicature.evaluation import rollouts
from implicature.evaluation.difficulty import hard_games, hardness
from implicature.evaluation.held_out import feature_table
from implicature.evaluation.rollouts import GameResults, play_games, summarize
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.spaces.numbers import number_sets
from implicature.spaces.space import Space, space_from_sets

SPACE = number_sets(6, 3)
CANDIDATES = 4


def some_games(number: int, candidates: int, instances: int) -> Game:
    random = np.random.default_rng(0)
    drawn = [random.choice(instances, candidates, replace=False) for _ in range(number)]
    order = [random.permutation(candidates) for _ in range(number)]
    target = random.integers(candidates, size=number)
    return jax.vmap(Game)(*(jnp.asarray(np.array(each), jnp.int32) for each in (drawn, target, order)))


GAMES = some_games(1000, CANDIDATES, SPACE.instances)


def belief_at(truth: jax.Array, depth: int) -> jax.Array:
    return soft_recursion(truth, depth).student[-1]


def play_exact(
    depth: int, games: Game = GAMES, space: Space = SPACE, equivalent: bool = False, seed: int = 0
) -> GameResults:
    lexicon, model = jnp.asarray(space.table), ExactModel(depth)
    categories = jnp.asarray(space.category_numbers()) if equivalent else None
    pair, rules = Pair(ExactTeacher(model), ExactStudent(model)), Rules(games.candidates.shape[1], message_cost=0.1)
    return play_games(pair, feature_table(pair, space), lexicon, games, rules, categories=categories, seed=seed)


@pytest.mark.parametrize("depth", [0, 2])
def test_exact_pairs_find_whom_their_beliefs_say_they_find(depth: int):
    @jax.jit
    @jax.vmap
    def chance(truth, target):
        belief = belief_at(truth, depth)
        return greedy_accuracy(truth, belief, belief)[target]

    expected = np.asarray(chance(jnp.asarray(SPACE.table)[GAMES.candidates], GAMES.target))
    success = play_exact(depth).success
    certain = (expected < 1e-6) | (expected > 1 - 1e-6)
    assert certain.mean() > 0.5
    assert np.array_equal(success[certain], expected[certain].round())
    # Elsewhere a coin is tossed; here, the first of equals is taken, in candidates' and messages' random order.
    tossed = expected[~certain]
    error = (np.sum(tossed * (1 - tossed)) ** 0.5 + 1) / len(tossed)
    assert abs(success[~certain].mean() - tossed.mean()) < 4 * error


def test_literal_pairs_say_what_is_true_once_and_pay_for_it():
    result = play_exact(0)
    assert np.all(result.n_messages == 1)
    assert np.all(result.n_valid == 1)
    assert np.allclose(result.episode_return, result.success - 0.1, atol=1e-6)
    # A target with an attribute of its own, level 0, is always found.
    assert np.all(result.success[result.level == 0] == 1)
    assert 0.3 < result.success[result.level != 0].mean() < 0.9


def test_the_summary_adds_up():
    result = play_exact(0)
    figures = summarize(result)
    levels = figures["by_level"]
    assert np.isclose(sum(level["fraction"] for level in levels.values()), 1)
    assert np.isclose(sum(level["fraction"] * level["accuracy"] for level in levels.values()), figures["accuracy"])
    assert list(levels)[:2] == ["none", "0"]
    assert levels["0"]["accuracy"] == 1
    assert {level["messages"] for level in levels.values()} == {1.0}
    assert figures["games"] == 1000
    assert (figures["valid"], figures["messages"]) == (1, 1)
    assert np.isclose(figures["return"], figures["accuracy"] - 0.1)
    # The hard games are the tenth in which the target is most like the others.
    hard = np.sort(result.hardness)[-100:]
    assert np.isclose(result.hardness[hard_games(result.hardness)].min(), hard.min())
    assert figures["hard_accuracy"] == result.success[hard_games(result.hardness)].mean()
    assert figures["hard_accuracy"] < figures["accuracy"]


def test_hardness_by_hand():
    # {1, 2} beside {1, 3} and {3}: cosines 1/2 and 0, mean 1/4. {1, 3} beside {1, 2} and {3}: 1/2 and 1/√2.
    truth = jnp.array([[1, 1, 0], [1, 0, 1], [0, 0, 1]], bool)
    assert np.isclose(hardness(truth, jnp.asarray(0)), 1 / 4)
    assert np.isclose(hardness(truth, jnp.asarray(1)), (1 / 2 + 1 / 2**0.5) / 2)


@pytest.mark.parametrize("number", [256, 300, 512])
def test_games_need_not_fill_whole_chunks(number: int, monkeypatch: pytest.MonkeyPatch):
    whole = play_exact(0)
    monkeypatch.setattr(rollouts, "CHUNK", 256)
    part = play_exact(0, jax.tree.map(lambda leaf: leaf[:number], GAMES))
    for name in ("success", "n_messages", "episode_return", "n_valid", "level", "hardness", "target"):
        assert np.array_equal(getattr(part, name), getattr(whole, name)[:number]), name
    assert len(part.lexicon) == number


def test_equivalent_games_of_number_sets_are_as_easy_for_exact_pairs():
    # The student sees and hears other numbers, but the recursion depends only on who shares which.
    identical = play_exact(0)
    for seed in (0, 1):
        equivalent = play_exact(0, equivalent=True, seed=seed)
        assert np.array_equal(equivalent.success, identical.success)


def test_attributes_are_renamed_within_their_category():
    # Three colours and three shapes in all combinations: renamed, they are still one of each.
    colours, shapes = ("red", "blue", "green"), ("cone", "cube", "ball")
    space = space_from_sets("nine", [[colour, shape] for colour in colours for shape in shapes])
    kinds = tuple("colour" if name in colours else "shape" for name in space.attributes)
    space = Space(space.name, space.attributes, space.table, kinds)
    games = some_games(1000, CANDIDATES, space.instances)
    assert np.array_equal(play_exact(0, games, space).success, play_exact(0, games, space, equivalent=True).success)
    # Without categories, red may become a cube, and a red cube nothing that there is.
    plain: dict[str, Any] = {"games": games, "space": Space(space.name, space.attributes, space.table)}
    with pytest.raises(ValueError, match="need a space that has every combination") as refused:
        play_exact(0, **plain, equivalent=True)
    assert "\n" not in str(refused.value)
