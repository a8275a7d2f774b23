"""What the exact recursion achieves in given games: the one place where its accuracy is computed."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.rsa import Recursion, greedy_accuracy, soft_recursion
from implicature.games.semantics import Semantics
from implicature.spaces.lexicon import TRUE_FROM

CEILING_DEPTH = 10
"""Deeper recursions change nothing in the paper's games."""
CHUNK, MAX_CELLS = 8_192, 2**20
"""Games, and cells of games, that are computed at once, so that memory does not grow with their number and size."""


def success_by_depth(
    recursion: Recursion, lexicon: Bool[Array, "candidates messages"], target: Int[Array, ""]
) -> Float[Array, " depths"]:
    """The probability of finding the target with the student of each depth and the teacher who responds to him."""
    return jax.vmap(lambda belief: greedy_accuracy(lexicon, belief, belief)[target])(recursion.student)


def exact_success(
    lexicon: Bool[Array, "games candidates messages"], target: Int[Array, " games"], depth: int = CEILING_DEPTH
) -> Float[np.ndarray, "games depths"]:
    """The same for many games with β = 10, for depths 0 to `depth`."""

    def one(game: tuple[Array, Array]) -> Array:
        return success_by_depth(soft_recursion(game[0], depth), *game)

    games = jnp.asarray(lexicon), jnp.asarray(target)
    size = chunk_size(lexicon.shape[1] * lexicon.shape[2])
    return np.asarray(jax.jit(lambda games: jax.lax.map(one, games, batch_size=size))(games))


def chunk_size(cells: int) -> int:
    """How many games of so many cells, candidates × messages, are computed at once."""
    return min(CHUNK, max(1, MAX_CELLS // cells))


def game_lexicon(
    semantics: Semantics, candidates: Int[Array, "games candidates"]
) -> Bool[Array, "games candidates messages"]:
    """What is true in each game: of all words, or of those that are live in it. Exact players need no others."""
    fitted = semantics.fit(candidates)
    return jax.jit(jax.vmap(lambda one: fitted.in_game(one).meaning >= TRUE_FROM))(candidates)
