"""How many examples it takes to teach a concept c of a finite class C, a 0/1 matrix (appendix A, section 5.2).

    S teaches c in C      for every other c' ∈ C there is x ∈ S with c(x) ≠ c'(x);
                          positive examples only, S ⊆ c: no other c' ⊇ S
    TD(c, C)              the size of the smallest S that teaches c,      TD(C)  = max over c
    (C_1, d_1) … (C_h, d_h)   C_j: the concepts easiest to teach among those left, d_j = TD(c, C ∖ C_1 … C_j-1)
    RTD(c, C) = d_j for c ∈ C_j,                                          RTD(C) = max over j
    level(o)              how many times all candidates with an attribute of their own are removed before o has one

A concept left alone is taught by S = ∅, d = 0. The teacher of a game sends a message all the same: `min_size=1`.
Concepts and example sets are bit masks here: bit x of c is c(x).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, combinations, islice
from math import comb

import numpy as np
from jaxtyping import Bool, Int

from implicature.array_api import AnyArray, namespace, repeat

BUDGET = 5_000_000
"""Steps of the exact search, a few seconds, before its answer becomes a bound."""


def levels(truth: Bool[AnyArray, "candidates attributes"]) -> Int[AnyArray, " candidates"]:
    """The level of each candidate of one game; -1 for those that never have an attribute of their own."""
    xp = namespace(truth)

    def remove(stage: AnyArray, level: Int[AnyArray, " candidates"]) -> Int[AnyArray, " candidates"]:
        left = truth & (level < 0)[:, None]
        own = left & (xp.sum(left, axis=0) == 1)[None, :]
        return xp.where(xp.any(own, axis=1), stage, level)

    return repeat(xp, truth.shape[0], remove, xp.full(truth.shape[0], -1))


@dataclass(frozen=True)
class TeachingDimensions:
    """What teaching each concept takes. Where `exact` is False, td and rtd are upper bounds on the true ones."""

    sets: tuple[tuple[int, ...] | None, ...]
    """A smallest teaching set of each concept, as attributes; None where there is none (only for positive examples)."""
    td: tuple[int | None, ...]
    """The size of each of these sets."""
    rtd: tuple[int | None, ...]
    """d_j of each concept's stage; if not exact, the largest d up to it, a bound whatever the true stages are."""
    hierarchy: tuple[tuple[tuple[int, ...], int], ...]
    """The stages: their concepts and d_j. If not exact, still a plan by which the class can be taught."""
    exact: bool

    @property
    def class_td(self) -> int | None:
        """The largest, or None where a concept has none."""
        return None if None in self.td else max(d for d in self.td if d is not None)

    @property
    def class_rtd(self) -> int | None:
        return None if None in self.rtd else max(d for d in self.rtd if d is not None)


class _Spent(Exception):
    """The budget is used up."""


class _Work:
    """The steps left to a search."""

    def __init__(self, budget: int) -> None:
        self.left = budget

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise _Spent


def _bits(mask: int) -> tuple[int, ...]:
    return tuple(x for x in range(mask.bit_length()) if mask >> x & 1)


def _mask(bits: Iterable[int]) -> int:
    return sum(1 << x for x in bits)


def _concepts(truth: Bool[np.ndarray, "concepts attributes"], twins: bool = False) -> list[int]:
    concepts = [_mask(np.flatnonzero(row).tolist()) for row in truth]
    if not concepts:
        raise ValueError("A class without concepts has nothing to teach: give it at least one.")
    if not twins and (again := [i for i, c in enumerate(concepts) if c in concepts[:i]]):
        raise ValueError(f"Concepts {concepts.index(concepts[again[0]])} and {again[0]} are equal: they must differ.")
    return concepts


def _disjoint(sets: list[int]) -> int:
    """How many of the sets, taken greedily, share nothing: a hitting set needs one element for each of them."""
    number = used = 0
    for s in sets:
        if not s & used:
            number, used = number + 1, used | s
    return number


def _hit(sets: list[int], size: int, work: _Work) -> int | None:
    """A hitting set of at most `size` elements, or None if there is none."""
    if not sets:
        return 0
    if _disjoint(sets) > size:
        return None
    work.spend(len(sets))
    for x in _bits(min(sets, key=int.bit_count)):  # one of these must be in; those tried before x are out
        rest = _hit([s for s in sets if not s >> x & 1], size - 1, work)
        if rest is not None:
            return rest | 1 << x
        sets = [s & ~(1 << x) for s in sets]
    return None


def _greedy_hit(sets: list[int]) -> int:
    """A hitting set, each element chosen to hit the most of the sets that are left."""
    hit = 0
    while sets:
        x = max(range(max(sets).bit_length()), key=lambda x: sum(s >> x & 1 for s in sets))
        hit, sets = hit | 1 << x, [s for s in sets if not s >> x & 1]
    return hit


def _smallest(differences: set[int], known: int | None, work: _Work) -> int | None:
    """The smallest hitting set of the differences, or the smaller of `known` and the greedy one once work is spent."""
    if 0 in differences:
        return None
    minimal: list[int] = []
    for s in sorted(differences, key=int.bit_count):
        if not any(m & s == m for m in minimal):
            minimal.append(s)
    best = min((s for s in (known, _greedy_hit(minimal)) if s is not None), key=int.bit_count)
    try:
        for size in range(_disjoint(minimal), best.bit_count()):
            if (found := _hit(minimal, size, work)) is not None:
                return found
    except (_Spent, RecursionError):
        work.left = -1
    return best


def teaching_dimensions(
    truth: Bool[np.ndarray, "concepts attributes"], positive: bool = False, budget: int = BUDGET, min_size: int = 0
) -> TeachingDimensions:
    """Teaching sets and hierarchy of any finite class. Only sets of at least `min_size` examples count.

    Exact by a search for minimum hitting sets, exponential at worst: past the budget it answers with bounds. A concept
    that is in the class twice cannot be taught: nothing tells it from its twin.

    >>> import numpy as np
    >>> blue_sphere, red_sphere, blue_cone = [1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]  # blue sphere red cone
    >>> concepts = np.array([blue_sphere, red_sphere, blue_cone], bool)
    >>> found = implicature.teaching_dimensions(concepts, positive=True, min_size=1)
    >>> found.td, found.rtd  # "blue" and "sphere" together, or one word once the other two have their own
    ((2, 1, 1), (1, 1, 1))
    """
    concepts, everything, work = _concepts(truth, twins=True), (1 << truth.shape[1]) - 1, _Work(budget)

    def best(c: int, left: list[int], known: int | None) -> int | None:
        """A smallest teaching set among those left; one known from a larger class still teaches."""
        if left.count(c) > 1:
            return None
        found = _smallest({c & ~o if positive else c ^ o for o in left if o != c}, known, work)
        if found is None or found.bit_count() >= min_size:
            return found
        spare = _bits((c if positive else everything) & ~found)[: min_size - found.bit_count()]
        return found | _mask(spare) if found.bit_count() + len(spare) == min_size else None

    first = found = {c: best(c, concepts, None) for c in concepts}
    rtd: dict[int, int] = {}
    hierarchy: list[tuple[tuple[int, ...], int]] = []
    while sizes := {c: s.bit_count() for c, s in found.items() if s is not None}:
        d = min(sizes.values())
        stage = [c for c in sizes if sizes[c] == d]
        hierarchy.append((tuple(concepts.index(c) for c in stage), d))
        rtd |= dict.fromkeys(stage, d)
        left = [c for c in concepts if c not in rtd]
        found = {c: best(c, left, found[c]) for c in left}
    if work.left < 0:
        largest = np.maximum.accumulate([d for _, d in hierarchy]).tolist()
        rtd = {concepts[i]: d for (stage, _), d in zip(hierarchy, largest, strict=True) for i in stage}
    sets = tuple(None if (s := first[c]) is None else _bits(s) for c in concepts)
    td = tuple(None if s is None else len(s) for s in sets)
    return TeachingDimensions(sets, td, tuple(rtd.get(c) for c in concepts), tuple(hierarchy), work.left >= 0)


def positive_rtd(truth: Bool[np.ndarray, "games candidates attributes"]) -> Int[np.ndarray, "games candidates"]:
    """The positive RTD of each candidate of many games, counting at least one message.

    -1 where no messages ever single it out: it has no attribute, or an equal is among the candidates. Messages matter
    only by whom they leave possible, so the search is over sets of candidates, not of messages."""
    games, candidates, attributes = truth.shape
    if candidates > 12:
        raise ValueError(f"{candidates} candidates have too many subsets to tabulate: take games of 12 or fewer.")
    if games > 20_000:
        return np.concatenate([positive_rtd(part) for part in np.array_split(truth, games // 10_000)])
    bit = 1 << np.arange(candidates, dtype=np.int16)
    holders = np.einsum("gox,o->gx", truth, bit)
    # price[g, s]: how few messages leave possible exactly the set s; each further one must rule a candidate out.
    price = np.full((games, 1 << candidates), candidates + 1, np.int8)
    price[np.arange(games)[:, None], holders] = 1
    for d in range(2, candidates):
        game, possible = np.nonzero(price == d - 1)
        for x in range(attributes):
            narrower = possible & holders[game, x]
            cheaper = price[game, narrower] > d
            price[game[cheaper], narrower[cheaper]] = d
    rtd = np.full((games, candidates), -1)
    left = np.full(games, (1 << candidates) - 1, np.int16)
    for _ in range(candidates):
        possible = np.arange(1 << candidates, dtype=np.int16) & left[:, None]
        td = np.stack([np.where(possible == o, price, candidates + 1).min(axis=1) for o in bit], axis=1)
        stage = (td == td.min(axis=1, keepdims=True)) & (td <= candidates)
        rtd[stage] = td[stage]
        left -= stage @ bit
    return rtd


@dataclass(frozen=True)
class NoClash:
    """Two readings of "no two candidates are taught by the same messages"; number ≤ max(1, dimension)."""

    number: int | None
    """The smallest d for which each candidate can have 1 … d true messages, as a set, of its own: 1 exactly where a
    matching of candidates to their attributes covers all. Always exact; None where a candidate has no attribute."""
    dimension: int
    """NCTD⁺ (Kirkpatrick, Simon and Zilles 2019): besides, of two sets at least one is untrue of the other candidate,
    which does not follow: {1,2,3}, {1,2}, {1,3} match one to one, but {1,2,3} needs 2 and 3. At most the RTD."""
    exact: bool
    """Whether `dimension` is; else it is an upper bound."""


def _own_sets(concepts: list[int], size: int) -> bool:
    """Whether each concept can have a set of its own of 1 … size of its attributes."""
    from scipy.sparse import csr_array  # here, since most users of this module do not need it
    from scipy.sparse.csgraph import maximum_bipartite_matching

    columns: dict[tuple[int, ...], int] = {}
    pairs: list[tuple[int, int]] = []
    for i, c in enumerate(concepts):
        subsets = chain.from_iterable(combinations(_bits(c), d) for d in range(1, size + 1))
        # As many subsets as there are concepts are enough: one of them stays free whatever the others take.
        pairs += [(i, columns.setdefault(s, len(columns))) for s in islice(subsets, len(concepts))]
    rows, cols = np.array(pairs, dtype=int).reshape(-1, 2).T
    graph = csr_array((np.ones(len(rows), bool), (rows, cols)), shape=(len(concepts), max(1, len(columns))))
    return bool(np.all(maximum_bipartite_matching(graph, perm_type="column") >= 0))


def _give(options: dict[int, list[int]], work: _Work) -> bool:
    """Whether each concept can be given one of its options such that no two concepts clash."""
    if not options:
        return True
    c = min(options, key=lambda c: len(options[c]))
    for own in options[c]:
        work.spend(sum(map(len, options.values())))
        rest = {o: [s for s in sets if own & ~o or s & ~c] for o, sets in options.items() if o != c}
        if all(rest.values()) and _give(rest, work):
            return True
    return False


def no_clash_number(truth: Bool[np.ndarray, "concepts attributes"], budget: int = BUDGET) -> NoClash:
    """The positive no-clash number, by matchings, and the no-clash dimension, by search within the budget."""
    concepts, work = _concepts(truth), _Work(budget)
    sizes = {c: c.bit_count() for c in concepts}
    number = next((d for d in range(1, max(sizes.values()) + 1) if _own_sets(concepts, d)), None)
    dimension = teaching_dimensions(truth, positive=True, budget=budget).class_rtd
    assert dimension is not None  # the largest concept left can always be taught
    lowest = min(number or 1, len(concepts) - 1)

    def possible(most: int) -> bool:
        work.spend(sum(comb(size, min(size, most)) for size in sizes.values()))  # a larger set never adds a clash
        return _give({c: [_mask(s) for s in combinations(_bits(c), min(sizes[c], most))] for c in concepts}, work)

    try:
        while dimension > lowest and possible(dimension - 1):
            dimension -= 1
    except (_Spent, RecursionError):
        return NoClash(number, dimension, False)
    return NoClash(number, dimension, True)
