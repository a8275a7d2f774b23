"""A pair plays test games: both argmax (F-53), unless another message policy is passed in, the teacher going by her
own prediction of the student's belief.

accuracy, hard accuracy (top 10 % by cosine), valid messages (true of the target), by level, messages and return.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.contracts import Pair
from implicature.agents.perspectives import FeatureTable, Perspectives, perspectives
from implicature.agents.rollout import MessagePolicy, argmax, rollout
from implicature.evaluation.difficulty import hard_games, hardness
from implicature.evaluation.teaching_dimension import levels, positive_rtd
from implicature.games.renaming import equivalent_instances, sample_renaming
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.games.semantics import MeaningTable, Semantics, as_semantics
from implicature.spaces.lexicon import TRUE_FROM

CHUNK = 4_096
MAX_CELLS = 2**20
"""Candidates × messages of the games that are played at once: some hundred megabytes."""
Lexicon = MeaningTable | Semantics


@dataclass(frozen=True)
class GameResults:
    """The outcome of each game."""

    success: Float[np.ndarray, " games"]
    n_messages: Int[np.ndarray, " games"]
    episode_return: Float[np.ndarray, " games"]
    n_valid: Int[np.ndarray, " games"]
    """How many of its messages were true of the target."""
    level: Int[np.ndarray, " games"]
    """The target's level; -1 for none."""
    hardness: Float[np.ndarray, " games"]
    lexicon: Bool[np.ndarray, "games candidates messages"] = field(repr=False)
    """Empty for games of one round that have live words only."""
    target: Int[np.ndarray, " games"] = field(repr=False)


@eqx.filter_jit
def _play_chunk(
    key: Key[Array, ""], pair: Pair, games: Perspectives, rules: Rules, speak: MessagePolicy
) -> tuple[Array, ...]:
    def one(key: Array, game: Perspectives) -> tuple[Array, ...]:
        lexicon = game.teacher.lexicon >= TRUE_FROM
        played = rollout(key, pair.teacher, pair.student, game, rules, speak)
        valid = jnp.sum(lexicon[game.target][played.message] * played.active)
        level = levels(lexicon)[game.target]
        hard = hardness(lexicon, game.target)
        return played.success, played.n_messages, played.episode_return, valid, level, hard

    return jax.vmap(one)(jax.random.split(key, len(games.target)), games)


@eqx.filter_jit
def identical_games(key: Key[Array, ""], features: FeatureTable, lexicon: Lexicon, games: Game) -> Perspectives:
    """Games as both agents see them, in the same views."""
    semantics = as_semantics(lexicon)

    def one(observations: Array, game: Game) -> Perspectives:
        viewed = Game(observations, game.target, game.order)
        return perspectives(viewed, features, semantics, features.views_per_instance)

    return jax.vmap(one)(features.sample_views(key, games.candidates), games)


@eqx.filter_jit
def equivalent_games(
    key: Key[Array, ""], features: FeatureTable, lexicon: Lexicon, categories: Int[Array, " messages"], games: Game
) -> tuple[Perspectives, Bool[Array, ""]]:
    """The student sees renamed candidates and receives renamed messages; whether every renamed candidate exists. Words
    are attributes here."""
    semantics = as_semantics(lexicon)
    table = semantics.meaning

    def one(key: Array, game: Game) -> tuple[Perspectives, Array]:
        key, teacher_key, student_key = jax.random.split(key, 3)
        renaming = sample_renaming(key, categories)
        renamed = equivalent_instances(table[game.student_candidates], table, renaming)

        def view(key: Array, instances: Array) -> Perspectives:
            viewed = Game(features.sample_views(key, instances), game.target, jnp.arange(len(instances)))
            return perspectives(viewed, features, semantics, features.views_per_instance)

        teacher, student = view(teacher_key, game.candidates).teacher, view(student_key, renamed).student
        return Perspectives(teacher, student, game.target, game.order, renaming), jnp.all(renamed >= 0)

    seen, exist = jax.vmap(one)(jax.random.split(key, len(games.target)), games)
    return seen, jnp.all(exist)


def chunks(number: int, cells: int) -> Iterator[tuple[int, Int[np.ndarray, " rows"]]]:
    """Where each chunk of games begins, and its games. The last chunk is filled up with the first games again, so that
    one compiled program serves all chunks."""
    size = min(CHUNK, max(1, MAX_CELLS // cells))
    for start in range(0, number, size):
        yield start, np.arange(start, start + min(size, number)) % number


def game_cells(semantics: Semantics, candidates: int) -> int:
    """Candidates × messages of a game."""
    return candidates * (semantics.meaning.shape[1] if semantics.live is None else semantics.live.size)


def play_games(
    pair: Pair,
    features: FeatureTable,
    lexicon: Lexicon,
    games: Game,
    rules: Rules,
    *,
    categories: Int[Array, " messages"] | None = None,
    seed: int = 0,
    speak: MessagePolicy = argmax,
) -> GameResults:
    """Play all games. With categories the games are equivalent ones: the student's are renamed at random."""
    number = len(games.target)
    semantics = as_semantics(lexicon).fit(games.candidates)
    if categories is not None:
        semantics = replace(semantics, live=None)  # his words are not hers
    parts: list[tuple[np.ndarray, ...]] = []
    for start, rows in chunks(number, game_cells(semantics, rules.candidates)):
        some = jax.tree.map(lambda leaf, rows=rows: leaf[rows], games)
        view_key, play_key = jax.random.split(jax.random.fold_in(jax.random.key(seed), start))
        if categories is None:
            seen = identical_games(view_key, features, semantics, some)
        else:
            seen, exist = equivalent_games(view_key, features, semantics, categories, some)
            if not bool(exist):
                raise ValueError(
                    "Renaming the attributes of this space leads to instances that it does not have: equivalent games "
                    "need a space that has every combination, as number sets and objects do."
                )
        parts.append(jax.device_get(_play_chunk(play_key, pair, seen, rules, speak)))
    success, n_messages, returns, n_valid, level, hard = (
        np.concatenate(column)[:number] for column in zip(*parts, strict=True)
    )
    true_of = np.zeros((number, 0, 0), bool)
    if rules.rounds > 1 or semantics.live is None:
        true_of = np.asarray(semantics.meaning >= TRUE_FROM)[np.asarray(games.candidates)]
    return GameResults(success, n_messages, returns, n_valid, level, hard, true_of, np.asarray(games.target))


def summarize_part(results: GameResults, part: Bool[np.ndarray, " games"]) -> dict[str, float]:
    """The figures of some of the games. `multi_message` is the fraction with more than one message."""
    return {
        "accuracy": float(results.success[part].mean()),
        "fraction": float(part.mean()),
        "messages": float(results.n_messages[part].mean()),
        "multi_message": float((results.n_messages[part] > 1).mean()),
        "return": float(results.episode_return[part].mean()),
    }


def summarize(results: GameResults) -> dict[str, Any]:
    """The figures of one pair, as fractions of 1."""
    by_level = {
        "none" if level < 0 else str(level): summarize_part(results, part)
        for level in range(-1, int(results.level.max()) + 1)
        if (part := results.level == level).any()
    }
    return {
        "accuracy": float(results.success.mean()),
        "hard_accuracy": float(results.success[hard_games(results.hardness)].mean()),
        "valid": float(results.n_valid.sum() / results.n_messages.sum()),
        "by_level": by_level,
        "messages": float(results.n_messages.mean()),
        "return": float(results.episode_return.mean()),
        "games": len(results.success),
    }


def summarize_by_rtd(results: GameResults) -> dict[str, dict[str, float]]:
    """For games of several rounds: figures by the target's positive recursive teaching dimension."""
    all_rtd = positive_rtd(results.lexicon)
    rtd = all_rtd[np.arange(len(all_rtd)), results.target]
    return {"none" if n < 0 else str(n): summarize_part(results, rtd == n) for n in sorted(set(rtd.tolist()))}
