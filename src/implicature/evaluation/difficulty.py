"""How hard a game is:

hardness(o*, O) = mean over distractors o of  cos(o*, o)      the hard games are the top 10 %  (table 1)

of their attributes, also where agents see images (F-49).
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

HARD_FRACTION = 0.1


def hardness(lexicon: Bool[Array, "candidates attributes"], target: Int[Array, ""]) -> Float[Array, ""]:
    """The mean cosine similarity of the target and its distractors."""
    rows = lexicon.astype(jnp.float32)
    rows = rows / jnp.maximum(jnp.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    cosine = rows @ rows[target]
    return (jnp.sum(cosine) - cosine[target]) / (len(lexicon) - 1)


def hard_games(values: Float[np.ndarray, " games"], fraction: float = HARD_FRACTION) -> Int[np.ndarray, " hard"]:
    """The games with the highest hardness; ties are broken by their order."""
    return np.argsort(-values, kind="stable")[: max(1, round(len(values) * fraction))]
