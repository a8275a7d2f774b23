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

from implicature.agents.contracts import AbstractStudent, AbstractTeacher, AgentState, Policy, Values
from implicature.agents.perspectives import Perspectives
from implicature.games.rules import Rules
from implicature.nn.kernels import Index, take_one_hot

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


def action_in_teacher_order(order: Int[Array, "candidates *#games"], action: Index, rules: Rules) -> Index:
    """The student's answer as a position in the teacher's order; Ξ stays Ξ."""
    return jnp.where(action == rules.wait, action, take_one_hot(order, action))


class Rollout(eqx.Module):
    """What was said, believed and done, in the teacher's order; rounds after the end are not `active`."""

    message: Int[Array, "rounds *#games"]
    values: Float[Array, "rounds messages *#games"]
    estimate: Float[Array, "rounds candidates *#games"]
    """The teacher's estimate of the student's belief before the message."""
    before: Float[Array, "rounds candidates *#games"]
    """The student's belief before the message."""
    after: Float[Array, "rounds candidates *#games"]
    """The student's belief after the message."""
    policy: Float[Array, "rounds actions *#games"]
    action: Int[Array, "rounds *#games"]
    reward: Float[Array, "rounds *#games"]
    active: Bool[Array, "rounds *#games"]

    @property
    def episode_return(self) -> Float[Array, "*#games"]:
        return jnp.sum(self.reward * self.active, axis=0)

    @property
    def n_messages(self) -> Int[Array, "*#games"]:
        return jnp.sum(self.active, axis=0)

    @property
    def success(self) -> Float[Array, "*#games"]:
        """1 if the target was found."""
        return jnp.sum((self.reward > 0) & self.active, axis=0, dtype=jnp.float32)


Carry = tuple[AgentState, AgentState, Bool[Array, "*#games"]]
"""The teacher's state, the student's, and whether the game goes on."""


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
        teacher_state, student_state, active = carry
        round_key, round_index, forced = turn
        speak_key, answer_key = jax.random.split(round_key)
        values = teacher.values(teacher_encoding, game.target, teacher_state)
        message = speak(speak_key, values)
        message = message if forced is None else jnp.where(forced < 0, message, forced)
        received = message if game.renaming is None else take_one_hot(game.renaming, message)
        updated = student.update(student_encoding, student_state, received)
        policy = student.policy(updated, round_index == rules.rounds - 1)
        # From here on everything stands in the teacher's order.
        action = action_in_teacher_order(game.order, answer(answer_key, policy), rules)
        reward, over = rules.score(action, game.target, round_index)
        before, after = game.in_teacher_order(student_state.belief), game.in_teacher_order(updated.belief)
        probabilities = jnp.concatenate([game.in_teacher_order(policy[:-1]), policy[-1:]])
        record = message, values, teacher_state.belief, before, after, probabilities, action, reward, active
        teacher_state = teacher.observe(teacher_encoding, teacher_state, message)
        if observe_belief:
            teacher_state = replace(teacher_state, belief=after)
        # Each round is learned from by itself, as Algorithm 1 stores it: the belief it begins with is a constant.
        updated = jax.lax.stop_gradient(updated)
        active = active & ~over
        return (replace(teacher_state, active=active), replace(updated, active=active), active), record

    start = jnp.ones(games, bool)
    carry = (
        replace(teacher.init_state(game.teacher, rules), active=start),
        replace(student.init_state(game.student, rules), active=start),
        start,
    )
    turns = jax.random.split(key, rules.rounds), jnp.arange(rules.rounds), forced_messages
    unrolled = unroll and rules.rounds <= MAX_UNROLLED_ROUNDS
    return Rollout(*jax.lax.scan(play_round, carry, turns, unroll=unrolled)[1])
