"""One game played, round by round: messages, beliefs, values, and the likelihood that the page's reasons are read off.

The server keeps no state between requests. A game is a function of its settings and of what a person has said, so the
same request always has the same response, and responses are cached.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, UInt32

from implicature.agents.contracts import Pair
from implicature.agents.exact import UNTRUE, ExactModel, ExactStudent, ExactTeacher, argmax_random_ties
from implicature.agents.perspectives import Perspectives
from implicature.agents.rollout import Rollout, rollout
from implicature.evaluation.players import plain_errors
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.web.dealing import (
    EXACT_DEPTH,
    LITERAL_DEPTH,
    DealtGame,
    PlayableGame,
    one_round_accuracy,
    pad_candidates,
    uniform_prior,
)
from implicature.web.players import AbstractStudentTables, Observations, PlayableAgent, exact_observations

N_ROLLOUTS = 32
"""Over which the expected return in several rounds is averaged."""

Tables = Float[Array, "rounds candidates messages"]


@dataclass(frozen=True)
class Round:
    """A message and its effect. Beliefs are in the order of the candidates, values in that of the words."""

    message: int
    belief_before: list[float]
    belief_after: list[float]
    teacher_estimate: list[float]
    """The teacher's estimate of the belief before the message."""
    values: list[float | None]
    """Her values of all words; None for those that she may not say."""
    answer: int | None
    """None where the student waits."""
    likelihood: list[list[float]] | None
    """P(word | candidate) of the teacher whom the student expects, by candidate; None for agents that do not say."""


@eqx.filter_jit
def play_game(
    pair: Pair,
    tables: AbstractStudentTables | None,
    game: Perspectives,
    rules: Rules,
    forced_messages: Int[Array, " rounds"],
    seed: UInt32[Array, ""],
    always_wait: Bool[Array, ""],
) -> tuple[Rollout, Tables | None]:
    """A whole game, and the likelihood that he assumes before each message. With `always_wait` he waits to the end."""

    def answer(key: Key[Array, ""], policy: Float[Array, " actions"]) -> Int[Array, ""]:
        return jnp.where(always_wait, rules.wait, argmax_random_ties(key, policy))

    key, speak = jax.random.key(seed), argmax_random_ties
    played = rollout(
        key, pair.teacher, pair.student, game, rules, speak, answer, forced_messages=forced_messages, unroll=False
    )
    if tables is None:
        return played, None
    return played, jax.lax.map(lambda belief: tables.likelihood(game.student, belief), played.before)


def make_perspectives(dealt: DealtGame, observations: Observations) -> tuple[Perspectives, Rules]:
    """A game as the agents see it, padded where they allow it."""
    instances = np.asarray(dealt.instances)
    rows = pad_candidates(instances, len(observations.lexicon) - 1) if observations.padded else instances
    lexicon, prior = jnp.asarray(observations.lexicon[rows]), jnp.asarray(uniform_prior(len(instances), len(rows)))
    teacher, student = (
        Context(features=jnp.asarray(features[rows]), lexicon=lexicon, prior=prior)
        for features in (observations.teacher, observations.student)
    )
    game = Perspectives(teacher, student, jnp.asarray(dealt.target), jnp.arange(len(rows)))
    return game, Rules(len(rows), dealt.rounds, dealt.message_cost)


_compile_locks: defaultdict[tuple[str, Rules, tuple[int, ...]], Lock] = defaultdict(Lock)
"""Of many requests for a new kind of game, one compiles it and the others wait."""


@lru_cache(maxsize=8192)
def play_rounds(
    agent: PlayableAgent,
    game: PlayableGame,
    variant: int,
    dealt: DealtGame,
    forced_messages: tuple[int, ...] = (),
    always_wait: bool = False,
) -> list[Round]:
    """The rounds until the game ends. `forced_messages` are a person's; after the last of them the agent speaks."""
    loaded = agent.load(variant, dealt)
    forced = np.array([*forced_messages, *[-1] * (dealt.rounds - len(forced_messages))], np.int32)
    perspectives, rules = make_perspectives(dealt, loaded.observations)
    arguments = jnp.asarray(forced), jnp.asarray(dealt.seed, jnp.uint32), jnp.asarray(always_wait)
    with _compile_locks[agent.name, rules, perspectives.teacher.features.shape], plain_errors():
        played, tables = jax.device_get(play_game(loaded.pair, loaded.tables, perspectives, rules, *arguments))
    number = int(np.sum(played.active))
    return [make_round(game, dealt, played, tables, i) for i in range(number)]


def make_round(game: PlayableGame, dealt: DealtGame, played: Rollout, tables: np.ndarray | None, index: int) -> Round:
    candidates, words = len(dealt.instances), len(game.space.attributes)
    message, action = int(played.message[index]), int(played.action[index])
    before, after, estimate = (
        round_all(np.asarray(belief)[index, :candidates]) for belief in (played.before, played.after, played.estimate)
    )
    values = [
        None if value == UNTRUE or not np.isfinite(value) else round(float(value), 4)
        for value in played.values[index, :words]
    ]
    likelihood = None if tables is None else [round_all(row[:words]) for row in tables[index, :candidates]]
    return Round(message, before, after, estimate, values, action if action < candidates else None, likelihood)


def round_all(probabilities: np.ndarray) -> list[float]:
    return [round(float(probability), 6) for probability in probabilities]


@eqx.filter_jit
def mean_returns(
    game: Perspectives, rules: Rules, share: Bool[Array, ""], seed: UInt32[Array, ""]
) -> Float[Array, " depths"]:
    """The mean return of a literal and an exact pair over N_ROLLOUTS games."""
    keys = jax.random.split(jax.random.key(seed), N_ROLLOUTS)

    def mean_return(depth: Array) -> Array:
        model = ExactModel(depth, share=share)
        teacher, student = ExactTeacher(model), ExactStudent(model, rules.message_cost)

        def one(key: Key[Array, ""]) -> Array:
            policies = argmax_random_ties, argmax_random_ties
            return rollout(key, teacher, student, game, rules, *policies, unroll=False).episode_return

        return jnp.mean(jax.vmap(one)(keys))

    return jax.lax.map(mean_return, jnp.asarray([LITERAL_DEPTH, EXACT_DEPTH]))


@lru_cache(maxsize=8192)
def expected_returns(game: PlayableGame, dealt: DealtGame) -> tuple[float, float]:
    """The return that a literal and an exact pair can expect in this game."""
    if dealt.rounds == 1 and dealt.accuracy is not None:
        literal_return, exact_return = dealt.accuracy
    elif dealt.rounds == 1:
        accuracies = one_round_accuracy(game, np.array([dealt.instances]))
        literal_return, exact_return = (float(accuracy[0, dealt.target]) for accuracy in accuracies)
    else:
        perspectives, rules = make_perspectives(dealt, exact_observations(game))
        with _compile_locks["expected", rules, perspectives.teacher.features.shape]:
            seed = jnp.asarray(dealt.seed, jnp.uint32)
            literal_return, exact_return = mean_returns(perspectives, rules, jnp.asarray(game.share), seed).tolist()
    return round(literal_return, 3), round(exact_return, 3)
