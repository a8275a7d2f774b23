"""Exact players in the one dialogue: what they say, believe and wait for is the recursion's."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.exact import UNTRUE, ExactStudent, ExactTeacher, Recursion, tossing
from implicature.agents.rollout import Views, dialogue
from implicature.agents.rsa import soft_recursion
from implicature.games.sampling import Rules

# blue sphere red cone: a blue sphere, a red sphere, a blue cone
THREE = jnp.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]], jnp.float32)
BLUE, SPHERE, RED, CONE = range(4)
UNIFORM = jnp.full(3, 1 / 3)


@eqx.filter_jit
def whole(mind: Recursion, views: Views, rules: Rules, words, prior):
    both = ExactTeacher(mind), ExactStudent(mind, rules.message_cost)
    return dialogue(jax.random.key(0), *both, views, rules, tossing, tossing, told=False, words=words, prior=prior)


def played(depth: int, target: int, rounds: int = 1, cost: float = 0.0, words=None, seen=THREE, prior=None):
    views = Views(seen, seen, jnp.asarray(target), jnp.arange(len(seen)))
    return whole(Recursion(jnp.asarray(depth)), views, Rules(len(seen), rounds, cost), words, prior)


@pytest.mark.parametrize("depth", [0, 1, 4])
def test_tables_of_any_depth_are_those_of_the_recursion(depth: int):
    both = soft_recursion(THREE > 0.5, 4)
    teacher, student = Recursion(jnp.asarray(depth)).tables(THREE > 0.5, UNIFORM)
    np.testing.assert_allclose(teacher, both.teacher[depth], atol=1e-6)
    np.testing.assert_allclose(student, both.student[depth], atol=1e-6)


def test_she_values_true_words_by_how_well_he_understands_them():
    mind = Recursion(jnp.asarray(0))
    values = ExactTeacher(mind).values(THREE > 0.5, jnp.asarray(2), UNIFORM)
    # For the blue cone: "blue" leaves a literal student torn, "cone" does not.
    np.testing.assert_allclose(values, [0.5, UNTRUE, UNTRUE, 1.0], atol=1e-6)


def test_a_person_speaks_for_the_teacher_where_she_gives_words():
    game = played(3, target=0, words=jnp.array([RED]))
    assert game.message.tolist() == [RED]
    assert game.action.tolist() == [1]  # only the red sphere is red
    assert game.found == 0
    assert played(3, target=2, words=jnp.array([-1])).message.tolist() == [CONE]


def test_a_literal_student_waits_while_torn_and_a_deep_one_need_not():
    torn = played(0, target=0, rounds=2, cost=0.1, words=jnp.array([BLUE, SPHERE]))
    assert torn.length == 2
    assert torn.gain == pytest.approx(1 - 0.2)
    sure = played(2, target=0, rounds=2, cost=0.1, words=jnp.array([BLUE, SPHERE]))
    assert sure.length == 1
    assert sure.gain == pytest.approx(1 - 0.1)


def test_candidates_ruled_out_from_the_start_change_nothing():
    seen = jnp.zeros((5, 6)).at[:3, :4].set(THREE)
    prior = jnp.array([1 / 3, 1 / 3, 1 / 3, 0, 0])
    for depth in (0, 2):
        for word in (BLUE, CONE, 5):  # 5 fits nobody
            wide = played(depth, 0, words=jnp.array([word]), seen=seen, prior=prior)
            narrow = UNIFORM if word == 5 else played(depth, 0, words=jnp.array([word])).after[0]
            np.testing.assert_allclose(wide.after[0, :3], narrow, atol=1e-6)
            np.testing.assert_allclose(wide.after[0, 3:], 0)


def test_equally_good_choices_are_tossed_for():
    keys = jax.random.split(jax.random.key(1), 400)
    picks = np.asarray(jax.vmap(lambda key: tossing(key, jnp.array([0.2, 0.5, 0.5])))(keys))
    assert set(picks) == {1, 2}
    assert 140 < (picks == 1).sum() < 260  # 200 expected, std 10
