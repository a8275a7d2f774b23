"""Agents of one's own play in the one dialogue, plain functions as compiled ones; exact ones as the recursion says."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.custom import OwnStudent, OwnTeacher, StudentSees, TeacherSees, belief_and_wait_of, values_of
from implicature.agents.exact import ExactStudent, ExactTeacher, Recursion
from implicature.agents.rollout import Dialogue, Views, dialogue, greedily
from implicature.agents.rsa import soft_recursion
from implicature.games.sampling import Rules

# {1, 2}, {1, 3}, {2, 3}: every message fits two.
PAIRS = jnp.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
ORDER = jnp.array([2, 0, 1])
RULES = Rules(3, rounds=3, message_cost=0.25)


def new_and_true(sees: TeacherSees) -> Any:
    """The first true word that she has not said yet, in NumPy."""
    values = np.asarray(sees.candidates)[sees.target] - 0.01 * np.arange(3)
    values[[m for m in sees.messages if m >= 0]] = -np.inf
    return values


def fits_all(sees: StudentSees) -> Any:
    """Whom all words fit, in plain Python; he waits while more than one is left."""
    heard = [m for m in sees.messages if m >= 0]
    fits = [all(row[m] for m in heard) for row in np.asarray(sees.candidates)]
    return fits, float(sum(fits) > 1)


@jax.jit
def new_and_true_compiled(sees: TeacherSees) -> Any:
    said = jnp.any(jnp.arange(3)[:, None] == sees.messages, axis=1)
    return jnp.where(said, -jnp.inf, sees.candidates[sees.target] - 0.01 * jnp.arange(3))


class FitsAll(eqx.Module):
    def __call__(self, sees: StudentSees) -> Any:
        heard = jnp.where(sees.messages >= 0, sees.messages, 3)
        fits = jnp.all(jnp.column_stack([sees.candidates, jnp.ones(3)])[:, heard] > 0, axis=1)
        return fits, jnp.sum(fits) > 1


@eqx.filter_jit
def every_target(teacher: Any, student: Any, rules: Rules = RULES) -> Dialogue:
    def one(target: Any) -> Dialogue:
        views = Views(PAIRS, PAIRS[ORDER], target, ORDER)
        return dialogue(jax.random.key(0), teacher, student, views, rules, greedily, greedily, told=False)

    return jax.vmap(one)(jnp.arange(3))


@pytest.mark.parametrize(
    ("teacher", "student"), [(new_and_true, fits_all), (new_and_true_compiled, FitsAll())], ids=["plain", "compiled"]
)
def test_own_agents_play_as_worked_out_by_hand(teacher: Any, student: Any):
    # She says both words of the target, in order; after the first two candidates are left, and he waits.
    played = every_target(OwnTeacher(teacher, 3), OwnStudent(student))
    assert played.message[:, :2].tolist() == [[0, 1], [0, 2], [1, 2]]
    assert np.allclose(played.after[0, :2], [[0.5, 0.5, 0], [1, 0, 0]])
    assert np.allclose(played.after[2, :2], [[0.5, 0, 0.5], [0, 0, 1]])
    assert played.action[:, :2].tolist() == [[3, 0], [3, 1], [3, 2]]
    assert played.live.tolist() == [[True, True, False]] * 3
    assert np.allclose(jax.vmap(lambda one: one.gain)(played), 0.5)


def test_in_the_last_round_he_does_not_wait_whatever_he_says():
    played = every_target(OwnTeacher(new_and_true, 3), OwnStudent(lambda sees: ([1, 1, 3], 1.0)), Rules(3, rounds=2))
    assert played.action[:, 0].tolist() == [3, 3, 3]
    # His third candidate is her second.
    assert played.action[:, 1].tolist() == [1, 1, 1]
    assert np.allclose(played.after[0, 0], [0.2, 0.6, 0.2])


def test_a_function_sees_what_it_may_see_and_nothing_else():
    seen: list[Any] = []

    def teacher(sees: TeacherSees) -> Any:
        seen.append(sees)
        return [0, 0, 1]

    def student(sees: StudentSees) -> Any:
        seen.append(sees)
        return [1, 0, 0], 0.0

    every_target(OwnTeacher(teacher, 3), OwnStudent(student), Rules(3, rounds=2))
    hers = [sees for sees in seen if isinstance(sees, TeacherSees)]
    his = [sees for sees in seen if isinstance(sees, StudentSees)]
    assert [(int(sees.target), sees.messages.tolist()) for sees in hers[:3]] == [(i, [-1, -1]) for i in range(3)]
    assert [sees.messages.tolist() for sees in his[:3]] == [[2, -1]] * 3
    assert all(np.array_equal(sees.candidates, PAIRS) for sees in hers)
    assert all(np.array_equal(sees.candidates, PAIRS[ORDER]) for sees in his)
    assert his[0]._fields == ("candidates", "messages")


@pytest.mark.parametrize(
    ("check", "answer", "sentence"),
    [
        (values_of, [1, 2], "mine gave values of shape (2,): a teacher gives one for each of 3."),
        (values_of, "no", "mine answered 'no': a teacher gives 3 values."),
        (values_of, [1, 2, np.nan], "mine gave a value that is not a number"),
        (belief_and_wait_of, [1, 2, 3], "mine answered [1, 2, 3]: a student gives a belief and the chance"),
        (belief_and_wait_of, ([1, 2], 0), "mine gave a belief of shape (2,): a student gives one for each of 3."),
        (belief_and_wait_of, ([0, 0, 0], 0), "mine gave a belief that is none"),
        (belief_and_wait_of, ([1, -1, 1], 0), "mine gave a belief that is none"),
        (belief_and_wait_of, ([1, 1, 1], 2), "mine waits with a chance of 2.0: a chance is from 0 to 1."),
    ],
)
def test_an_answer_that_is_none_is_a_sentence(check: Any, answer: Any, sentence: str):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        check(answer, 3, "mine")
    assert sentence in str(refused.value)


# Exact players


def test_exact_players_believe_and_say_what_the_recursion_does():
    truth = jnp.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]], bool)  # blue sphere, red sphere, blue cone
    order = jnp.arange(3)

    def one(target: Any) -> Dialogue:
        views = Views(truth.astype(jnp.float32), truth.astype(jnp.float32), target, order)
        pair = ExactTeacher(Recursion(2)), ExactStudent(Recursion(2))
        return dialogue(jax.random.key(0), *pair, views, Rules(3), greedily, greedily, told=False)

    played = jax.jit(jax.vmap(one))(jnp.arange(3))
    belief = np.asarray(soft_recursion(truth, 2).student[-1])
    for target in range(3):
        values = np.where(truth[target], belief[target], -1)
        assert np.allclose(played.values[target, 0], values, atol=1e-5)
        assert np.allclose(played.after[target, 0], belief[:, values.argmax()], atol=1e-5)
    assert played.action[:, 0].tolist() == [0, 1, 2]


def test_an_exact_student_waits_while_more_can_be_had_than_a_message_costs():
    # He believes 1/2, 1/2, 0 after the first word: another might add 1/2.
    for cost, waits in ((0.25, True), (0.6, False)):
        rules = Rules(3, rounds=2, message_cost=cost)
        played = every_target(ExactTeacher(Recursion(0)), ExactStudent(Recursion(0), cost), rules)
        assert (played.action[:, 0] == 3).tolist() == [waits] * 3
        if waits:
            assert played.action[:, 1].tolist() == [0, 1, 2]
