"""The referential game ⟨A, B, Ω, M, 𝒜⟩ (section 2): K distinct candidates O ⊂ Ω, one of them the target o*.

In each round the teacher sends m at cost c_m and the student answers 1 … K or waits (Ξ); the game ends at the first
answer that is not Ξ, or with the last round. Both gain  R = −Σ c_m + 1[answer = target].

No candidate combination is in two of the training, validation and test splits: the split is a hash of the
combination itself, so it holds for stored games and for games drawn on the fly, without listing 10¹⁸ of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, count
from math import ceil, comb, log2
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key, UInt32

from implicature.spaces import SPACES, Space

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
SHARES = (0.8, 0.1, 0.1)
MOST_CANDIDATES = 1_000
MOST_ROUNDS = 100
MOST_DRAWN = 40_000_000
"""Candidates of all games that are drawn at once: some hundred megabytes."""
MOST_SHUFFLED = 2**26
"""Numbers that are in the air while some of them are drawn."""
FEW = 32
"""So many candidates are drawn without shuffling all instances."""
FEWEST_GAMES = 10
"""Fewer tell nothing."""


@dataclass(frozen=True)
class Rules:
    """What both players know before a game begins."""

    candidates: int
    rounds: int = 1
    message_cost: float = 0.0

    def __post_init__(self) -> None:
        if self.candidates < 2:
            raise ValueError(f"{self.candidates} candidates leave nothing to guess: ask for 2 or more.")
        if self.candidates > MOST_CANDIDATES:
            raise ValueError(f"{self.candidates:,} candidates are too many: ask for {MOST_CANDIDATES:,} or fewer.")
        if self.rounds < 1:
            raise ValueError(f"A game of {self.rounds} rounds has no message: ask for 1 or more.")
        if self.rounds > MOST_ROUNDS:
            raise ValueError(f"A game of {self.rounds:,} rounds is too long: ask for {MOST_ROUNDS} or fewer.")
        if not 0 <= self.message_cost < 1:
            raise ValueError(f"A message cost of {self.message_cost} is not in [0, 1): a right answer is worth 1.")

    @property
    def wait(self) -> int:
        """The student's action Ξ; 0 … candidates-1 are answers."""
        return self.candidates

    def judge(self, said: Any, target: Any, number: Any) -> tuple[Any, Any]:
        """What round `number`, from 0, is worth to both, and whether it ends the game. `said` is his answer, in the
        order that the target is given in, or Ξ. Plain numbers, or arrays with an entry for each game."""
        return (said == target) - self.message_cost, (said != self.wait) | (number == self.rounds - 1)


GAMES: dict[str, tuple[str, int]] = {
    "numbers-4": ("numbers-10", 4),
    "numbers-7": ("numbers-12", 7),
    "objects-4": ("objects", 4),
    "objects-7": ("objects", 7),
}


def named_game(name: str) -> tuple[Space, int]:
    """The space and the number of candidates of one of the paper's four games."""
    if name not in GAMES:
        raise ValueError(f"No game is called {name!r}: choose one of {', '.join(GAMES)}.")
    space, candidates = GAMES[name]
    return SPACES[space](), candidates


class Game(eqx.Module):
    """A game as its maker sees it. The teacher sees candidates and target; the student sees `student_candidates`."""

    candidates: Int[Array, "candidates *#games"]
    """Instances, in the teacher's order."""
    target: Int[Array, "*#games"]
    """The target's position in the teacher's order."""
    order: Int[Array, "candidates *#games"]
    """The student's j-th candidate is the teacher's order[j]-th."""

    @property
    def student_candidates(self) -> Int[Array, "candidates *#games"]:
        return jnp.take_along_axis(self.candidates, self.order, axis=0)


def sample_distinct(key: Key[Array, ""], number: int, chosen: int) -> Int[Array, " chosen"]:
    """`chosen` different whole numbers below `number`, in random order, every ordered choice equally likely."""
    if chosen > FEW:
        return jax.random.permutation(key, number)[:chosen]
    # A Fisher-Yates shuffle of 0 … number-1 that remembers only the places it has touched: position i swaps with
    # place[i] ≥ i, and displaced[j] is what position j held when it was moved to place[j].
    first = jnp.arange(chosen)
    place = first + jax.random.randint(key, (chosen,), 0, number - first)
    displaced: list[Array] = []
    result: list[Array] = []
    for i in range(chosen):
        taken, mine = place[i], jnp.asarray(i)
        for j in range(i):
            taken = jnp.where(place[j] == place[i], displaced[j], taken)
            mine = jnp.where(place[j] == i, displaced[j], mine)
        result.append(taken)
        displaced.append(mine)
    return jnp.stack(result)


def sample_game(
    key: Key[Array, ""],
    candidates: int,
    instances: Int[Array, " instances"],
    targets: Int[Array, " targets"] | None = None,
) -> Game:
    """Candidates uniform over the combinations of `instances`. With `targets`, the target is one of those instead.

    `targets` must be among `instances`, which must be in ascending order."""
    candidates_key, target_key, place_key, order_key = jax.random.split(key, 4)
    number = instances.shape[0]
    place = jax.random.randint(place_key, (), 0, candidates)
    if targets is None:
        chosen = instances[sample_distinct(candidates_key, number, candidates)]
    else:
        target = targets[jax.random.randint(target_key, (), 0, targets.shape[0])]
        others = sample_distinct(candidates_key, number - 1, candidates - 1)
        others = instances[others + (others >= jnp.searchsorted(instances, target))]
        chosen = jnp.insert(others, place, target)
    return Game(chosen, place, sample_distinct(order_key, candidates, candidates))


def _mixed(bits: UInt32[Array, "*shape"]) -> UInt32[Array, "*shape"]:
    """Wellons' low-bias 32-bit integer hash."""
    bits = (bits ^ (bits >> 16)) * jnp.uint32(0x7FEB352D)
    bits = (bits ^ (bits >> 15)) * jnp.uint32(0x846CA68B)
    return bits ^ (bits >> 16)


def split_of(candidates: Int[Array, " candidates"], seed: int) -> Int[Array, ""]:
    """0 train, 1 validation, 2 test: a function of the combination alone, whatever its order."""
    salt = _mixed(jnp.uint32(seed) + jnp.uint32(0x9E3779B9))
    bits = _mixed(jnp.sum(_mixed(candidates.astype(jnp.uint32) ^ salt), dtype=jnp.uint32) + salt)
    limits = jnp.asarray((np.cumsum(SHARES[:-1]) * 2**32).astype(np.uint32))
    return jnp.searchsorted(limits, bits, side="right").astype(jnp.int32)


def check_games(space: Space, candidates: int, instances: int | None = None) -> None:
    """Raise a sentence where such games cannot be drawn."""
    number = space.instances if instances is None else instances
    if candidates > number:
        raise ValueError(
            f"{candidates} candidates, but this space has only {number} instances: ask for {number} or fewer."
        )
    Rules(candidates)


def check_number(games: int, candidates: int = 2) -> None:
    """Raise a sentence for fewer games than tell anything, and for more than fit into memory."""
    if games < FEWEST_GAMES:
        raise ValueError(f"{games} games are too few to tell anything: ask for {FEWEST_GAMES} or more.")
    check_memory(games, candidates)


def check_memory(games: int, candidates: int) -> None:
    if games * candidates > MOST_DRAWN:
        most = MOST_DRAWN // candidates
        raise ValueError(f"{games:,} games do not fit into memory: ask for {most:,} or fewer.")


def check_split(
    instances: Int[Array, " instances"],
    candidates: int,
    split: Split,
    seed: int,
    targets: Int[Array, " targets"] | None = None,
) -> None:
    """Raise a sentence where a small space has no combination in the split (a large one surely has)."""
    if candidates > len(instances):
        raise ValueError(
            f"{candidates} candidates, but only {len(instances)} instances to draw them from: "
            f"ask for {len(instances)} or fewer."
        )
    number = comb(len(instances), candidates)
    if number > 10_000:
        return
    every = np.asarray(instances)[np.array(list(combinations(range(len(instances)), candidates)))]
    here = np.asarray(jax.vmap(split_of, (0, None))(jnp.asarray(every), seed)) == SPLITS.index(split)
    if targets is not None:
        here &= np.isin(every, np.asarray(targets)).any(axis=1)
    if not np.any(here):
        raise ValueError(
            f"{len(instances)} instances make only {number} combinations of {candidates}, and none "
            f"{'' if targets is None else 'with one of the targets '}falls into the {split} split: "
            "take more instances, another number of candidates or another split seed."
        )


@eqx.filter_jit
def _sample_games(
    keys: Key[Array, " games"], candidates: int, instances: Array, seed: int, targets: Array | None
) -> tuple[Game, Int[Array, " games"]]:
    """Games of any split, and the split of each."""
    sampled = jax.vmap(lambda one: sample_game(one, candidates, instances, targets))(keys)
    return sampled, jax.vmap(split_of, (0, None))(sampled.candidates, seed)


def _keys_of_games(key: Key[Array, ""], size: int, at_once: int) -> Iterator[Key[Array, " games"]]:
    """A key for each of `size` games, part by part; then for as many others."""
    for attempt in count():
        keys = jax.random.split(jax.random.fold_in(key, attempt), max(size, at_once))
        yield from keys.reshape(-1, at_once)


def draw_games(
    key: Key[Array, ""],
    games: int,
    candidates: int,
    instances: Int[Array, " instances"] | int,
    split: Split,
    seed: int = 0,
    targets: Int[Array, " targets"] | None = None,
) -> Game:
    """Many games of one split, as one Game with a leading axis. `instances` may be a number: all of them."""
    pool = jnp.arange(instances) if isinstance(instances, int) else jnp.sort(instances)
    check_memory(games, candidates)
    check_split(pool, candidates, split, seed, targets)
    wanted = SPLITS.index(split)
    # More than a few candidates are drawn by shuffling all instances.
    room = MOST_SHUFFLED // (candidates if candidates <= FEW else len(pool))
    most = int(log2(max(1, room)))
    size = 2 ** min(20, most, max(6, ceil(log2(1.05 * games / SHARES[wanted]))))
    # One program for any number of games, unless each is dear.
    at_once = 2 ** min(16, most) if candidates <= FEW else size
    parts, found = [], 0
    for keys in _keys_of_games(key, size, at_once):
        sampled, where = _sample_games(keys, candidates, pool, seed, targets)
        keep = np.flatnonzero(np.asarray(where)[:size] == wanted)[: games - found]
        parts.append(jax.tree.map(lambda leaf, keep=keep: np.asarray(leaf)[keep], sampled))
        found += len(keep)
        if found == games:
            break
    return jax.tree.map(lambda *leaves: jnp.asarray(np.concatenate(leaves)), *parts)


def split_instances(
    instances: int, share: float, seed: int
) -> tuple[Int[np.ndarray, " first"], Int[np.ndarray, " second"]]:
    """Instances in two exclusive parts, the first with `share` of them (0.7 unseen instances, 0.8 novel targets)."""
    shuffled = np.random.default_rng(seed).permutation(instances)
    first = round(instances * share)
    return np.sort(shuffled[:first]), np.sort(shuffled[first:])


def sample_renaming(key: Key[Array, ""], categories: Int[Array, " attributes"]) -> Int[Array, " attributes"]:
    """A random one-to-one renaming, attribute a → renaming[a], within categories (section 5.3)."""
    shuffled = jnp.lexsort((jax.random.uniform(key, categories.shape), categories))
    return jnp.zeros_like(shuffled).at[jnp.argsort(categories, stable=True)].set(shuffled)


def rename(
    truth: Bool[Array, "candidates attributes"], renaming: Int[Array, " attributes"]
) -> Bool[Array, "candidates attributes"]:
    """Equivalent candidates: whoever had attribute a has renaming[a]."""
    return jnp.zeros_like(truth).at[:, renaming].set(truth)


def equivalent_instances(
    candidates: Bool[Array, "candidates attributes"],
    table: Bool[Array, "instances attributes"],
    renaming: Int[Array, " attributes"],
) -> Int[Array, " candidates"]:
    """The instance that each candidate becomes, or -1 where the space has no such instance."""
    renamed = rename(candidates, renaming).astype(jnp.float32)
    kept = table.astype(jnp.float32)
    # Equal rows have |a ∩ b| = |a| = |b|.
    shared, size = renamed @ kept.T, jnp.sum(renamed, axis=1)[:, None]
    same = (shared == size) & (size == jnp.sum(kept, axis=1))
    return jnp.where(jnp.any(same, axis=1), jnp.argmax(same, axis=1), -1)
