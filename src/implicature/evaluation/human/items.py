"""People's answers in reference games: items, who answered what, and which answers make a cell.

An item is one context with what was given: the word that a listener heard, or the object that a speaker means. An
answer is a weight: 1 for a choice, a fraction for a bet. A row of weights that sums to n counts as n decisions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

Role = Literal["listener", "speaker"]
ROLES: tuple[Role, Role] = ("listener", "speaker")
PriorUse = Literal["uniform", "listener", "both"]
"""Where the measured prior enters: nowhere; in the listener's posterior only, so that the speaker whom they imagine
does not know it; or throughout the recursion."""
Weights = Float[np.ndarray, "people items options"]


@dataclass(frozen=True, eq=False)
class Item:
    name: str
    role: Role
    words: tuple[str, ...]
    lexicon: Bool[np.ndarray, "candidates words"]
    given: int
    """The word that was heard, or the candidate that is meant."""
    prior: Float[np.ndarray, " candidates"]
    """Measured salience; uniform where none was measured."""
    options: tuple[int, ...]
    """What can be answered: candidates, or words."""

    def context(self) -> str:
        """As the reader of a table writes it: blue,sphere; red,sphere."""
        rows = [",".join(word for word, true in zip(self.words, row, strict=True) if true) for row in self.lexicon]
        return "; ".join(row or "-" for row in rows)

    def labels(self) -> list[str]:
        """Answers by name."""
        if self.role == "speaker":
            return [self.words[option] for option in self.options]
        return [text.strip() for text in self.context().split(";")]


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of listeners, or of speakers. Items with fewer options than others are padded with weights of 0."""

    data: str
    role: Role
    items: tuple[Item, ...]
    people: tuple[str, ...]
    weights: Weights
    cells: Int[np.ndarray, "items options"]
    """The cell of each answer; -1 for none. Answers that look the same to people share a cell."""
    prior_use: PriorUse = "listener"

    @property
    def name(self) -> str:
        return f"{self.data}-{self.role}s"

    @property
    def totals(self) -> Float[np.ndarray, "items options"]:
        return self.weights.sum(axis=0)

    @property
    def decisions(self) -> float:
        return float(self.weights.sum())

    @property
    def option_counts(self) -> Int[np.ndarray, " items"]:
        return np.array([len(item.options) for item in self.items])

    def of_people(self, chosen: Int[np.ndarray, " chosen"]) -> "Answers":
        return replace(self, people=tuple(self.people[i] for i in chosen), weights=self.weights[chosen])


@dataclass(frozen=True)
class DataSet:
    name: str
    citation: str
    licence: str
    parts: tuple[Answers, ...]


Entry = tuple[str, Item, Sequence[float]]
"""A person's answers to one item: person, item, a weight for each option."""


def collect(
    data: str, role: Role, entries: Sequence[Entry], prior_use: PriorUse = "listener", merge_equal: bool = False
) -> Answers:
    """Entries as arrays. With `merge_equal`, candidates of an item that are equal share a cell."""
    items = list(dict.fromkeys(item for _, item, _ in entries))
    people = list(dict.fromkeys(person for person, _, _ in entries))
    size = max(len(item.options) for item in items)
    weights, cells = np.zeros((len(people), len(items), size)), np.full((len(items), size), -1)
    item_index, person_index = {id(item): i for i, item in enumerate(items)}, {name: i for i, name in enumerate(people)}
    for person, item, answers in entries:
        weights[person_index[person], item_index[id(item)], : len(answers)] += answers
    number = 0
    for i, item in enumerate(items):
        known: dict[bytes, int] = {}
        for j, option in enumerate(item.options):
            same = item.lexicon[option].tobytes() if merge_equal and role == "listener" else bytes([j])
            if same not in known:
                known[same], number = number, number + 1
            cells[i, j] = known[same]
    return Answers(data, role, tuple(items), tuple(people), weights, cells, prior_use)


def uniform(candidates: int) -> Float[np.ndarray, " candidates"]:
    return np.full(candidates, 1 / candidates)


def one_person_each(counts: Sequence[float]) -> list[list[float]]:
    """Counts of people who answered once as one row each. Halves, where twins share an answer, make one more row."""
    rows = [[float(j == option) for j in range(len(counts))] for option, n in enumerate(counts) for _ in range(int(n))]
    rest = [float(n - int(n)) for n in counts]
    return [*rows, rest] if sum(rest) > 0 else rows
