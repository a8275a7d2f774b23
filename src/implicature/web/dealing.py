"""Which games can be played on the page, and how an address becomes one: all that is dealt is a function of it."""

from dataclasses import dataclass
from functools import cache, lru_cache
from math import comb
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.exact import Recursion
from implicature.agents.rsa import greedy_accuracy
from implicature.explain.model import read
from implicature.games.sampling import GAMES, SPLITS, split_of
from implicature.spaces import SPACES, Space
from implicature.spaces.space import space_of_sets

MOST_CANDIDATES = 12
MOST_ROUNDS = 4
MESSAGE_COST = 0.1
"""In games of several rounds; a single word is free."""
LITERAL, EXACT = 0, 10
"""The depths of the players that people are compared with."""
WORDS = 32
"""Games are padded to MOST_CANDIDATES candidates and a multiple of so many words, so that they share a program."""
DRAWS = 16
"""Sets of candidates that a game is chosen from, of so many times as many that are drawn."""
MORE = 16
HARD, EASY = 0.51, 0.9
"""A game takes reading between the lines if a literal pair finds its target at most so often, an exact one at least."""

Kind = Literal["numbers", "objects", "words"]


@dataclass(frozen=True, eq=False)
class Playable:
    """A space to play in and how many candidates are usual."""

    name: str
    title: str
    kind: Kind
    """How the page draws an instance."""
    space: Space
    candidates: int
    share: bool = True
    """Whether the literal student of exact agents minds how much else she could have said."""

    @property
    def most(self) -> int:
        return min(MOST_CANDIDATES, self.space.instances)

    def called(self, instance: int) -> str:
        """An instance as a sentence speaks of it."""
        if self.space.labels is not None:
            return self.space.labels[instance]
        names = self.space.names(instance)
        if self.kind == "objects":
            colour, shape, size, place = names
            return f"the {size} {place} {colour} {shape}"
        return self.space.label(instance)


@dataclass(frozen=True)
class Deal:
    """One game: which instances, in the order that people see them, and which of them is meant."""

    game: str
    instances: tuple[int, ...]
    target: int
    seed: int
    rounds: int
    found: tuple[float, float] | None = None
    """How often a literal and an exact pair find the target in one round, where that is known already."""

    @property
    def cost(self) -> float:
        return MESSAGE_COST if self.rounds > 1 else 0.0


TITLES = {
    "numbers-4": "Number sets, 10 symbols",
    "numbers-7": "Number sets, 12 symbols",
    "objects-4": "Objects",
    "objects-7": "Objects, many",
}


@cache
def playables() -> dict[str, Playable]:
    """The paper's four games and the two that explain the idea."""
    found: dict[str, Playable] = {}
    for name, (space, candidates) in GAMES.items():
        kind: Kind = "objects" if space == "objects" else "numbers"
        found[name] = Playable(name, TITLES.get(name, name), kind, SPACES[space](), candidates)
    boys = space_of_sets("some-all", [["some"], ["some", "all"]])
    boys = Space(boys.name, boys.attributes, boys.table, None, ("two of the four boys", "all four boys"))
    three = space_of_sets("three-objects", [["blue", "sphere"], ["red", "sphere"], ["blue", "cone"]])
    called = tuple(f"the {name}" for name in ("blue sphere", "red sphere", "blue cone"))
    three = Space(three.name, three.attributes, three.table, None, called)
    found["some-all"] = Playable("some-all", "Some or all", "words", boys, 2, share=False)
    found["three-objects"] = Playable("three-objects", "Three objects", "objects", three, 3)
    return found


@cache
def padded(game: Playable) -> Bool[np.ndarray, "instances words"]:
    """The space's table with words that are true of nobody, and a last instance that nothing is true of."""
    return np.pad(game.space.table, ((0, 1), (0, -game.space.table.shape[1] % WORDS)))


def filled(instances: Int[np.ndarray, "*games candidates"], blank: int) -> Int[np.ndarray, "*games room"]:
    """Candidates and as many blanks as there is room for."""
    missing = [(0, 0)] * (instances.ndim - 1) + [(0, MOST_CANDIDATES - instances.shape[-1])]
    return np.pad(instances, missing, constant_values=blank)


def undecided(candidates: int, room: int) -> Float[np.ndarray, " room"]:
    """A belief without a preference, in the candidates that there are."""
    return np.where(np.arange(room) < candidates, np.float32(1 / candidates), np.float32(0))


@jax.jit
def by_depth(
    truth: Bool[Array, "games room words"], prior: Float[Array, " room"], share: Bool[Array, ""]
) -> list[Float[Array, "games room"]]:
    """How often each candidate is found in one round by a literal pair and by an exact one."""

    def found(truth: Bool[Array, "room words"], depth: int) -> Float[Array, " room"]:
        belief = Recursion(jnp.asarray(depth), share=share).tables(truth, prior)[1]
        return greedy_accuracy(truth, belief, belief)

    return [jax.vmap(found, (0, None))(truth, depth) for depth in (LITERAL, EXACT)]


def chances(game: Playable, draws: Int[np.ndarray, "games candidates"]) -> list[Float[np.ndarray, "games candidates"]]:
    """The same for any number of games."""
    games, candidates = draws.shape
    rows = np.resize(filled(draws, game.space.instances), (DRAWS, MOST_CANDIDATES))
    truth, prior = padded(game)[rows], undecided(candidates, MOST_CANDIDATES)
    both = jax.device_get(by_depth(truth, prior, np.asarray(game.share)))
    return [chance[:games, :candidates] for chance in both]


splits = jax.jit(jax.vmap(split_of, (0, None)), static_argnums=1)


def check_instances(playable: Playable, instances: tuple[int, ...]) -> None:
    number = playable.space.instances
    if outside := [i for i in instances if not 0 <= i < number]:
        raise ValueError(f"There is no instance {outside[0]} in {playable.title}: they are numbered 0 to {number - 1}.")
    if len(set(instances)) < len(instances):
        raise ValueError("The same candidate stands there twice: candidates must differ.")


@lru_cache(maxsize=4096)
def deal(
    playable: Playable, candidates: int | None, instances: tuple[int, ...] | None, seed: int, tricky: bool, rounds: int
) -> Deal:
    """The game of an address: candidates given, or drawn from games that no pair was trained with; and a target, in
    tricky games one that a literal pair often misses where there is one such."""
    number = playable.candidates if candidates is None else candidates
    if not 2 <= number <= playable.most:
        raise ValueError(f"{number} candidates are not between 2 and {playable.most}: ask for so many.")
    random = np.random.default_rng([seed, number])
    if instances is not None:
        check_instances(playable, instances)
        draws = np.array([instances])
    else:
        draws = drawn(random, playable.space.instances, number)
    row, target, found = 0, int(random.integers(draws.shape[1])), None
    if tricky:
        row, target, found = telling(playable, draws, random)
    return Deal(playable.name, tuple(int(i) for i in draws[row]), target, seed, rounds, found)


def drawn(random: np.random.Generator, instances: int, number: int) -> Int[np.ndarray, "draws candidates"]:
    """Sets of candidates; in a large space only those that no pair was trained with."""
    if comb(instances, number) <= 10_000:
        return random.random((DRAWS, instances)).argsort(axis=1)[:, :number]
    every = random.integers(instances, size=(DRAWS * MORE, number))
    in_order = np.sort(every, axis=1)
    held_out = np.asarray(splits(every, 0)) == SPLITS.index("test")
    fine = held_out & (in_order[:, 1:] != in_order[:, :-1]).all(axis=1)
    return every[fine][:DRAWS] if fine.any() else drawn(random, instances, number)


def telling(playable: Playable, draws: np.ndarray, random: np.random.Generator) -> tuple[int, int, tuple[float, float]]:
    """The first of the drawn games, and a target in it, that need reading between the lines; else the nearest to it."""
    literal, exact = chances(playable, draws)
    fits = (literal <= HARD) & (exact >= EASY)
    if not fits.any():
        gap = exact - literal
        fits = gap >= gap.max() - 1e-6
    row = int(np.flatnonzero(fits.any(axis=1))[0])
    target = int(random.choice(np.flatnonzero(fits[row])))
    return row, target, (float(literal[row, target]), float(exact[row, target]))


def instances_in(playable: Playable, text: str) -> list[int]:
    """Candidates that a person has typed: "1,2,3,9; 1,2,4; 2,3"."""
    space = playable.space
    given = [part.strip().strip("{}") for part in text.replace("\n", ";").split(";") if part.strip()]
    found = []
    for names in read(given[: MOST_CANDIDATES + 1], space):
        row = np.isin(space.attributes, names)
        same = np.flatnonzero((space.table == row).all(axis=1))
        if not len(same):
            what = "one of each: colour, shape, size, place" if len(space.attributes) == 18 else "another mix"
            raise ValueError(f"There is no {', '.join(names)} in {playable.title}: write {what}.")
        found.append(int(same[0]))
    if len(found) > playable.most:
        raise ValueError(f"More than {playable.most} candidates do not fit on the page: write fewer.")
    return found
