"""A baseline without theory of mind: two players of the appointment game who learn together by REINFORCE (F-73).

Neither has beliefs: networks map one's own calendar and what was said to probabilities of what to do. The gradient of

    J = E[R] + entropy bonus, which falls to 0

is REINFORCE's, in expectation over calendars and actions instead of from samples; untrue messages are masked, as they
are for the others. Of games with two messages some first ones are sampled in every iteration, with importance weights.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from implicature.agents.appointment.player import Calendar
from implicature.agents.appointment.worth import Belief, own_rewards, rewards, successes, take_best
from implicature.nn.linear import Linear
from implicature.training.appointment.algorithm1 import AppointmentTask
from implicature.training.optimiser import Learner, Metrics, apply_gradients, init_learner, repeat_step

HISTORIES = 12
Probabilities = Float[Array, "*batch calendars choices"]


class Reactive(eqx.Module):
    """One player: what to say first, what to do on a message, what to answer in the end."""

    calendar: Linear
    first: Linear
    heard: Float[Array, "2 messages width"]
    """Vectors of what was said first and second."""
    reply: Linear
    last: Linear

    def __init__(self, slots: int, messages: int, width: int, key: Key[Array, ""]):
        keys = jax.random.split(key, 5)
        self.calendar, self.first = Linear(slots, width, keys[0]), Linear(width, messages, keys[1])
        self.heard = jax.random.normal(keys[2], (2, messages, width))
        self.reply, self.last = Linear(width, slots + 1 + messages, keys[3]), Linear(width, slots + 1, keys[4])

    def hidden(self, known: Calendar, said: Float[Array, " width"]) -> Float[Array, "width calendars"]:
        return jnp.tanh(self.calendar(2.0 * known.busy.T - 1.0) + said[:, None])

    def begin(self, known: Calendar) -> Probabilities:
        """P(m₁ | calendar)."""
        logits = self.first(self.hidden(known, jnp.zeros(self.heard.shape[-1]))).T
        return jax.nn.softmax(jnp.where(known.truth, logits, -jnp.inf), axis=-1)

    def react(self, known: Calendar, m: Int[Array, ""], answer_only: bool) -> Probabilities:
        """P(answer or m₂ | m₁, calendar); where an answer is due, P(answer | m₁, calendar)."""
        logits = self.reply(self.hidden(known, self.heard[0, m])).T
        answers = known.busy.shape[1] + 1
        if answer_only:
            return jax.nn.softmax(logits[:, :answers], axis=-1)
        allowed = jnp.concatenate([jnp.ones((len(logits), answers), bool), known.truth], axis=1)
        return jax.nn.softmax(jnp.where(allowed, logits, -jnp.inf), axis=-1)

    def end(self, known: Calendar, m: Int[Array, ""]) -> Probabilities:
        """P(answer | m₁, each m₂, calendar)."""
        logits = jax.vmap(lambda said: self.last(self.hidden(known, self.heard[0, m] + said)).T)(self.heard[1])
        return jax.nn.softmax(logits, axis=-1)


def entropy(probabilities: Probabilities, weights: Belief) -> Float[Array, ""]:
    each = -jnp.sum(probabilities * jnp.log(probabilities + 1e-9), axis=-1)
    return jnp.sum(weights * each) / max(1, each.size // weights.size)


def after_first(
    one: Reactive, other: Reactive, known: Calendar, weights: Belief, m: Int[Array, ""], messages: int, greedy: bool
) -> tuple[Belief, Belief, Float[Array, ""], Float[Array, ""]]:
    """For each calendar of who said m: the return and the success that follow, the messages that follow, and the
    entropy of both players' policies."""
    pick = take_best if greedy else lambda probabilities: probabilities
    reaction = other.react(known, m, messages == 1)
    entropies = entropy(reaction, weights)
    reaction = pick(reaction)
    answers = known.busy.shape[1] + 1
    replies, sent = reaction[:, :answers], weights[:, None] * reaction[:, answers:]
    returned, found = rewards(known.busy, replies, weights), successes(known.busy, replies, weights)
    if messages > 1:
        last = one.end(known, m)
        entropies = entropies + entropy(last, weights)
        last = pick(last)
        returned += jnp.sum(own_rewards(known.busy, last, sent.T), axis=0)
        right = jnp.concatenate([
            (1.0 - known.busy) * (sent.T @ (1.0 - known.busy))[:, None],
            (sent.T @ jnp.all(known.busy[:, None] | known.busy, axis=-1).astype(jnp.float32))[..., None],
        ], axis=-1)  # fmt: skip
        found += jnp.sum(last * right, axis=(0, 2))
    more = jnp.sum(sent)
    return returned - known.message_cost * (1 + more), found, 1 + more, entropies


def objective(
    key: Key[Array, ""], one: Reactive, other: Reactive, known: Calendar, weights: Belief, messages: int, bonus: Array
) -> Float[Array, ""]:
    """J where `one` begins."""
    first = one.begin(known)
    number = first.shape[1]
    if messages == 1:
        chosen, importance = jnp.arange(number), jnp.ones(number)
    else:
        sent = jax.lax.stop_gradient(weights @ first)
        chances = 0.8 * sent + 0.2 / number
        chosen = jax.random.choice(key, number, (HISTORIES,), p=chances)
        importance = 1 / (HISTORIES * chances[chosen])
    returned, _, _, entropies = jax.vmap(lambda m: after_first(one, other, known, weights, m, messages, False))(chosen)
    reward = jnp.sum(importance * jnp.sum(weights * first[:, chosen].T * returned, axis=1))
    return reward + bonus * (entropy(first, weights) + jnp.mean(entropies))


Pair = tuple[Reactive, Reactive]


@eqx.filter_jit
def train_baseline(task: AppointmentTask, key: Key[Array, ""], iterations: int, bonus: float, width: int) -> Pair:
    """Two players from scratch; optimiser and learning rate are the config's."""
    known, weights, config = task.known, task.weights(held_out=False), task.config.optimiser
    one_key, other_key, play_key = jax.random.split(key, 3)
    shape = known.busy.shape[1], known.truth.shape[1], width
    pair = Reactive(*shape, one_key), Reactive(*shape, other_key)

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Metrics]:
        now = bonus * (1 - state.iteration / iterations)

        def loss(pair: Pair) -> Float[Array, ""]:
            first_key, second_key = jax.random.split(key)
            one, other = pair
            first = objective(first_key, one, other, known, weights, task.rules.messages, now)
            return -(first + objective(second_key, other, one, known, weights, task.rules.messages, now)) / 2

        value, gradient = eqx.filter_value_and_grad(loss)(state.model)
        return apply_gradients(state, gradient, config, iterations), {"loss": value}

    state, _ = repeat_step(step, play_key, init_learner(pair, config, iterations), jnp.asarray(0), iterations)
    return state.model


@eqx.filter_jit
def baseline_figures(
    task: AppointmentTask, pair: Pair, weights: Float[Array, "parts calendars"]
) -> tuple[Float[Array, " parts"], Float[Array, " parts"], Float[Array, " parts"]]:
    """Success, return and messages of greedy players, the mean of either beginning."""
    known, messages = task.known, task.rules.messages

    def figures(share: Belief) -> tuple[Array, Array, Array]:
        totals = []
        for one, other in (pair, pair[::-1]):
            first = take_best(one.begin(known))
            table = jax.lax.map(
                lambda m, o=one, p=other: after_first(o, p, known, share, m, messages, True)[:3],
                jnp.arange(first.shape[1]),
            )
            sent = share[:, None] * first
            totals.append(jnp.stack([
                jnp.sum(sent * table[1].T), jnp.sum(sent * table[0].T), jnp.sum(sent * table[2][None]),
            ]))  # fmt: skip
        success, reward, said = (totals[0] + totals[1]) / 2
        return success, reward, said

    return jax.vmap(figures)(weights / jnp.sum(weights, axis=1, keepdims=True))
