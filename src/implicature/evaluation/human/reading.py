"""One's own data: a CSV table, one row for a person's answers to one item.

item      its name; rows of the same name describe the same game
context   candidates separated by semicolons, words that are true of them by commas: "blue,square; blue,circle"; a
          candidate of which no word is true is "-"
words     the vocabulary, separated by commas; by default all words of the context (column may be missing)
prior     a weight for each candidate, separated by semicolons; empty: uniform (column may be missing)
word      what a listener heard; or
target    the candidate that a speaker means, numbered from 1
answers   how often each candidate (after a word) or each word (for a target) was chosen, separated by semicolons;
          bets are fractions that sum to 1
person    who answered; empty: somebody new
"""

from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from implicature.evaluation.human.items import ROLES, Answers, DataSet, Entry, Item, Role, collect, uniform
from implicature.evaluation.human.published import load_published
from implicature.files import printable, read_table

COLUMNS = ("item", "context", "answers")
MAX_CANDIDATES, MAX_WORDS, MAX_ROWS = 50, 200, 200_000
EMPTY = "-"


@dataclass(frozen=True)
class Line:
    """One row of the table; errors name it."""

    cells: dict[str, str]
    number: int

    def error(self, what: str) -> ValueError:
        return ValueError(f"Row {self.number} {what}")

    def get(self, column: str) -> str:
        return (self.cells.get(column) or "").strip()

    def numbers(self, column: str, length: int, each: str) -> list[float]:
        """So many weights from 0 on, not all of them 0."""
        parts = self.get(column).split(";")
        try:
            values = [float(part) for part in parts]
        except ValueError:
            raise self.error(f"has {column} that are not numbers: write them as 3; 1; 0.") from None
        if len(values) != length:
            raise self.error(f"has {column} {self.get(column)!r:.40}: give each of the {length} {each} one number.")
        if not all(isfinite(value) and 0 <= value <= 1e9 for value in values) or sum(values) <= 0:
            raise self.error(f"has {column} that are no weights: write numbers from 0 on, not all of them 0.")
        return values


def parse_item(line: Line) -> Item:
    """The game of one row."""
    rows = [[] if part.strip() == EMPTY else part.split(",") for part in line.get("context").split(";")]
    rows = [[word.strip() for word in row] for row in rows]
    if not 2 <= len(rows) <= MAX_CANDIDATES:
        number = "1 candidate" if len(rows) == 1 else f"{len(rows)} candidates"
        raise line.error(f"has {number}: write 2 to {MAX_CANDIDATES}, separated by semicolons.")
    given = [word.strip() for word in line.get("words").split(",")] if line.get("words") else []
    words = list(dict.fromkeys([*given, *(word for row in rows for word in row)]))
    if not all(word and printable(word) for word in words) or not 1 <= len(words) <= MAX_WORDS:
        raise line.error(f"has a context that cannot be read: write 1 to {MAX_WORDS} words, separated by commas.")
    if given and len(words) > len(given):
        raise line.error(f"has a word that is not in its vocabulary, {words[-1]!r:.40}: add it to words.")
    if bool(line.get("word")) == bool(line.get("target")):
        raise line.error("has both a word and a target, or neither: a listener hears a word, a speaker means a target.")
    table = np.array([[word in row for word in words] for row in rows])
    prior = np.array(line.numbers("prior", len(rows), "candidates")) if line.get("prior") else uniform(len(rows))
    role, index = parse_given(line, words, len(rows))
    options = tuple(range(len(rows) if role == "listener" else len(words)))
    return Item(line.get("item"), role, tuple(words), table, index, prior / prior.sum(), options)


def parse_given(line: Line, words: list[str], candidates: int) -> tuple[Role, int]:
    """The word heard or the candidate meant."""
    if word := line.get("word"):
        if word not in words:
            raise line.error(f"has a word that is in no candidate, {word!r:.40}: say one of the context.")
        return "listener", words.index(word)
    target = line.get("target")
    if not target.isascii() or not target.isdecimal() or not 1 <= int(target) <= candidates:
        raise line.error(f"has target {target!r:.40}: number the candidates from 1 to {candidates}.")
    return "speaker", int(target) - 1


def same_game(one: Item, other: Item) -> bool:
    return (one.role, one.words, one.given) == (other.role, other.words, other.given) and (
        np.array_equal(one.lexicon, other.lexicon) and np.array_equal(one.prior, other.prior)
    )


def parse_entries(rows: list[dict[str, str]]) -> list[Entry]:
    items: dict[str, Item] = {}
    entries: list[Entry] = []
    for number, cells in enumerate(rows, 1):
        line = Line(cells, number)
        if not line.get("item") or not printable(line.get("item")):
            raise line.error("has no name in the column item: name its game.")
        item = parse_item(line)
        first = items.setdefault(item.name, item)
        if not same_game(first, item):
            raise line.error(f"describes {item.name!r:.40} differently than before: give each game its own name.")
        each = "candidates" if item.role == "listener" else "words"
        entries.append((line.get("person") or f"row {number}", first, line.numbers("answers", len(item.options), each)))
    return entries


def read_answers(path: Path) -> DataSet:
    """A table of one's own; errors are one sentence that names the file."""
    rows = read_table(path, COLUMNS)
    try:
        if not 1 <= len(rows) <= MAX_ROWS:
            raise ValueError(f"It has {len(rows)} rows: give 1 to {MAX_ROWS:,} rows of answers.")
        entries = parse_entries(rows)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    parts: list[Answers] = []
    for role in ROLES:
        if own := [entry for entry in entries if entry[1].role == role]:
            parts.append(collect(path.stem, role, own))
    return DataSet(path.stem, f"{path}", "", tuple(parts))


def load_data(name: str) -> DataSet:
    """A published data set by name, or a CSV file."""
    return read_answers(Path(name)) if name.endswith(".csv") else load_published(name)
