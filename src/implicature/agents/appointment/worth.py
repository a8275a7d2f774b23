"""What answers and messages are worth, by the rules alone (games/appointment.py); b: the belief over a calendar.

A(s | c, b)    = 3 · 1[s free in c] · b(s free) − 2            a slot
A(none | c, b) = 2 · b(no slot free in both) − 1
U(m | c)       = Σ_d b(d) · R(c, d, a*(d, L(· | m)))           a message, if the other answers to it at once by L
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from implicature.games.appointment import RIGHT, WRONG_NONE, WRONG_SLOT

Calendars = Bool[Array, "calendars slots"]
Belief = Float[Array, " calendars"]
Table = Float[Array, "calendars messages"]
Answers = Float[Array, "*batch calendars answers"]
TIE = 1e-5
"""Values closer than this are tied; the first answer of them is given."""


def no_common_slot(busy: Calendars) -> Float[Array, "calendars calendars"]:
    """1 where two calendars share no free slot."""
    return jnp.all(busy[:, None] | busy[None], axis=-1).astype(jnp.float32)


def answer_values(busy: Calendars, belief: Float[Array, "*batch calendars"]) -> Answers:
    """The expected reward of each answer, for each calendar one may hold oneself."""
    free = 1.0 - busy
    slot = free * (belief @ free)[..., None, :]
    none = belief @ no_common_slot(busy)
    slot_value = (RIGHT - WRONG_SLOT) * slot + WRONG_SLOT
    return jnp.concatenate([slot_value, ((RIGHT - WRONG_NONE) * none + WRONG_NONE)[..., None]], axis=-1)


def take_best(values: Float[Array, "*batch choices"]) -> Float[Array, "*batch choices"]:
    """One-hot: the best answer or message, the first of those that are tied (F-70)."""
    tied = values >= jnp.max(values, axis=-1, keepdims=True) - TIE
    return jax.nn.one_hot(jnp.argmax(tied, axis=-1), values.shape[-1])


def rewards(
    busy: Calendars, answers: Answers, belief: Float[Array, "#*batch calendars"]
) -> Float[Array, "*batch calendars"]:
    """For each calendar that I may hold, what it is worth that the other answers so: `answers` are his probabilities
    for each calendar that he may hold, `belief` is how likely each of those is."""
    free = 1.0 - busy
    weighted = belief[..., None] * answers
    slots, none = weighted[..., :-1], weighted[..., -1]
    right = jnp.sum(slots * free, axis=-2) @ free.T
    reward = (RIGHT - WRONG_SLOT) * right + WRONG_SLOT * jnp.sum(slots, axis=(-2, -1))[..., None]
    right_none = none @ no_common_slot(busy)
    return reward + (RIGHT - WRONG_NONE) * right_none + WRONG_NONE * jnp.sum(none, axis=-1)[..., None]


def successes(
    busy: Calendars, answers: Answers, belief: Float[Array, "#*batch calendars"]
) -> Float[Array, "*batch calendars"]:
    """Likewise, how likely his answer is right."""
    free = 1.0 - busy
    weighted = belief[..., None] * answers
    return jnp.sum(weighted[..., :-1] * free, axis=-2) @ free.T + weighted[..., -1] @ no_common_slot(busy)


def own_rewards(
    busy: Calendars, answers: Answers, weights: Float[Array, "*batch calendars"]
) -> Float[Array, "*batch calendars"]:
    """What my answers, for each calendar that I may hold, are worth: summed over the other's calendars by weight."""
    free = 1.0 - busy
    total = jnp.sum(weights, axis=-1)[..., None, None]
    slot = (RIGHT - WRONG_SLOT) * free * (weights @ free)[..., None, :] + WRONG_SLOT * total
    none = (RIGHT - WRONG_NONE) * (weights @ no_common_slot(busy))[..., None] + WRONG_NONE * total
    return jnp.sum(answers * jnp.concatenate([slot, none], axis=-1), axis=-1)


def message_worth(busy: Calendars, heard: Table, belief: Belief) -> Table:
    """U(m | c): `heard` is what the other believes of my calendar after each message."""
    answers = take_best(answer_values(busy, heard.T))
    return rewards(busy, answers, belief).T
