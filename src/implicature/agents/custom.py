"""Agents of your own: a teacher or a student is a function of what it may observe, one game in, one answer out.

    teacher(observation: TeacherObservation) → a value for each message; she sends the one with the highest
    student(observation: StudentObservation) → (a belief for each candidate, his probability of waiting)

Any callable will do: a plain function with NumPy or Python inside, or an object with `__call__`. It is called once a
round and keeps nothing between calls: all messages so far are in `observation.messages`. What is compiled already
(`jax.jit`, `eqx.filter_jit`) or is an `eqx.Module` runs inside the one compiled program; anything else is called back
from it, game by game. An agent that needs more follows `agents/contracts.py` itself.
"""

import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.contracts import (
    AbstractStudent,
    AbstractTeacher,
    AgentState,
    MessageProbabilities,
    Policy,
    Values,
)
from implicature.agents.rsa import normalize
from implicature.games.context import Context
from implicature.games.rules import Rules

Candidates = Float[Array, "candidates ..."]


class TeacherObservation(NamedTuple):
    """What the teacher may know."""

    candidates: Any
    """Their attributes, 0 or 1: candidates × attributes, in her order (in environments perhaps their images)."""
    target: Any
    """Its position in her order."""
    messages: Any
    """What she has sent so far, one index a round; −1 for rounds to come."""


class StudentObservation(NamedTuple):
    """What the student may know."""

    candidates: Any
    """Their attributes, in his own order, which is not hers."""
    messages: Any
    """What he has received so far, the last of it just now; −1 for rounds to come. If there is none, he cannot wait."""


@runtime_checkable
class TeacherFunction(Protocol):
    def __call__(self, observation: TeacherObservation, /) -> Any:
        """A value for each message."""
        ...


@runtime_checkable
class StudentFunction(Protocol):
    def __call__(self, observation: StudentObservation, /) -> tuple[Any, Any]:
        """A weight for each candidate (they need not add up to one) and his probability of waiting."""
        ...


def is_traceable(function: object) -> bool:
    """Whether a function can run inside a compiled program; others are called back from it."""
    return isinstance(function, jax.stages.Wrapped | eqx.Module)


def check_values(answer: object, messages: int, name: str) -> np.ndarray:
    """A teacher's answer, checked."""
    try:
        values = np.asarray(answer, np.float32)
    except (TypeError, ValueError):
        raise ValueError(f"{name} answered {answer!r:.60}: a teacher gives {messages} values.") from None
    if values.shape != (messages,):
        raise ValueError(f"{name} gave values of shape {values.shape}: a teacher gives one for each of {messages}.")
    if np.isnan(values).any():
        raise ValueError(f"{name} gave a value that is not a number: a message that will not do is worth -inf.")
    return values


def check_belief_and_wait(answer: object, candidates: int, name: str) -> np.ndarray:
    """A student's answer, checked: his belief with his probability of waiting at its end."""
    try:
        belief, wait = answer  # type: ignore[misc]
        belief, wait = np.asarray(belief, np.float32), float(wait)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} answered {answer!r:.60}: a student gives a belief and his probability of waiting."
        ) from None
    if belief.shape != (candidates,):
        raise ValueError(f"{name} gave a belief of shape {belief.shape}: a student gives one for each of {candidates}.")
    if not (np.isfinite(belief).all() and (belief >= 0).all() and belief.sum() > 0):
        raise ValueError(f"{name} gave a belief that is none: weights from 0 on, not all of them 0.")
    if not 0 <= wait <= 1:
        raise ValueError(f"{name} waits with probability {wait}: a probability is from 0 to 1.")
    return np.append(belief / belief.sum(), np.float32(wait))


def call_user(
    function: Callable[..., object], observation: TeacherObservation | StudentObservation, name: str
) -> object:
    """One call of a function that is not ours; an exception in it becomes one sentence with its place."""
    try:
        return function(observation)
    except (Exception, SystemExit) as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename.rsplit('/', 1)[-1]}, line {frame.lineno}"
        raise ValueError(f"{name} stopped with {type(error).__name__}: {error} ({place}).") from None


def call_back(
    function: Callable[..., object],
    observation: TeacherObservation | StudentObservation,
    active: Bool[Array, ""],
    check: Callable[..., np.ndarray],
    length: int,
    name: str,
) -> Float[Array, " n"]:
    """The checked answer, from inside a compiled program; after the end of a game the function is not called."""

    def each(observed: tuple[Array | np.ndarray, ...], still_active: Array | np.ndarray) -> np.ndarray:
        active = np.asarray(still_active)
        rows = [np.asarray(leaf).reshape(active.size, *leaf.shape[active.ndim :]) for leaf in observed]
        answers = np.ones((active.size, length), np.float32)
        for i in np.flatnonzero(active):
            answers[i] = check(call_user(function, type(observation)(*(row[i] for row in rows)), name), name=name)
        return answers.reshape(*active.shape, length)

    answer = jax.ShapeDtypeStruct((length,), jnp.float32)
    return jax.pure_callback(each, answer, observation, active, vmap_method="broadcast_all")


def append_message(messages: Int[Array, " rounds"], message: Int[Array, ""]) -> Int[Array, " rounds"]:
    return messages.at[jnp.sum(messages >= 0)].set(message)


def no_messages(rules: Rules) -> Int[Array, " rounds"]:
    return jnp.full(rules.rounds, -1)


class CustomTeacher(AbstractTeacher[Candidates]):
    """A teacher's function in a rollout. Her estimate of his belief is not known: it stays the prior."""

    function: TeacherFunction
    messages: int = eqx.field(static=True)
    name: str = eqx.field(static=True, default="The teacher")

    def encode(self, context: Context) -> Candidates:
        return context.features

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior, no_messages(rules))

    def values(self, encoding: Candidates, target: Int[Array, ""], state: AgentState) -> Float[Array, " messages"]:
        observation = TeacherObservation(encoding, target, state.memory)
        if is_traceable(self.function):
            return jnp.asarray(self.function(observation), jnp.float32).reshape(self.messages)
        check = partial(check_values, messages=self.messages)
        return call_back(self.function, observation, state.active, check, self.messages, self.name)

    def observe(self, encoding: Candidates, state: AgentState, message: Int[Array, ""]) -> AgentState:
        return AgentState(state.belief, append_message(state.memory, message), state.active)

    def message_probabilities(self, values: Values) -> MessageProbabilities:
        """She sends a message of the highest value."""
        return normalize((values == jnp.max(values)).astype(jnp.float32), axis=0)


class CustomStudent(AbstractStudent[Candidates]):
    """A student's function in a rollout. He keeps what he has heard, and his probability of waiting."""

    function: StudentFunction
    name: str = eqx.field(static=True, default="The student")

    def encode(self, context: Context) -> Candidates:
        return context.features

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior, (no_messages(rules), jnp.asarray(0.0)))

    def update(self, encoding: Candidates, state: AgentState, message: Int[Array, ""]) -> AgentState:
        messages = append_message(state.memory[0], message)
        observation, number = StudentObservation(encoding, messages), len(encoding)
        if is_traceable(self.function):
            belief, wait = self.function(observation)
            belief = jnp.asarray(belief, jnp.float32).reshape(number)
            answer = jnp.append(belief / jnp.sum(belief), wait)
        else:
            check = partial(check_belief_and_wait, candidates=number)
            answer = call_back(self.function, observation, state.active, check, number + 1, self.name)
        return AgentState(answer[:-1], (messages, answer[-1]), state.active)

    def policy(self, state: AgentState, last: Bool[Array, ""]) -> Policy:
        wait = jnp.where(last, 0.0, state.memory[1])
        return jnp.append((1 - wait) * state.belief, wait)
