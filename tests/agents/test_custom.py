"""Custom agents in the one rollout, plain functions like compiled ones; exact agents as the recursion says."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.contracts import AbstractStudent, AbstractTeacher
from implicature.agents.custom import (
    CustomStudent,
    CustomTeacher,
    StudentObservation,
    TeacherObservation,
    check_belief_and_wait,
    check_values,
)
from implicature.agents.exact import ExactModel, ExactStudent, ExactTeacher
from implicature.agents.perspectives import FeatureTable, perspectives
from implicature.agents.rollout import Rollout, rollout
from implicature.agents.rsa import soft_recursion
from implicature.games.rules import Rules
from implicature.games.sampling import Game

# {1, 2}, {1, 3}, {2, 3}: every message fits two.
PAIRS = jnp.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
ORDER = jnp.array([2, 0, 1])
RULES = Rules(3, rounds=3, message_cost=0.25)


def new_and_true(observation: TeacherObservation) -> Any:
    """The first true word that she has not sent yet, in NumPy."""
    values = np.asarray(observation.candidates)[observation.target] - 0.01 * np.arange(3)
    values[[m for m in observation.messages if m >= 0]] = -np.inf
    return values


def fits_all(observation: StudentObservation) -> Any:
    """The candidates that all words fit, in plain Python; he waits while more than one is left."""
    received = [m for m in observation.messages if m >= 0]
    fits = [all(row[m] for m in received) for row in np.asarray(observation.candidates)]
    return fits, float(sum(fits) > 1)


@jax.jit
def new_and_true_compiled(observation: TeacherObservation) -> Any:
    sent = jnp.any(jnp.arange(3)[:, None] == observation.messages, axis=1)
    return jnp.where(sent, -jnp.inf, observation.candidates[observation.target] - 0.01 * jnp.arange(3))


class FitsAll(eqx.Module):
    def __call__(self, observation: StudentObservation) -> Any:
        received = jnp.where(observation.messages >= 0, observation.messages, 3)
        fits = jnp.all(jnp.column_stack([observation.candidates, jnp.ones(3)])[:, received] > 0, axis=1)
        return fits, jnp.sum(fits) > 1


@eqx.filter_jit
def every_target(teacher: AbstractTeacher, student: AbstractStudent, rules: Rules = RULES) -> Rollout:
    def one(target: jax.Array) -> Rollout:
        game = perspectives(Game(jnp.arange(3), target, ORDER), FeatureTable(PAIRS, PAIRS), PAIRS > 0)
        return rollout(jax.random.key(0), teacher, student, game, rules)

    return jax.vmap(one)(jnp.arange(3))


@pytest.mark.parametrize(
    ("teacher", "student"), [(new_and_true, fits_all), (new_and_true_compiled, FitsAll())], ids=["plain", "compiled"]
)
def test_custom_agents_play_as_worked_out_by_hand(teacher: Any, student: Any):
    # She sends both words of the target, in order; after the first two candidates are left, and he waits.
    played = every_target(CustomTeacher(teacher, 3), CustomStudent(student))
    assert played.message[:, :2].tolist() == [[0, 1], [0, 2], [1, 2]]
    assert np.allclose(played.after[0, :2], [[0.5, 0.5, 0], [1, 0, 0]])
    assert np.allclose(played.after[2, :2], [[0.5, 0, 0.5], [0, 0, 1]])
    assert played.action[:, :2].tolist() == [[3, 0], [3, 1], [3, 2]]
    assert played.active.tolist() == [[True, True, False]] * 3
    assert np.allclose(jax.vmap(lambda one: one.episode_return)(played), 0.5)


def test_in_the_last_round_he_does_not_wait_whatever_the_function_returns():
    played = every_target(
        CustomTeacher(new_and_true, 3), CustomStudent(lambda observation: ([1, 1, 3], 1.0)), Rules(3, rounds=2)
    )
    assert played.action[:, 0].tolist() == [3, 3, 3]
    # His third candidate is her second.
    assert played.action[:, 1].tolist() == [1, 1, 1]
    assert np.allclose(played.after[0, 0], [0.2, 0.6, 0.2])


def test_a_function_sees_what_it_may_see_and_nothing_else():
    observations: list[Any] = []

    def teacher(observation: TeacherObservation) -> Any:
        observations.append(observation)
        return [0, 0, 1]

    def student(observation: StudentObservation) -> Any:
        observations.append(observation)
        return [1, 0, 0], 0.0

    every_target(CustomTeacher(teacher, 3), CustomStudent(student), Rules(3, rounds=2))
    hers = [one for one in observations if isinstance(one, TeacherObservation)]
    his = [one for one in observations if isinstance(one, StudentObservation)]
    assert [(int(one.target), one.messages.tolist()) for one in hers[:3]] == [(i, [-1, -1]) for i in range(3)]
    assert [one.messages.tolist() for one in his[:3]] == [[2, -1]] * 3
    assert all(np.array_equal(one.candidates, PAIRS) for one in hers)
    assert all(np.array_equal(one.candidates, PAIRS[ORDER]) for one in his)
    assert his[0]._fields == ("candidates", "messages")


@pytest.mark.parametrize(
    ("check", "answer", "sentence"),
    [
        (check_values, [1, 2], "mine gave values of shape (2,): a teacher gives one for each of 3."),
        (check_values, "no", "mine answered 'no': a teacher gives 3 values."),
        (check_values, [1, 2, np.nan], "mine gave a value that is not a number"),
        (
            check_belief_and_wait,
            [1, 2, 3],
            "mine answered [1, 2, 3]: a student gives a belief and his",
        ),
        (check_belief_and_wait, ([1, 2], 0), "mine gave a belief of shape (2,): a student gives one for each of 3."),
        (check_belief_and_wait, ([0, 0, 0], 0), "mine gave a belief that is none"),
        (check_belief_and_wait, ([1, -1, 1], 0), "mine gave a belief that is none"),
        (check_belief_and_wait, ([1, 1, 1], 2), "mine waits with probability 2.0: a probability is from 0 to 1."),
    ],
)
def test_an_answer_of_the_wrong_kind_is_refused_in_one_sentence(check: Any, answer: Any, sentence: str):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        check(answer, 3, "mine")
    assert sentence in str(refused.value)


# Exact players


def test_exact_players_believe_and_send_what_the_recursion_does():
    truth = jnp.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]], bool)  # blue sphere, red sphere, blue cone
    attributes = truth.astype(jnp.float32)

    def one(target: jax.Array) -> Rollout:
        game = Game(jnp.arange(3), target, jnp.arange(3))
        pair = ExactTeacher(ExactModel(2)), ExactStudent(ExactModel(2))
        seen = perspectives(game, FeatureTable(attributes, attributes), truth)
        return rollout(jax.random.key(0), *pair, seen, Rules(3))

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
        played = every_target(ExactTeacher(ExactModel(0)), ExactStudent(ExactModel(0), cost), rules)
        assert (played.action[:, 0] == 3).tolist() == [waits] * 3
        if waits:
            assert played.action[:, 1].tolist() == [0, 1, 2]
