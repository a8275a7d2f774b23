"""The teacher: she predicts what the student would believe after each message and values it.

    Q(O, o*, b, m) = value of (the predicted belief f_A(O, b, m), the target),   π_A(m | …) = softmax(β Q)   (eq. 2, 3)

The value heads read what the paper's read, and how much he would believe the target (F-08), which a network of sums
cannot find by itself when candidates are many.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from implicature.agents.belief import Belief, BeliefNet, Candidates, Dense, Reading, leaky, posterior, update

Values = Float[Array, " messages"]


def entropy(belief: Float[Array, "candidates *rest"]) -> Float[Array, "*rest"]:
    return -jnp.sum(belief * jnp.log(belief + 1e-12), axis=0)


class Value(eqx.Module):
    """Two layers on what is known of (target, message); zero at first."""

    hidden: Dense
    out: Dense

    def __init__(self, inputs: int, width: int, key: Key[Array, ""]):
        hidden, out = jax.random.split(key)
        self.hidden, self.out = Dense(inputs, width, hidden), Dense(width, 1, out, 0.0)

    def __call__(self, inputs: Float[Array, "*rest inputs"]) -> Float[Array, "*rest"]:
        return self.out(leaky(self.hidden(inputs)))[..., 0]


class Teacher(eqx.Module):
    """Belief network and value head; `read` once a game, the rest in every round."""

    belief: BeliefNet
    value: Value
    reads_belief: bool = eqx.field(static=True)

    def __init__(self, belief: BeliefNet, width: int, key: Key[Array, ""], reads_belief: bool = True):
        self.belief = belief
        self.value = Value(belief.about_size + 2 * reads_belief, width, key)
        self.reads_belief = reads_belief

    def read(self, candidates: Candidates) -> Reading:
        return self.belief(candidates)

    def predict(self, reading: Reading, belief: Belief, message: Int[Array, ""]) -> Belief:
        """Her estimate of the student's belief after the message."""
        return update(reading.log_likelihood, belief, message)

    def values(self, reading: Reading, target: Int[Array, ""], belief: Belief) -> Values:
        """Q for every message."""
        expected = posterior(reading.log_likelihood, belief)
        about = self.belief.about(reading, target, expected)
        if not self.reads_belief:
            return self.value(about)
        found = expected[target]
        return found + self.value(jnp.concatenate([about, found[:, None], entropy(expected)[:, None]], axis=1))
