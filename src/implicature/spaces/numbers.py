"""Number sets: every set of 1 to `largest` of the symbols 0 … symbols-1 (section 5 of the paper)."""

from itertools import combinations
from math import comb

import numpy as np

from implicature.spaces.space import Space

MAX_INSTANCES = 1_000_000


def number_sets(symbols: int, largest: int) -> Space:
    """The numbers are symbols without an order. (10, 4) has 385 instances, (12, 5) has 1585."""
    if symbols < 1 or not 1 <= largest <= symbols:
        raise ValueError(f"Sets of up to {largest} of {symbols} symbols: the largest set must have 1 to {symbols}.")
    count = sum(comb(symbols, size) for size in range(1, largest + 1))
    if count > MAX_INSTANCES:
        raise ValueError(f"{count:,} number sets are more than {MAX_INSTANCES:,}: take fewer symbols or smaller sets.")
    table = np.zeros((count, symbols), dtype=bool)
    sets = (chosen for size in range(1, largest + 1) for chosen in combinations(range(symbols), size))
    for row, chosen in enumerate(sets):
        table[row, list(chosen)] = True
    return Space(f"numbers-{symbols}", tuple(str(symbol) for symbol in range(symbols)), table)
