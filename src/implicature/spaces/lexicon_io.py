"""Read a lexicon from a file: what the words of a space mean, where they are not its attributes.

CSV: `lexicon.csv` beside `space.csv` (or in the same folder of images), `kitchen.lexicon.csv` beside `kitchen.csv`. A
header of words, then one row for each instance with a value from 0 to 1 for each word; an empty cell is 0. A first
column `name` says which instance a row is of, in any order; without it, rows are in the order of the space. With it,
two rows may stand for all words: `(cost)`, what each costs, and `(category)`.

JSON: "lexicon" beside "instances": {"big": [1, 0.3, 0], "swims": {"whale": 1, "dolphin": 1}}, a value for each instance
or for those named, the others 0; "costs": {"big": 0.1}; "prior": {"whale": 2}, weights of the instances, others 1.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from implicature.files import csv_lines, read_text
from implicature.spaces.lexicon import Lexicon, Number, check_words, costs_by_word, lexicon_from_words

COST_ROW, CATEGORY_ROW = "(cost)", "(category)"
Labels = tuple[str, ...] | None
CleanName = Callable[[str, str], str]


def lexicon_file(table: Path) -> Path:
    """Where the lexicon of a table would be."""
    return table.with_name("lexicon.csv" if table.stem == "space" else f"{table.stem}.lexicon.csv")


def is_lexicon(path: Path) -> bool:
    return path.name == "lexicon.csv" or path.name.endswith(".lexicon.csv")


def read_lexicon(path: Path, instances: int, labels: Labels, clean: CleanName, max_bytes: int) -> Lexicon:
    """The lexicon in a CSV file, for so many instances with these names."""
    try:
        return parse_lexicon(read_text(path, max_bytes), instances, labels, clean)
    except ValueError as error:
        raise ValueError(f"{path.name!r}: {error}") from None


def parse_lexicon(text: str, instances: int, labels: Labels, clean: CleanName) -> Lexicon:
    delimiter = max(",;\t", key=text.lstrip("\r\n").partition("\n")[0].count)
    lines = csv_lines(text, delimiter)
    header = [clean(cell, "The header") for cell in next(lines, ("", []))[1]]
    named = header[:1] == ["name"] or header[:1] == ["Name"]
    words = tuple(header[1:] if named else header)
    check_words(words)
    costs, categories = None, None
    rows: dict[str, list[float]] = {}
    for location, cells in lines:
        if len(cells) != len(header):
            raise ValueError(
                f"{location} has {len(cells)} cells, but the header has {len(header)}: give each word one."
            )
        name = clean(cells[0], location) if named else str(len(rows) + 1)
        values = [cell.strip() for cell in (cells[1:] if named else cells)]
        if named and name == CATEGORY_ROW:
            categories = tuple(clean(value, location) for value in values)
        elif named and name == COST_ROW:
            costs = np.array([number(value, location) for value in values])
        elif name in rows:
            raise ValueError(f"{location} is of {name!r:.40} again: give each instance one row.")
        elif len(rows) == instances:
            raise ValueError(f"{location} is one more than the space has instances ({instances}): give each one row.")
        else:
            rows[name] = [number(value, location) for value in values]
    order = [str(i + 1) for i in range(instances)] if labels is None or not named else list(labels)
    check_rows(list(rows), order)
    meaning = np.array([rows[name] for name in order], float).reshape(instances, len(words))
    return Lexicon(words, meaning, np.zeros(0, np.float32) if costs is None else costs, categories)


def check_rows(given: list[str], wanted: list[str]) -> None:
    if unknown := [name for name in given if name not in set(wanted)]:
        raise ValueError(
            f"{unknown[0]!r:.40} is not an instance of the space: name its instances, or number them from 1."
        )
    if missing := [name for name in wanted if name not in set(given)]:
        raise ValueError(f"There is no row for the instance {missing[0]!r:.40}: give each instance one.")


def number(text: str, location: str) -> float:
    try:
        return float(text) if text else 0.0
    except ValueError:
        raise ValueError(f"{location} has {text!r:.40}, which is not a number: write values from 0 to 1.") from None


def lexicon_from_json(words: object, costs: object, instances: int, labels: Labels, clean: CleanName) -> Lexicon:
    """The lexicon in a JSON object of words, whose numbers were read as text."""
    if not isinstance(words, dict) or not words:
        raise ValueError('"lexicon" is not an object of words: write {"word": [1, 0, …], …}.')
    values = {
        clean(word, '"lexicon"'): weights_from_json(of, f'"{word:.40}"', instances, labels, 0.0)
        for word, of in words.items()
    }
    if len(values) < len(words):
        raise ValueError('"lexicon" has a word twice: name it once.')
    if costs is None:
        return lexicon_from_words({word: column.tolist() for word, column in values.items()})
    if not isinstance(costs, dict):
        raise ValueError('"costs" is not an object: write {"word": 0.1, …}.')
    by_word = {clean(word, '"costs"'): number(str(cost), '"costs"') for word, cost in costs.items()}
    return lexicon_from_words({word: column.tolist() for word, column in values.items()}, by_word)


def weights_from_json(
    values: object, what: str, instances: int, labels: Labels, other: float
) -> Float[np.ndarray, " instances"]:
    """A number for each instance: a list, or an object of names, with `other` for those that are not named."""
    if isinstance(values, list) and len(values) == instances:
        return np.array([number(str(value), what) for value in values])
    if isinstance(values, dict) and labels is not None:
        if unknown := [name for name in values if name not in labels]:
            raise ValueError(f"{what} has {unknown[0]!r:.40}, which is not an instance: name its instances.")
        return np.array([number(str(values[name]), what) if name in values else other for name in labels])
    raise ValueError(f"{what} is not a list of {instances} numbers: give one for each instance.")


def with_costs(lexicon: Lexicon, costs: Mapping[str, Number] | Sequence[Number] | np.ndarray) -> Lexicon:
    """The lexicon with other costs, by word or in their order."""
    own = costs_by_word(costs, lexicon.words) if isinstance(costs, Mapping) else np.asarray(costs, np.float32)
    return Lexicon(lexicon.words, lexicon.meaning, own, lexicon.categories)
