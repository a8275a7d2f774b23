"""Bayesian pretraining: f learns the exact belief of a student who hears a literal teacher (section 5.2).

    L_b = H( b*(· | m), f(O, b, m) ),   b*(o | m) ∝ b(o) · 1[m ∈ o] / |o|,   b random, every message that fits someone

It teaches the likelihood without the lapse (F-15), so that what is untrue becomes as unlikely as can be. A belief does
not tell how often a word is said at all: one that is rare for everybody leads to the same beliefs, but drowns in the
lapse. So the likelihood also learns to be the literal teacher whom that belief expects, unless the lessons are of
beliefs alone (F-36):

    L_s = H( S_0(· | o), P(· | o, O) ),   S_0(m | o) = 1[m ∈ o] / |o|,   every candidate as the target

With pictures the eyes learn before the first phase as well: in a grounded pair together with the meanings; in an
ungrounded one to tell pictures apart, by no label but which picture it is (F-23):

    loss = −log softmax_j( z_i · z'_j / τ )[i],   z, z' = the features of two glimpses of each picture

A baseline's speaker has no belief to teach, and its listener does not ask what she would have said: she learns by L_s,
he by L_b (F-30).
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.rsa import literal_teacher, normalised
from implicature.nn.belief_nets import Table
from implicature.nn.image_encoder import Eyes, Features, Pictures
from implicature.training.config import Config

Truth = Bool[Array, "candidates messages *#games"]
GLIMPSES = 64
"""Pictures looked at in an iteration."""
TEMPERATURE = 0.2


def glimpsed(key: Key[Array, ""], eyes: Eyes, pictures: Pictures) -> Features:
    """What unsteady eyes see: the gaze wavers by up to a fortieth of the side, so that nothing hangs on one pixel."""
    most = pictures.shape[1] // 40
    return eyes(pictures, jax.random.randint(key, (len(pictures), 2), -most, most + 1))


def looking_loss(
    key: Key[Array, ""], eyes: Eyes, looks: Pictures, chosen: Int[Array, " some"]
) -> Float[Array, " some"]:
    """Find each picture's second glimpse among those of the others."""
    once, twice = (unit(glimpsed(k, eyes, looks[chosen])) for k in jax.random.split(key))
    # Where a picture was chosen twice, the other is no other picture.
    same = (chosen[:, None] == chosen) & ~jnp.eye(len(chosen), dtype=bool)
    alike = jnp.where(same, -jnp.inf, once @ twice.T / TEMPERATURE)
    return -jnp.diagonal(jax.nn.log_softmax(alike, axis=1))


def unit(features: Features) -> Features:
    return features / jnp.linalg.norm(features, axis=1, keepdims=True)


def believing_loss(key: Key[Array, ""], likelihood: Table, truth: Truth) -> Float[Array, "*#games"]:
    """Cross-entropy of the exact posterior and the network's, the mean over messages that fit someone."""
    # Exponentials divided by their sum are uniform over all beliefs.
    prior = normalised(jax.random.exponential(key, (len(truth), *truth.shape[2:])), axis=0)
    exact = normalised(prior[:, None] * literal_teacher(truth), axis=0)
    predicted = jax.nn.log_softmax(likelihood + jnp.log(prior + 1e-9)[:, None], axis=0)
    fits = jnp.any(truth, axis=0)
    return -jnp.sum(exact * predicted * fits, axis=(0, 1)) / jnp.maximum(jnp.sum(fits, axis=0), 1)


def speaking_loss(key: Key[Array, ""], likelihood: Table, truth: Truth) -> Float[Array, "*#games"]:
    """Cross-entropy of what the literal teacher says and what she says, the mean over candidates as targets."""
    return jnp.mean(-jnp.sum(literal_teacher(truth) * jax.nn.log_softmax(likelihood, axis=1), axis=1), axis=0)


def grounding_loss(key: Key[Array, ""], likelihood: Table, truth: Truth) -> Float[Array, "*#games"]:
    return believing_loss(key, likelihood, truth) + speaking_loss(key, likelihood, truth)


Teaching = Callable[[Key[Array, ""], Table, Truth], Float[Array, "*#games"]]


def teaching_of(config: Config, agent: str) -> Teaching:
    """Our agents know both sides of the literal teacher, of a baseline's each its own."""
    if config.method == "pragmatic":
        return grounding_loss if config.lessons == "words" else believing_loss
    return speaking_loss if agent == "teacher" else believing_loss
