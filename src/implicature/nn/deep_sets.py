"""A deep-sets network, the shape of appendix B's belief network:

    h_o = φ(W x_o),   h_o ← φ(W' h_o + W'' c) repeated,   c = mean_o h_o or Σ_o h_o,   logit[o, m] = h_o · v_m

Equivariant to the order of candidates. Appendix B has the sum; by default c is the mean, as the sum outgrows the
embeddings when candidates are many (F-34). v_m is learned, where the paper has one-hot messages (F-52). By default
contexts start small and, unless words are pretrained, message vectors large; at the standard scale the first student's
posterior is almost uniform (F-07). `--preset as-written` has sums and standard scales.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from implicature.nn.kernels import (
    Index,
    leaky_relu,
    matmul,
    mean_over_candidates,
    select,
    sum_over_candidates,
    unrolled_sum,
)
from implicature.nn.likelihood import AbstractBeliefNet, Features, Likelihood, LikelihoodKind, Table, likelihood
from implicature.nn.linear import Linear

CONTEXT_INIT_SCALE = 0.2
CONTEXTS = {"mean": mean_over_candidates, "sum": sum_over_candidates}


class DeepSetsNet(AbstractBeliefNet):
    encoder: Linear
    blocks: tuple[tuple[Linear, Linear], ...]
    """Each candidate's own layer and its context layer."""
    messages: Float[Array, "messages width"]
    kind: LikelihoodKind = eqx.field(static=True)
    lapse_rate: float = eqx.field(static=True)
    context: str = eqx.field(static=True)
    """mean or sum."""

    def __init__(
        self,
        features: int,
        messages: int,
        key: Key[Array, ""],
        width: int,
        layers: int,
        kind: LikelihoodKind = "softmax",
        lapse_rate: float = 0.05,
        message_init_scale: float = 8.0,
        context: str = "mean",
        context_init_scale: float = CONTEXT_INIT_SCALE,
    ):
        encoder_key, blocks_key, messages_key = jax.random.split(key, 3)
        self.encoder = Linear(features, width, encoder_key)
        self.blocks = tuple(
            (Linear(width, width, own_key), Linear(width, width, context_key, context_init_scale))
            for own_key, context_key in jax.random.split(blocks_key, (layers, 2))
        )
        self.messages = message_init_scale * jax.random.normal(messages_key, (messages, width)) / width**0.5
        self.kind, self.lapse_rate, self.context = kind, lapse_rate, context

    def __call__(self, features: Features) -> Likelihood:
        h = leaky_relu(self.encoder(jnp.moveaxis(features, -1, 0)))
        for own, context in self.blocks:
            h = leaky_relu(own(h) + context(CONTEXTS[self.context](h))[:, None])
        logits = jnp.swapaxes(matmul(self.messages.T, h), 0, 1)
        return likelihood(logits, logits, h, self.kind, self.lapse_rate)

    @property
    def q_feature_size(self) -> int:
        return 2 * self.messages.shape[1]

    def q_features(
        self, layer: Linear, encoding: Likelihood, target: Index, expected: Table, message: Index | None
    ) -> Float[Array, "hidden messages *#games"]:
        """A layer on [Σ_o b'(o) h_o, h_target]. The layer is applied before the sum, to fewer numbers."""
        candidates = range(len(expected))
        projected = matmul(jnp.concatenate(jnp.split(layer.weight, 2), axis=1), encoding.embedding)
        by_belief, by_target = jnp.split(projected, 2)
        target_part = select([by_target[:, i] for i in candidates], target) + layer.bias.reshape(-1, *[1] * target.ndim)
        belief_part = unrolled_sum([by_belief[:, i, None] * expected[i] for i in candidates])
        return belief_part + target_part[:, None]
