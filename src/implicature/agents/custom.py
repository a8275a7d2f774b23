"""Agents of your own: a teacher or a student is a function of what it may see, one game in, one answer out.

    teacher(sees: TeacherSees) → a value for each message; she says the one with the highest
    student(sees: StudentSees) → (a belief for each candidate, the chance that he waits)

Any callable will do: a plain function with NumPy or Python inside, or an object with `__call__`. It is called once a
round and keeps nothing between calls: all that was said so far is in `sees.messages`. What is compiled already
(`jax.jit`, `eqx.filter_jit`) or is an `eqx.Module` runs inside the one compiled program; anything else is called from
it, game by game. `OwnTeacher` and `OwnStudent` bring them into `dialogue`.
"""

import traceback
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.rollout import Mind, Remembering
from implicature.games.sampling import Rules

Belief = Float[Array, " candidates"]


class TeacherSees(NamedTuple):
    """What she may see."""

    candidates: Any
    """Their attributes, 0 or 1: candidates × attributes, in her order (or their pictures)."""
    target: Any
    """Its position in her order."""
    messages: Any
    """What she has said so far, one number a round; −1 for rounds to come."""


class StudentSees(NamedTuple):
    """What he may see."""

    candidates: Any
    """Their attributes, in his own order, which is not hers."""
    messages: Any
    """What he has heard so far, the last of it just now; −1 for rounds to come. If there is none, he cannot wait."""


class TeacherFunction(Protocol):
    def __call__(self, sees: TeacherSees, /) -> Any:
        """A value for each message."""
        ...


class StudentFunction(Protocol):
    def __call__(self, sees: StudentSees, /) -> tuple[Any, Any]:
        """A weight for each candidate (they need not add up to one) and the chance that he waits."""
        ...


def compiled(function: Callable) -> bool:
    return isinstance(function, jax.stages.Wrapped | eqx.Module)


def values_of(answer: Any, messages: int, name: str) -> np.ndarray:
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


def belief_and_wait_of(answer: Any, candidates: int, name: str) -> np.ndarray:
    """A student's answer, checked: his belief with the chance that he waits at its end."""
    try:
        belief, wait = answer
        belief, wait = np.asarray(belief, np.float32), float(wait)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} answered {answer!r:.60}: a student gives a belief and the chance that he waits."
        ) from None
    if belief.shape != (candidates,):
        raise ValueError(f"{name} gave a belief of shape {belief.shape}: a student gives one for each of {candidates}.")
    if not (np.isfinite(belief).all() and (belief >= 0).all() and belief.sum() > 0):
        raise ValueError(f"{name} gave a belief that is none: weights from 0 on, not all of them 0.")
    if not 0 <= wait <= 1:
        raise ValueError(f"{name} waits with a chance of {wait}: a chance is from 0 to 1.")
    return np.append(belief / belief.sum(), np.float32(wait))


def asked(function: Callable, sees: Any, check: Callable, size: int, name: str) -> np.ndarray:
    """One answer of a function that is not ours; what goes wrong in it becomes a sentence with its place."""
    try:
        answer = function(sees)
    except (Exception, SystemExit) as problem:
        where = traceback.extract_tb(problem.__traceback__)[-1]
        place = f"{where.filename.rsplit('/', 1)[-1]}, line {where.lineno}"
        raise ValueError(f"{name} stopped with {type(problem).__name__}: {problem} ({place}).") from None
    return check(answer, size, name)


def called(
    function: Callable, sees: Any, live: Bool[Array, ""], check: Callable, size: int, length: int, name: str
) -> Float[Array, " n"]:
    """The checked answer, from inside a compiled program; after the end of a game nobody is asked."""

    def each(seen: Any, live: Any) -> np.ndarray:
        live = np.asarray(live)
        rows = [np.asarray(leaf).reshape(live.size, *leaf.shape[live.ndim :]) for leaf in seen]
        answers = np.ones((live.size, length), np.float32)
        for i in np.flatnonzero(live):
            answers[i] = asked(function, type(sees)(*(row[i] for row in rows)), check, size, name)
        return answers.reshape(*live.shape, length)

    answer = jax.ShapeDtypeStruct((length,), jnp.float32)
    return jax.pure_callback(each, answer, sees, live, vmap_method="broadcast_all")


def noted(said: Int[Array, " rounds"], message: Int[Array, ""]) -> Int[Array, " rounds"]:
    """With one message more."""
    return said.at[jnp.sum(said >= 0)].set(message)


class OwnTeacher(Remembering):
    """A teacher's function in a dialogue. She has no estimate of his belief that anybody knows of."""

    function: Callable
    messages: int = eqx.field(static=True)
    name: str = eqx.field(static=True, default="The teacher")
    eyes: None = None

    def start(self, uniform: Belief, rules: Rules) -> Mind:
        return Mind(uniform, jnp.full(rules.rounds, -1))

    def read(self, candidates: Float[Array, "candidates ..."]) -> Float[Array, "candidates ..."]:
        return candidates

    def values(self, candidates: Array, target: Int[Array, ""], mind: Mind) -> Float[Array, " messages"]:
        sees = TeacherSees(candidates, target, mind.kept)
        if compiled(self.function):
            return jnp.asarray(self.function(sees), jnp.float32).reshape(self.messages)
        return called(self.function, sees, mind.live, values_of, self.messages, self.messages, self.name)

    def predict(self, candidates: Array, mind: Mind, message: Int[Array, ""]) -> Mind:
        return Mind(mind.belief, noted(mind.kept, message))


class OwnStudent(Remembering):
    """A student's function in a dialogue. Beside what he heard he keeps how likely he is to wait."""

    function: Callable
    name: str = eqx.field(static=True, default="The student")
    eyes: None = None

    def start(self, uniform: Belief, rules: Rules) -> Mind:
        return Mind(uniform, (jnp.full(rules.rounds, -1), jnp.asarray(0.0)))

    def read(self, candidates: Float[Array, "candidates ..."]) -> Float[Array, "candidates ..."]:
        return candidates

    def update(self, candidates: Array, mind: Mind, message: Int[Array, ""]) -> Mind:
        heard = noted(mind.kept[0], message)
        sees, number = StudentSees(candidates, heard), len(candidates)
        if compiled(self.function):
            belief, wait = self.function(sees)
            belief = jnp.asarray(belief, jnp.float32).reshape(number)
            answer = jnp.append(belief / jnp.sum(belief), wait)
        else:
            answer = called(self.function, sees, mind.live, belief_and_wait_of, number, number + 1, self.name)
        return Mind(answer[:-1], (heard, answer[-1]))

    def policy(self, mind: Mind, last: Bool[Array, ""]) -> Float[Array, " actions"]:
        wait = jnp.where(last, 0.0, mind.kept[1])
        return jnp.append((1 - wait) * mind.belief, wait)
