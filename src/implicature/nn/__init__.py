"""Networks that know nothing of games: layers, the image encoder, and two belief networks.

**The batch convention.** In `nn/` and `training/` games come last: an array has its own axes first and, at its end, one
entry for each game of a batch (`*#games`), so that elementwise operations run along contiguous rows of games. Without
these axes it is a single game. What games share has an axis of length 1 there. `games_last` converts from the leading
batch axis that `jax.vmap` and sampled games have. Everywhere else a function takes one game and the caller batches with
`vmap`.
"""

from typing import TypeVar

import jax
import jax.numpy as jnp

Tree = TypeVar("Tree")


def games_last(tree: Tree) -> Tree:
    """Move the leading batch axis of every array to its end."""
    return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, -1), tree)


def games_first(tree: Tree) -> Tree:
    """The inverse of `games_last`."""
    return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), tree)
