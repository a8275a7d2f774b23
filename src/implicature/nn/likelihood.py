"""The likelihood P(m | o, O) of every message for every candidate, as a belief network gives it.

softmax   P(m | o) = exp(logit[o, m]) / Σ_m' exp(logit[o, m'])     messages compete for each candidate     (F-06)
sigmoid   P(m | o) = σ(logit[o, m])                                each message by itself (appendix B)
lapse     P'(m | o) = (1 − λ) P(m | o) + λ / M                     (F-15)
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from implicature.nn.kernels import Index
from implicature.nn.linear import Linear

Features = Float[Array, "candidates *#games features"]
Table = Float[Array, "candidates messages *#games"]
Present = Bool[Array, "candidates *#games"]
"""Which candidates a game has, where games of several sizes stand in one array."""
LikelihoodKind = Literal["softmax", "sigmoid"]


class Likelihood(eqx.Module):
    """What a belief network computes from the candidates before any message."""

    log_likelihood: Table
    """With lapses: what beliefs are updated with."""
    literal: Table
    """Without lapses and without what training on games has added: what Bayesian pretraining trains."""
    embedding: Float[Array, "..."]
    """What `q_features` reads: a vector for each candidate (deep sets) or for each cell (exchange)."""
    costs: Float[Array, "messages *#games"] | None = None
    """What each word costs, for the teacher's Q; None: nothing."""
    cells: Int[Array, "candidates *#games"] | None = None
    """The cell of each candidate where a cell is to be found, for the teacher's Q; None: the target itself is."""
    sayable: Bool[Array, "candidates messages *#games"] | None = None
    """Which words she may say of each candidate, in a game in which she says what is true (F-60); None: any."""


def likelihood(logits: Table, literal: Table, embedding: Array, kind: LikelihoodKind, lapse_rate: float) -> Likelihood:
    """Logits to log P(m | o, O). With lapses, a message that fits no candidate leaves the prior unchanged whatever the
    network's logits are; this keeps a grounded protocol grounded (F-15)."""

    def log_p(logits: Table) -> Table:
        return jax.nn.log_softmax(logits, axis=1) if kind == "softmax" else jax.nn.log_sigmoid(logits)

    with_lapse = jnp.log((1 - lapse_rate) * jnp.exp(log_p(logits)) + lapse_rate / logits.shape[1] + 1e-12)
    return Likelihood(with_lapse, log_p(literal), embedding)


class AbstractBeliefNet(eqx.Module):
    """A network from candidates to likelihoods, with features for the teacher's Q. A network of your own goes here."""

    @property
    @abstractmethod
    def q_feature_size(self) -> int: ...

    @abstractmethod
    def __call__(self, features: Features) -> Likelihood: ...

    @abstractmethod
    def q_features(
        self, layer: Linear, encoding: Likelihood, target: Index, expected: Table, message: Index | None
    ) -> Float[Array, "hidden messages *#games"]:
        """The first layer of Q applied to what the network knows of (target, message): for every message, or for one.
        `expected` is the predicted belief after each message."""


class AbstractMaskedNet(AbstractBeliefNet):
    """A network that also takes games of several sizes at once."""

    @abstractmethod
    def with_present(self, features: Features, present: Present | None) -> Likelihood:
        """The likelihood of each present candidate as if there were no others; that of the absent means nothing."""


class AbstractLiveNet(AbstractBeliefNet):
    """A network that also takes games of some words of its vocabulary, and of several sizes at once."""

    @abstractmethod
    def with_words(
        self, features: Features, words: Int[Array, "live *#games"], present: Present | None = None
    ) -> Likelihood:
        """The likelihood of these words, whose features are the attributes of the same names."""


def apply_net(
    net: Callable[[Features], Likelihood],
    features: Features,
    words: Int[Array, "live *#games"] | None,
    present: Present | None = None,
) -> Likelihood:
    """Any network, a baseline's too, with the whole vocabulary; or a live one with the words of each game; or one that
    takes games of several sizes."""
    if words is not None:
        assert isinstance(net, AbstractLiveNet)  # the config is resolved so
        return net.with_words(features, words, present)
    if present is not None:
        assert isinstance(net, AbstractMaskedNet)  # the config is checked
        return net.with_present(features, present)
    return net(features)
