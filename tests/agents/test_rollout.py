"""The one rollout: games worked out by hand with literal players, and properties of games of learned ones."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Bool

from implicature.agents.contracts import AbstractStudent, AbstractTeacher, AgentState, Policy, Values
from implicature.agents.perspectives import FeatureTable, Perspectives, perspectives
from implicature.agents.rollout import (
    ActionPolicy,
    MessagePolicy,
    Rollout,
    argmax,
    boltzmann,
    categorical,
    epsilon_boltzmann,
    rollout,
)
from implicature.agents.rsa import Table, Truth, literal_teacher, normalize
from implicature.agents.student import LearnedStudent
from implicature.agents.teacher import LearnedTeacher
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.nn.kernels import Index
from implicature.training.config import Config
from implicature.training.pairs import new_pragmatic_pair

# {1, 2}, {1, 3}, {2, 3}: every message fits two.
PAIRS = jnp.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
SAME_ORDER = jnp.arange(3)


class LiteralStudent(AbstractStudent[Table]):
    """Bayes with a literal teacher; he waits until he is certain, but answers in the last round."""

    def encode(self, context: Context) -> Table:
        return literal_teacher(context.lexicon)

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def update(self, encoding: Table, state: AgentState, message: Index) -> AgentState:
        return AgentState(normalize(state.belief * encoding[:, message], axis=0), active=state.active)

    def policy(self, state: AgentState, last: Bool[Array, ""]) -> Policy:
        belief = state.belief
        return jnp.where(last | (jnp.max(belief) > 0.9), jnp.append(belief, 0.0), jnp.eye(len(belief) + 1)[-1])


class LiteralTeacher(AbstractTeacher[Table]):
    """She values a true message by his belief in the target after it."""

    def encode(self, context: Context) -> Table:
        return literal_teacher(context.lexicon)

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def values(self, encoding: Table, target: Index, state: AgentState) -> Values:
        belief = normalize(state.belief[:, None] * encoding, axis=0)
        return jnp.where(encoding[target] > 0, belief[target], -1.0)

    def observe(self, encoding: Table, state: AgentState, message: Index) -> AgentState:
        return AgentState(normalize(state.belief * encoding[:, message], axis=0), active=state.active)

    def message_probabilities(self, values: Values) -> Values:
        return jax.nn.softmax(values)


class MistakenTeacher(AbstractTeacher[Truth]):
    """She sends the last message and expects him to believe in the last candidate, whatever she says."""

    def encode(self, context: Context) -> Truth:
        return context.lexicon

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def values(self, encoding: Truth, target: Index, state: AgentState) -> Values:
        return jnp.arange(encoding.shape[1], dtype=jnp.float32) + state.belief[0]

    def observe(self, encoding: Truth, state: AgentState, message: Index) -> AgentState:
        return AgentState(jnp.eye(len(encoding))[-1], active=state.active)

    def message_probabilities(self, values: Values) -> Values:
        return jax.nn.softmax(values)


class EchoStudent(AbstractStudent[Truth]):
    """He believes in the candidate with the index of the message."""

    def encode(self, context: Context) -> Truth:
        return context.lexicon

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def update(self, encoding: Truth, state: AgentState, message: Index) -> AgentState:
        return AgentState(jnp.eye(len(encoding))[message], active=state.active)

    def policy(self, state: AgentState, last: Bool[Array, ""]) -> Policy:
        return jnp.append(state.belief, 0.0)


def three_pairs(target: int, order: list[int] | jax.Array = SAME_ORDER) -> Perspectives:
    game = Game(jnp.arange(3), jnp.asarray(target), jnp.asarray(order))
    return perspectives(game, FeatureTable(PAIRS, PAIRS), PAIRS > 0)


@eqx.filter_jit
def play(
    teacher: AbstractTeacher, student: AbstractStudent, game: Perspectives, rules: Rules, observe_belief: bool = False
) -> Rollout:
    return rollout(jax.random.key(0), teacher, student, game, rules, observe_belief=observe_belief)


def literal(target: int, rules: Rules, order: list[int] | jax.Array = SAME_ORDER) -> Rollout:
    return play(LiteralTeacher(), LiteralStudent(), three_pairs(target, order), rules)


def outcome(played: Rollout) -> tuple[float, int, float]:
    return float(played.success), int(played.n_messages), float(played.episode_return)


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
    assert outcome(played) == (1, 1, 0.75)
    # For {1, 3} she says 1, too, and he picks {1, 2}: nothing but the cost.
    played = literal(target=1, rules=Rules(3, rounds=1, message_cost=0.25))
    assert played.action.tolist() == [0]
    assert outcome(played) == (0, 1, -0.25)


def test_with_three_rounds_he_waits_for_the_second_message_and_the_third_is_not_played():
    # {2, 3}: "2" leaves {1, 2} and {2, 3} even; then "3" excludes {1, 2}. Return 1 - 2 · 0.25.
    played = literal(target=2, rules=Rules(3, rounds=3, message_cost=0.25))
    assert played.message[:2].tolist() == [1, 2]
    assert np.allclose(played.after[:2], [[0.5, 0, 0.5], [0, 0, 1]])
    assert np.allclose(played.before[1], played.after[0])
    assert played.action[:2].tolist() == [3, 2]
    assert played.active.tolist() == [True, True, False]
    assert np.allclose(played.reward[:2], [-0.25, 0.75])
    assert outcome(played) == (1, 2, 0.5)


def test_a_wrong_answer_ends_the_game_too():
    # She sends the last message of three; the echo picks candidate 2 at once, and the target is 0.
    played = play(MistakenTeacher(), EchoStudent(), three_pairs(0), Rules(3, rounds=3, message_cost=0.25))
    assert played.active.tolist() == [True, False, False]
    assert outcome(played) == (0, 1, -0.25)


def test_everything_is_recorded_in_the_teachers_order():
    # He sees {2, 3}, {1, 2}, {1, 3}. After "1" he believes 0, 1/2, 1/2 in his order and picks the first of equals,
    # {1, 2}: her first.
    played = literal(target=0, rules=Rules(3), order=[2, 0, 1])
    assert np.allclose(played.after, [[0.5, 0.5, 0]])
    assert np.allclose(played.policy, [[0.5, 0.5, 0, 0]])
    assert played.action.tolist() == [0]
    # He sees {1, 3} before {1, 2}: the first of equals is another.
    assert literal(target=0, rules=Rules(3), order=[1, 0, 2]).action.tolist() == [1]


def test_the_teacher_goes_by_his_belief_where_she_observes_it_and_else_by_her_prediction():
    # He waits after an even belief, so there is a second round to have an estimate in.
    game, rules = three_pairs(0), Rules(3, rounds=2)
    for observe_belief in (True, False):
        played = play(MistakenTeacher(), LiteralStudent(), game, rules, observe_belief)
        # She sends the last message, "3", of which he makes 0, 1/2, 1/2.
        assert played.active.tolist() == [True, True]
        assert np.allclose(played.after[0], [0, 0.5, 0.5])
        assert np.allclose(played.estimate[0], 1 / 3)
        assert np.allclose(played.estimate[1], [0, 0.5, 0.5] if observe_belief else [0, 0, 1])
        # Either way he goes on from what he believes himself.
        assert np.allclose(played.before[1], [0, 0.5, 0.5])


def test_in_equivalent_games_he_receives_the_renamed_message():
    # Message 2 reaches him as 0, so the echo believes in his candidate 0, her 1.
    game = replace(three_pairs(1, [1, 2, 0]), renaming=jnp.array([1, 2, 0]))
    played = play(MistakenTeacher(), EchoStudent(), game, Rules(3))
    assert played.message.tolist() == [2]
    assert played.action.tolist() == [1]
    assert float(played.success) == 1


# Every game of learned players


CANDIDATES, MESSAGES = 4, 6
CONFIG = Config.of(width=4, q_hidden=8, layers=1, freeze_semantics=True, beta=20.0)
PAIR = new_pragmatic_pair(jax.random.key(1), CONFIG, jnp.eye(MESSAGES), MESSAGES)
assert isinstance(PAIR.teacher, LearnedTeacher)
TEACHER = PAIR.teacher
RULES = Rules(CANDIDATES, rounds=2, message_cost=0.1)
FEATURES = jax.random.bernoulli(jax.random.key(2), 0.4, (64, CANDIDATES, MESSAGES)).astype(jnp.float32)
ORDERS = jnp.array([np.random.default_rng(i).permutation(CANDIDATES) for i in range(64)])
POLICIES: dict[str, tuple[MessagePolicy, ActionPolicy, bool]] = {
    "in training": (epsilon_boltzmann(jnp.asarray(0.5), 10.0), categorical, True),
    "in testing": (argmax, argmax, False),
}
every_policy = pytest.mark.parametrize("how", POLICIES)


@eqx.filter_jit
def games(how: str, orders: jax.Array) -> Rollout:
    """64 games with different targets."""
    speak, answer, observe_belief = POLICIES[how]

    def one(key, features, order):
        game = Game(jnp.arange(CANDIDATES), jnp.sum(features).astype(int) % CANDIDATES, order)
        seen = perspectives(game, FeatureTable(features, features), features > 0)
        return rollout(key, PAIR.teacher, PAIR.student, seen, RULES, speak, answer, observe_belief=observe_belief)

    return jax.vmap(one)(jax.random.split(jax.random.key(3), 64), FEATURES, orders)


@every_policy
def test_the_first_answer_ends_the_game_and_the_last_round_has_one(how: str):
    played = games(how, ORDERS)
    active, action, policy = np.asarray(played.active), np.asarray(played.action), np.asarray(played.policy)
    # A round is played if and only if the one before was and he waited in it.
    assert active[:, 0].all()
    assert np.array_equal(active[:, 1], action[:, 0] == RULES.wait)
    assert active[:, 1].any()
    assert how == "in testing" or not active[:, 1].all()
    assert np.all(action[:, -1] != RULES.wait)
    assert np.all(policy[:, -1, -1] == 0)
    assert np.allclose(policy.sum(axis=2), 1, atol=1e-5)


@every_policy
def test_the_return_is_the_reward_for_success_less_the_costs_of_messages(how: str):
    played = games(how, ORDERS)
    messages = np.asarray(jax.vmap(lambda one: one.n_messages)(played))
    success = np.asarray(jax.vmap(lambda one: one.success)(played))
    assert np.array_equal(messages, np.asarray(played.active).sum(axis=1))
    assert set(success.tolist()) == {0.0, 1.0}
    assert np.allclose(jax.vmap(lambda one: one.episode_return)(played), success - 0.1 * messages, atol=1e-6)


def test_her_estimate_is_his_belief_in_training_and_her_prediction_in_testing():
    played = games("in training", ORDERS)
    assert np.array_equal(played.estimate, played.before)
    played = games("in testing", ORDERS)

    @jax.jit
    @jax.vmap
    def predict(features, estimate, message):
        context = Context(features=features, lexicon=features > 0)
        return TEACHER.predict(TEACHER.encode(context), estimate, message)

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
    # Four equally likely: H = ln 4. Certain: H = 0.
    assert isinstance(PAIR.student, LearnedStudent)
    student = LearnedStudent(PAIR.student.net, slope=2.0, offset=-1.0)
    for belief, entropy in ([0.25] * 4, np.log(4)), ([1.0, 0, 0, 0], 0.0):
        wait = 1 / (1 + np.exp(1 - 2 * entropy))
        policy = student.policy(AgentState(jnp.array(belief)), jnp.asarray(False))
        assert np.allclose(policy, [*(np.array(belief) * (1 - wait)), wait], atol=1e-5)
        assert np.allclose(student.policy(AgentState(jnp.array(belief)), jnp.asarray(True)), [*belief, 0])


# Policies


def frequencies(choose: Callable, values: list[float]) -> np.ndarray:
    keys = jax.random.split(jax.random.key(0), 40_000)
    picks = jax.jit(jax.vmap(choose, (0, None)))(keys, jnp.array(values))
    return np.bincount(np.asarray(picks), minlength=len(values)) / len(keys)


@pytest.mark.parametrize(
    ("choose", "values", "expected"),
    [
        (argmax, [0.1, 0.7, 0.2, 0.0], [0, 1, 0, 0]),
        (categorical, [0.1, 0.6, 0.3, 0.0], [0.1, 0.6, 0.3, 0]),
        # Probabilities need not add up to one.
        (categorical, [0.0, 2.0, 0.0, 6.0], [0, 0.25, 0, 0.75]),
        # β Q = 0, ln 3: 1/4 and 3/4.
        (boltzmann(10.0), [0.0, np.log(3) / 10], [0.25, 0.75]),
        # Half the time either, half the time 1/4 and 3/4: 3/8 and 5/8.
        (epsilon_boltzmann(jnp.asarray(0.5), 10.0), [0.0, np.log(3) / 10], [0.375, 0.625]),
    ],
    ids=["argmax", "categorical", "not normalised", "boltzmann", "epsilon_boltzmann"],
)
def test_choices_are_as_frequent_as_their_probabilities(choose: Callable, values: list[float], expected: list[float]):
    found = frequencies(choose, values)
    # Four standard errors of 40,000 draws are at most 0.01; what has probability 0 is never chosen.
    assert np.allclose(found, expected, atol=0.01)
    assert np.all(found[np.array(expected) == 0] == 0)


def test_many_games_at_once_are_played_as_one_by_one():
    one_by_one = games("in testing", ORDERS)

    @eqx.filter_jit
    def at_once() -> Rollout:
        rows = FEATURES.reshape(-1, MESSAGES)
        target = jnp.sum(FEATURES, axis=(1, 2)).astype(int) % CANDIDATES
        game = Game(jnp.arange(len(rows)).reshape(-1, CANDIDATES).T, target, ORDERS.T)
        seen = perspectives(game, FeatureTable(rows, rows), rows > 0)
        return rollout(jax.random.key(3), PAIR.teacher, PAIR.student, seen, RULES)

    together = at_once()
    for name in ("message", "values", "estimate", "before", "after", "policy", "action", "reward", "active"):
        assert np.allclose(np.moveaxis(getattr(together, name), -1, 0), getattr(one_by_one, name), atol=1e-4), name
    for name in ("success", "episode_return", "n_messages"):
        assert np.allclose(getattr(together, name), jax.vmap(lambda one, name=name: getattr(one, name))(one_by_one))
