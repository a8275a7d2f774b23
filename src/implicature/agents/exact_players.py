"""Exact players for whole dialogues: the recursion of `exact`, begun anew in each round from what he believes by then.

    L_t(o | m) from the prior b;  she values a true message by L_t(o* | m), an untrue one by −1

Depth 0 is the literal pair. He waits while all that a further message might add is more than it costs:  1 − max b > c
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.exact import Belief, Table, Truth, soft_recursion


def beliefs(truth: Truth, belief: Belief, depth: int, beta: float) -> Table:
    """What he believes after each message, one column each."""
    return soft_recursion(truth, depth, beta, prior=belief).student[-1]


class ExactTeacher(eqx.Module):
    """She knows his recursion, and so his belief."""

    depth: int = eqx.field(static=True, default=3)
    beta: float = eqx.field(static=True, default=10.0)

    def read(self, candidates: Float[Array, "candidates messages"]) -> Truth:
        return candidates > 0.5

    def values(self, truth: Truth, target: Int[Array, ""], belief: Belief) -> Float[Array, " messages"]:
        return jnp.where(truth[target], beliefs(truth, belief, self.depth, self.beta)[target], -1.0)

    def predict(self, truth: Truth, belief: Belief, message: Int[Array, ""]) -> Belief:
        return beliefs(truth, belief, self.depth, self.beta)[:, message]


class ExactStudent(eqx.Module):
    depth: int = eqx.field(static=True, default=3)
    beta: float = eqx.field(static=True, default=10.0)
    message_cost: float = eqx.field(static=True, default=0.0)

    def read(self, candidates: Float[Array, "candidates messages"]) -> Truth:
        return candidates > 0.5

    def update(self, truth: Truth, belief: Belief, message: Int[Array, ""]) -> Belief:
        return beliefs(truth, belief, self.depth, self.beta)[:, message]

    def policy(self, belief: Belief, last: Bool[Array, ""]) -> Float[Array, " actions"]:
        wait = jnp.where(~last & (1 - jnp.max(belief) > self.message_cost + 1e-3), 1.0, 0.0)
        return jnp.append((1 - wait) * belief, wait)
