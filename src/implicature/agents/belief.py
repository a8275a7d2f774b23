"""Bayes' rule:   b'(o) ∝ b(o) · P(m | o, O)   (section 4)"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from implicature.nn.kernels import Index, take_one_hot
from implicature.nn.likelihood import Table

Belief = Float[Array, "candidates *#games"]
EPSILON = 1e-12


def posterior(log_likelihood: Table, prior: Belief) -> Table:
    """The belief after each message, column by column."""
    return jax.nn.softmax(log_likelihood + jnp.log(prior + EPSILON)[:, None], axis=0)


def update(log_likelihood: Table, prior: Belief, message: Index) -> Belief:
    """f(O, b, m): the belief after one message."""
    return jax.nn.softmax(take_one_hot(log_likelihood, message) + jnp.log(prior + EPSILON), axis=0)


def entropy(belief: Float[Array, "candidates *rest"]) -> Float[Array, "*rest"]:
    return -jnp.sum(belief * jnp.log(belief + EPSILON), axis=0)
