"""Bayesian pretraining: f learns the exact belief of a student who hears a literal teacher (section 5.2).

    loss = H( b*(· | m), f(O, b, m) ),   b*(o | m) ∝ b(o) · 1[m ∈ o] / |o|,   b random, over all messages

A message that fits nobody says nothing: b* = b (F-14). Left open, he would be sure of something by accident, and the
teacher would learn to say it.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from implicature.agents.belief import BeliefNet, Candidates, posterior
from implicature.agents.exact import literal_teacher, student


def grounding_loss(
    net: BeliefNet, key: Key[Array, ""], candidates: Candidates, truth: Bool[Array, "candidates messages"]
) -> Float[Array, ""]:
    """Cross-entropy of the exact posterior and the network's, the mean over messages."""
    prior = jax.random.dirichlet(key, jnp.ones(len(truth)))
    exact = student(literal_teacher(truth), prior, jnp.broadcast_to(prior[:, None], truth.shape))
    predicted = posterior(net(candidates).log_likelihood, prior)
    return -jnp.mean(jnp.sum(exact * jnp.log(predicted + 1e-9), axis=0))
