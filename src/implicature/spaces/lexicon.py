"""A lexicon: what words mean and cost, as a table instances × words.

    ⟦m⟧(o) ∈ [0, 1]     1 true, 0 false, in between graded (Degen et al. 2020)
    ⟦m⟧(o) > 0          m may be said of o
    ⟦m⟧(o) ≥ 0.5        m counts as true of o: valid messages, levels, teaching dimensions

Words need not be the features that agents see: synonyms, negations, words that fit nobody or everybody are words like
any other. The table is Boolean where all values are 0 or 1, so that the common case stays as small and fast as it was,
and float32 otherwise; `meaning > 0` and `meaning >= TRUE_FROM` read the same of both.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float

Number = float | int
TRUE_FROM = 0.5
"""From this value on a word counts as true."""

Meaning = Bool[np.ndarray, "instances words"] | Float[np.ndarray, "instances words"]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Words, what they mean, and what each costs.

    >>> import numpy as np
    >>> graded = Lexicon(("blue", "red"), np.array([[1, 0], [0.2, 0.9]]), costs=np.array([0.1, 0.0]))
    >>> graded.truth.astype(int).tolist()
    [[1, 0], [0, 1]]
    """

    words: tuple[str, ...]
    meaning: np.ndarray
    """Instances × words; any numbers are taken, and checked."""
    costs: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    """What saying each word costs; nothing, if left out."""
    categories: tuple[str, ...] | None = None
    """The category of each word; None where there are none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        check_words(self.words)
        object.__setattr__(self, "meaning", check_meaning(self.meaning, self.words))
        costs = self.costs if np.size(self.costs) else np.zeros(len(self.words))
        object.__setattr__(self, "costs", check_costs(costs, self.words))
        if self.categories is not None and len(self.categories) != len(self.words):
            raise ValueError(f"{len(self.categories)} categories for {len(self.words)} words: give each word one.")

    @property
    def instances(self) -> int:
        return len(self.meaning)

    @property
    def truth(self) -> Bool[np.ndarray, "instances words"]:
        """Which words count as true of which instances."""
        return self.meaning if self.meaning.dtype == bool else self.meaning >= TRUE_FROM

    @property
    def graded(self) -> bool:
        return self.meaning.dtype != bool

    @property
    def free(self) -> bool:
        """Whether no word costs anything."""
        return not self.costs.any()

    def take(self, rows: Sequence[int] | np.ndarray) -> "Lexicon":
        """The lexicon of some of the instances, in this order; perhaps of the same one twice."""
        return replace(self, meaning=self.meaning[np.asarray(rows, int)])


def lexicon_from_words(
    words: Mapping[str, Sequence[Number]],
    costs: Mapping[str, Number] | None = None,
    categories: Mapping[str, str] | None = None,
) -> Lexicon:
    """A lexicon from the values of each word: {"big": [1, 0.3, 0], "swims": [1, 1, 1]}."""
    names, columns = tuple(words), list(words.values())
    if len(lengths := {np.size(column) for column in columns}) > 1:
        raise ValueError(
            f"The words have from {min(lengths)} to {max(lengths)} values: give each one for each instance."
        )
    meaning = (
        np.stack([as_numbers(column, f"The word {name!r}") for name, column in words.items()], axis=1)
        if names
        else np.zeros((0, 0))
    )
    own = None if categories is None else tuple(str(categories.get(name, "")) for name in names)
    return Lexicon(names, meaning, costs_by_word(costs or {}, names), own)


def costs_by_word(costs: Mapping[str, Number], words: Sequence[str]) -> Float[np.ndarray, " words"]:
    """The cost of each word; those that are not named are free."""
    if unknown := [name for name in costs if name not in words]:
        raise ValueError(f"{unknown[0]!r:.40} has a cost, but it is not a word: name one of {', '.join(words[:8])}.")
    return np.array([as_numbers(costs.get(word, 0.0), f"The cost of {word!r}") for word in words], np.float32)


def as_numbers(values: object, what: str) -> np.ndarray:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} has {values!r:.40}, which is not a number: give numbers.") from None


def check_words(words: tuple[str, ...]) -> None:
    if not words:
        raise ValueError("A lexicon without words leaves nothing to say: give it at least one.")
    if any(not isinstance(word, str) or not word.strip() for word in words):
        raise ValueError("A word of the lexicon has no name: name each word.")
    if repeated := [word for word, times in Counter(words).items() if times > 1]:
        raise ValueError(f"The word {repeated[0]!r} is in the lexicon twice: name it once.")


def check_meaning(meaning: object, words: tuple[str, ...]) -> Meaning:
    """The table as it is kept, if it is one."""
    table = meaning if isinstance(meaning, np.ndarray) and meaning.dtype == bool else as_numbers(meaning, "A lexicon")
    if table.ndim != 2 or table.shape[1] != len(words):
        shape = " × ".join(map(str, table.shape))
        raise ValueError(
            f"A lexicon of {shape} values for {len(words)} words: give a row for each instance, a column for each word."
        )
    if table.dtype == bool:
        return table
    wrong = ~((table >= 0) & (table <= 1))  # NaN is neither
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"The word {words[column]!r} has the value {table[row, column]:g} for instance {row + 1}: values "
            "are from 0 (false) to 1 (true)."
        )
    return table.astype(bool) if np.isin(table, (0, 1)).all() else table.astype(np.float32)


def check_costs(costs: object, words: tuple[str, ...]) -> Float[np.ndarray, " words"]:
    numbers = as_numbers(costs, "The costs")
    if numbers.shape != (len(words),):
        raise ValueError(f"{numbers.size} costs for {len(words)} words: give each word one.")
    if not (np.isfinite(numbers).all() and (numbers >= 0).all()):
        word = words[int(np.argmin(np.isfinite(numbers) & (numbers >= 0)))]
        raise ValueError(f"The cost of {word!r} is not a number from 0 on: correct it.")
    return numbers.astype(np.float32)
