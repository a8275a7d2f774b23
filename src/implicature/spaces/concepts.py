"""Concept classes as spaces: candidates are concepts, words are labelled examples (x, y).

    ⟦x = y⟧(c) = 1[c(x) = y]        an example is true of the concepts that agree with it

A concept c : X → {0, 1} is a row of a 0/1 table. The classes of the teaching literature:

powerset-n      all 2ⁿ concepts on n points; K of them at random are a random class
singletons-n    {x} for each of n points, and the empty concept
intervals-n     a … b of points 1 … n, and the empty concept
monomials-n     conjunctions of literals of n Boolean variables, on {0, 1}ⁿ, and the empty concept
warmuth         ten concepts on five points, the smallest class whose RTD (3) exceeds its VC dimension (2)
                (Doliwa, Fan, Simon and Zilles 2014)
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import numpy as np
from jaxtyping import Bool

from implicature.spaces.space import Space

Class = Bool[np.ndarray, "concepts points"]
WARMUTH = ("11000", "11010")
"""Its concepts are the rotations of these two."""


def concept_space(name: str, concepts: Class, points: tuple[str, ...] | None = None) -> Space:
    """A space of these concepts; points are called x1, x2 … unless they have names."""
    names = tuple(f"x{i + 1}" for i in range(concepts.shape[1])) if points is None else points
    words = tuple(f"{point}={label}" for point in names for label in (0, 1))
    table = np.stack([~concepts, concepts], axis=2).reshape(len(concepts), -1)
    labels = tuple("".join(str(int(value)) for value in row) for row in concepts)
    return Space(name, words, table, tuple(np.repeat(names, 2).tolist()), labels)


def concepts_of(space: Space) -> Class:
    """The table that a concept space was made of."""
    return space.table[:, 1::2]


def powerset(points: int) -> Class:
    return np.array(list(product((False, True), repeat=points)))


def singletons(points: int) -> Class:
    return np.concatenate([np.eye(points, dtype=bool), np.zeros((1, points), bool)])


def intervals(points: int) -> Class:
    position = np.arange(points)
    ends = [(a, b) for a in range(points) for b in range(a, points)]
    return np.array([*((position >= a) & (position <= b) for a, b in ends), np.zeros(points, bool)])


def monomials(variables: int) -> Class:
    """A literal is True, False or None (its variable is not in the conjunction)."""
    inputs = powerset(variables)
    conjunctions = product((None, True, False), repeat=variables)
    rows = [
        [all(w is None or w == v for w, v in zip(wanted, x, strict=True)) for x in inputs] for wanted in conjunctions
    ]
    return np.array([*rows, [False] * len(inputs)])


def warmuth() -> Class:
    return np.array([[text[(i - shift) % 5] == "1" for i in range(5)] for text in WARMUTH for shift in range(5)])


def binary(variables: int) -> tuple[str, ...]:
    """The points of {0, 1}ⁿ by their values: 011."""
    return tuple("".join(str(int(value)) for value in x) for x in powerset(variables))


FAMILIES: dict[str, tuple[Callable[[int], Class], Sequence[int]]] = {
    "powerset": (powerset, range(2, 9)),
    "singletons": (singletons, range(2, 21)),
    "intervals": (intervals, range(2, 21)),
    "monomials": (monomials, range(1, 5)),
}
"""Classes of every size n, and which n have a name."""


def class_of_size(family: str, n: int) -> Space:
    points = binary(n) if family == "monomials" else None
    return concept_space(f"{family}-{n}", FAMILIES[family][0](n), points)


CONCEPT_CLASSES: dict[str, Callable[[], Space]] = {
    "warmuth": lambda: concept_space("warmuth", warmuth()),
    **{f"{family}-{n}": partial(class_of_size, family, n) for family, (_, sizes) in FAMILIES.items() for n in sizes},
}
"""By name."""
