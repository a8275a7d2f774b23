"""Training, validation and test splits. No set of candidates is in two of them: the split is a hash of the set itself,
so it holds for stored games and for games drawn on the fly, without listing 10¹⁸ of them."""

from itertools import combinations
from math import comb
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, UInt32

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
SPLIT_FRACTIONS = (0.8, 0.1, 0.1)


def hash_bits(bits: UInt32[Array, "*shape"]) -> UInt32[Array, "*shape"]:
    """Wellons' low-bias 32-bit integer hash."""
    bits = (bits ^ (bits >> 16)) * jnp.uint32(0x7FEB352D)
    bits = (bits ^ (bits >> 15)) * jnp.uint32(0x846CA68B)
    return bits ^ (bits >> 16)


def split_of(candidates: Int[Array, " candidates"], seed: int) -> Int[Array, ""]:
    """0 train, 1 validation, 2 test: a function of the set alone, whatever its order."""
    salt = hash_bits(jnp.uint32(seed) + jnp.uint32(0x9E3779B9))
    bits = hash_bits(jnp.sum(hash_bits(candidates.astype(jnp.uint32) ^ salt), dtype=jnp.uint32) + salt)
    limits = jnp.asarray((np.cumsum(SPLIT_FRACTIONS[:-1]) * 2**32).astype(np.uint32))
    return jnp.searchsorted(limits, bits, side="right").astype(jnp.int32)


def check_split(
    instances: Int[Array, " instances"],
    candidates: int,
    split: Split,
    seed: int,
    targets: Int[Array, " targets"] | None = None,
) -> None:
    """Raise an error where a small space has no candidate set in the split (a large one surely has)."""
    if candidates > len(instances):
        raise ValueError(
            f"{candidates} candidates, but only {len(instances)} instances to draw them from: "
            f"ask for {len(instances)} or fewer."
        )
    number = comb(len(instances), candidates)
    if number > 10_000:
        return
    sets = np.asarray(instances)[np.array(list(combinations(range(len(instances)), candidates)))]
    in_split = np.asarray(jax.vmap(split_of, (0, None))(jnp.asarray(sets), seed)) == SPLITS.index(split)
    if targets is not None:
        in_split &= np.isin(sets, np.asarray(targets)).any(axis=1)
    if not np.any(in_split):
        raise ValueError(
            f"{len(instances)} instances make only {number} combinations of {candidates}, and none "
            f"{'' if targets is None else 'with one of the targets '}falls into the {split} split: "
            "take more instances, another number of candidates or another split seed"
            f"{'' if number > 1 else ', or train and test with the same (--whole-class)'}."
        )


def split_instances(
    instances: int, fraction: float, seed: int
) -> tuple[Int[np.ndarray, " first"], Int[np.ndarray, " second"]]:
    """Two exclusive sets of instances, the first with `fraction` of them (0.7 unseen instances, 0.8 novel targets)."""
    shuffled = np.random.default_rng(seed).permutation(instances)
    first = round(instances * fraction)
    return np.sort(shuffled[:first]), np.sort(shuffled[first:])
