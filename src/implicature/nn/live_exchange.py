"""The exchange network on live words (games/live.py): the table is candidates × live words, whatever the vocabulary.

    h_o = Σ_a x_oa w_a,   e_o = W φ(h_o) + c        a sum of the embeddings of the attributes that o has
    cell[o, m] starts from e_o · v_m, and from an identity u_m that tells apart words that are equally true

v_m, w_a and u_m are gathered for the words of each game. The layers are those of the exchange network (exchange.py); so
are frozen semantics (F-20). Embeddings are wider than there: they tell apart a thousand words, not twenty (F-64).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from implicature.nn.exchange import AUX_EMBEDDINGS, LOGIT_BOUND, Layers, new_layers, over_candidates
from implicature.nn.kernels import Index, dot, leaky_relu
from implicature.nn.likelihood import (
    AbstractLiveNet,
    Features,
    Likelihood,
    LikelihoodKind,
    Present,
    Table,
    likelihood,
)
from implicature.nn.linear import Linear

EMBEDDING = 128
"""Units of the embeddings of words and candidates."""


class LiveExchangeNet(AbstractLiveNet):
    encoder: tuple[Linear, Linear]
    messages: Float[Array, "messages embedding"]
    identities: Float[Array, "messages aux"]
    expand: Linear
    layers: Layers
    readout: Linear
    kind: LikelihoodKind = eqx.field(static=True)
    lapse_rate: float = eqx.field(static=True)
    freeze_semantics: bool = eqx.field(static=True)

    def __init__(
        self,
        messages: int,
        key: Key[Array, ""],
        width: int,
        layers: int,
        kind: LikelihoodKind = "softmax",
        lapse_rate: float = 0.05,
        freeze_semantics: bool = False,
        shared: bool = False,
    ):
        first, second, messages_key, identity_key, expand_key, layers_key, readout_key = jax.random.split(key, 7)
        # A candidate has few attributes of many: the sum of their embeddings is to be of order 1.
        self.encoder = Linear(messages, EMBEDDING, first, 0.5 * messages**0.5), Linear(EMBEDDING, EMBEDDING, second)
        self.messages = 3 * jax.random.normal(messages_key, (messages, EMBEDDING)) / EMBEDDING**0.5
        self.identities = jax.random.normal(identity_key, (messages, AUX_EMBEDDINGS))
        self.expand = Linear(5 + AUX_EMBEDDINGS, width, expand_key)
        self.layers = new_layers(layers - 1, width, layers_key, shared)
        readout = Linear(width + 1, 1, readout_key, 0.0 if freeze_semantics else 0.1)
        self.readout = eqx.tree_at(lambda layer: layer.weight, readout, readout.weight.at[-1].set(1.0))
        self.kind, self.lapse_rate, self.freeze_semantics = kind, lapse_rate, freeze_semantics

    def __call__(self, features: Features) -> Likelihood:
        """With the whole vocabulary."""
        words = jnp.arange(len(self.messages)).reshape(-1, *[1] * (features.ndim - 2))
        return self.with_words(features, words)

    def with_words(
        self, features: Features, words: Int[Array, "live *#games"], present: Present | None = None
    ) -> Likelihood:
        attributes, vectors = self.encoder[0].weight[words], self.messages[words]
        hidden = jnp.einsum("k...b,b...h->hk...", features, attributes)
        hidden = hidden + self.encoder[0].bias.reshape(-1, *[1] * (hidden.ndim - 1))
        embedded = self.encoder[1](leaky_relu(hidden))
        literal = compatibility = jnp.einsum("hk...,b...h->kb...", embedded, vectors)
        if self.freeze_semantics:
            compatibility = jax.lax.stop_gradient(compatibility)
        cells = leaky_relu(self.expand(self._first_layer_inputs(compatibility, words, present)))
        for layer in self.layers:
            cells = layer(cells, present)
        learned = dot(self.readout.weight[:-1, 0], cells)
        if self.freeze_semantics:
            logits = 2 * compatibility + LOGIT_BOUND * jnp.tanh(learned / LOGIT_BOUND)
        else:
            logits = compatibility * self.readout.weight[-1, 0] + learned
        return likelihood(logits, literal, cells, self.kind, self.lapse_rate)

    def _first_layer_inputs(
        self, compatibility: Table, words: Int[Array, "live *#games"], present: Present | None
    ) -> Array:
        """The compatibility, its column's and its row's mean and maximum, and the word's identity."""
        column = over_candidates(compatibility, present, axis=0)
        row = [reduce(compatibility, axis=1, keepdims=True) for reduce in (jnp.mean, jnp.max)]
        identity = jnp.moveaxis(self.identities[words], -1, 0)
        return jnp.stack(jnp.broadcast_arrays(compatibility, *column, *row, *identity))

    @property
    def q_feature_size(self) -> int:
        return self.expand.bias.shape[0]

    def q_features(
        self, layer: Linear, encoding: Likelihood, target: Index, expected: Table, message: Index | None
    ) -> Float[Array, "hidden messages *#games"]:
        """A layer on the target's row of cells, as in the exchange network; gathered, as candidates may be many."""
        cells = encoding.embedding
        games = target.shape
        cells = jnp.broadcast_to(cells, (*cells.shape[:3], *cells.shape[3 : cells.ndim - len(games)], *games))
        if message is None:
            row = jnp.take_along_axis(layer(cells), target[None, None, None], axis=1)
            return row[:, 0]
        flat = cells.reshape(len(cells), -1, *games)
        taken = jnp.take_along_axis(flat, (target * cells.shape[2] + message)[None, None], axis=1)
        return layer(taken)
