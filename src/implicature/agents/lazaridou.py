"""The agents that ours are compared with: a speaker and a listener without a model of each other's mind.

speaker of 2018   π(m | o*) from an LSTM that starts from the target's encoding and says one symbol; she sees no
                  distractor                                                              (Lazaridou et al. 2018)
speaker of 2017   every number of the target's embedding passes, beside those of the distractors, through filters that
                  all numbers share; their maps are put together to scores of the symbols (Lazaridou et al. 2017)
listener          π(o | m) ∝ exp(e_o · v_m / τ): he embeds each candidate by itself and the symbol, and compares  (both)

A network gives its whole table at once, candidates × messages, as our belief networks do: what a speaker would say of
each candidate were it the target, or how well each message fits each candidate. Games come last, as in `belief`.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from implicature.agents.student import Policy
from implicature.agents.teacher import Values
from implicature.nn.belief_nets import (
    Belief,
    Candidates,
    Choice,
    Dense,
    Reading,
    Table,
    leaky,
    mixed,
    picked,
    update,
)
from implicature.nn.image_encoder import Eyes


def table_of(logits: Float[Array, "messages candidates *#games"], temperature: float) -> Reading:
    """log π(m | o) for every candidate as the target."""
    table = jax.nn.log_softmax(jnp.swapaxes(logits, 0, 1) / temperature, axis=1)
    return Reading(table, table, table)


class ContextFree(eqx.Module):
    """An LSTM over the vocabulary that says one symbol: a single step, from an empty cell and the start symbol, so that
    there is nothing to forget and the start symbol is the gates' bias."""

    encoder: Dense
    gates: Dense
    out: Dense
    temperature: float = eqx.field(static=True)

    def __init__(self, features: int, messages: int, key: Key[Array, ""], width: int, temperature: float):
        encoder, gates, out = jax.random.split(key, 3)
        self.encoder, self.gates = Dense(features, width, encoder), Dense(width, 3 * width, gates)
        self.out, self.temperature = Dense(width, messages, out), temperature

    def __call__(self, candidates: Candidates) -> Reading:
        hidden = leaky(self.encoder(jnp.moveaxis(candidates, -1, 0)))
        write, new, show = jnp.split(self.gates(hidden), 3)
        cell = jax.nn.sigmoid(write) * jnp.tanh(new)
        return table_of(self.out(jax.nn.sigmoid(show) * jnp.tanh(cell)), self.temperature)


def among_others(each: list[Array]) -> tuple[list[Array], list[Array]]:
    """For each of several: the mean of the others, and the largest of them."""
    total, number = sum(each), len(each)
    before, after = [each[0]], [each[-1]]
    for i in range(1, number - 1):
        before.append(jnp.maximum(before[-1], each[i]))
        after.append(jnp.maximum(after[-1], each[-1 - i]))
    after = after[::-1]
    both = [jnp.maximum(before[i - 1], after[i]) for i in range(1, number - 1)]
    return [(total - one) / (number - 1) for one in each], [after[0], *both, before[-1]]


class Informed(eqx.Module):
    """The informed sender: filters across candidates, the same for every number of an embedding. Where the original had
    a weight for its one distractor, all distractors have one here for their mean and one for their largest (F-32)."""

    encoder: Dense
    filters: Dense
    gather: Dense
    out: Dense
    temperature: float = eqx.field(static=True)

    def __init__(self, features: int, messages: int, key: Key[Array, ""], width: int, filters: int, temperature: float):
        encoder, across, gather, out = jax.random.split(key, 4)
        self.encoder, self.filters = Dense(features, width, encoder), Dense(3, filters, across, 3.0)
        self.gather, self.out = Dense(filters, 1, gather, 3.0), Dense(width, messages, out, 3.0)
        self.temperature = temperature

    def __call__(self, candidates: Candidates) -> Reading:
        embedded = self.encoder(jnp.moveaxis(candidates, -1, 0))
        each = [embedded[:, i] for i in range(embedded.shape[1])]
        seen = jnp.stack([jnp.stack(one, axis=1) for one in (each, *among_others(each))])
        maps = jax.nn.sigmoid(self.filters(seen))
        return table_of(self.out(jax.nn.sigmoid(self.gather(maps)[0])), self.temperature)


class Matching(eqx.Module):
    """How well each message fits each candidate, by itself: a product of embeddings."""

    encoder: tuple[Dense, Dense]
    messages: Float[Array, "messages width"]
    temperature: float = eqx.field(static=True)

    def __init__(self, features: int, messages: int, key: Key[Array, ""], width: int, temperature: float):
        first, second, vectors = jax.random.split(key, 3)
        self.encoder = Dense(features, width, first), Dense(width, width, second)
        self.messages = jax.random.normal(vectors, (messages, width)) / width**0.5
        self.temperature = temperature

    def __call__(self, candidates: Candidates) -> Reading:
        embedded = self.encoder[1](leaky(self.encoder[0](jnp.moveaxis(candidates, -1, 0))))
        table: Table = jnp.swapaxes(mixed(self.messages.T, embedded), 0, 1) / self.temperature
        return Reading(table, table, table)


class Speaker(eqx.Module):
    """She says what she says of the target; what he makes of it she does not ask."""

    belief: ContextFree | Informed
    """Not a belief: what she would say of each candidate. It has the name and the place of what our agents ground."""
    eyes: Eyes | None = None

    def read(self, candidates: Candidates) -> Reading:
        return self.belief(candidates)

    def predict(self, reading: Reading, belief: Belief, message: Choice) -> Belief:
        """She expects nothing of him."""
        return belief

    def values(self, reading: Reading, target: Choice, belief: Belief) -> Values:
        """log π(m | o*, O)."""
        return picked([reading.log_likelihood[i] for i in range(len(reading.log_likelihood))], target)


class Listener(eqx.Module):
    """He picks the candidate that the message fits, at once: he never waits."""

    belief: Matching
    eyes: Eyes | None = None

    def read(self, candidates: Candidates) -> Reading:
        return self.belief(candidates)

    def update(self, reading: Reading, belief: Belief, message: Choice) -> Belief:
        return update(reading.log_likelihood, belief, message)

    def policy(self, belief: Belief, last: Bool[Array, ""]) -> Policy:
        return jnp.concatenate([belief, jnp.zeros_like(belief[:1])])
