"""The one rollout: teacher and student play a game (Algorithm 1, lines 8 to 27). Training, evaluation and the page all
call `rollout`.

The teacher keeps an estimate b_BinA of the student's belief. In training she observes his real one (`observe_belief`);
in testing she goes by her own prediction. How she picks a message and he an action is passed in: argmax, boltzmann,
categorical, epsilon_boltzmann.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.channel import mishear
from implicature.agents.contracts import AbstractStudent, AbstractTeacher, AgentState, Policy, Values
from implicature.agents.perspectives import Perspectives
from implicature.games.rules import Rules
from implicature.nn.kernels import Index, one_hot, take_one_hot

MessagePolicy = Callable[[Key[Array, ""], Values], Index]
ActionPolicy = Callable[[Key[Array, ""], Policy], Index]
MAX_UNROLLED_ROUNDS = 4


def argmax(key: Key[Array, ""], values: Float[Array, "choices *#games"]) -> Index:
    return jnp.argmax(values, axis=0)


def categorical(key: Key[Array, ""], probabilities: Float[Array, "choices *#games"]) -> Index:
    """One uniform number against the cumulative sum: far cheaper than Gumbel noise for each choice."""
    cumulative = jnp.cumsum(probabilities, axis=0)
    return jnp.sum(jax.random.uniform(key, probabilities.shape[1:]) * cumulative[-1] >= cumulative[:-1], axis=0)


@cache
def boltzmann(beta: float) -> MessagePolicy:
    """π_A = softmax(β Q). Cached, so that equal β is the same function and compiles once."""
    return lambda key, values: categorical(key, jax.nn.softmax(beta * values, axis=0))


def epsilon_boltzmann(epsilon: Float[Array, ""], beta: float) -> MessagePolicy:
    """Any message with probability ε, else by π_A."""

    def speak(key: Key[Array, ""], values: Values) -> Index:
        return categorical(key, epsilon / values.shape[0] + (1 - epsilon) * jax.nn.softmax(beta * values, axis=0))

    return speak


def truthful_epsilon_boltzmann(epsilon: Float[Array, ""], beta: float) -> MessagePolicy:
    """The same among messages that she may send: the value of the others is −∞."""

    def speak(key: Key[Array, ""], values: Values) -> Index:
        allowed = jnp.isfinite(values)
        explored = allowed / jnp.sum(allowed, axis=0)
        return categorical(key, epsilon * explored + (1 - epsilon) * jax.nn.softmax(beta * values, axis=0))

    return speak


def action_in_teacher_order(order: Int[Array, "candidates *#games"], action: Index, rules: Rules) -> Index:
    """The student's answer as a position in the teacher's order; Ξ stays Ξ."""
    return jnp.where(action == rules.wait, action, take_one_hot(order, action))


def answer_to_question(cells: Int[Array, "candidates *#games"], action: Index, target: Index) -> Index:
    """An answer in the target's cell counts as the target."""
    answered = action < len(cells)
    cell = take_one_hot(cells, jnp.where(answered, action, 0))
    return jnp.where(answered & (cell == take_one_hot(cells, target)), target, action)


def answer_when_complete(policy: Policy, complete: Bool[Array, ""]) -> Policy:
    """He waits for the last word of a message."""
    waiting = jnp.zeros_like(policy).at[-1].set(1.0)
    return jnp.where(complete, policy, waiting)


def noise_key(key: Key[Array, ""]) -> Key[Array, ""]:
    """A key of its own, so that games without noise draw what they always drew."""
    return jax.random.fold_in(key, 2)


class Rollout(eqx.Module):
    """What was said, believed and done, in the teacher's order; rounds after the end are not `active`."""

    message: Int[Array, "rounds *#games"]
    values: Float[Array, "rounds messages *#games"]
    estimate: Float[Array, "rounds candidates *#games"]
    """The teacher's estimate of the student's belief before the message."""
    predicted: Float[Array, "rounds candidates *#games"]
    """The student's belief after the message, as the teacher predicts it."""
    before: Float[Array, "rounds candidates *#games"]
    """The student's belief before the message."""
    after: Float[Array, "rounds candidates *#games"]
    """The student's belief after the message."""
    policy: Float[Array, "rounds actions *#games"]
    action: Int[Array, "rounds *#games"]
    reward: Float[Array, "rounds *#games"]
    active: Bool[Array, "rounds *#games"]
    right: Bool[Array, "rounds *#games"]
    """Whether his answer was the target, or in its cell where a cell was to be found."""
    heard: Int[Array, "rounds *#games"]
    """The word that reached him: with channel noise, perhaps not the one that she sent."""

    @property
    def episode_return(self) -> Float[Array, "*#games"]:
        return jnp.sum(self.reward * self.active, axis=0)

    @property
    def n_messages(self) -> Int[Array, "*#games"]:
        return jnp.sum(self.active, axis=0)

    @property
    def success(self) -> Float[Array, "*#games"]:
        """1 if the target was found."""
        return jnp.sum(self.right & self.active, axis=0, dtype=jnp.float32)


Carry = tuple[AgentState, AgentState, Bool[Array, "*#games"], Bool[Array, "messages *#games"] | None]
"""The teacher's state, the student's, whether the game goes on, and, where messages have several words, which words the
message that is being said has so far."""


def rollout(
    key: Key[Array, ""],
    teacher: AbstractTeacher,
    student: AbstractStudent,
    game: Perspectives,
    rules: Rules,
    speak: MessagePolicy = argmax,
    answer: ActionPolicy = argmax,
    *,
    observe_belief: bool = False,
    forced_messages: Int[Array, "rounds *#games"] | None = None,
    unroll: bool = True,
) -> Rollout:
    """Play a game to its end. `forced_messages` replace the teacher's where they are not -1. Rounds that are not
    unrolled compile faster and run slower."""
    teacher_encoding, student_encoding = teacher.encode(game.teacher), student.encode(game.student)
    games = game.target.shape

    def play_round(carry: Carry, turn: tuple[Array, Array, Array | None]) -> tuple[Carry, tuple[Array, ...]]:
        teacher_state, student_state, active, said = carry
        round_key, round_index, forced = turn
        speak_key, answer_key = jax.random.split(round_key)
        values = teacher.values(teacher_encoding, game.target, teacher_state)
        message = speak(speak_key, values)
        message = message if forced is None else jnp.where(forced < 0, message, forced)
        heard = message if rules.noise == 0 else mishear(noise_key(round_key), message, len(values), rules.noise)
        received = heard if game.renaming is None else take_one_hot(game.renaming, heard)
        updated = student.update(student_encoding, student_state, received)
        policy = student.policy(updated, round_index == rules.rounds - 1)
        repeated = jnp.asarray(False)
        if said is not None:
            complete, repeated = rules.completes(round_index), take_one_hot(said, message)
            policy = answer_when_complete(policy, complete)
            said = ~complete & (said | one_hot(len(said), message))
        # From here on everything stands in the teacher's order.
        action = action_in_teacher_order(game.order, answer(answer_key, policy), rules)
        found = action if game.teacher.cells is None else answer_to_question(game.teacher.cells, action, game.target)
        costs = game.teacher.costs
        word_cost = 0.0 if costs is None else take_one_hot(costs, message)
        reward, over = rules.score(found, game.target, round_index, word_cost, repeated)
        before, after = game.in_teacher_order(student_state.belief), game.in_teacher_order(updated.belief)
        probabilities = jnp.concatenate([game.in_teacher_order(policy[:-1]), policy[-1:]])
        expected = teacher.observe(teacher_encoding, teacher_state, message)
        record = (
            message, values, teacher_state.belief, expected.belief, before, after, probabilities, action, reward,
            active, found == game.target, heard,
        )  # fmt: skip
        teacher_state = replace(expected, belief=after) if observe_belief else expected
        # Each round is learned from by itself, as Algorithm 1 stores it: the belief it begins with is a constant.
        updated = jax.lax.stop_gradient(updated)
        active = active & ~over
        return (replace(teacher_state, active=active), replace(updated, active=active), active, said), record

    start = jnp.ones(games, bool)
    carry = (
        replace(teacher.init_state(game.teacher, rules), active=start),
        replace(student.init_state(game.student, rules), active=start),
        start,
        jnp.zeros((game.teacher.lexicon.shape[1], *games), bool) if rules.words > 1 else None,
    )
    turns = jax.random.split(key, rules.rounds), jnp.arange(rules.rounds), forced_messages
    unrolled = unroll and rules.rounds <= MAX_UNROLLED_ROUNDS
    return Rollout(*jax.lax.scan(play_round, carry, turns, unroll=unrolled)[1])
