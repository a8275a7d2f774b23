"""Channel noise as learned agents reckon with it: a word is received as another one with probability ε; both know ε.

    P(h | m) = 1 − ε if h = m, else ε / (M − 1)
    student   P̃(h | o) = Σ_m P(m | o) P(h | m)           what he may hear, whatever she may have sent
    teacher   E[b'(o) | m] = Σ_h P(h | m) f(O, b, h)(o)   his belief after what he may hear, whatever it is

P is symmetric, so that both sums are `through_channel` (agents/utility.py). Arrays may have games as last axes.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from implicature.agents.utility import through_channel
from implicature.nn.kernels import Index
from implicature.nn.likelihood import Likelihood


def heard_likelihood(encoding: Likelihood, noise: float) -> Likelihood:
    """The likelihood of what is heard, from that of what is sent."""
    if noise == 0:
        return encoding
    heard = jnp.log(through_channel(jnp.exp(encoding.log_likelihood), noise))
    return replace(encoding, log_likelihood=heard)


def mishear(key: Key[Array, ""], message: Index, messages: int, noise: float) -> Index:
    """The word that is received: with probability ε one of the others, each equally likely."""
    flip_key, other_key = jax.random.split(key)
    other = jax.random.randint(other_key, message.shape, 0, max(1, messages - 1))
    other = jnp.minimum(other + (other >= message), messages - 1)
    return jnp.where(jax.random.uniform(flip_key, message.shape) < noise, other, message)
