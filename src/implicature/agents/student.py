"""The student: he updates his belief with each message and answers by it, or waits for another word.

    w = sigmoid(slope · H(b) + offset),   π_B(o | b) = (1 − w) · b(o),   π_B(Ξ | b) = w        (section 4, F-09)

In the last round there is nothing to wait for: w = 0.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from implicature.agents.teacher import entropy
from implicature.nn.belief_nets import Belief, BeliefNet, Candidates, Choice, Reading, update
from implicature.nn.image_encoder import Eyes

Policy = Float[Array, "actions *#games"]
"""A chance for each candidate, and for waiting at the end."""


class Student(eqx.Module):
    belief: BeliefNet
    slope: Float[Array, ""]
    offset: Float[Array, ""]
    eyes: Eyes | None

    def __init__(self, belief: BeliefNet, slope: float = 4.0, offset: float = -2.0, eyes: Eyes | None = None):
        self.belief = belief
        # Of a dtype of their own: a weak type would become a strong one in the first step, and be compiled for twice.
        self.slope, self.offset = jnp.asarray(slope, jnp.float32), jnp.asarray(offset, jnp.float32)
        self.eyes = eyes

    def read(self, candidates: Candidates) -> Reading:
        return self.belief(candidates)

    def update(self, reading: Reading, belief: Belief, message: Choice) -> Belief:
        return update(reading.log_likelihood, belief, message)

    def policy(self, belief: Belief, last: Bool[Array, ""]) -> Policy:
        # He learns to wait when unsure, not to be unsure in order to wait (F-09).
        unsure = jax.lax.stop_gradient(entropy(belief))
        wait = jnp.where(last, 0.0, jax.nn.sigmoid(self.slope * unsure + self.offset))
        return jnp.concatenate([(1 - wait) * belief, wait[None]])
