"""Equivalent games (section 5.3): attributes are renamed one to one within their categories (F-54)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key


def sample_renaming(key: Key[Array, ""], categories: Int[Array, " attributes"]) -> Int[Array, " attributes"]:
    """A random one-to-one renaming, attribute a → renaming[a], within categories."""
    shuffled = jnp.lexsort((jax.random.uniform(key, categories.shape), categories))
    return jnp.zeros_like(shuffled).at[jnp.argsort(categories, stable=True)].set(shuffled)


def rename(
    attributes: Bool[Array, "candidates attributes"], renaming: Int[Array, " attributes"]
) -> Bool[Array, "candidates attributes"]:
    """Equivalent candidates: whoever had attribute a has renaming[a]."""
    return jnp.zeros_like(attributes).at[:, renaming].set(attributes)


def equivalent_instances(
    candidates: Bool[Array, "candidates attributes"],
    table: Bool[Array, "instances attributes"],
    renaming: Int[Array, " attributes"],
) -> Int[Array, " candidates"]:
    """The instance that each candidate becomes, or -1 where the space has no such instance."""
    renamed = rename(candidates, renaming).astype(jnp.float32)
    instances = table.astype(jnp.float32)
    # Equal rows have |a ∩ b| = |a| = |b|.
    shared, size = renamed @ instances.T, jnp.sum(renamed, axis=1)[:, None]
    same = (shared == size) & (size == jnp.sum(instances, axis=1))
    return jnp.where(jnp.any(same, axis=1), jnp.argmax(same, axis=1), -1)
