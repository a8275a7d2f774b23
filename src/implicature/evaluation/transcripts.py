"""Whole dialogues of a pair, game by game, for whoever studies what is said: metrics of language, export."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.rollout import Dialogue, Views, dialogue, greedily
from implicature.evaluation.rollouts import parts_of, plain_views
from implicature.games.sampling import Game, Rules
from implicature.nn.image_encoder import Sights


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
    live: Bool[np.ndarray, "games rounds"]

    @property
    def answer(self) -> Int[np.ndarray, " games"]:
        """His last action: a candidate, or Ξ where he waited to the end."""
        return self.action[np.arange(len(self.live)), self.live.sum(axis=1) - 1]

    @property
    def instance(self) -> Int[np.ndarray, " games"]:
        """The instance meant."""
        return self.candidates[np.arange(len(self.target)), self.target]


@eqx.filter_jit
def _talk(key: Key[Array, ""], teacher: Any, student: Any, views: Views, rules: Rules) -> Dialogue:
    def one(key: Array, views: Views) -> Dialogue:
        return dialogue(key, teacher, student, views, rules, greedily, greedily, told=False)

    return jax.vmap(one)(jax.random.split(key, len(views.target)), views)


def transcribe(teacher: Any, student: Any, sights: Sights, games: Game, rules: Rules, seed: int = 0) -> Transcripts:
    """Play all games, both greedy, as `play_games` does, and keep every word."""
    number, parts = len(games.target), []
    for start, rows in parts_of(number, rules.candidates * sights.hers.shape[1]):
        part = jax.tree.map(lambda leaf, rows=rows: leaf[rows], games)
        views_key, play_key = jax.random.split(jax.random.fold_in(jax.random.key(seed), start))
        views = plain_views(views_key, sights, part)
        said = jax.device_get(_talk(play_key, teacher, student, views, rules))
        parts.append((said.message, said.after, said.action, said.reward, said.live))
    message, belief, action, reward, live = (np.concatenate(column)[:number] for column in zip(*parts, strict=True))
    return Transcripts(
        candidates=np.asarray(games.candidates),
        target=np.asarray(games.target),
        order=np.asarray(games.order),
        message=np.where(live, message, -1),
        belief=belief,
        action=np.where(live, action, -1),
        reward=np.where(live, reward, 0.0),
        live=live,
    )
