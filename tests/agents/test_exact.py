"""Exact players in the one rollout: what they say, believe and wait for is the recursion's."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.contracts import AgentState
from implicature.agents.exact import UNTRUE, ExactModel, ExactStudent, ExactTeacher, argmax_random_ties
from implicature.agents.perspectives import Perspectives
from implicature.agents.rollout import Rollout, rollout
from implicature.agents.rsa import soft_recursion
from implicature.games.context import Context
from implicature.games.rules import Rules

# blue sphere red cone: a blue sphere, a red sphere, a blue cone
THREE = jnp.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]], jnp.float32)
BLUE, SPHERE, RED, CONE = range(4)
UNIFORM = jnp.full(3, 1 / 3)


@eqx.filter_jit
def play_exact(model: ExactModel, game: Perspectives, rules: Rules, forced_messages: jax.Array | None) -> Rollout:
    pair = ExactTeacher(model), ExactStudent(model, rules.message_cost)
    policies = argmax_random_ties, argmax_random_ties
    return rollout(jax.random.key(0), *pair, game, rules, *policies, forced_messages=forced_messages)


def play(
    depth: int,
    target: int,
    rounds: int = 1,
    cost: float = 0.0,
    messages: list[int] | None = None,
    table: jax.Array = THREE,
    prior: jax.Array | None = None,
) -> Rollout:
    context = Context(features=table, lexicon=table > 0, prior=prior)
    game = Perspectives(context, context, jnp.asarray(target), jnp.arange(len(table)))
    forced = None if messages is None else jnp.array(messages)
    return play_exact(ExactModel(jnp.asarray(depth)), game, Rules(len(table), rounds, cost), forced)


@pytest.mark.parametrize("depth", [0, 1, 4])
def test_tables_of_any_depth_are_those_of_the_recursion(depth: int):
    both = soft_recursion(THREE > 0.5, 4)
    teacher, student = ExactModel(jnp.asarray(depth)).tables(THREE > 0.5, UNIFORM)
    np.testing.assert_allclose(teacher, both.teacher[depth], atol=1e-6)
    np.testing.assert_allclose(student, both.student[depth], atol=1e-6)


def test_the_teacher_values_true_words_by_his_belief_in_the_target():
    context = Context(features=THREE, lexicon=THREE > 0.5)
    values = ExactTeacher(ExactModel(jnp.asarray(0))).values(context, jnp.asarray(2), AgentState(UNIFORM))
    # For the blue cone: "blue" leaves a literal student with two candidates, "cone" does not.
    np.testing.assert_allclose(values, [0.5, UNTRUE, UNTRUE, 1.0], atol=1e-6)


def test_a_forced_message_replaces_the_teachers():
    played = play(3, target=0, messages=[RED])
    assert played.message.tolist() == [RED]
    assert played.action.tolist() == [1]  # only the red sphere is red
    assert played.success == 0
    assert play(3, target=2, messages=[-1]).message.tolist() == [CONE]


def test_a_literal_student_waits_while_uncertain_and_a_deep_one_need_not():
    literal = play(0, target=0, rounds=2, cost=0.1, messages=[BLUE, SPHERE])
    assert literal.n_messages == 2
    assert literal.episode_return == pytest.approx(1 - 0.2)
    deep = play(2, target=0, rounds=2, cost=0.1, messages=[BLUE, SPHERE])
    assert deep.n_messages == 1
    assert deep.episode_return == pytest.approx(1 - 0.1)


def test_candidates_with_prior_zero_change_nothing():
    table = jnp.zeros((5, 6)).at[:3, :4].set(THREE)
    prior = jnp.array([1 / 3, 1 / 3, 1 / 3, 0, 0])
    for depth in (0, 2):
        for word in (BLUE, CONE, 5):  # 5 fits nobody
            padded = play(depth, 0, messages=[word], table=table, prior=prior)
            plain = UNIFORM if word == 5 else play(depth, 0, messages=[word]).after[0]
            np.testing.assert_allclose(padded.after[0, :3], plain, atol=1e-6)
            np.testing.assert_allclose(padded.after[0, 3:], 0)


def test_ties_are_broken_at_random():
    keys = jax.random.split(jax.random.key(1), 400)
    picks = np.asarray(jax.vmap(lambda key: argmax_random_ties(key, jnp.array([0.2, 0.5, 0.5])))(keys))
    assert set(picks) == {1, 2}
    assert 140 < (picks == 1).sum() < 260  # 200 expected, std 10
