"""Near contexts: distractors that share words with one of the candidates, by a temperature between random and nearest.

    J(o, o') = |words of both| / |words of either|                 similarity of two instances (Jaccard)
    O        = the anchor a, drawn at random, and the K − 1 others with the largest  J(a, o) / τ + G_o

G_o is Gumbel noise, so that distractors are drawn one after the other by exp(J / τ), without replacement: the nearest
for τ = 0 (ties at random), any for large τ. The anchor is one candidate among the others; the target is drawn as in any
game, or is the anchor where targets are given. Random candidates of a large vocabulary share no words: a literal pair
finds almost all of them (F-63).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.games.rules import NEAR_TEMPERATURE, Contexts
from implicature.games.splits import hash_bits
from implicature.spaces import Space

MIN_TEMPERATURE = 1e-5
"""As good as 0: similarities differ by more than that, or not at all."""
MAX_INSTANCES = 6_000
"""Similarities are a table instances × instances: 144 MB."""


class Neighbours(eqx.Module):
    """How similar the instances of a space are."""

    similarity: Float[Array, "instances instances"]
    temperature: float = eqx.field(static=True)

    def sample(
        self,
        noise_key: Key[Array, ""],
        anchor: Int[Array, ""],
        instances: Int[Array, " some"],
        candidates: int,
    ) -> Int[Array, " candidates"]:
        """The anchor and its distractors, all of them among `instances`; the anchor comes first."""
        near = self.similarity[anchor, instances] / max(self.temperature, MIN_TEMPERATURE)
        score = jnp.where(instances == anchor, jnp.inf, near + gumbel(noise_key, len(instances)))
        return instances[jax.lax.top_k(score, candidates)[1]]


def gumbel(key: Key[Array, ""], size: int) -> Float[Array, " size"]:
    """Gumbel noise from hashed counters: a third of the cost of jax.random's, as a game takes one for each instance."""
    counter = jnp.arange(size, dtype=jnp.uint32) * jnp.uint32(0x9E3779B9) + jax.random.bits(key)
    uniform = ((hash_bits(counter) >> 9).astype(jnp.float32) + 0.5) / 2**23
    return -jnp.log(-jnp.log(uniform))


def jaccard(truth: Bool[np.ndarray, "instances words"]) -> Float[np.ndarray, "instances instances"]:
    """Shared words over all words of each two instances; instances without words are similar to none."""
    rows = truth.astype(np.float32)
    shared, size = rows @ rows.T, rows.sum(axis=1)
    return shared / np.maximum(size[:, None] + size - shared, 1)


def near_scores(space: Space, temperature: float, sample: int) -> Float[np.ndarray, "some instances"]:
    """J(a, o) / τ + G_o of some anchors and all instances."""
    random = np.random.default_rng(0)
    anchors = random.permutation(space.instances)[:sample]
    similarity = jaccard(space.lexicon.truth)[anchors]
    noise = random.gumbel(size=similarity.shape)
    return (similarity / max(temperature, MIN_TEMPERATURE) + noise).astype(np.float32)


def neighbours(space: Space, contexts: Contexts | None, temperature: float | None = None) -> Neighbours | None:
    """The neighbours of a space's instances by the words that are true of both; None where contexts are random."""
    if contexts != "near":
        return None
    if space.instances > MAX_INSTANCES:
        raise ValueError(
            f"Near contexts compare all instances with each other, and {space.instances:,} are too many: take "
            f"{MAX_INSTANCES:,} or fewer, or --contexts random."
        )
    similarity = jnp.asarray(jaccard(space.lexicon.truth))
    return Neighbours(similarity, NEAR_TEMPERATURE if temperature is None else float(temperature))
