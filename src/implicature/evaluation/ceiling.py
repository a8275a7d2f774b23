"""What the exact recursion achieves in given games: the one place where its accuracy is computed."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.rsa import Recursion, greedy_accuracy, soft_recursion
from implicature.games.semantics import Semantics
from implicature.nn.kernels import map_blocks, one_hot
from implicature.spaces.lexicon import TRUE_FROM

CEILING_DEPTH = 10
"""Deeper recursions change nothing in the paper's games."""
Tables = Bool[Array, "candidates messages *games"]
Targets = Int[Array, "*games"]


def success_by_depth(recursion: Recursion, lexicon: Tables, target: Targets) -> Float[Array, "depths *games"]:
    """The probability of finding the target with the student of each depth and the teacher who responds to him."""
    each = jax.vmap(lambda belief: greedy_accuracy(lexicon, belief, belief))(recursion.student)
    return jnp.sum(each * one_hot(lexicon.shape[0], target), axis=1)


def exact_success(
    lexicon: Bool[Array, "games candidates messages"], target: Int[Array, " games"], depth: int = CEILING_DEPTH
) -> Float[np.ndarray, "games depths"]:
    """The same for many games with β = 10, for depths 0 to `depth`."""

    def block(games: tuple[Tables, Targets]) -> Float[Array, "depths games"]:
        return success_by_depth(soft_recursion(games[0], depth), *games)

    return np.asarray(jax.jit(partial(map_blocks, block))((jnp.asarray(lexicon), jnp.asarray(target))))


def best_return(
    meaning: Bool[np.ndarray, "candidates messages"] | Float[np.ndarray, "candidates messages"],
    costs: Float[np.ndarray, " messages"],
    prior: Float[np.ndarray, " candidates"],
) -> float:
    """The expected return of the best protocol that says a true word of each target in one round without noise.

    A word that is said of several candidates is understood as one of them, so the best protocol is an assignment: some
    candidates have a word of their own, p (1 − c); the others are lost and say their cheapest true word, or the
    cheapest of all where none is true, −p c.
    """
    from scipy.optimize import linear_sum_assignment  # here, since most users of this module do not need it

    true = meaning > 0
    sayable = true | (meaning <= 0).all(axis=1, keepdims=True)
    found = np.where(true, prior[:, None] * (1 - costs), -1e6)
    lost = -prior * np.where(sayable, costs, np.inf).min(axis=1)
    options = np.concatenate([found, np.tile(lost[:, None], len(lost))], axis=1)
    return float(options[linear_sum_assignment(options, maximize=True)].sum())


def game_lexicon(
    semantics: Semantics, candidates: Int[Array, "games candidates"]
) -> Bool[Array, "games candidates messages"]:
    """What is true in each game: of all words, or of those that are live in it. Exact players need no others."""
    fitted = semantics.fit(candidates)
    return jax.jit(jax.vmap(lambda one: fitted.in_game(one).meaning >= TRUE_FROM))(candidates)
