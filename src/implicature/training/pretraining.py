"""Bayesian pretraining: f learns the exact belief of a student who hears a literal teacher (section 5.2).

    loss = H( b*(· | m), f(O, b, m) ),   b*(o | m) ∝ b(o) · 1[m ∈ o] / |o|,   b random, every message that fits someone

It teaches the likelihood without the lapse (F-15), so that what is untrue becomes as unlikely as can be. A message that
fits nobody is not taught: with the lapse it then says nothing (F-14).

A baseline's speaker has no belief to teach. She learns to speak as the literal teacher whom that belief expects (F-30):

    loss = H( S_0(· | o), π_A(· | o, O) ),   S_0(m | o) = 1[m ∈ o] / |o|,   every candidate as the target
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from implicature.agents.belief import Candidates, Reading
from implicature.agents.exact import literal_teacher, normalised


def grounding_loss(
    net: Callable[[Candidates], Reading],
    key: Key[Array, ""],
    candidates: Candidates,
    truth: Bool[Array, "candidates messages *#games"],
) -> Float[Array, "*#games"]:
    """Cross-entropy of the exact posterior and the network's, the mean over messages that fit someone."""
    # Exponentials divided by their sum are uniform over all beliefs.
    prior = normalised(jax.random.exponential(key, (len(truth), *truth.shape[2:])), axis=0)
    exact = normalised(prior[:, None] * literal_teacher(truth), axis=0)
    predicted = jax.nn.log_softmax(net(candidates).strict + jnp.log(prior + 1e-9)[:, None], axis=0)
    fits = jnp.any(truth, axis=0)
    return -jnp.sum(exact * predicted * fits, axis=(0, 1)) / jnp.maximum(jnp.sum(fits, axis=0), 1)


def speaking_loss(
    net: Callable[[Candidates], Reading],
    key: Key[Array, ""],
    candidates: Candidates,
    truth: Bool[Array, "candidates messages *#games"],
) -> Float[Array, "*#games"]:
    """Cross-entropy of what the literal teacher says and what she says, the mean over candidates as targets."""
    return jnp.mean(-jnp.sum(literal_teacher(truth) * net(candidates).strict, axis=1), axis=0)
