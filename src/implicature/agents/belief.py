"""Belief update f(O, b, m):   b'(o) ∝ b(o) · P(m | o, O)   (section 4, appendix B)

A network reads the candidates once, before any word is said, and gives the whole likelihood table P(m | o, O),
candidates × messages; Bayes' rule does the rest in every round. Two networks, both indifferent to the order of the
candidates and to their number:

paper     h_o = W x_o;  h_o ← W' h_o + W'' Σ_o h_o, repeated;  logit[o, m] = h_o · v_m                  (appendix B)
exchange  cell[o, m] starts from the compatibility e_o · v_m; in each round it sees itself, the mean and the largest of
          its column (the other candidates) and the mean of its row (the other messages). A round can do one step of
          the exact recursion.                                                                            (F-05)
"""

from collections.abc import Callable
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

Candidates = Float[Array, "candidates features"]
Belief = Float[Array, " candidates"]
Table = Float[Array, "candidates messages"]
Likelihood = Literal["softmax", "sigmoid"]


class Dense(eqx.Module):
    """x W + c on the last axis."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    def __init__(self, inputs: int, outputs: int, key: Key[Array, ""], scale: float = 1.0):
        self.weight = scale * jax.random.normal(key, (inputs, outputs)) / inputs**0.5
        self.bias = jnp.zeros(outputs)

    def __call__(self, x: Float[Array, "*rest inputs"]) -> Float[Array, "*rest outputs"]:
        return x @ self.weight + self.bias


def leaky(x: Float[Array, "..."]) -> Float[Array, "..."]:
    return jnp.maximum(x, 0.01 * x)


class Reading(eqx.Module):
    """What a network makes of the candidates before any word is said."""

    log_likelihood: Table
    """With the lapse: what beliefs are updated with."""
    strict: Table
    """Without it: what Bayesian pretraining teaches."""
    embedding: Float[Array, "candidates ..."]
    """A vector for each candidate (paper) or for each cell (exchange)."""


def read(logits: Table, embedding: Array, kind: Likelihood, lapse: float) -> Reading:
    """log P(m | o, O): messages compete for each candidate (softmax), or each is judged by itself (sigmoid) (F-06).

    With chance `lapse` she says just anything, so a message that fits nobody tells him nothing, whatever the network
    makes of it: this is what keeps a grounded protocol grounded (F-15)."""
    strict = jax.nn.log_softmax(logits, axis=1) if kind == "softmax" else jax.nn.log_sigmoid(logits)
    return Reading(jnp.log((1 - lapse) * jnp.exp(strict) + lapse / logits.shape[1] + 1e-12), strict, embedding)


def posterior(log_likelihood: Table, prior: Belief) -> Table:
    """The new belief for every message at once, column by column."""
    return jax.nn.softmax(log_likelihood + jnp.log(prior + 1e-12)[:, None], axis=0)


def chosen(table: Float[Array, "*rest messages"], message: Int[Array, ""]) -> Float[Array, "*rest"]:
    """The message's column. A masked sum, not an index: its gradient is a product, not a scatter."""
    return jnp.sum(table * (jnp.arange(table.shape[-1]) == message), axis=-1)


def update(log_likelihood: Table, prior: Belief, message: Int[Array, ""]) -> Belief:
    """f(O, b, m) for one message."""
    return jax.nn.softmax(chosen(log_likelihood, message) + jnp.log(prior + 1e-12))


class PaperNet(eqx.Module):
    """Appendix B. Contexts start small and message vectors large, else the first student has no opinion (F-07)."""

    encoder: Dense
    blocks: tuple[tuple[Dense, Dense], ...]
    messages: Float[Array, "messages width"]
    likelihood: Likelihood = eqx.field(static=True)
    lapse: float = eqx.field(static=True)

    def __init__(
        self,
        features: int,
        messages: int,
        key: Key[Array, ""],
        width: int,
        rounds: int,
        likelihood: Likelihood = "softmax",
        lapse: float = 0.05,
    ):
        encoder_key, blocks_key, messages_key = jax.random.split(key, 3)
        self.encoder = Dense(features, width, encoder_key)
        pairs = jax.random.split(blocks_key, (rounds, 2))
        self.blocks = tuple((Dense(width, width, own), Dense(width, width, context, 0.1)) for own, context in pairs)
        self.messages = 5 * jax.random.normal(messages_key, (messages, width)) / width**0.5
        self.likelihood, self.lapse = likelihood, lapse

    def __call__(self, candidates: Candidates) -> Reading:
        h = leaky(self.encoder(candidates))
        for own, context in self.blocks:
            h = leaky(own(h) + context(jnp.sum(h, axis=0))[None])
        return read(h @ self.messages.T, h, self.likelihood, self.lapse)

    @property
    def about_size(self) -> int:
        return 2 * self.messages.shape[1]

    def about(self, reading: Reading, target: Int[Array, ""], expected: Table) -> Float[Array, "messages about"]:
        """What the value head reads: embeddings weighted by the belief after each message, and the target's own."""
        weighted = expected.T @ reading.embedding
        return jnp.concatenate([weighted, jnp.broadcast_to(reading.embedding[target], weighted.shape)], axis=1)


class Exchange(eqx.Module):
    """One residual round: every cell hears from itself, its column and its row."""

    own: Dense
    column_mean: Dense
    column_max: Dense
    row_mean: Dense

    def __init__(self, channels: int, key: Key[Array, ""]):
        keys = jax.random.split(key, 4)
        self.own, self.column_mean, self.column_max, self.row_mean = (Dense(channels, channels, k) for k in keys)

    def __call__(self, cells: Float[Array, "candidates messages channels"]) -> Array:
        column = self.column_mean(jnp.mean(cells, axis=0)) + self.column_max(jnp.max(cells, axis=0))
        row = self.row_mean(jnp.mean(cells, axis=1))
        return cells + leaky(self.own(cells) + column[None] + row[:, None])


class ExchangeNet(eqx.Module):
    """A network on the candidates × messages table."""

    encoder: tuple[Dense, Dense]
    messages: Float[Array, "messages width"]
    spread: Dense
    rounds: tuple[Exchange, ...]
    gather: Dense
    likelihood: Likelihood = eqx.field(static=True)
    lapse: float = eqx.field(static=True)

    def __init__(
        self,
        features: int,
        messages: int,
        key: Key[Array, ""],
        width: int,
        rounds: int,
        likelihood: Likelihood = "softmax",
        lapse: float = 0.05,
    ):
        first, second, messages_key, spread, rounds_key, gather = jax.random.split(key, 6)
        self.encoder = Dense(features, 2 * width, first), Dense(2 * width, 2 * width, second)
        self.messages = 3 * jax.random.normal(messages_key, (messages, 2 * width)) / (2 * width) ** 0.5
        self.spread = Dense(1, width, spread)
        self.rounds = tuple(Exchange(width, k) for k in jax.random.split(rounds_key, rounds))
        self.gather = Dense(width + 1, 1, gather, 0.1)
        self.gather = eqx.tree_at(lambda dense: dense.weight, self.gather, self.gather.weight.at[-1].set(1.0))
        self.likelihood, self.lapse = likelihood, lapse

    def __call__(self, candidates: Candidates) -> Reading:
        compatibility = self.encoder[1](leaky(self.encoder[0](candidates))) @ self.messages.T
        cells = self.spread(compatibility[..., None])
        for exchange in self.rounds:
            cells = exchange(cells)
        logits = cells @ self.gather.weight[:-1, 0] + compatibility * self.gather.weight[-1, 0]
        return read(logits, cells, self.likelihood, self.lapse)

    @property
    def about_size(self) -> int:
        return self.spread.bias.shape[0]

    def about(self, reading: Reading, target: Int[Array, ""], expected: Table) -> Float[Array, "messages about"]:
        """What the value head reads: the target's row."""
        return reading.embedding[target]


BeliefNet = PaperNet | ExchangeNet
NETWORKS: dict[str, Callable[..., BeliefNet]] = {"paper": PaperNet, "exchange": ExchangeNet}
