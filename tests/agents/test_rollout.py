"""The one rollout: games worked out by hand with exact literal players, and properties of games of learned ones."""

from collections.abc import Callable
from itertools import permutations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.rollout import (
    Answer,
    Dialogue,
    Speak,
    Views,
    by_chance,
    dialogue,
    exploring,
    greedily,
    softly,
)
from implicature.agents.rsa import literal_teacher, normalised
from implicature.agents.student import Student
from implicature.games.sampling import Rules
from implicature.training.algorithm1 import new_pair
from implicature.training.config import Config

# {1, 2}, {1, 3}, {2, 3}: every message fits two.
PAIRS = jnp.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
AS_SEEN = jnp.arange(3)


class LiteralStudent(eqx.Module):
    """Bayes with a literal teacher; he waits unless he is sure, but for the last round."""

    def read(self, features):
        return literal_teacher(features > 0)

    def update(self, table, belief, message):
        return normalised(belief * table[:, message], axis=0)

    def policy(self, belief, last):
        return jnp.where(last | (jnp.max(belief) > 0.9), jnp.append(belief, 0.0), jnp.eye(len(belief) + 1)[-1])


class LiteralTeacher(eqx.Module):
    """She values a true message by his belief in the target after it."""

    def read(self, features):
        return literal_teacher(features > 0)

    def values(self, table, target, belief):
        return jnp.where(table[target] > 0, normalised(belief[:, None] * table, axis=0)[target], -1.0)

    def predict(self, table, belief, message):
        return normalised(belief * table[:, message], axis=0)


class Mistaken(eqx.Module):
    """A teacher who expects him to believe in the last candidate, whatever she says."""

    def read(self, truth):
        return truth

    def values(self, truth, target, belief):
        return jnp.arange(truth.shape[1], dtype=jnp.float32) + belief[0]

    def predict(self, truth, belief, message):
        return jnp.eye(len(truth))[-1]


class Echo(eqx.Module):
    """A student who believes in the candidate with the number that he hears."""

    def read(self, truth):
        return truth

    def update(self, truth, belief, message):
        return jnp.eye(len(truth))[message]

    def policy(self, belief, last):
        return jnp.append(belief, 0.0)


@eqx.filter_jit
def game(
    teacher, student, views: Views, rules: Rules, speak: Speak = greedily, answer: Answer = greedily, told=False, key=0
) -> Dialogue:
    return dialogue(jax.random.key(key), teacher, student, views, rules, speak, answer, told)


def literal(target: int, rules: Rules, order: list[int] | jax.Array = AS_SEEN) -> Dialogue:
    order = jnp.asarray(order)
    return game(LiteralTeacher(), LiteralStudent(), Views(PAIRS, PAIRS[order], jnp.asarray(target), order), rules)


# By hand


def test_with_one_round_he_must_answer_and_picks_the_first_of_equals():
    # For {1, 2} she says 1, the first of two messages worth 1/2. He believes 1/2, 1/2, 0 and picks {1, 2}.
    played = literal(target=0, rules=Rules(3, rounds=1, message_cost=0.25))
    assert played.message.tolist() == [0]
    assert np.allclose(played.values, [[0.5, 0.5, -1]])
    assert np.allclose(played.before, 1 / 3)
    assert np.allclose(played.after, [[0.5, 0.5, 0]])
    assert np.allclose(played.policy, [[0.5, 0.5, 0, 0]])
    assert played.action.tolist() == [0]
    assert (float(played.found), float(played.length), float(played.gain)) == (1, 1, 0.75)
    # For {1, 3} she says 1, too, and he picks {1, 2}: nothing but the cost.
    played = literal(target=1, rules=Rules(3, rounds=1, message_cost=0.25))
    assert played.action.tolist() == [0]
    assert (float(played.found), float(played.length), float(played.gain)) == (0, 1, -0.25)


def test_with_three_rounds_he_waits_for_the_second_message_and_the_third_is_not_played():
    # {2, 3}: "2" leaves {1, 2} and {2, 3} even; then "3" excludes {1, 2}. Gain 1 - 2 · 0.25.
    played = literal(target=2, rules=Rules(3, rounds=3, message_cost=0.25))
    assert played.message[:2].tolist() == [1, 2]
    assert np.allclose(played.after[:2], [[0.5, 0, 0.5], [0, 0, 1]])
    assert np.allclose(played.before[1], played.after[0])
    assert played.action[:2].tolist() == [3, 2]
    assert played.live.tolist() == [True, True, False]
    assert np.allclose(played.reward[:2], [-0.25, 0.75])
    assert (float(played.found), float(played.length), float(played.gain)) == (1, 2, 0.5)


def test_a_wrong_answer_ends_the_game_too():
    # She names the last message of three; the echo picks candidate 2 at once, and the target is 0.
    played = game(
        Mistaken(), Echo(), Views(PAIRS, PAIRS, jnp.asarray(0), AS_SEEN), Rules(3, rounds=3, message_cost=0.25)
    )
    assert played.live.tolist() == [True, False, False]
    assert (float(played.found), float(played.length), float(played.gain)) == (0, 1, -0.25)


def test_everything_is_told_in_the_teachers_order():
    # He sees {2, 3}, {1, 2}, {1, 3}. After "1" he believes 0, 1/2, 1/2 in his order and picks the first of equals,
    # {1, 2}: her first.
    played = literal(target=0, rules=Rules(3), order=[2, 0, 1])
    assert np.allclose(played.after, [[0.5, 0.5, 0]])
    assert np.allclose(played.policy, [[0.5, 0.5, 0, 0]])
    assert played.action.tolist() == [0]
    # He sees {1, 3} before {1, 2}: the first of equals is another.
    assert literal(target=0, rules=Rules(3), order=[1, 0, 2]).action.tolist() == [1]


def test_told_she_goes_by_his_belief_and_untold_by_her_prediction():
    # He waits after an even belief, so there is a second round to have an estimate in.
    views, rules = Views(PAIRS, PAIRS, jnp.asarray(0), AS_SEEN), Rules(3, rounds=2)
    for told in (True, False):
        played = game(Mistaken(), LiteralStudent(), views, rules, told=told)
        # She says the last message, "3", of which he makes 0, 1/2, 1/2.
        assert played.live.tolist() == [True, True]
        assert np.allclose(played.after[0], [0, 0.5, 0.5])
        assert np.allclose(played.estimate[0], 1 / 3)
        assert np.allclose(played.estimate[1], [0, 0.5, 0.5] if told else [0, 0, 1])
        # Either way he goes on from what he believes himself.
        assert np.allclose(played.before[1], [0, 0.5, 0.5])


def test_in_equivalent_games_he_hears_the_renamed_message():
    # Message 2 is called 0 where he is, so the echo believes in his candidate 0, her 1.
    order = jnp.array([1, 2, 0])
    views = Views(PAIRS, PAIRS[order], jnp.asarray(1), order, jnp.array([1, 2, 0]))
    played = game(Mistaken(), Echo(), views, Rules(3))
    assert played.message.tolist() == [2]
    assert played.action.tolist() == [1]
    assert float(played.found) == 1


# Of every game of learned players


CANDIDATES, MESSAGES = 4, 6
PAIR = new_pair(jax.random.key(1), Config(width=4, depth=1), jnp.eye(MESSAGES), MESSAGES)
RULES = Rules(CANDIDATES, rounds=2, message_cost=0.1)
FEATURES = jax.random.bernoulli(jax.random.key(2), 0.4, (64, CANDIDATES, MESSAGES)).astype(jnp.float32)
ORDERS = jnp.array([np.random.default_rng(i).permutation(CANDIDATES) for i in range(64)])
PLAYING: dict[str, tuple[Speak, Answer, bool]] = {
    "in training": (exploring(jnp.asarray(0.5), 10.0), by_chance, True),
    "in testing": (greedily, greedily, False),
}
however_played = pytest.mark.parametrize("how", PLAYING)


@eqx.filter_jit
def games(how: str, orders: jax.Array) -> Dialogue:
    """64 games with different targets."""
    speak, answer, told = PLAYING[how]

    def one(key, features, order):
        views = Views(features, features[order], jnp.sum(features).astype(int) % CANDIDATES, order)
        return dialogue(key, PAIR.teacher, PAIR.student, views, RULES, speak, answer, told)

    return jax.vmap(one)(jax.random.split(jax.random.key(3), 64), FEATURES, orders)


@however_played
def test_the_first_answer_ends_the_game_and_the_last_round_has_one(how: str):
    played = games(how, ORDERS)
    live, action, policy = np.asarray(played.live), np.asarray(played.action), np.asarray(played.policy)
    # A round is played if and only if the one before was and he waited in it.
    assert live[:, 0].all()
    assert np.array_equal(live[:, 1], action[:, 0] == RULES.wait)
    assert live[:, 1].any()
    assert how == "in testing" or not live[:, 1].all()
    assert np.all(action[:, -1] != RULES.wait)
    assert np.all(policy[:, -1, -1] == 0)
    assert np.allclose(policy.sum(axis=2), 1, atol=1e-5)


@however_played
def test_the_gain_is_what_finding_is_worth_less_the_costs_of_messages(how: str):
    played = games(how, ORDERS)
    messages, found = np.asarray(jax.vmap(lambda d: d.length)(played)), np.asarray(jax.vmap(lambda d: d.found)(played))
    assert np.array_equal(messages, np.asarray(played.live).sum(axis=1))
    assert set(found.tolist()) == {0.0, 1.0}
    assert np.allclose(jax.vmap(lambda d: d.gain)(played), found - 0.1 * messages, atol=1e-6)


def test_her_estimate_is_his_belief_in_training_and_her_prediction_in_testing():
    played = games("in training", ORDERS)
    assert np.array_equal(played.estimate, played.before)
    played = games("in testing", ORDERS)

    @jax.jit
    @jax.vmap
    def predict(features, estimate, message):
        return PAIR.teacher.predict(PAIR.teacher.read(features), estimate, message)

    predicted = predict(FEATURES, played.estimate[:, 0], played.message[:, 0])
    assert np.allclose(played.estimate[:, 1], predicted, atol=1e-5)
    assert np.abs(played.estimate[:, 1] - played.before[:, 1]).max() > 0.01


def test_his_order_of_the_candidates_does_not_change_whom_he_picks():
    first = games("in testing", jnp.tile(jnp.arange(CANDIDATES), (64, 1)))
    # Of two alike he picks the first in his order.
    different = np.array([len(np.unique(game, axis=0)) == CANDIDATES for game in np.asarray(FEATURES)])
    assert different.sum() > 30
    for order in list(permutations(range(CANDIDATES)))[5::6]:
        other = games("in testing", jnp.tile(jnp.array(order), (64, 1)))
        assert np.array_equal(first.action[different], other.action[different])
        assert np.allclose(first.after, other.after, atol=1e-4)


def test_more_uncertain_students_wait_more_and_never_in_the_last_round():
    # Four alike: H = ln 4. Sure: H = 0.
    student = Student(PAIR.student.belief, slope=2.0, offset=-1.0)
    for belief, entropy in ([0.25] * 4, np.log(4)), ([1.0, 0, 0, 0], 0.0):
        wait = 1 / (1 + np.exp(1 - 2 * entropy))
        policy = student.policy(jnp.array(belief), jnp.asarray(False))
        assert np.allclose(policy, [*(np.array(belief) * (1 - wait)), wait], atol=1e-5)
        assert np.allclose(student.policy(jnp.array(belief), jnp.asarray(True)), [*belief, 0])


# How to choose


def chosen_how_often(choose: Callable, values: list[float]) -> np.ndarray:
    keys = jax.random.split(jax.random.key(0), 40_000)
    picks = jax.jit(jax.vmap(choose, (0, None)))(keys, jnp.array(values))
    return np.bincount(np.asarray(picks), minlength=len(values)) / len(keys)


@pytest.mark.parametrize(
    ("choose", "values", "expected"),
    [
        (greedily, [0.1, 0.7, 0.2, 0.0], [0, 1, 0, 0]),
        (by_chance, [0.1, 0.6, 0.3, 0.0], [0.1, 0.6, 0.3, 0]),
        # Chances need not add up to one.
        (by_chance, [0.0, 2.0, 0.0, 6.0], [0, 0.25, 0, 0.75]),
        # β Q = 0, ln 3: 1/4 and 3/4.
        (softly(10.0), [0.0, np.log(3) / 10], [0.25, 0.75]),
        # Half the time either, half the time 1/4 and 3/4: 3/8 and 5/8.
        (exploring(jnp.asarray(0.5), 10.0), [0.0, np.log(3) / 10], [0.375, 0.625]),
    ],
    ids=["greedily", "by chance", "by weights", "softly", "exploring"],
)
def test_choices_are_as_frequent_as_their_chances(choose: Callable, values: list[float], expected: list[float]):
    found = chosen_how_often(choose, values)
    # Four standard errors of 40,000 draws are at most 0.01; what has no chance is never chosen.
    assert np.allclose(found, expected, atol=0.01)
    assert np.all(found[np.array(expected) == 0] == 0)


def test_many_games_at_once_are_played_as_one_by_one():
    one_by_one = games("in testing", ORDERS)

    @eqx.filter_jit
    def at_once() -> Dialogue:
        his = jnp.take_along_axis(FEATURES, ORDERS[..., None], axis=1)
        target = jnp.sum(FEATURES, axis=(1, 2)).astype(int) % CANDIDATES
        views = Views(jnp.swapaxes(FEATURES, 0, 1), jnp.swapaxes(his, 0, 1), target, ORDERS.T)
        return dialogue(jax.random.key(3), PAIR.teacher, PAIR.student, views, RULES, greedily, greedily, told=False)

    together = at_once()
    for name in ("message", "values", "estimate", "before", "after", "policy", "action", "reward", "live"):
        assert np.allclose(np.moveaxis(getattr(together, name), -1, 0), getattr(one_by_one, name), atol=1e-4), name
    for name in ("found", "gain", "length"):
        assert np.allclose(getattr(together, name), jax.vmap(lambda d, name=name: getattr(d, name))(one_by_one))
