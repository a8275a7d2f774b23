"""Which games can be played on the page, and how one is dealt: a dealt game is a function of the page's URL."""

from dataclasses import dataclass
from functools import cache, lru_cache
from math import comb
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.exact import ExactModel
from implicature.agents.rsa import greedy_accuracy
from implicature.games.parsing import parse_candidates
from implicature.games.registry import GAMES
from implicature.games.splits import SPLITS, split_of
from implicature.spaces import SPACES, Space
from implicature.spaces.space import space_from_sets

MAX_CANDIDATES = 12
MAX_ROUNDS = 4
MESSAGE_COST = 0.1
"""In games of several rounds; a single message is free."""
LITERAL_DEPTH, EXACT_DEPTH = 0, 10
"""The depths of the two pairs that people are compared with."""
WORD_PADDING = 32
"""Games are padded to MAX_CANDIDATES candidates and a multiple of this many words, so that they share a program."""
N_CANDIDATE_SETS = 16
"""Candidate sets that a game is picked from."""
OVERSAMPLING = 16
"""So many times as many are drawn, since most are not test games."""
MAX_ENUMERATED = 10_000
"""Spaces with at most this many candidate sets are too small to be split; all of their games are used."""
MAX_LITERAL_ACCURACY, MIN_EXACT_ACCURACY = 0.51, 0.9
"""A game needs pragmatic inference if a literal pair finds its target at most this often, and an exact pair at least
this often."""

Kind = Literal["numbers", "objects", "words"]


@dataclass(frozen=True, eq=False)
class PlayableGame:
    """A space to play in, and the default number of candidates."""

    name: str
    title: str
    kind: Kind
    """How the page draws an instance."""
    space: Space
    candidates: int
    share: bool = True
    """How the recursion of exact agents starts, see `ExactModel`."""

    @property
    def max_candidates(self) -> int:
        return min(MAX_CANDIDATES, self.space.instances)

    def describe(self, instance: int) -> str:
        """An instance as a sentence mentions it."""
        if self.kind == "objects" and self.space.labels is None:
            colour, shape, size, position = self.space.names(instance)
            return f"the {size} {position} {colour} {shape}"
        return self.space.label(instance)


@dataclass(frozen=True)
class DealtGame:
    """One game: its candidates, in the order that people see them, and the target's position among them."""

    game: str
    instances: tuple[int, ...]
    target: int
    seed: int
    rounds: int
    accuracy: tuple[float, float] | None = None
    """How often a literal and an exact pair find the target in one round, where that is known already."""

    @property
    def message_cost(self) -> float:
        return MESSAGE_COST if self.rounds > 1 else 0.0


TITLES = {
    "numbers-4": "Number sets, 10 symbols",
    "numbers-7": "Number sets, 12 symbols",
    "objects-4": "Objects",
    "objects-7": "Objects, many",
}


@cache
def playable_games() -> dict[str, PlayableGame]:
    """The paper's four games and two textbook examples."""
    games: dict[str, PlayableGame] = {}
    for name, (space, candidates) in GAMES.items():
        kind: Kind = "objects" if space == "objects" else "numbers"
        games[name] = PlayableGame(name, TITLES.get(name, name), kind, SPACES[space](), candidates)
    some_all = labelled_space("some-all", {"two of the four boys": ["some"], "all four boys": ["some", "all"]})
    objects = [["blue", "sphere"], ["red", "sphere"], ["blue", "cone"]]
    three = labelled_space("three-objects", {f"the {' '.join(names)}": names for names in objects})
    games["some-all"] = PlayableGame("some-all", "Some or all", "words", some_all, 2, share=False)
    games["three-objects"] = PlayableGame("three-objects", "Three objects", "objects", three, 3)
    return games


def labelled_space(name: str, instances: dict[str, list[str]]) -> Space:
    space = space_from_sets(name, list(instances.values()))
    return Space(name, space.attributes, space.table, labels=tuple(instances))


@cache
def padded_lexicon(game: PlayableGame) -> Bool[np.ndarray, "instances words"]:
    """The space's table, padded with words that are true of nothing and a last, blank instance."""
    return np.pad(game.space.table, ((0, 1), (0, -game.space.table.shape[1] % WORD_PADDING)))


def pad_candidates(
    instances: Int[np.ndarray, "*games candidates"], blank: int
) -> Int[np.ndarray, "*games max_candidates"]:
    missing = [(0, 0)] * (instances.ndim - 1) + [(0, MAX_CANDIDATES - instances.shape[-1])]
    return np.pad(instances, missing, constant_values=blank)


def uniform_prior(candidates: int, size: int) -> Float[np.ndarray, " size"]:
    """Uniform over the candidates, 0 for padding."""
    return np.where(np.arange(size) < candidates, np.float32(1 / candidates), np.float32(0))


@jax.jit
def accuracy_by_depth(
    lexicon: Bool[Array, "games candidates words"], prior: Float[Array, " candidates"], share: Bool[Array, ""]
) -> list[Float[Array, "games candidates"]]:
    """How often a literal and an exact pair find each candidate in one round."""

    def accuracy(lexicon: Bool[Array, "candidates words"], depth: int) -> Float[Array, " candidates"]:
        belief = ExactModel(jnp.asarray(depth), share=share).tables(lexicon, prior)[1]
        return greedy_accuracy(lexicon, belief, belief)

    return [jax.vmap(accuracy, (0, None))(lexicon, depth) for depth in (LITERAL_DEPTH, EXACT_DEPTH)]


def one_round_accuracy(
    game: PlayableGame, candidate_sets: Int[np.ndarray, "games candidates"]
) -> list[Float[np.ndarray, "games candidates"]]:
    """The same for up to N_CANDIDATE_SETS games, padded to share one program."""
    games, candidates = candidate_sets.shape
    rows = np.resize(pad_candidates(candidate_sets, game.space.instances), (N_CANDIDATE_SETS, MAX_CANDIDATES))
    lexicon, prior = padded_lexicon(game)[rows], uniform_prior(candidates, MAX_CANDIDATES)
    accuracies = jax.device_get(accuracy_by_depth(lexicon, prior, np.asarray(game.share)))
    return [accuracy[:games, :candidates] for accuracy in accuracies]


splits_of = jax.jit(jax.vmap(split_of, (0, None)), static_argnums=1)


def check_instances(game: PlayableGame, instances: tuple[int, ...]) -> None:
    number = game.space.instances
    if outside := [i for i in instances if not 0 <= i < number]:
        raise ValueError(f"There is no instance {outside[0]} in {game.title}: they are numbered 0 to {number - 1}.")
    if len(set(instances)) < len(instances):
        raise ValueError("The same candidate is given twice: candidates must differ.")


@lru_cache(maxsize=4096)
def deal_game(
    game: PlayableGame,
    candidates: int | None,
    instances: tuple[int, ...] | None,
    seed: int,
    pragmatic_only: bool,
    rounds: int,
    stream: int = 0,
) -> DealtGame:
    """Given candidates, or candidates drawn from games that no pair was trained on; and a target, with `pragmatic_only`
    one that takes pragmatic inference where there is one. Games of the same seed in different streams are unrelated."""
    number = game.candidates if candidates is None else candidates
    if not 2 <= number <= game.max_candidates:
        raise ValueError(
            f"{number} candidates are not between 2 and {game.max_candidates}: ask for a number in that range."
        )
    random = np.random.default_rng([seed, number, stream] if stream else [seed, number])
    if instances is not None:
        check_instances(game, instances)
        candidate_sets = np.array([instances])
    else:
        candidate_sets = draw_candidate_sets(random, game.space.instances, number)
    row, target, accuracy = 0, int(random.integers(candidate_sets.shape[1])), None
    if pragmatic_only:
        row, target, accuracy = pick_pragmatic(game, candidate_sets, random)
    return DealtGame(game.name, tuple(int(i) for i in candidate_sets[row]), target, seed, rounds, accuracy)


def draw_candidate_sets(
    random: np.random.Generator, instances: int, number: int
) -> Int[np.ndarray, "games candidates"]:
    """Candidate sets; in a large space only those of the test split."""
    if comb(instances, number) <= MAX_ENUMERATED:
        return random.random((N_CANDIDATE_SETS, instances)).argsort(axis=1)[:, :number]
    proposals = random.integers(instances, size=(N_CANDIDATE_SETS * OVERSAMPLING, number))
    ordered = np.sort(proposals, axis=1)
    held_out = np.asarray(splits_of(proposals, 0)) == SPLITS.index("test")
    valid = held_out & (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)
    return proposals[valid][:N_CANDIDATE_SETS] if valid.any() else draw_candidate_sets(random, instances, number)


def pick_pragmatic(
    game: PlayableGame, candidate_sets: Int[np.ndarray, "games candidates"], random: np.random.Generator
) -> tuple[int, int, tuple[float, float]]:
    """The first game with a target that takes pragmatic inference, that target, and the accuracy of a literal and an
    exact pair; where there is none, a game where the two differ most."""
    literal, exact = one_round_accuracy(game, candidate_sets)
    pragmatic = (literal <= MAX_LITERAL_ACCURACY) & (exact >= MIN_EXACT_ACCURACY)
    if not pragmatic.any():
        gap = exact - literal
        pragmatic = gap >= gap.max() - 1e-6
    row = int(np.flatnonzero(pragmatic.any(axis=1))[0])
    target = int(random.choice(np.flatnonzero(pragmatic[row])))
    return row, target, (float(literal[row, target]), float(exact[row, target]))


def parse_instances(game: PlayableGame, text: str) -> list[int]:
    """Candidates that a person has typed: "1,2,3,9; 1,2,4; 2,3"."""
    space = game.space
    parts = [part.strip().strip("{}") for part in text.replace("\n", ";").split(";") if part.strip()]
    if len(parts) > game.max_candidates:
        raise ValueError(f"More than {game.max_candidates} candidates do not fit on the page: write fewer.")
    instances = []
    for names in parse_candidates(parts, space):
        row = np.isin(space.attributes, names)
        same = np.flatnonzero((space.table == row).all(axis=1))
        if not len(same):
            way_out = "write another combination"
            if space.categories is not None:
                way_out = f"write one of each: {', '.join(dict.fromkeys(space.categories))}"
            raise ValueError(f"There is no {', '.join(names)} in {game.title}: {way_out}.")
        instances.append(int(same[0]))
    return instances
