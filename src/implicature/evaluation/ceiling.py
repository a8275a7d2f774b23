"""What the exact recursion achieves in given games: the one place where an exact ceiling is computed."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.rsa import Recursion, greedy_accuracy, soft_recursion

CEILING_DEPTH = 10
"""Deeper recursions change nothing in the paper's games."""


def success_by_depth(
    recursion: Recursion, lexicon: Bool[Array, "candidates messages"], target: Int[Array, ""]
) -> Float[Array, " depths"]:
    """The probability of finding the target with the student of each depth and the teacher who responds to him."""
    return jax.vmap(lambda belief: greedy_accuracy(lexicon, belief, belief)[target])(recursion.student)


def exact_success(
    lexicon: Bool[Array, "games candidates messages"], target: Int[Array, " games"], depth: int = CEILING_DEPTH
) -> Float[np.ndarray, "games depths"]:
    """The same for many games with β = 10, for depths 0 to `depth`."""

    @jax.jit
    @jax.vmap
    def one(lexicon: Array, target: Array) -> Array:
        return success_by_depth(soft_recursion(lexicon, depth), lexicon, target)

    return np.asarray(one(jnp.asarray(lexicon), jnp.asarray(target)))
