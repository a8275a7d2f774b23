"""Sampling games: K distinct candidates O ⊂ Ω and a target o* ∈ O."""

from collections.abc import Iterator
from functools import partial
from itertools import count
from math import ceil, log2

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from implicature.games.contexts import Neighbours
from implicature.games.splits import SPLIT_FRACTIONS, SPLITS, Split, check_split, split_of
from implicature.profiling import part

MAX_DRAWN = 40_000_000
"""Candidates of all games that are drawn at once: some hundred megabytes."""
MAX_SHUFFLED = 2**26
"""Numbers in memory while games are drawn."""
MAX_SPARSE = 32
"""Up to this many candidates are drawn without shuffling all instances."""
MAX_ATTEMPTS = 50
"""Rounds of drawing after which a split is given up that no drawn game falls into."""
MIN_GAMES = 10
"""An accuracy over fewer games means nothing."""


ABSENT = -1
"""In place of an instance where games of several sizes stand in one array."""


class Game(eqx.Module):
    """A game as it is sampled. The teacher sees candidates and target; the student sees `student_candidates`."""

    candidates: Int[Array, "candidates *#games"]
    """Instances, in the teacher's order; ABSENT at the end of a game that has fewer candidates than others."""
    target: Int[Array, "*#games"]
    """The target's position in the teacher's order."""
    order: Int[Array, "candidates *#games"]
    """The student's j-th candidate is the teacher's order[j]-th."""

    @property
    def student_candidates(self) -> Int[Array, "candidates *#games"]:
        return jnp.take_along_axis(self.candidates, self.order, axis=0)


def sample_distinct(key: Key[Array, ""], number: int, size: int) -> Int[Array, " size"]:
    """`size` distinct integers below `number`, in random order, every ordered choice equally likely."""
    if size > MAX_SPARSE:
        return jax.random.permutation(key, number)[:size]
    # A Fisher-Yates shuffle of 0 … number-1 that stores only the positions it has touched: position i swaps with
    # swap[i] ≥ i, and displaced[j] is what position j held when it was moved to swap[j].
    first = jnp.arange(size)
    swap = first + jax.random.randint(key, (size,), 0, number - first)
    displaced: list[Array] = []
    result: list[Array] = []
    for i in range(size):
        drawn, own = swap[i], jnp.asarray(i)
        for j in range(i):
            drawn = jnp.where(swap[j] == swap[i], displaced[j], drawn)
            own = jnp.where(swap[j] == i, displaced[j], own)
        result.append(drawn)
        displaced.append(own)
    return jnp.stack(result)


def sample_game(
    key: Key[Array, ""],
    candidates: int,
    instances: Int[Array, " instances"],
    targets: Int[Array, " targets"] | None = None,
    salience: Float[Array, " all"] | None = None,
    near: Neighbours | None = None,
) -> Game:
    """Candidates uniform over the combinations of `instances`, or with `near` neighbours of one of them. With
    `targets`, the target is one of those instead. With `salience`, weights of all instances of the space, the target is
    a candidate by its weight.

    `targets` must be among `instances`, which must be in ascending order."""
    candidates_key, target_key, position_key, order_key = jax.random.split(key, 4)
    number = instances.shape[0]
    position = jax.random.randint(position_key, (), 0, candidates)
    if near is not None:
        anchor_key, noise_key, shuffle_key = jax.random.split(candidates_key, 3)
        pool = instances if targets is None else targets
        anchor = pool[jax.random.randint(anchor_key, (), 0, pool.shape[0])]
        order = sample_distinct(shuffle_key, candidates, candidates)
        chosen = near.sample(noise_key, anchor, instances, candidates)[order]
        if targets is not None:
            position = jnp.argmin(order).astype(position.dtype)
    elif targets is None:
        chosen = instances[sample_distinct(candidates_key, number, candidates)]
    else:
        target = targets[jax.random.randint(target_key, (), 0, targets.shape[0])]
        others = sample_distinct(candidates_key, number - 1, candidates - 1)
        others = instances[others + (others >= jnp.searchsorted(instances, target))]
        chosen = jnp.insert(others, position, target)
    if salience is not None and targets is None:
        position = jax.random.categorical(target_key, jnp.log(salience[chosen])).astype(position.dtype)
    return Game(chosen, position, sample_distinct(order_key, candidates, candidates))


def check_n_games(games: int, candidates: int = 2) -> None:
    """Raise an error for too few games to mean anything, and for more than fit into memory."""
    if games < MIN_GAMES:
        raise ValueError(f"{games} games are too few to mean anything: ask for {MIN_GAMES} or more.")
    check_memory(games, candidates)


def check_memory(games: int, candidates: int) -> None:
    if games * candidates > MAX_DRAWN:
        most = MAX_DRAWN // candidates
        raise ValueError(f"{games:,} games do not fit into memory: ask for {most:,} or fewer.")


@eqx.filter_jit
def _sample_games(
    keys: Key[Array, " games"],
    candidates: int,
    instances: Array,
    seed: int,
    targets: Array | None,
    salience: Array | None,
    near: Neighbours | None,
) -> tuple[Game, Int[Array, " games"]]:
    """Games of any split, and the split of each."""
    sampled = jax.vmap(lambda one: sample_game(one, candidates, instances, targets, salience, near))(keys)
    return sampled, jax.vmap(split_of, (0, None))(sampled.candidates, seed)


def _game_keys(key: Key[Array, ""], size: int, chunk: int) -> Iterator[Key[Array, " games"]]:
    """A key for each of `size` games, chunk by chunk; then for as many others."""
    for attempt in count():
        keys = jax.random.split(jax.random.fold_in(key, attempt), max(size, chunk))
        yield from keys.reshape(-1, chunk)


@part("drawing games")
def draw_games(
    key: Key[Array, ""],
    games: int,
    candidates: int,
    instances: Int[Array, " instances"] | int,
    split: Split | None,
    seed: int = 0,
    targets: Int[Array, " targets"] | None = None,
    salience: Float[Array, " all"] | None = None,
    near: Neighbours | None = None,
) -> Game:
    """Many games of one split, or of any (None), as one Game with a leading axis. `instances` may be a number: all of
    them are used."""
    pool = jnp.arange(instances) if isinstance(instances, int) else jnp.sort(instances)
    check_memory(games, candidates)
    wanted = range(len(SPLITS)) if split is None else [SPLITS.index(split)]
    if split is not None:
        check_split(pool, candidates, split, seed, targets)
    # More than a few candidates are drawn by shuffling all instances, near ones by comparing all.
    few = candidates <= MAX_SPARSE and near is None
    room = MAX_SHUFFLED // (candidates if few else len(pool))
    most, fraction = int(log2(max(1, room))), sum(SPLIT_FRACTIONS[i] for i in wanted)
    size = 2 ** min(20, most, max(6, ceil(log2(1.05 * games / fraction))))
    # One compiled program for any number of games, unless each is expensive.
    chunk = 2 ** min(16, most) if few else size
    chunks, found = [], 0
    for attempt, keys in enumerate(_game_keys(key, size, chunk)):
        sampled, splits = _sample_games(keys, candidates, pool, seed, targets, salience, near)
        keep = np.flatnonzero(np.isin(np.asarray(splits)[:size], wanted))[: games - found]
        chunks.append(jax.tree.map(lambda leaf, keep=keep: np.asarray(leaf)[keep], sampled))
        found += len(keep)
        if found == games:
            break
        if near is not None and not found and attempt == MAX_ATTEMPTS:
            raise ValueError(
                f"No near context of {candidates} falls into the {split} split: raise --context-temperature, take more "
                "instances or another split seed."
            )
    return jax.tree.map(lambda *leaves: jnp.asarray(np.concatenate(leaves)), *chunks)


def draw_mixed_games(
    key: Key[Array, ""],
    games: int,
    fewest: int,
    most: int,
    instances: Int[Array, " instances"] | int,
    split: Split | None,
    seed: int = 0,
    targets: Int[Array, " targets"] | None = None,
    salience: Float[Array, " all"] | None = None,
    near: Neighbours | None = None,
) -> Game:
    """Games of `fewest` to `most` candidates, as many of each; each is of the split by its own candidates."""
    sizes = range(fewest, most + 1)
    if len(sizes) == 1:
        return draw_games(key, games, most, instances, split, seed, targets, salience, near)
    numbers = [games // len(sizes) + (i < games % len(sizes)) for i in range(len(sizes))]
    how = instances, split, seed, targets, salience, near
    drawn = [
        jax.vmap(partial(pad_candidates, most=most))(draw_games(jax.random.fold_in(key, size), number, size, *how))
        for size, number in zip(sizes, numbers, strict=True)
        if number
    ]
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *drawn)


def pad_candidates(game: Game, most: int) -> Game:
    """One game with absent candidates at the end, for both players."""
    size = len(game.candidates)
    absent = jnp.full(most - size, ABSENT, game.candidates.dtype)
    last = jnp.arange(size, most, dtype=game.order.dtype)
    return Game(jnp.append(game.candidates, absent), game.target, jnp.append(game.order, last))
