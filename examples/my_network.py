"""A belief network of your own: no context, only how well a word and a candidate match. In this folder:

implicature train --network my_network:new_network
"""

import equinox as eqx
import jax.numpy as jnp

from implicature.nn.kernels import select, take_one_hot
from implicature.nn.likelihood import AbstractBeliefNet, Likelihood, likelihood
from implicature.nn.linear import Linear


class MatchNet(AbstractBeliefNet):
    """logit[o, m] = x_o · v_m + c_m. Arrays are features (or channels) × candidates × messages × games."""

    words: Linear
    lapse_rate: float = eqx.field(static=True)

    def __call__(self, features) -> Likelihood:
        logits = jnp.swapaxes(self.words(jnp.moveaxis(features, -1, 0)), 0, 1)
        return likelihood(logits, logits, logits[None], "softmax", self.lapse_rate)

    @property
    def q_feature_size(self) -> int:
        return 1

    def q_features(self, layer, encoding, target, expected, message):
        """The first layer of Q on the target's logits: of every message, or of the one given."""
        row = select([encoding.embedding[:, i] for i in range(len(expected))], target)
        return layer(row if message is None else take_one_hot(row, message)[:, None])


def new_network(config, features, messages, key):
    """A network for so many features and messages; `config` has all settings of the run."""
    return MatchNet(Linear(features, messages, key), config.network.lapse_rate)
