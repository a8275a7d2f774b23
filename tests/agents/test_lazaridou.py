"""What the baselines' speakers see, and that the order of candidates does not matter."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from implicature.agents.contracts import AbstractStudent, AbstractTeacher, AgentState, Pair
from implicature.agents.lazaridou import mean_and_max_of_others
from implicature.agents.perspectives import FeatureTable, perspectives
from implicature.agents.rollout import Rollout, rollout
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.nn import games_last
from implicature.training.config import Config
from implicature.training.pairs import NEW_PAIR

CANDIDATES, MESSAGES = 5, 6
BASELINES: dict[str, Pair] = {
    method: new(jax.random.key(0), Config.of(method=method, width=16, filters=4), jnp.eye(MESSAGES), MESSAGES)
    for method, new in NEW_PAIR.items()
    if method != "pragmatic"
}
every_baseline = pytest.mark.parametrize("pair", BASELINES.values(), ids=BASELINES)
tables = arrays(np.float32, (CANDIDATES, MESSAGES), elements=st.sampled_from([0.0, 0.5, 1.0]))
UNIFORM = jnp.full(CANDIDATES, 1 / CANDIDATES)


@eqx.filter_jit
def probabilities(speaker: AbstractTeacher, candidates: jax.Array, target: jax.Array) -> jax.Array:
    """Of each message."""
    encoding = speaker.encode(context(candidates))
    return speaker.message_probabilities(speaker.values(encoding, target, AgentState(UNIFORM)))


@eqx.filter_jit
def beliefs(listener: AbstractStudent, candidates: jax.Array) -> jax.Array:
    """After each message, column by column."""
    encoding, state = listener.encode(context(candidates)), AgentState(UNIFORM)
    return jax.vmap(lambda message: listener.update(encoding, state, message).belief, out_axes=1)(jnp.arange(MESSAGES))


def context(candidates: jax.Array) -> Context:
    return Context(features=candidates, lexicon=candidates > 0)


def some_candidates(seed: int) -> jax.Array:
    return jax.random.bernoulli(jax.random.key(seed), 0.4, (CANDIDATES, MESSAGES)).astype(jnp.float32)


@given(tables, tables, st.integers(0, CANDIDATES - 1), st.integers(0, CANDIDATES - 1))
@settings(max_examples=20)
def test_the_speaker_of_2018_does_not_see_the_distractors(one, other, target, place):
    # The same target among any others, at any place.
    other[place] = one[target]
    first, second = (probabilities(BASELINES["la-2018"].teacher, jnp.asarray(c), jnp.asarray(t)) for c, t in
                     ((one, target), (other, place)))  # fmt: skip
    assert np.allclose(first, second, atol=1e-6)


def test_the_informed_speaker_sees_them():
    one, target = some_candidates(0), jnp.asarray(2)
    changed = one.at[4].set(1 - one[4])
    first, second = (probabilities(BASELINES["la-2017"].teacher, candidates, target) for candidates in (one, changed))
    assert np.abs(first - second).max() > 1e-3


@every_baseline
@given(tables, st.permutations(range(CANDIDATES)), st.integers(0, CANDIDATES - 1))
@settings(max_examples=20)
def test_permuting_candidates_permutes_his_beliefs_and_leaves_her_messages(pair: Pair, candidates, order, target):
    plain, moved = jnp.asarray(candidates), jnp.asarray(candidates[order])
    assert np.allclose(beliefs(pair.student, plain)[np.array(order)], beliefs(pair.student, moved), atol=1e-5)
    before = probabilities(pair.teacher, plain, jnp.asarray(target))
    after = probabilities(pair.teacher, moved, jnp.asarray(order.index(target)))
    assert np.allclose(before, after, atol=1e-5)


@every_baseline
def test_probabilities_and_beliefs_add_up_to_one_and_he_never_waits(pair: Pair):
    candidates = some_candidates(1)
    assert np.isclose(probabilities(pair.teacher, candidates, jnp.asarray(0)).sum(), 1, atol=1e-5)
    belief = beliefs(pair.student, candidates)
    assert np.allclose(belief.sum(axis=0), 1, atol=1e-5)
    policy = pair.student.policy(AgentState(belief[:, 0]), jnp.asarray(False))
    assert np.array_equal(policy, [*belief[:, 0], 0])


@every_baseline
def test_many_games_at_once_are_played_as_one_by_one(pair: Pair):
    rows = jnp.concatenate([some_candidates(i) for i in range(3)])
    order = jnp.tile(jnp.arange(CANDIDATES)[::-1], (3, 1))
    games = jax.vmap(Game)(jnp.arange(len(rows)).reshape(3, CANDIDATES), jnp.array([0, 3, 4]), order)

    @jax.jit
    def play(game: Game) -> Rollout:
        seen = perspectives(game, FeatureTable(rows, rows), rows > 0)
        return rollout(jax.random.key(0), pair.teacher, pair.student, seen, Rules(CANDIDATES))

    one_by_one, together = jax.vmap(play)(games), play(games_last(games))
    assert np.array_equal(together.message[0], one_by_one.message[:, 0])
    assert np.array_equal(together.action[0], one_by_one.action[:, 0])
    assert np.allclose(together.after[0].T, one_by_one.after[:, 0], atol=1e-5)


@pytest.mark.parametrize("number", [2, 3, 7])
def test_each_candidate_is_compared_with_the_others_only(number: int):
    each = np.random.default_rng(number).normal(size=(number, 4)).astype(np.float32)
    means, largest = mean_and_max_of_others([jnp.asarray(one) for one in each])
    for i in range(number):
        others = np.delete(each, i, axis=0)
        assert np.allclose(means[i], others.mean(axis=0), atol=1e-6)
        assert np.allclose(largest[i], others.max(axis=0))
