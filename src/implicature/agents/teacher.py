"""The teacher: she predicts what the student would believe after each message and values it.

    Q(O, o*, b, m) = value of (the predicted belief f_A(O, b, m), the target),   π_A(m | …) = softmax(β Q)   (eq. 2, 3)

The value heads read what the paper's read, and how much he would believe the target (F-08), which a network of sums
cannot find by itself when candidates are many.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from implicature.nn.belief_nets import (
    Belief,
    BeliefNet,
    Candidates,
    Choice,
    Dense,
    Reading,
    chosen,
    leaky,
    once,
    posterior,
    update,
    weighed,
)
from implicature.nn.image_encoder import Eyes

Values = Float[Array, "messages *#games"]


def entropy(belief: Float[Array, "candidates *rest"]) -> Float[Array, "*rest"]:
    return -jnp.sum(belief * jnp.log(belief + 1e-12), axis=0)


class Teacher(eqx.Module):
    """Belief network and value head; `read` once a game, the rest in every round."""

    belief: BeliefNet
    about: Dense
    """The value head's first layer: what it reads of (target, message) in the network,"""
    expected: Float[Array, "2 hidden"] | None
    """and in the predicted belief: how much he would believe the target, and his entropy."""
    out: Dense
    eyes: Eyes | None

    def __init__(
        self,
        belief: BeliefNet,
        width: int,
        key: Key[Array, ""],
        reads_belief: bool = True,
        eyes: Eyes | None = None,
    ):
        about, out = jax.random.split(key)
        self.belief = belief
        first = Dense(belief.about_size + 2 * reads_belief, width, about)
        self.about = eqx.tree_at(lambda dense: dense.weight, first, first.weight[: belief.about_size])
        self.expected = first.weight[belief.about_size :] if reads_belief else None
        self.out = Dense(width, 1, out, 0.0)
        self.eyes = eyes

    def read(self, candidates: Candidates) -> Reading:
        return self.belief(candidates)

    def predict(self, reading: Reading, belief: Belief, message: Choice) -> Belief:
        """Her estimate of the student's belief after the message."""
        return update(reading.log_likelihood, belief, message)

    def values(self, reading: Reading, target: Choice, belief: Belief, message: Choice | None = None) -> Values:
        """Q for every message, or for one alone."""
        if message is None:
            expected = posterior(reading.log_likelihood, belief)
        else:
            expected = self.predict(reading, belief, message)[:, None]
        hidden = self.belief.about(self.about, reading, target, expected, message)
        found = jnp.zeros(())
        if self.expected is not None:
            found = chosen(jnp.swapaxes(expected, 0, 1), target)
            to_found, to_entropy = self.expected.reshape(2, -1, *[1] * found.ndim)
            hidden = hidden + to_found * found + to_entropy * entropy(expected)
        return once(found + weighed(self.out.weight[:, 0], leaky(hidden)) + self.out.bias)
