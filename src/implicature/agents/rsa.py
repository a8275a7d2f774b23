"""The exact recursion: pragmatics computed, not learned. X[o, m] = 1 where m is an attribute of o.

    S_0(m | o) ∝ X[o, m]                         literal teacher: "share"; or S_0 = X itself: "indicator"
    L_t(o | m) ∝ b(o) · S_t(m | o)               student of depth t, prior belief b
    S_t+1(m | o) ∝ X[o, m] · exp(β L_t(o | m))   teacher of depth t+1: her value is his chance of guessing right

β → ∞ is iterated best response: she picks uniformly among her best true messages. A message that no teacher of depth t
would send leaves the student of depth t with what the student of depth t-1 made of it (F-03).
The no-clash protocol gives each candidate a true message of its own, by maximum bipartite matching.

Every function takes one game; the caller batches with `vmap`.
"""

from collections.abc import Callable
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

Truth = Bool[Array, "candidates messages"]
Table = Float[Array, "candidates messages"]
LogTable = Float[Array, "candidates messages"]
"""Logarithms, −∞ for 0: at a large β a probability may underflow float32 and still be informative."""
Belief = Float[Array, " candidates"]
Start = Literal["share", "indicator"]

TIE = 1e-5
"""Values closer than this are tied; ties are broken at random."""


def normalize(weights: Float[Array, "..."], axis: int) -> Float[Array, "..."]:
    """Weights divided by their sum along the axis; all zero stays all zero."""
    total = jnp.sum(weights, axis=axis, keepdims=True)
    return weights / jnp.where(total > 0, total, 1)


def subtract_max(logarithms: Float[Array, "..."], axis: int) -> Float[Array, "..."]:
    """Logarithms minus their maximum along the axis, safe to exponentiate; all −∞ stays all −∞."""
    largest = jnp.max(logarithms, axis=axis, keepdims=True)
    return logarithms - jnp.where(largest > -jnp.inf, largest, 0)


def literal_teacher(
    truth: Bool[Array, "candidates messages *#games"], start: Start = "share"
) -> Float[Array, "candidates messages *#games"]:
    """S_0: any true message, chosen at random ("share"), or its truth value alone ("indicator")."""
    said = truth.astype(jnp.float32)
    return normalize(said, axis=1) if start == "share" else said


def student(teacher: Table, prior: Belief, surprised: Table) -> Table:
    """L_t: what a student who expects this teacher believes after each message, column by column."""
    return log_student(jnp.log(teacher), prior, surprised)


def log_student(teacher: LogTable, prior: Belief, surprised: Table) -> Table:
    """L_t of a teacher given in logarithms."""
    weights = jnp.exp(subtract_max(jnp.log(prior)[:, None] + teacher, axis=0))
    return jnp.where(jnp.sum(weights, axis=0) > 0, normalize(weights, axis=0), surprised)


def soft_teacher(truth: Truth, belief: Table, beta: float | Float[Array, ""]) -> LogTable:
    """log S_t+1."""
    exponent = subtract_max(jnp.where(truth, beta * belief, -jnp.inf), axis=1)
    total = jnp.sum(jnp.exp(exponent), axis=1, keepdims=True)
    return exponent - jnp.log(jnp.maximum(total, 1))  # at least 1, but 0 for a candidate without attributes


def hard_teacher(truth: Truth, belief: Table) -> LogTable:
    """log S_t+1 for β → ∞: uniform over the true messages he understands best."""
    value = jnp.where(truth, belief, -1)
    best = truth & (value >= jnp.max(value, axis=1, keepdims=True) - TIE)
    return jnp.log(normalize(best.astype(jnp.float32), axis=1))


class Recursion(eqx.Module):
    """Teacher S_t and student L_t for t = 0 … depth."""

    teacher: Float[Array, "depths candidates messages"]
    student: Float[Array, "depths candidates messages"]


def recursion(
    truth: Truth, respond: Callable[[Truth, Table], LogTable], depth: int, start: Start, prior: Belief | None = None
) -> Recursion:
    """S_0, L_0, S_1 = respond(L_0), L_1 …: the teacher responds to each student, the student expects each teacher."""
    candidates, messages = truth.shape
    before = jnp.full(candidates, 1 / candidates) if prior is None else prior
    teachers = [jnp.log(literal_teacher(truth, start))]
    students = [log_student(teachers[0], before, jnp.tile(before[:, None], messages))]
    for _ in range(depth):
        teachers.append(respond(truth, students[-1]))
        students.append(log_student(teachers[-1], before, students[-1]))
    return Recursion(jnp.exp(jnp.stack(teachers)), jnp.stack(students))


def soft_recursion(
    truth: Truth, depth: int, beta: float = 10.0, start: Start = "share", prior: Belief | None = None
) -> Recursion:
    """The rational speech act with rationality β."""
    return recursion(truth, lambda truth, belief: soft_teacher(truth, belief, beta), depth, start, prior)


def hard_recursion(truth: Truth, depth: int, start: Start = "indicator", prior: Belief | None = None) -> Recursion:
    """Iterated best response with ties broken evenly."""
    return recursion(truth, hard_teacher, depth, start, prior)


def no_clash(truth: Truth) -> Int[Array, " candidates"]:
    """A true message of its own for as many candidates as can have one (Kuhn's augmenting paths); -1 for the rest."""
    candidates, messages = truth.shape

    def give(newcomer: Array, owner: Int[Array, " messages"]) -> Int[Array, " messages"]:
        """Find the newcomer a message, moving earlier owners to others of theirs where needed."""

        # Breadth first over messages: asker[m] is the candidate through whom m was reached, -1 where it was not.
        def spread(_: Array, asker: Int[Array, " messages"]) -> Int[Array, " messages"]:
            displaced = jnp.any((owner[:, None] == jnp.arange(candidates)) & (asker >= 0)[:, None], axis=0)
            asking = truth & (displaced | (jnp.arange(candidates) == newcomer))[:, None]
            found = jnp.where(jnp.any(asking, axis=0), jnp.argmax(asking, axis=0), -1)
            return jnp.where(asker >= 0, asker, found)

        asker = jax.lax.fori_loop(0, candidates, spread, jnp.full(messages, -1))
        free = (asker >= 0) & (owner < 0)

        # Walk back from a free message: its asker takes it and gives up the one it had, which its asker takes …
        def take(_: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            owner, message, walking = state
            taker = asker[message]
            had = jnp.where(jnp.any(owner == taker), jnp.argmax(owner == taker), -1)
            owner = jnp.where(walking & (jnp.arange(messages) == message), taker, owner)
            return owner, jnp.maximum(had, 0), walking & (had >= 0)

        return jax.lax.fori_loop(0, candidates, take, (owner, jnp.argmax(free), jnp.any(free)))[0]

    owner = jax.lax.fori_loop(0, candidates, give, jnp.full(messages, -1))
    mine = owner[None, :] == jnp.arange(candidates)[:, None]
    return jnp.where(jnp.any(mine, axis=1), jnp.argmax(mine, axis=1), -1)


def greedy_accuracy(truth: Truth, teacher_value: Table, belief: Table) -> Float[Array, " candidates"]:
    """The chance that each candidate, as the target, is found: she says her best true message, he picks his best
    candidate, and both toss coins where values tie."""
    value = jnp.where(truth, teacher_value, -jnp.inf)
    said = truth & (value >= jnp.max(value, axis=1, keepdims=True) - TIE)
    likely = (belief > 0) & (belief >= jnp.max(belief, axis=0, keepdims=True) - TIE)
    guess = normalize(likely.astype(jnp.float32), axis=0)
    return jnp.sum(normalize(said.astype(jnp.float32), axis=1) * guess, axis=1)
