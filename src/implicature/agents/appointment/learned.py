"""The learned player of the appointment game: two models of the other, each a small network on calendars × messages.

    hears      P(m | d): how the other speaks, so          b'(d)  ∝ b(d) · P(m | d)
    predicts   P̂(m | c): how the other takes me to speak, so the other's belief after m is  b̂'(c) ∝ b̂(c) · P̂(m | c)

Values follow from these models and the rules (F-71): a last message is worth what the other would answer to it by
b̂'; an earlier one is worth what follows if the other then answers, or speaks on as `hears` has it and I answer.

    Q(c, m) = −cost + Σ_d b(d) [ P(answer | d) · R(c, d, best answer of d by b̂')
                                + Σ_m' P(m' | d) · (−cost + R(c, d, my best answer to m')) ]

A network reads the calendar's slots, the message's, both beliefs, and what the message is worth to a literal listener.
That one speaks on tells that one could not answer: answering is a last action beside the messages. All logits start at
0, so the player begins literal, and untrue messages stay impossible.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from implicature.agents.appointment.exact import literal_listener
from implicature.agents.appointment.player import AbstractPlayer, Calendar, Point
from implicature.agents.appointment.worth import (
    Belief,
    Table,
    answer_values,
    message_worth,
    own_rewards,
    rewards,
    take_best,
)
from implicature.agents.contracts import MessageProbabilities, Values
from implicature.nn.kernels import leaky_relu
from implicature.nn.linear import Linear

ANSWER_START = -5.0
"""At the start of training a speaker is hardly expected to answer instead."""
EPSILON = 1e-6
Actions = Float[Array, "calendars actions"]
"""An entry for each message, and for answering at the end."""


def action_worth(known: Calendar, heard: Table, point: Point) -> Actions:
    """What each message is worth if the other answers to it at once, and the best answer at the end."""
    messages = message_worth(known.busy, heard, point.listener) - known.message_cost
    answer = jnp.max(answer_values(known.busy, point.listener), axis=-1)
    return jnp.concatenate([messages, answer[:, None]], axis=1)


def features(known: Calendar, runs: Float[Array, "messages slots"], point: Point, worth: Actions) -> Array:
    """What a network reads of each calendar and action: features × calendars × actions."""
    free = 1.0 - known.busy
    shape = worth.shape
    sayable = jnp.concatenate([known.truth, jnp.ones((shape[0], 1), bool)], axis=1)
    best = jnp.max(jnp.where(sayable, worth, -2.0), axis=1, keepdims=True)
    literal = literal_listener(known.truth, point.speaker)
    surprise = jnp.concatenate([jnp.log(literal + EPSILON) / 10, jnp.zeros((shape[0], 1))], axis=1)
    believed = jnp.log(point.speaker * shape[0] + EPSILON)[:, None] / 10
    action_slots = jnp.concatenate([runs, jnp.zeros((1, runs.shape[1]))]).T[:, None]
    is_answer = (jnp.arange(shape[1]) == shape[1] - 1).astype(jnp.float32)[None]
    last = (point.messages_left == 1).astype(jnp.float32)
    rows = [
        known.busy.T[:, :, None], action_slots, (point.listener @ free)[:, None, None],
        jnp.stack(jnp.broadcast_arrays(worth, worth - best, surprise, believed, is_answer, last * jnp.ones(shape))),
    ]  # fmt: skip
    return jnp.concatenate([jnp.broadcast_to(row, (row.shape[0], *shape)) for row in rows])


class ActionNet(eqx.Module):
    """A number for each calendar and action, 0 at the start."""

    layers: tuple[Linear, Linear, Linear]
    worth_scale: Float[Array, ""]

    def __init__(self, slots: int, width: int, key: Key[Array, ""]):
        first, second, last = jax.random.split(key, 3)
        self.layers = Linear(3 * slots + 6, width, first), Linear(width, width, second), Linear(width, 1, last, 0.0)
        self.worth_scale = jnp.zeros(())

    def __call__(self, inputs: Float[Array, "features cells"], worth: Float[Array, " cells"]) -> Float[Array, " cells"]:
        hidden = inputs
        for layer in self.layers[:-1]:
            hidden = leaky_relu(layer(hidden))
        return self.layers[-1](hidden)[0] + self.worth_scale * worth


class LearnedPlayer(AbstractPlayer):
    hears: ActionNet
    predicts: ActionNet
    runs: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    """Which slots each message covers."""
    cells: tuple[tuple[int, ...], tuple[int, ...]] = eqx.field(static=True)
    """The calendars and the actions that each of them may take: true messages and answering."""
    beta: float = eqx.field(static=True)

    def __init__(
        self,
        truth: Bool[np.ndarray, "calendars messages"],
        runs: Bool[np.ndarray, "messages slots"],
        key: Key[Array, ""],
        width: int,
        beta: float,
    ):
        self.hears, self.predicts = (ActionNet(runs.shape[1], width, one) for one in jax.random.split(key))
        self.runs = tuple(tuple(int(slot) for slot in run) for run in runs)
        sayable = np.concatenate([truth, np.ones((len(truth), 1), bool)], axis=1)
        rows, columns = np.nonzero(sayable)
        self.cells = tuple(rows.tolist()), tuple(columns.tolist())
        self.beta = beta

    def log_likelihood(self, net: ActionNet, known: Calendar, point: Point) -> Actions:
        """log P(action | calendar); −∞ for what is untrue."""
        worth = action_worth(known, literal_listener(known.truth, point.speaker), point)
        rows, columns = jnp.asarray(self.cells[0]), jnp.asarray(self.cells[1])
        inputs = features(known, jnp.asarray(self.runs, jnp.float32), point, worth)[:, rows, columns]
        values = net(jax.lax.stop_gradient(inputs), jax.lax.stop_gradient(worth[rows, columns]))
        logits = jnp.full(worth.shape, -jnp.inf).at[rows, columns].set(values)
        return jax.nn.log_softmax(logits.at[:, -1].add(ANSWER_START), axis=1)

    def hear(self, known: Calendar, point: Point) -> Table:
        return posterior(self.log_likelihood(self.hears, known, point), known, point)

    def expect(self, known: Calendar, point: Point) -> Table:
        return posterior(self.log_likelihood(self.predicts, known, point), known, point)

    def message_values(self, known: Calendar, point: Point) -> Table:
        expected = self.expect(known, point)
        return jax.lax.cond(
            point.messages_left > 1,
            lambda: self.value_with_reply(known, point, expected),
            lambda: message_worth(known.busy, expected, point.listener) - known.message_cost,
        )

    def value_with_reply(self, known: Calendar, point: Point, expected: Table) -> Table:
        """Q of a message that is not the last."""

        def value(heard: Belief) -> Belief:
            then = Point(point.listener, heard, point.messages_left - 1)
            log_likelihood = self.log_likelihood(self.hears, known, then)
            said = jnp.exp(log_likelihood)
            replies = said[:, -1:] * take_best(answer_values(known.busy, heard))
            answers = take_best(answer_values(known.busy, posterior(log_likelihood, known, then).T))
            return return_of_reply(known, point.listener, said[:, :-1], replies, answers)

        return jax.lax.map(value, expected.T).T - known.message_cost

    def message_probabilities(self, values: Values) -> MessageProbabilities:
        return jax.nn.softmax(self.beta * values, axis=0)


def return_of_reply(
    known: Calendar,
    belief: Belief,
    said: Table,
    replies: Float[Array, "calendars answers"],
    answers: Float[Array, "messages calendars answers"],
) -> Belief:
    """For each calendar that I may hold, what it is worth that the other answers (`replies`, with the probability of
    each) or says something (`said`), whereupon I answer (`answers`)."""
    sent = belief[:, None] * said
    mine = own_rewards(known.busy, answers, sent.T)
    return rewards(known.busy, replies, belief) + jnp.sum(mine, axis=0) - known.message_cost * jnp.sum(sent)


def posterior(log_likelihood: Actions, known: Calendar, point: Point) -> Table:
    """b(c) · P(m | c), normalised over calendars; a message that fits none leaves what a literal listener believes."""
    logits = log_likelihood[:, :-1] + jnp.log(point.speaker + 1e-30)[:, None]
    possible = jnp.any(known.truth & (point.speaker[:, None] > 1e-20), axis=0)
    safe = jnp.where(known.truth, logits, -1e9)
    believed = jnp.where(known.truth, jax.nn.softmax(safe, axis=0), 0.0)
    return jnp.where(possible, believed, literal_listener(known.truth, point.speaker))
