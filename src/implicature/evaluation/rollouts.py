"""A pair plays test games: both greedy, unless another way to speak is passed in, the teacher going by her own
prediction of his belief.

accuracy, hard accuracy (top 10 % by cosine), valid messages (true of the target), by level, rounds and gain.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.rollout import Speak, Views, dialogue, greedily
from implicature.evaluation.difficulty import hard_games, hardness
from implicature.evaluation.teaching_dimension import levels, positive_rtd
from implicature.games.sampling import Game, Rules, equivalent_instances, sample_renaming
from implicature.nn.image_encoder import Sights

CHUNK = 4_096
MOST_CELLS = 2**24
"""Candidates × messages of the games that are played at once."""


@dataclass(frozen=True)
class Played:
    """What came of each game."""

    found: Float[np.ndarray, " games"]
    messages: Int[np.ndarray, " games"]
    gain: Float[np.ndarray, " games"]
    true: Int[np.ndarray, " games"]
    """How many of its messages were true of the target."""
    level: Int[np.ndarray, " games"]
    """The target's level; -1 for none."""
    hardness: Float[np.ndarray, " games"]
    truth: Bool[np.ndarray, "games candidates messages"] = field(repr=False)
    target: Int[np.ndarray, " games"] = field(repr=False)


@eqx.filter_jit
def _play(
    key: Key[Array, ""], teacher: Any, student: Any, views: Views, truth: Array, rules: Rules, speak: Speak
) -> tuple:
    def one(key: Array, views: Views, truth: Array) -> tuple:
        played = dialogue(key, teacher, student, views, rules, speak, greedily, told=False)
        true = jnp.sum(truth[views.target][played.message] * played.live)
        level = levels(truth)[views.target]
        return played.found, played.length, played.gain, true, level, hardness(truth, views.target)

    return jax.vmap(one)(jax.random.split(key, len(truth)), views, truth)


def plain_views(key: Key[Array, ""], sights: Sights, games: Game) -> Views:
    """Games as both sides see them, in the same looks."""
    looks = sights.any_look(key, games.candidates)
    his = jnp.take_along_axis(looks, games.order, axis=1)
    return jax.vmap(Views)(sights.hers[looks], sights.his[his], games.target, games.order)


@eqx.filter_jit
def equivalent_views(
    key: Key[Array, ""], sights: Sights, truth: Bool[Array, "instances messages"], categories: Array, games: Game
) -> tuple[Views, Bool[Array, ""]]:
    """The student sees renamed candidates and hears renamed messages; whether every renamed candidate exists."""

    def one(key: Array, game: Game) -> tuple[Views, Array]:
        key, her_key, his_key = jax.random.split(key, 3)
        renaming = sample_renaming(key, categories)
        his = equivalent_instances(truth[game.student_candidates], truth, renaming)
        hers = sights.hers[sights.any_look(her_key, game.candidates)]
        views = Views(hers, sights.his[sights.any_look(his_key, his)], game.target, game.order, renaming)
        return views, jnp.all(his >= 0)

    views, exist = jax.vmap(one)(jax.random.split(key, len(games.target)), games)
    return views, jnp.all(exist)


def parts_of(number: int, cells: int) -> Iterator[tuple[int, Int[np.ndarray, " rows"]]]:
    """Where each part of so many games of so many cells begins, and its games. The last part is filled up with the
    first games again, so that one program serves all parts."""
    chunk = min(CHUNK, max(1, MOST_CELLS // cells))
    for start in range(0, number, chunk):
        yield start, np.arange(start, start + min(chunk, number)) % number


def play_games(
    teacher: Any,
    student: Any,
    sights: Sights,
    truth: Bool[Array, "instances messages"],
    games: Game,
    rules: Rules,
    categories: Int[Array, " messages"] | None = None,
    seed: int = 0,
    speak: Speak = greedily,
) -> Played:
    """Play all games. With categories the games are equivalent ones: the student's are renamed at random."""
    number = len(games.target)
    parts: list[tuple] = []
    for start, rows in parts_of(number, rules.candidates * truth.shape[1]):
        part = jax.tree.map(lambda leaf, rows=rows: leaf[rows], games)
        views_key, play_key = jax.random.split(jax.random.fold_in(jax.random.key(seed), start))
        if categories is None:
            views = plain_views(views_key, sights, part)
        else:
            views, exist = equivalent_views(views_key, sights, truth, categories, part)
            if not bool(exist):
                raise ValueError(
                    "Renaming the attributes of this space leads to instances that it does not have: equivalent games "
                    "need a space that has every combination, as number sets and objects do."
                )
        parts.append(jax.device_get(_play(play_key, teacher, student, views, truth[part.candidates], rules, speak)))
    found, messages, gain, true, level, hard = (np.concatenate(column)[:number] for column in zip(*parts, strict=True))
    candidates = np.asarray(games.candidates)
    return Played(found, messages, gain, true, level, hard, np.asarray(truth)[candidates], np.asarray(games.target))


def part(played: Played, mine: Bool[np.ndarray, " games"]) -> dict[str, float]:
    """How some of the games went. `several` is the share with more than one message."""
    return {
        "accuracy": float(played.found[mine].mean()),
        "share": float(mine.mean()),
        "rounds": float(played.messages[mine].mean()),
        "several": float((played.messages[mine] > 1).mean()),
        "gain": float(played.gain[mine].mean()),
    }


def summary(played: Played) -> dict[str, Any]:
    """The figures of one pair, shares between 0 and 1."""
    hard = played.found[hard_games(played.hardness)]
    by_level = {
        "none" if level < 0 else str(level): part(played, mine)
        for level in range(-1, int(played.level.max()) + 1)
        if (mine := played.level == level).any()
    }
    return {
        "accuracy": float(played.found.mean()),
        "hard_accuracy": float(hard.mean()),
        "valid": float(played.true.sum() / played.messages.sum()),
        "by_level": by_level,
        "rounds": float(played.messages.mean()),
        "gain": float(played.gain.mean()),
        "games": len(played.found),
    }


def by_rtd(played: Played) -> dict[str, dict[str, float]]:
    """For games of many rounds: how targets fare by how many messages teaching them takes."""
    every = positive_rtd(played.truth)
    rtd = every[np.arange(len(every)), played.target]
    return {"none" if n < 0 else str(n): part(played, rtd == n) for n in sorted(set(rtd.tolist()))}
