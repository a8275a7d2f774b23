"""One game at the table: what was said, thought and done, as plain numbers and a reason in words.

The page keeps no state on the server. A game is a function of its address and of what a person has said, so the same
question always has the same answer, and answers are kept for those who ask again.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from implicature.agents.exact import UNTRUE, ExactStudent, ExactTeacher, Recursion, tossing
from implicature.agents.rollout import Dialogue, Views, dialogue
from implicature.evaluation.matchup import own_words
from implicature.explain.model import Depth, Explanation
from implicature.explain.text import listed, percent, reason
from implicature.games.sampling import Rules
from implicature.web.dealing import (
    EXACT,
    LITERAL,
    MOST_CANDIDATES,
    Deal,
    Playable,
    chances,
    filled,
    padded,
    undecided,
)
from implicature.web.players import Player, Seen

POSSIBLE = 0.01
"""A belief from which on a candidate is still spoken of."""
TOSSES = 32
"""Games played to know what a score can be expected in several rounds."""


@dataclass(frozen=True)
class Round:
    """A word and what it did. Beliefs are in the order of the candidates, values in that of the words."""

    word: int
    before: list[float]
    after: list[float]
    estimate: list[float]
    """What she thinks he believes before the word."""
    values: list[float | None]
    """Her values of all words; None for those that she may not say."""
    answer: int | None
    """None where he waits."""
    why: str


@eqx.filter_jit
def converse(both: Any, views: Views, rules: Rules, prior: Any, words: Any, seed: Any, patient: Any) -> tuple:
    """A whole game, in which he waits to the end if `patient`, and his tables before each word."""
    teacher, student, tables = both

    def answer(key: Key[Array, ""], policy: Float[Array, " actions"]) -> Int[Array, ""]:
        return jnp.where(patient, rules.wait, tossing(key, policy))

    key = jax.random.key(seed)
    played = dialogue(
        key, teacher, student, views, rules, tossing, answer, told=False, words=words, prior=prior, unroll=False
    )
    reading = student.read(views.student)
    return played, *jax.lax.map(lambda belief: tables(student, reading, belief), played.before)


def seated(deal: Deal, hers: Seen, his: Seen, room: int | None) -> tuple[Views, Rules, np.ndarray]:
    """A game as the agents see it, with blanks where there is room, and the belief that it begins with."""
    here = np.asarray(deal.instances)
    shown = here if room is None else filled(here, len(hers) - 1)
    views = Views(
        jnp.asarray(hers[shown]), jnp.asarray(his[shown]), jnp.asarray(deal.target), jnp.asarray(np.arange(len(shown)))
    )
    return views, Rules(len(shown), deal.rounds, deal.cost), undecided(len(here), len(shown))


_compiling: defaultdict[tuple, Lock] = defaultdict(Lock)
"""One of many who ask for a new kind of game at once compiles it, the others wait for that."""


@lru_cache(maxsize=8192)
def rounds_of(
    player: Player, game: Playable, step: int, deal: Deal, words: tuple[int, ...] = (), patient: bool = False
) -> list[Round]:
    """The rounds until the game ends; those after a person's last word are ours to say."""
    sides = player.sides(step, deal)
    given = np.array([*words, *[-1] * (deal.rounds - len(words))], np.int32)
    views, rules, prior = seated(deal, sides.hers, sides.his, sides.room)
    with _compiling[player.name, rules, views.teacher.shape]:
        both = sides.teacher, sides.student, sides.tables
        with own_words():
            found = converse(both, views, rules, prior, given, np.uint32(deal.seed), np.asarray(patient))
            played, expects, believes = jax.device_get(found)
    called = [game.called(i) for i in deal.instances]
    return [
        told(game, deal, player, played, i, called, expects[i], believes[i]) for i in range(int(np.sum(played.live)))
    ]


def told(
    game: Playable, deal: Deal, player: Player, played: Dialogue, i: int, called: list[str], expects: Any, believes: Any
) -> Round:
    candidates, words = len(called), game.space.attributes
    word, action = int(played.message[i]), int(played.action[i])
    before, after, estimate = (normal(b[i, :candidates]) for b in (played.before, played.after, played.estimate))
    most = int(np.argmax(after))
    sure = f"makes him {percent(after[most])} sure of {called[most]}."
    if not player.open:
        fits = [called[j] for j, instance in enumerate(deal.instances) if game.space.table[instance, word]]
        why = f"“{words[word]}” is true of {listed(fits) if fits else 'nobody here'}. It {sure}"
    elif player.grounded:
        why = explained(game, deal, called, before, expects, believes, word)
    else:
        why = f"Their words have no meaning but use: by now “{words[word]}” {sure}"
    values = [
        None if value == UNTRUE or not np.isfinite(value) else round(float(value), 4)
        for value in played.values[i, : len(words)]
    ]
    return Round(word, before, after, estimate, values, action if action < candidates else None, why)


def normal(belief: Any) -> list[float]:
    return [round(float(chance), 4) for chance in belief]


def explained(
    game: Playable, deal: Deal, called: list[str], before: Any, expects: Any, believes: Any, word: int
) -> str:
    """The reason in words, among the candidates that are still possible and the one that is meant."""
    space = game.space
    here = [i for i in range(len(called)) if before[i] >= POSSIBLE or i == deal.target]
    words = len(space.attributes)
    tables = Depth(0, believes[here, :words].T.tolist(), expects[here, :words].tolist())
    names = [space.names(deal.instances[i]) for i in here]
    nothing: list[Any] = [None] * len(here)
    found = Explanation(
        names, list(space.attributes), nothing, nothing, nothing, False, nothing, [0.0] * len(here), [tables]
    )
    return reason(found, space.attributes[word], here.index(deal.target), lambda i: called[here[i]])


@eqx.filter_jit
def _scores(views: Views, rules: Rules, prior: Any, share: Array, seed: Any) -> Float[Array, " depths"]:
    keys = jax.random.split(jax.random.key(seed), TOSSES)

    def mean(depth: Array) -> Array:
        mind = Recursion(depth, share=share)
        both = ExactTeacher(mind), ExactStudent(mind, rules.message_cost)

        def one(key: Key[Array, ""]) -> Array:
            played = dialogue(key, *both, views, rules, tossing, tossing, told=False, prior=prior, unroll=False)
            return played.gain

        return jnp.mean(jax.vmap(one)(keys))

    return jax.lax.map(mean, jnp.asarray([LITERAL, EXACT]))


@lru_cache(maxsize=8192)
def expected(game: Playable, deal: Deal) -> tuple[float, float]:
    """The score that a literal and an exact pair can expect in this game; of several rounds, the mean of many."""
    if deal.rounds == 1 and deal.found is not None:
        literal, exact = deal.found
    elif deal.rounds == 1:
        literal, exact = (float(chance[0, deal.target]) for chance in chances(game, np.array([deal.instances])))
    else:
        known = padded(game).astype(np.float32)
        views, rules, prior = seated(deal, known, known, MOST_CANDIDATES)
        with _compiling["expected", rules, views.teacher.shape]:
            literal, exact = _scores(views, rules, prior, jnp.asarray(game.share), np.uint32(deal.seed)).tolist()
    return round(literal, 3), round(exact, 3)
