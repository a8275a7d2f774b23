"""Bayes' rule:   b'(o) ∝ b(o) · P(m | o, O)   (section 4); and what a belief says of the question."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

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


def belief_in_target(
    belief: Float[Array, "..."], target: Index, cells: Int[Array, "candidates *#games"] | None
) -> Float[Array, "..."]:
    """b(o*); where a cell is to be found, the belief in the target's. Beliefs end with candidates × games."""
    if cells is None:
        return take_one_hot(belief, target)
    return jnp.sum(belief * (cells == take_one_hot(cells, target)), axis=belief.ndim - target.ndim - 1)


def belief_in_cells(belief: Belief, cells: Int[Array, "candidates *#games"] | None) -> Belief:
    """Where a cell is to be found, the likeliest candidate of each cell answers for all of it."""
    if cells is None:
        return belief
    same = cells[:, None] == cells[None]
    likeliest = jnp.argmax(jnp.where(same, belief[None], -1), axis=1)
    position = jnp.arange(len(belief)).reshape(-1, *[1] * (belief.ndim - 1))
    return jnp.where(likeliest == position, jnp.sum(same * belief[None], axis=1), 0)


def entropy(belief: Float[Array, "candidates *rest"]) -> Float[Array, "*rest"]:
    return -jnp.sum(belief * jnp.log(belief + EPSILON), axis=0)
