"""The exchange network: a network on the candidates × messages table (F-05), after exchangeable matrix layers
(Hartford et al. 2018).

    cell[o, m]  starts from the compatibility e_o · v_m
    one layer:  cell ← cell + φ(W cell + W_cm mean_o cell + W_cx max_o cell + W_rm mean_m cell + W_rx max_m cell)

A layer has the shape of one step of the exact recursion: normalising columns, then rows. The same weights fit any
number of candidates.
"""

from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PyTree

from implicature.nn.kernels import Index, dot, leaky_relu, materialize, matmul, select, take_one_hot
from implicature.nn.likelihood import (
    AbstractMaskedNet,
    Features,
    Likelihood,
    LikelihoodKind,
    Present,
    Table,
    likelihood,
)
from implicature.nn.linear import Linear

Tree = TypeVar("Tree")
AUX_EMBEDDINGS = 3
LOGIT_BOUND = 5.0
"""With frozen semantics, training on games adds at most this much to a message's logit."""
LAYER_INIT_SCALE = 0.4
"""Five terms are summed in a layer; each starts small, so that the residual dominates (F-05)."""


def over_candidates(cells: Float[Array, "..."], present: Present | None, axis: int) -> tuple[Array, Array]:
    """The mean and the maximum of each column, over the candidates that are present."""
    if present is None:
        return jnp.mean(cells, axis=axis), jnp.max(cells, axis=axis)
    there = present.reshape(*[1] * axis, len(present), 1, *present.shape[1:])
    mean = jnp.sum(cells * there, axis=axis) / jnp.sum(there, axis=axis)
    return mean, jnp.max(jnp.where(there, cells, -jnp.inf), axis=axis)


class ExchangeLayer(eqx.Module):
    """One residual layer: every cell sees itself, and the mean and the maximum of its column and of its row."""

    own: Float[Array, "channels channels"]
    column_mean: Linear
    column_max: Float[Array, "channels channels"]
    row_mean: Float[Array, "channels channels"]
    row_max: Float[Array, "channels channels"]

    def __init__(self, channels: int, key: Key[Array, ""]):
        terms = [Linear(channels, channels, k, LAYER_INIT_SCALE) for k in jax.random.split(key, 5)]
        self.column_mean = terms[1]
        self.own, _, self.column_max, self.row_mean, self.row_max = (term.weight for term in terms)

    def __call__(self, cells: Float[Array, "channels candidates messages *#games"], present: Present | None) -> Array:
        mean, largest = over_candidates(cells, present, axis=1)
        column = self.column_mean(mean) + matmul(self.column_max, largest)
        row = matmul(self.row_mean, jnp.mean(cells, axis=2)) + matmul(self.row_max, jnp.max(cells, axis=2))
        return materialize(cells + leaky_relu(matmul(self.own, cells) + column[:, None] + row[:, :, None]))


class RepeatedLayer(eqx.Module):
    """One layer applied several times, each time with what it started from:  cell ← (start + layer(cell)) / 2, which
    goes on to the same cells whether it is applied often or very often (F-66)."""

    layer: ExchangeLayer
    times: int = eqx.field(static=True)
    depth: Int[Array, ""] | None = None
    """How often in this iteration of training; None: `times`."""

    def __call__(self, cells: Float[Array, "channels candidates messages *#games"], present: Present | None) -> Array:
        start = cells
        for i in range(self.times):
            new = (start + self.layer(cells, present)) / 2
            cells = new if self.depth is None else jnp.where(i < self.depth, new, cells)
        return cells


Layers = tuple[ExchangeLayer, ...] | tuple[RepeatedLayer]


def new_layers(number: int, channels: int, key: Key[Array, ""], shared: bool) -> Layers:
    keys = jax.random.split(key, number)
    if shared and number:
        return (RepeatedLayer(ExchangeLayer(channels, keys[0]), number),)
    return tuple(ExchangeLayer(channels, k) for k in keys)


def at_depth(tree: Tree, depth: Int[Array, ""] | None) -> Tree:
    """Agents whose repeated layers are applied so often."""

    def change(node: PyTree) -> PyTree:
        return RepeatedLayer(node.layer, node.times, depth) if isinstance(node, RepeatedLayer) else node

    return jax.tree.map(change, tree, is_leaf=lambda node: isinstance(node, RepeatedLayer))


class ExchangeNet(AbstractMaskedNet):
    encoder: tuple[Linear, Linear]
    messages: Float[Array, "messages width"]
    aux_embeddings: Float[Array, "aux*messages width"] | None
    """With frozen semantics, further vectors of each message: they distinguish messages that are equally true, so that
    a pair can settle on one of two equally good words."""
    expand: Linear
    layers: Layers
    readout: Linear
    kind: LikelihoodKind = eqx.field(static=True)
    lapse_rate: float = eqx.field(static=True)
    freeze_semantics: bool = eqx.field(static=True)
    """Pretrained word meanings stay fixed; training on games adds a bounded term to the logits (F-20)."""

    def __init__(
        self,
        features: int,
        messages: int,
        key: Key[Array, ""],
        width: int,
        layers: int,
        kind: LikelihoodKind = "softmax",
        lapse_rate: float = 0.05,
        freeze_semantics: bool = False,
        shared: bool = False,
    ):
        first, second, messages_key, expand_key, layers_key, readout_key = jax.random.split(key, 6)
        self.encoder = Linear(features, 2 * width, first), Linear(2 * width, 2 * width, second)
        self.messages = 3 * jax.random.normal(messages_key, (messages, 2 * width)) / (2 * width) ** 0.5
        aux_key, expand_key = jax.random.split(expand_key)
        aux = jax.random.normal(aux_key, (AUX_EMBEDDINGS * messages, 2 * width)) / (2 * width) ** 0.5
        self.aux_embeddings = aux if freeze_semantics else None
        self.expand = Linear(5 + AUX_EMBEDDINGS * freeze_semantics, width, expand_key)
        self.layers = new_layers(layers - 1, width, layers_key, shared)
        readout = Linear(width + 1, 1, readout_key, 0.0 if freeze_semantics else 0.1)
        self.readout = eqx.tree_at(lambda layer: layer.weight, readout, readout.weight.at[-1].set(1.0))
        self.kind, self.lapse_rate, self.freeze_semantics = kind, lapse_rate, freeze_semantics

    def __call__(self, features: Features) -> Likelihood:
        return self.with_present(features, None)

    def with_present(self, features: Features, present: Present | None) -> Likelihood:
        embedded = self.encoder[1](leaky_relu(self.encoder[0](jnp.moveaxis(features, -1, 0))))
        literal = compatibility = jnp.swapaxes(matmul(self.messages.T, embedded), 0, 1)
        if self.freeze_semantics:
            embedded, compatibility = jax.lax.stop_gradient((embedded, compatibility))
        cells = leaky_relu(self.expand(self._first_layer_inputs(embedded, compatibility, present)))
        for layer in self.layers:
            cells = layer(cells, present)
        learned = dot(self.readout.weight[:-1, 0], cells)
        if self.freeze_semantics:
            # Twice the literal logit: true words stay equal, and no learned term outweighs being untrue.
            logits = 2 * compatibility + LOGIT_BOUND * jnp.tanh(learned / LOGIT_BOUND)
        else:
            logits = compatibility * self.readout.weight[-1, 0] + learned
        return likelihood(logits, literal, cells, self.kind, self.lapse_rate)

    def _first_layer_inputs(self, embedded: Array, compatibility: Table, present: Present | None) -> Array:
        """The first layer has one channel: the compatibility, its column's and its row's mean and maximum."""
        column = over_candidates(compatibility, present, axis=0)
        row = [reduce(compatibility, axis=1, keepdims=True) for reduce in (jnp.mean, jnp.max)]
        inputs = jnp.stack(jnp.broadcast_arrays(compatibility, *column, *row))
        if self.aux_embeddings is None:
            return inputs
        aux = matmul(self.aux_embeddings.T, embedded).reshape(AUX_EMBEDDINGS, -1, *embedded.shape[1:])
        return jnp.concatenate([inputs, jnp.swapaxes(aux, 1, 2)])

    @property
    def q_feature_size(self) -> int:
        return self.expand.bias.shape[0]

    def q_features(
        self, layer: Linear, encoding: Likelihood, target: Index, expected: Table, message: Index | None
    ) -> Float[Array, "hidden messages *#games"]:
        """A layer on the target's row of cells: unlike appendix B's, it does not read the belief (F-39)."""
        candidates = range(len(expected))
        if message is None:
            hidden = layer(encoding.embedding)
            return select([hidden[:, i] for i in candidates], target)
        row = select([encoding.embedding[:, i] for i in candidates], target)
        return layer(take_one_hot(row, message)[:, None])
