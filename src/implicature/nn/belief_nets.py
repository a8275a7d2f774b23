"""Belief update f(O, b, m):   b'(o) ∝ b(o) · P(m | o, O)   (section 4, appendix B)

A network reads the candidates once, before any word is said, and gives the whole likelihood table P(m | o, O),
candidates × messages; Bayes' rule does the rest in every round. Two networks, both indifferent to the order of the
candidates and to their number:

paper     h_o = W x_o;  h_o ← W' h_o + W'' Σ_o h_o, repeated;  logit[o, m] = h_o · v_m                  (appendix B)
exchange  cell[o, m] starts from the compatibility e_o · v_m; in each round it sees itself, and the mean and the largest
          of its column (the other candidates) and of its row (the other messages). A round can do one step of the
          exact recursion.                                                                                (F-05)

Games come last: every array may have further axes at its end, one entry for each game of a batch, so that whole rows of
games go through the processor at once. Without them it is a single game. What games share, such as the reading of their
common candidates, has an axis of length 1 there.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

Candidates = Float[Array, "candidates *#games features"]
Belief = Float[Array, "candidates *#games"]
Table = Float[Array, "candidates messages *#games"]
Choice = Int[Array, "*#games"]
"""A message, a target: its number."""
Likelihood = Literal["softmax", "sigmoid"]
SHADES = 3
FEW = 16
"""Up to here arrays are added up one after the other."""
MOST = 5.0
"""How much use may add to a message's logit where its meaning is fixed, or take from it."""


class Dense(eqx.Module):
    """x W + c on the first axis."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    def __init__(self, inputs: int, outputs: int, key: Key[Array, ""], scale: float = 1.0):
        self.weight = scale * jax.random.normal(key, (inputs, outputs)) / inputs**0.5
        self.bias = jnp.zeros(outputs)

    def __call__(self, x: Float[Array, "inputs *rest"]) -> Float[Array, "outputs *rest"]:
        return affine(self.weight, self.bias, x)


@jax.custom_vjp
def mixed(weight: Float[Array, "inputs outputs"], x: Float[Array, "inputs *rest"]) -> Float[Array, "outputs *rest"]:
    """x W on the first axis: one matrix product over all the rest. The processor's kernels want the left factor as it
    lies in memory, so it is turned before (forth) or left alone (back)."""
    turned = jax.lax.optimization_barrier(weight.T)
    return (turned @ x.reshape(len(x), -1)).reshape(-1, *x.shape[1:])


def _mixed_forth(weight: Array, x: Array) -> tuple[Array, tuple[Array, Array]]:
    return mixed(weight, x), (weight, x)


def _mixed_back(kept: tuple[Array, Array], gradient: Array) -> tuple[Array, Array]:
    weight, x = kept
    flat = gradient.reshape(len(gradient), -1)
    return x.reshape(len(x), -1) @ flat.T, (weight @ flat).reshape(x.shape)


mixed.defvjp(_mixed_forth, _mixed_back)


@jax.custom_vjp
def affine(weight: Array, bias: Float[Array, " outputs"], x: Float[Array, "inputs *rest"]) -> Array:
    """x W + c on the first axis. What the bias learns is a matrix product, too: faster than a sum along axes."""
    return mixed(weight, x) + bias.reshape(-1, *[1] * (x.ndim - 1))


def _affine_forth(weight: Array, bias: Array, x: Array) -> tuple[Array, tuple[Array, Array]]:
    return affine(weight, bias, x), (weight, x)


def _affine_back(kept: tuple[Array, Array], gradient: Array) -> tuple[Array, Array, Array]:
    to_weight, to_x = _mixed_back(kept, gradient)
    if gradient.ndim > 2 and gradient.shape[1] <= FEW:
        # A use in its own shape, see `once`.
        gradient = added([gradient[:, i] for i in range(gradient.shape[1])])
    flat = gradient.reshape(len(gradient), -1)
    return to_weight, flat @ jnp.ones(flat.shape[1]), to_x


affine.defvjp(_affine_forth, _affine_back)


@jax.custom_vjp
def leaky(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """Leaky ReLU, by divisions forth and back: see `once`."""
    return x / jnp.where(x > 0, 1.0, 100.0)


leaky.defvjp(lambda x: (leaky(x), x), lambda x, gradient: (gradient / jnp.where(x > 0, 1.0, 100.0),))


def once(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """x itself, worked out but once. XLA's compiler for CPUs works out anew in each place that uses it what it takes
    for cheap, and joins it with how a matrix product shapes it, in loops that no longer go along whole rows. It takes a
    division for dear, and so does neither where there are several uses, one of them in x's own shape. Without this, and
    `leaky` so written, a step of training takes one and a half times as long."""
    return x / jnp.where(x > 1e30, 2.0, 1.0)


def one_hot(number: int, choice: Choice) -> Bool[Array, "choices *#games"]:
    return jnp.arange(number).reshape(number, *[1] * choice.ndim) == choice


def chosen(table: Shaped[Array, "..."], choice: Choice) -> Shaped[Array, "..."]:
    """The entry of each game's choice, in a table that ends with choices × games. A masked sum, not an index: its
    gradient is a product, not a scatter."""
    axis = table.ndim - choice.ndim - 1
    return jnp.sum(table * one_hot(table.shape[axis], choice), axis=axis)


def added(options: Sequence[Float[Array, "..."]]) -> Float[Array, "..."]:
    """A sum of few and large arrays, one after the other: faster than a sum along an axis."""
    return reduce(jnp.add, options)


@jax.custom_vjp
def averaged(each: Float[Array, "features candidates *rest"]) -> Float[Array, "features *rest"]:
    """The mean of the candidates, added up likewise; what it learns goes to all of them alike."""
    return added([each[:, i] for i in range(each.shape[1])]) / each.shape[1]


def _averaged_back(each: Array, gradient: Array) -> tuple[Array]:
    return (jnp.broadcast_to(gradient[:, None] / each.shape[1], each.shape),)


averaged.defvjp(lambda each: (averaged(each), each), _averaged_back)


@jax.custom_vjp
def weighed(weights: Float[Array, " features"], each: Float[Array, "features *rest"]) -> Float[Array, "*rest"]:
    """Σ w x over the first axis, added up likewise."""
    return added([weight * x for weight, x in zip(weights, each, strict=True)])


def _weighed_back(kept: tuple[Array, Array], gradient: Array) -> tuple[Array, Array]:
    weights, each = kept
    return each.reshape(len(each), -1) @ gradient.reshape(-1), weights.reshape(-1, *[1] * gradient.ndim) * gradient


weighed.defvjp(lambda weights, each: (weighed(weights, each), (weights, each)), _weighed_back)


def picked(options: Sequence[Float[Array, "..."]], choice: Choice) -> Float[Array, "..."]:
    """The option of each game's choice, likewise."""
    found = options[0]
    for i, option in enumerate(options[1:], 1):
        found = jnp.where(choice == i, option, found)
    return found


class Reading(eqx.Module):
    """What a network makes of the candidates before any word is said."""

    log_likelihood: Table
    """With the lapse: what beliefs are updated with."""
    strict: Table
    """Without it, and without what use has added: what Bayesian pretraining teaches."""
    embedding: Float[Array, "..."]
    """What `about` reads: a vector for each candidate (paper) or for each cell (exchange)."""


def read(logits: Table, literal: Table, embedding: Array, kind: Likelihood, lapse: float) -> Reading:
    """log P(m | o, O): messages compete for each candidate (softmax), or each is judged by itself (sigmoid) (F-06).

    With chance `lapse` she says just anything, so a message that fits nobody tells him nothing, whatever the network
    makes of it: this is what keeps a grounded protocol grounded (F-15)."""

    def judged(logits: Table) -> Table:
        return jax.nn.log_softmax(logits, axis=1) if kind == "softmax" else jax.nn.log_sigmoid(logits)

    by_use = jnp.log((1 - lapse) * jnp.exp(judged(logits)) + lapse / logits.shape[1] + 1e-12)
    return Reading(by_use, judged(literal), embedding)


def posterior(log_likelihood: Table, prior: Belief) -> Table:
    """The new belief for every message at once, column by column."""
    return jax.nn.softmax(log_likelihood + jnp.log(prior + 1e-12)[:, None], axis=0)


def update(log_likelihood: Table, prior: Belief, message: Choice) -> Belief:
    """f(O, b, m) for one message."""
    return jax.nn.softmax(chosen(log_likelihood, message) + jnp.log(prior + 1e-12), axis=0)


class PaperNet(eqx.Module):
    """Appendix B. Contexts start small and, unless words are taught, message vectors large, else the first student has
    no opinion (F-07). A context is the mean of the embeddings, not their sum: with many candidates it would outgrow
    them (F-34)."""

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
        loud: bool = True,
    ):
        encoder_key, blocks_key, messages_key = jax.random.split(key, 3)
        self.encoder = Dense(features, width, encoder_key)
        pairs = jax.random.split(blocks_key, (rounds, 2))
        self.blocks = tuple((Dense(width, width, own), Dense(width, width, context, 0.2)) for own, context in pairs)
        self.messages = (8 if loud else 1) * jax.random.normal(messages_key, (messages, width)) / width**0.5
        self.likelihood, self.lapse = likelihood, lapse

    def __call__(self, candidates: Candidates) -> Reading:
        h = leaky(self.encoder(jnp.moveaxis(candidates, -1, 0)))
        for own, context in self.blocks:
            h = leaky(own(h) + context(averaged(h))[:, None])
        logits = jnp.swapaxes(mixed(self.messages.T, h), 0, 1)
        return read(logits, logits, h, self.likelihood, self.lapse)

    @property
    def about_size(self) -> int:
        return 2 * self.messages.shape[1]

    def about(
        self, layer: Dense, reading: Reading, target: Choice, expected: Table, message: Choice | None
    ) -> Float[Array, "hidden messages *#games"]:
        """A layer on embeddings weighted by the belief after each message, and on the target's own. It is applied
        first, so that fewer numbers are weighted."""
        projected = mixed(jnp.concatenate(jnp.split(layer.weight, 2), axis=1), reading.embedding)
        vectors, own = jnp.split(projected, 2)
        hers = picked([own[:, i] for i in range(len(expected))], target) + layer.bias.reshape(-1, *[1] * target.ndim)
        seen = added([vectors[:, i, None] * expected[i] for i in range(len(expected))])
        return seen + hers[:, None]


class Exchange(eqx.Module):
    """One residual round: every cell hears from itself, its column and its row, from these the mean and the largest."""

    own: Float[Array, "channels channels"]
    column_mean: Dense
    column_max: Float[Array, "channels channels"]
    row_mean: Float[Array, "channels channels"]
    row_max: Float[Array, "channels channels"]

    def __init__(self, channels: int, key: Key[Array, ""]):
        # Five voices are added up; each begins softly, so that together they do not drown the cell itself (F-05).
        voices = [Dense(channels, channels, k, 0.4) for k in jax.random.split(key, 5)]
        self.column_mean = voices[1]
        self.own, _, self.column_max, self.row_mean, self.row_max = (voice.weight for voice in voices)

    def __call__(self, cells: Float[Array, "channels candidates messages *#games"]) -> Array:
        column = self.column_mean(jnp.mean(cells, axis=1)) + mixed(self.column_max, jnp.max(cells, axis=1))
        row = mixed(self.row_mean, jnp.mean(cells, axis=2)) + mixed(self.row_max, jnp.max(cells, axis=2))
        return once(cells + leaky(mixed(self.own, cells) + column[:, None] + row[:, :, None]))


class ExchangeNet(eqx.Module):
    """A network on the candidates × messages table."""

    encoder: tuple[Dense, Dense]
    messages: Float[Array, "messages width"]
    shades: Float[Array, "shades*messages width"] | None
    """With a lexicon, further vectors of each message: they set apart what is equally true, so that a pair can settle
    on one of two words that are as good."""
    spread: Dense
    rounds: tuple[Exchange, ...]
    gather: Dense
    likelihood: Likelihood = eqx.field(static=True)
    lapse: float = eqx.field(static=True)
    lexicon: bool = eqx.field(static=True)
    """What words mean was taught and stays; use only adds to it, within bounds (F-20)."""

    def __init__(
        self,
        features: int,
        messages: int,
        key: Key[Array, ""],
        width: int,
        rounds: int,
        likelihood: Likelihood = "softmax",
        lapse: float = 0.05,
        lexicon: bool = False,
    ):
        first, second, messages_key, spread, rounds_key, gather = jax.random.split(key, 6)
        self.encoder = Dense(features, 2 * width, first), Dense(2 * width, 2 * width, second)
        self.messages = 3 * jax.random.normal(messages_key, (messages, 2 * width)) / (2 * width) ** 0.5
        shades_key, spread_key = jax.random.split(spread)
        shades = jax.random.normal(shades_key, (SHADES * messages, 2 * width)) / (2 * width) ** 0.5
        self.shades = shades if lexicon else None
        self.spread = Dense(5 + SHADES * lexicon, width, spread_key)
        self.rounds = tuple(Exchange(width, k) for k in jax.random.split(rounds_key, rounds - 1))
        self.gather = Dense(width + 1, 1, gather, 0.0 if lexicon else 0.1)
        self.gather = eqx.tree_at(lambda dense: dense.weight, self.gather, self.gather.weight.at[-1].set(1.0))
        self.likelihood, self.lapse, self.lexicon = likelihood, lapse, lexicon

    def __call__(self, candidates: Candidates) -> Reading:
        embedded = self.encoder[1](leaky(self.encoder[0](jnp.moveaxis(candidates, -1, 0))))
        literal = compatibility = jnp.swapaxes(mixed(self.messages.T, embedded), 0, 1)
        if self.lexicon:
            embedded, compatibility = jax.lax.stop_gradient((embedded, compatibility))
        # The first round, of one channel: cheaper than of many that say the same.
        column, most = jnp.mean(compatibility, axis=0), jnp.max(compatibility, axis=0)
        row = [voice(compatibility, axis=1, keepdims=True) for voice in (jnp.mean, jnp.max)]
        heard = jnp.stack(jnp.broadcast_arrays(compatibility, column, most, *row))
        if self.shades is not None:
            shades = mixed(self.shades.T, embedded).reshape(SHADES, -1, *embedded.shape[1:])
            heard = jnp.concatenate([heard, jnp.swapaxes(shades, 1, 2)])
        cells = leaky(self.spread(heard))
        for exchange in self.rounds:
            cells = exchange(cells)
        use = weighed(self.gather.weight[:-1, 0], cells)
        if self.lexicon:
            # Twice the logit it was taught: true words stay equals, and no use makes up for being untrue.
            logits = 2 * compatibility + MOST * jnp.tanh(use / MOST)
        else:
            logits = compatibility * self.gather.weight[-1, 0] + use
        return read(logits, literal, cells, self.likelihood, self.lapse)

    @property
    def about_size(self) -> int:
        return self.spread.bias.shape[0]

    def about(
        self, layer: Dense, reading: Reading, target: Choice, expected: Table, message: Choice | None
    ) -> Float[Array, "hidden messages *#games"]:
        """A layer on the target's row."""
        if message is None:
            every = layer(reading.embedding)
            return picked([every[:, i] for i in range(len(expected))], target)
        row = picked([reading.embedding[:, i] for i in range(len(expected))], target)
        return layer(chosen(row, message)[:, None])


BeliefNet = PaperNet | ExchangeNet
