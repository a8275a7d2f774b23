"""Does what she says of a target depend on what else there is?  (figure 4)

    C[m, a] = mean over targets of  cov( 1[she says m],  share of distractors with attribute a )

over games with the same target and other distractors. A speaker who sees the target alone has C = 0; one who reads the
context says "blue" less often, the more of the others are blue.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from implicature.evaluation.transcripts import Transcripts, transcribe
from implicature.games.sampling import Rules, Split, draw_games
from implicature.nn.image_encoder import Sights
from implicature.spaces import Space


def covariance(
    teacher: Any,
    student: Any,
    sights: Sights,
    space: Space,
    rules: Rules,
    targets: Int[np.ndarray, " targets"],
    games: int,
    seed: int,
    split: Split = "test",
) -> Float[np.ndarray, "messages attributes"]:
    """C, from so many games with each target, drawn from a split of their combinations."""
    mean = np.zeros((len(space.attributes), len(space.attributes)))
    for number, target in enumerate(targets):
        key = jax.random.fold_in(jax.random.key(seed), number)
        drawn = draw_games(key, games, rules.candidates, space.instances, split, seed, jnp.asarray([target]))
        mean += covariance_of(transcribe(teacher, student, sights, drawn, rules), space) / len(targets)
    return mean


def covariance_of(said: Transcripts, space: Space) -> Float[np.ndarray, "messages attributes"]:
    """Of the first message and the distractors' attributes, over all these games."""
    games, candidates = said.candidates.shape
    messages = np.eye(len(space.attributes))[said.message[:, 0]]
    others = np.ones((games, candidates), bool)
    others[np.arange(games), said.target] = False
    attributes = (space.table[said.candidates] & others[..., None]).sum(axis=1) / (candidates - 1)
    return (messages - messages.mean(axis=0)).T @ (attributes - attributes.mean(axis=0)) / games
