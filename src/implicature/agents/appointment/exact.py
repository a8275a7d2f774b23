"""The exact recursion of the appointment game, at any point of it. b: what the listener believes of the speaker's
calendar, b': what the speaker believes of the listener's.

    S_0(m | c)   ∝ 1[m true of c]
    L_t(c | m)   ∝ b(c) · S_t(m | c)
    S_t+1(m | c) ∝ 1[m true of c] · exp(β U_t(m | c))     U_t: what m is worth if a listener L_t answers at once

A speaker of depth t sends argmax U_t: the best message to a listener L_t. Depth 0 is the best speaker to a literal
listener; the literal speaker samples from S_0.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from implicature.agents.appointment.worth import Belief, Calendars, Table, message_worth
from implicature.agents.rsa import normalize

Truth = Bool[Array, "calendars messages"]
BETA = 10.0


def literal_speaker(truth: Truth) -> Table:
    """S_0: any true message."""
    return normalize(truth.astype(jnp.float32), axis=1)


def soft_speaker(truth: Truth, worth: Table, beta: float | Float[Array, ""]) -> Table:
    """S_t+1."""
    return jnp.where(truth, jax.nn.softmax(jnp.where(truth, beta * worth, -jnp.inf), axis=1), 0.0)


def listener(speaker: Table, belief: Belief, before: Table) -> Table:
    """L_t; a message that no speaker would send leaves what the listener of depth t − 1 made of it (F-03)."""
    weights = belief[:, None] * speaker
    said = jnp.sum(weights, axis=0) > 0
    return jnp.where(said, normalize(weights, axis=0), before)


def literal_listener(truth: Truth, belief: Belief) -> Table:
    """L_0; a message that is true of no calendar believed in tells nothing."""
    return listener(literal_speaker(truth), belief, jnp.tile(belief[:, None], truth.shape[1]))


def exact_listener(
    busy: Calendars, truth: Truth, belief: Belief, other: Belief, depth: int, beta: float = BETA
) -> Table:
    """L_t."""

    def deeper(_: int | Array, heard: Table) -> Table:
        return listener(soft_speaker(truth, message_worth(busy, heard, other), beta), belief, heard)

    return jax.lax.fori_loop(0, depth, deeper, literal_listener(truth, belief))
