"""Bayesian pretraining: f learns the exact belief of a student who hears a literal teacher (section 5.2).

    loss = H( b*(· | m), f(O, b, m) ),   b*(o | m) ∝ b(o) · [(1 − lapse) · 1[m ∈ o] / |o| + lapse / M],   b random,

the mean over all messages. She is literal but for the same small lapse that the networks expect (F-15), so that a
message which fits nobody says nothing: b* = b. Left open, he would be sure of something by accident, and the teacher
would learn to say it (F-14).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from implicature.agents.belief import BeliefNet, Candidates, posterior
from implicature.agents.exact import literal_teacher, normalised


def grounding_loss(
    net: BeliefNet, key: Key[Array, ""], candidates: Candidates, truth: Bool[Array, "candidates messages"]
) -> Float[Array, ""]:
    """Cross-entropy of the exact posterior and the network's, the mean over messages."""
    number, messages = truth.shape
    prior = jax.random.dirichlet(key, jnp.ones(number))
    said = (1 - net.lapse) * literal_teacher(truth) + net.lapse / messages
    exact = normalised(prior[:, None] * said, axis=0)
    predicted = posterior(net(candidates).log_likelihood, prior)
    return -jnp.mean(jnp.sum(exact * jnp.log(predicted + 1e-9), axis=0))
