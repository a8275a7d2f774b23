"""Does what the teacher says of a target depend on the distractors?  (figure 4)

    C[m, a] = mean over targets of  cov( 1[she says m],  fraction of distractors with attribute a )

over games with the same target and other distractors. A speaker who sees the target alone has C = 0; one who reads the
context says "blue" less often, the more of the others are blue.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from implicature.agents.contracts import Pair
from implicature.evaluation.held_out import feature_table
from implicature.evaluation.transcripts import Transcripts, transcribe
from implicature.games.rules import Rules
from implicature.games.sampling import draw_games
from implicature.games.semantics import space_semantics
from implicature.games.splits import Split
from implicature.spaces import Space


def covariance(
    pair: Pair,
    space: Space,
    rules: Rules,
    targets: Int[np.ndarray, " targets"],
    games: int,
    seed: int,
    split: Split = "test",
) -> Float[np.ndarray, "messages attributes"]:
    """C, from so many games with each target, drawn from a split of their combinations."""
    features, lexicon = feature_table(pair, space), space_semantics(space)
    mean = np.zeros((len(space.words), len(space.attributes)))
    for number, target in enumerate(targets):
        key = jax.random.fold_in(jax.random.key(seed), number)
        drawn = draw_games(key, games, rules.candidates, space.instances, split, seed, jnp.asarray([target]))
        mean += message_covariance(transcribe(pair, features, lexicon, drawn, rules), space) / len(targets)
    return mean


def message_covariance(transcripts: Transcripts, space: Space) -> Float[np.ndarray, "messages attributes"]:
    """Of the first message and the distractors' attributes, over all these games."""
    games, candidates = transcripts.candidates.shape
    messages = np.eye(len(space.words))[transcripts.message[:, 0]]
    others = np.ones((games, candidates), bool)
    others[np.arange(games), transcripts.target] = False
    attributes = (space.table[transcripts.candidates] & others[..., None]).sum(axis=1) / (candidates - 1)
    return (messages - messages.mean(axis=0)).T @ (attributes - attributes.mean(axis=0)) / games
