"""Whole dialogues of a pair, game by game: for measures of language and for export."""

from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.contracts import Pair
from implicature.agents.perspectives import FeatureTable, Perspectives
from implicature.agents.rollout import Rollout, rollout
from implicature.evaluation.rollouts import Lexicon, chunks, game_cells, identical_games
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.games.semantics import as_semantics


@dataclass(frozen=True)
class Transcripts:
    """What was said, believed and done. Candidates stand in the teacher's order, unless a name says otherwise."""

    candidates: Int[np.ndarray, "games candidates"]
    """Instances."""
    target: Int[np.ndarray, " games"]
    order: Int[np.ndarray, "games candidates"]
    """The student's j-th candidate is the teacher's order[j]-th."""
    message: Int[np.ndarray, "games rounds"]
    """−1 in rounds after the end, as everywhere below."""
    belief: Float[np.ndarray, "games rounds candidates"]
    """The student's, after the message."""
    action: Int[np.ndarray, "games rounds"]
    """A candidate, or as many as there are: he waits."""
    reward: Float[np.ndarray, "games rounds"]
    values: Float[np.ndarray, "games rounds messages"]
    """The teacher's, of every message before she sends one; −∞ where she may not send it."""
    estimate: Float[np.ndarray, "games rounds candidates"]
    """What she thinks he believes after the message."""
    right: Bool[np.ndarray, "games rounds"]
    """Whether his action was right: the target, or in its cell."""
    active: Bool[np.ndarray, "games rounds"]

    @property
    def answer(self) -> Int[np.ndarray, " games"]:
        """His last action: a candidate, or Ξ where he waited to the end."""
        return self.action[np.arange(len(self.active)), self.active.sum(axis=1) - 1]

    @property
    def instance(self) -> Int[np.ndarray, " games"]:
        """The instance meant."""
        return self.candidates[np.arange(len(self.target)), self.target]


@eqx.filter_jit
def _play_chunk(key: Key[Array, ""], pair: Pair, games: Perspectives, rules: Rules) -> tuple[Rollout, Array]:
    def one(key: Array, game: Perspectives) -> tuple[Rollout, Array]:
        played = rollout(key, pair.teacher, pair.student, game, rules)
        return played, game.said(played.message)

    return jax.vmap(one)(jax.random.split(key, len(games.target)), games)


def transcribe(
    pair: Pair, features: FeatureTable, lexicon: Lexicon, games: Game, rules: Rules, seed: int = 0
) -> Transcripts:
    """Play all games, both argmax, as `play_games` does, and keep every word."""
    number, parts = len(games.target), []
    semantics = as_semantics(lexicon).fit(games.candidates)
    for start, rows in chunks(number, game_cells(semantics, rules.candidates)):
        some = jax.tree.map(lambda leaf, rows=rows: leaf[rows], games)
        view_key, play_key = jax.random.split(jax.random.fold_in(jax.random.key(seed), start))
        seen = identical_games(view_key, features, semantics, some)
        played, said = jax.device_get(_play_chunk(play_key, pair, seen, rules))
        arrays = (
            said,
            played.after,
            played.action,
            played.reward,
            played.values,
            played.predicted,
            played.right,
        )
        parts.append((*arrays, played.active))
    message, belief, action, reward, values, estimate, right, active = (
        np.concatenate(column)[:number] for column in zip(*parts, strict=True)
    )
    return Transcripts(
        candidates=np.asarray(games.candidates),
        target=np.asarray(games.target),
        order=np.asarray(games.order),
        message=np.where(active, message, -1),
        belief=belief,
        action=np.where(active, action, -1),
        reward=np.where(active, reward, 0.0),
        values=values,
        estimate=estimate,
        right=right & active,
        active=active,
    )
