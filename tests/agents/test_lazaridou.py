"""What the baselines' speakers see, and that nobody minds the order of candidates."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from implicature.agents.lazaridou import Speaker, among_others
from implicature.agents.rollout import Views, dialogue, greedily
from implicature.games.sampling import Rules
from implicature.training.algorithm1 import Pair
from implicature.training.config import Config
from implicature.training.run import PAIRS

CANDIDATES, MESSAGES = 5, 6
BASELINES: dict[str, Pair] = {
    method: new(jax.random.key(0), Config(width=4), jnp.eye(MESSAGES), MESSAGES)
    for method, new in PAIRS.items()
    if method != "pragmatic"
}
every_baseline = pytest.mark.parametrize("pair", BASELINES.values(), ids=BASELINES)
tables = arrays(np.float32, (CANDIDATES, MESSAGES), elements=st.sampled_from([0.0, 0.5, 1.0]))
UNIFORM = jnp.full(CANDIDATES, 1 / CANDIDATES)


@eqx.filter_jit
def said(speaker: Speaker, candidates: jax.Array, target: jax.Array) -> jax.Array:
    """Her chances of each message."""
    return jnp.exp(speaker.values(speaker.read(candidates), target, UNIFORM))


@eqx.filter_jit
def believed(listener, candidates: jax.Array) -> jax.Array:
    """His belief after each message, column by column."""
    reading = listener.read(candidates)
    return jax.vmap(lambda message: listener.update(reading, UNIFORM, message), out_axes=1)(jnp.arange(MESSAGES))


def some_candidates(seed: int) -> jax.Array:
    return jax.random.bernoulli(jax.random.key(seed), 0.4, (CANDIDATES, MESSAGES)).astype(jnp.float32)


@given(tables, tables, st.integers(0, CANDIDATES - 1), st.integers(0, CANDIDATES - 1))
@settings(max_examples=20)
def test_the_speaker_of_2018_does_not_see_the_distractors(one, other, target, place):
    # The same target among any others, at any place.
    other[place] = one[target]
    first, second = (said(BASELINES["la-2018"].teacher, jnp.asarray(c), jnp.asarray(t)) for c, t in
                     ((one, target), (other, place)))  # fmt: skip
    assert np.allclose(first, second, atol=1e-6)


def test_the_informed_speaker_does():
    one, target = some_candidates(0), jnp.asarray(2)
    changed = one.at[4].set(1 - one[4])
    first, second = (said(BASELINES["la-2017"].teacher, candidates, target) for candidates in (one, changed))
    assert np.abs(first - second).max() > 1e-3


@every_baseline
@given(tables, st.permutations(range(CANDIDATES)), st.integers(0, CANDIDATES - 1))
@settings(max_examples=20)
def test_permuting_candidates_permutes_his_beliefs_and_leaves_her_words(pair: Pair, candidates, order, target):
    plain, moved = jnp.asarray(candidates), jnp.asarray(candidates[order])
    assert np.allclose(believed(pair.student, plain)[np.array(order)], believed(pair.student, moved), atol=1e-5)
    now = jnp.asarray(order.index(target))
    assert np.allclose(said(pair.teacher, plain, jnp.asarray(target)), said(pair.teacher, moved, now), atol=1e-5)


@every_baseline
def test_chances_and_beliefs_add_up_to_one_and_he_never_waits(pair: Pair):
    candidates = some_candidates(1)
    assert np.isclose(said(pair.teacher, candidates, jnp.asarray(0)).sum(), 1, atol=1e-5)
    belief = believed(pair.student, candidates)
    assert np.allclose(belief.sum(axis=0), 1, atol=1e-5)
    policy = pair.student.policy(belief[:, 0], jnp.asarray(False))
    assert np.array_equal(policy, [*belief[:, 0], 0])


@every_baseline
def test_many_games_at_once_are_played_as_one_by_one(pair: Pair):
    games, rules = jnp.stack([some_candidates(i) for i in range(3)]), Rules(CANDIDATES)
    targets, order = jnp.array([0, 3, 4]), jnp.tile(jnp.arange(CANDIDATES)[::-1], (3, 1))

    @jax.jit
    def played(views: Views):
        return dialogue(jax.random.key(0), pair.teacher, pair.student, views, rules, greedily, greedily, told=False)

    one_by_one = jax.vmap(played)(jax.vmap(Views)(games, games[:, ::-1], targets, order))
    his = jnp.swapaxes(games[:, ::-1], 0, 1)
    together = played(Views(jnp.swapaxes(games, 0, 1), his, targets, order.T))
    assert np.array_equal(together.message[0], one_by_one.message[:, 0])
    assert np.array_equal(together.action[0], one_by_one.action[:, 0])
    assert np.allclose(together.after[0].T, one_by_one.after[:, 0], atol=1e-5)


@pytest.mark.parametrize("number", [2, 3, 7])
def test_each_is_compared_with_the_others_alone(number: int):
    each = np.random.default_rng(number).normal(size=(number, 4)).astype(np.float32)
    means, largest = among_others([jnp.asarray(one) for one in each])
    for i in range(number):
        others = np.delete(each, i, axis=0)
        assert np.allclose(means[i], others.mean(axis=0), atol=1e-6)
        assert np.allclose(largest[i], others.max(axis=0))
