"""What a fixed player does in the appointment game, for every calendar and everything that may be said: the tables that
the other one learns from in its half of a phase.

A game with two messages: one player says m₁, the other answers or says m₂, and the first one answers.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from implicature.agents.appointment.learned import LearnedPlayer
from implicature.agents.appointment.player import Calendar, Point
from implicature.agents.appointment.worth import Belief, Table, answer_values, take_best

MAX_MESSAGES = 2
"""Training enumerates what may have been said."""


class Partner(eqx.Module):
    """First axis of what follows on m₁: m₁."""

    first: Float[Array, "calendars actions"]
    """P(m₁ or an answer | calendar), when it begins."""
    heard: Table
    """Its belief over the other's calendar after each m₁ of the other."""
    second: Float[Array, "messages calendars actions"]
    """P(m₂ or an answer | m₁, calendar), when the other has begun,"""
    replies: Float[Array, "messages calendars answers"]
    """and the answer, with the probability of giving one."""
    heard_second: Float[Array, "messages calendars messages"] | None
    """Its belief over the other's calendar after its own m₁ and each m₂; None in games of one message."""


def uniform(known: Calendar) -> Belief:
    return jnp.full(len(known.busy), 1 / len(known.busy))


def start(known: Calendar, messages: int) -> Point:
    """Before anything is said."""
    return Point(uniform(known), uniform(known), jnp.asarray(messages))


def turn(player: LearnedPlayer, known: Calendar, point: Point) -> tuple[Array, Array]:
    """P(message or an answer | calendar) by softmax(β Q), and the best answer of each calendar."""
    answers = answer_values(known.busy, point.listener)
    values = player.message_values(known, point)
    values = jnp.where(known.truth & (point.messages_left > 0), values, -jnp.inf)
    actions = jnp.concatenate([values, jnp.max(answers, axis=1, keepdims=True)], axis=1)
    return jax.nn.softmax(player.beta * actions, axis=1), take_best(answers)


def partner_tables(player: LearnedPlayer, known: Calendar, messages: int) -> Partner:
    root, prior = start(known, messages), uniform(known)
    first, _ = turn(player, known, root)
    heard = player.hear(known, root)
    if messages == 1:
        n_messages = heard.shape[1]
        second = jnp.zeros((n_messages, *first.shape)).at[..., -1].set(1.0)
        return Partner(first, heard, second, take_best(answer_values(known.busy, heard.T)), None)
    left = jnp.asarray(messages - 1)

    def after(beliefs: tuple[Belief, Belief]) -> tuple[Array, Array, Array]:
        own, expected = beliefs
        second, best = turn(player, known, Point(prior, own, left))
        return second, second[:, -1:] * best, player.hear(known, Point(prior, expected, left))

    second, replies, heard_second = jax.lax.map(after, (heard.T, player.expect(known, root).T))
    return Partner(first, heard, second, replies, heard_second)
