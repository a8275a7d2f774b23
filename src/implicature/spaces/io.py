"""A space of your own, from a file. Whatever is wrong with the file becomes a ValueError of one sentence.

CSV: a header, then one row an instance; comma, semicolon or tab; UTF-8. Each column is a category and each cell an
attribute, named by its value, or `column:value` where two columns share the value. If all cells are 0, 1, true or
false, each column is an attribute instead. A blank cell is no attribute. A first column `name` names the instances.
A column `picture` names an image file, relative to the table's folder; rows that differ in nothing else are several
pictures of one instance. Instead of the table, its folder may be named if it has no other .csv file.

JSON: a list of such rows, [{"colour": "blue", "shape": "sphere"}, …]; or a list of instances, each a list of its
attributes, [["some"], ["some", "all"], …]; or an object around that list, with all but `instances` optional:

    {"instances": {"some came": ["some"], "all came": ["some", "all"]},
     "attributes": ["some", "all"], "categories": {"some": "quantity", "all": "quantity"}, "note": "not read"}
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from implicature.files import csv_lines, printable, read_text
from implicature.spaces.images import read_pictures
from implicature.spaces.space import Space

MOST_BYTES = 20_000_000
MOST_INSTANCES = 100_000
MOST_ATTRIBUTES = 4096
MOST_CELLS = 20_000_000  # instances × attributes: Space sorts that many in a few seconds
MOST_LETTERS = 200
Names = tuple[str, ...] | None


class Rows(NamedTuple):
    """What a file says: an instance a row, or a picture of one."""

    places: list[str]
    attributes: list[str]
    sets: list[list[int]]
    """The attributes of each row, by number."""
    categories: Names = None
    labels: Names = None
    pictures: list[str] | None = None


def load_space(path: str | Path) -> Space:
    """The space in a .csv, .tsv, .txt or .json file, or in a folder with one .csv file."""
    path = Path(path)
    try:
        if path.is_dir():
            path = only_table(path)
        if path.suffix.lower() not in READERS and not path.exists():
            raise ValueError("There is no such file or folder: check its name.")
        if path.suffix.lower() not in READERS:
            raise ValueError(f"A space is read from {', '.join(READERS)}: save it as one of these.")
        # A file's name may hold line breaks, so both its uses are escaped.
        rows = READERS[path.suffix.lower()](read_text(path, MOST_BYTES))
        return drawn(repr(path.stem)[1:-1], rows, path.parent)
    except OSError as error:
        problem = f"It cannot be read ({error.strerror}): check its name and who may read it."
    except ValueError as error:
        problem = str(error)
    raise ValueError(f"{str(path)!r}: {problem}")


def only_table(folder: Path) -> Path:
    tables = [path for path in folder.iterdir() if path.suffix.lower() == ".csv" and not path.name.startswith(".")]
    if len(tables) != 1:
        raise ValueError(f"This folder has {len(tables) or 'no'} .csv files: leave one in it, or name a file.")
    return tables[0]


def at_most(most: int, number: int, what: str) -> None:
    if number > most:
        raise ValueError(f"{number:,} {what} are more than {most:,}: keep fewer.")


def differ(keys: Iterable[Hashable], places: list[str], what: str) -> None:
    first: dict[Hashable, int] = {}
    for row, key in enumerate(keys):
        if (earlier := first.setdefault(key, row)) != row:
            raise ValueError(f"{places[earlier]} and {places[row].lower()} have the same {what}: they must differ.")


def clean(text: str, place: str) -> str:
    """One spelling for what looks the same, on one line."""
    if len(text) > MOST_LETTERS:
        raise ValueError(f"{place} has a name of {len(text):,} letters: {MOST_LETTERS} are the most.")
    text = " ".join(unicodedata.normalize("NFC", text).split())
    if not printable(text):
        raise ValueError(f"{place} has letters that cannot be printed in {text!a}: take them out.")
    return text


def from_csv(text: str) -> Rows:
    delimiter = max(",;\t", key=text.lstrip("\r\n").partition("\n")[0].count)
    lines = csv_lines(text, delimiter)
    return from_rows(next(lines, ("", []))[1], lines)


def from_rows(header: list[str], rows: Iterable[tuple[str, list[str]]]) -> Rows:
    """Rows of cells, each after its place in the file, under a header of categories or attributes."""
    at_most(MOST_ATTRIBUTES, len(header), "columns")
    header = [clean(column, "The header") for column in header]
    if "" in header:
        raise ValueError(f"Column {header.index('') + 1} has no name in the header: name it or take it out.")
    differ(header, [f"Column {i}" for i in range(1, len(header) + 1)], "name")
    shown = next((i for i, column in enumerate(header) if column.lower() == "picture"), None)
    columns = [column for i, column in enumerate(header) if i != shown]
    named = int([column.lower() for column in columns[:1]] == ["name"])
    places, labels, pictures, body, known = [], [], [], [], {"": ""}
    for place, cells in rows:
        if len(cells) != len(header):
            raise ValueError(f"{place} has {len(cells)} cells, but the header has {len(header)}: give each column one.")
        places.append(place)
        if shown is not None:
            pictures.append(cells[shown].strip())
            cells = cells[:shown] + cells[shown + 1 :]
        labels += [clean(label, place) for label in cells[:named]]
        cells = [cell.strip() for cell in cells[named:]]
        known.update({cell: clean(cell, place) for cell in cells if cell not in known})
        body.append([known[cell] for cell in cells])
        at_most(MOST_INSTANCES, len(body), "instances")
        at_most(MOST_ATTRIBUTES, len(known) - 1, "attributes")
    found = attributes_of(columns[named:], body)
    return Rows(places, *found, tuple(labels) if named else None, pictures if shown is not None else None)


def attributes_of(columns: list[str], body: list[list[str]]) -> tuple[list[str], list[list[int]], Names]:
    """The attributes in some rows, which of them each row has, and their categories."""
    values = {cell.lower() for cells in body for cell in cells} - {""}
    if values and values <= {"0", "1", "false", "true"}:
        return columns, [[i for i, cell in enumerate(cells) if cell.lower() in ("1", "true")] for cells in body], None
    number: dict[tuple[int, str], int] = {}
    for cells in body:
        number.update({pair: 0 for pair in enumerate(cells) if pair[1]})
        at_most(MOST_ATTRIBUTES, len(number), "attributes")
    order = sorted(number, key=lambda attribute: attribute[0])
    number = {attribute: i for i, attribute in enumerate(order)}
    times = Counter(cell for _, cell in order)
    attributes = [cell if times[cell] == 1 else f"{columns[i]}:{cell}" for i, cell in order]
    sets = [[number[pair] for pair in enumerate(cells) if pair[1]] for cells in body]
    return attributes, sets, tuple(columns[i] for i, _ in order)


def from_json(text: str) -> Rows:
    try:
        # Whole numbers and fractions stay the text they are: no digit is lost, and none is too many.
        read = json.loads(text, object_pairs_hook=once, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        raise ValueError(f"Line {error.lineno} is not JSON ({error.msg}): mend it there.") from None
    except RecursionError:
        raise ValueError("Its brackets nest too deeply: write a list of lists or of objects.") from None
    if isinstance(read, list) and read and all(isinstance(row, dict) for row in read):
        header = sorted(dict.fromkeys(key for row in read for key in row), key=lambda key: key.lower() != "name")
        at_most(MOST_CELLS, len(read) * len(header), "cells")
        rows = ((f"Instance {i}", [row.get(key) for key in header]) for i, row in enumerate(read, 1))
        return from_rows(header, ((place, words(cells, place)) for place, cells in rows))
    parts = {"instances": read} if isinstance(read, list) else read
    if not isinstance(parts, dict) or not isinstance(parts.get("instances"), list | dict):
        raise ValueError('It has no instances: write a list of them, or an object with a list of "instances".')
    if unknown := parts.keys() - {"instances", "attributes", "categories", "note"}:
        raise ValueError(f"Its {min(unknown)[:40]!a} is not instances, attributes, categories or note: rename it.")
    return from_sets(parts["instances"], parts.get("attributes"), parts.get("categories"))


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(found := dict(pairs)) < len(pairs):
        repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{repeated[:40]!a} is written twice in one object: keep one of them.")
    return found


def words(values: object, place: str) -> list[str]:
    if not isinstance(values, list) or any(isinstance(value, list | dict | float) for value in values):
        raise ValueError(f"{place} is not a list of names: write words or numbers in square brackets.")
    return ["" if value is None else str(value).lower() if isinstance(value, bool) else value for value in values]


def from_sets(instances: list | dict[str, object], attributes: object, categories: object) -> Rows:
    """Instances as lists of attributes, with names of their own where they are an object."""
    at_most(MOST_INSTANCES, len(instances), "instances")
    places = [f"Instance {i}" for i in range(1, len(instances) + 1)]
    labels = tuple(clean(label, "An instance") for label in instances) if isinstance(instances, dict) else None
    given = [clean(word, '"attributes"') for word in words(attributes or [], '"attributes"')]
    number = {attribute: i for i, attribute in enumerate(given)}
    sets = []
    for place, values in zip(places, instances.values() if isinstance(instances, dict) else instances, strict=True):
        own = [clean(word, place) for word in words(values, place)]
        if given and not number.keys() >= set(own):
            raise ValueError(f"{place} has an attribute that is not among the attributes: add it there.")
        sets.append([number.setdefault(attribute, len(number)) for attribute in own])
        at_most(MOST_ATTRIBUTES, len(number), "attributes")
    found = given or list(number)
    if categories is None:
        return Rows(places, found, sets, None, labels)
    if not isinstance(categories, dict) or categories.keys() != set(found):
        raise ValueError('"categories" is not an object with each attribute once: write {"attribute": "category", …}.')
    of = dict(zip(categories, words(list(categories.values()), '"categories"'), strict=True))
    return Rows(places, found, sets, tuple(clean(of[attribute], '"categories"') for attribute in found), labels)


READERS = {".csv": from_csv, ".tsv": from_csv, ".txt": from_csv, ".json": from_json}


def drawn(name: str, rows: Rows, folder: Path) -> Space:
    """The table of these rows, if a game can be played with it."""
    if not rows.attributes and rows.sets:
        raise ValueError("Its instances have no attributes, so there is nothing to say: give them some.")
    at_most(MOST_CELLS, len(rows.sets) * len(rows.attributes), "cells")
    table = np.zeros((len(rows.sets), len(rows.attributes)), dtype=bool)
    for row, numbers in enumerate(rows.sets):
        table[row, numbers] = True
    same: dict[Hashable, list[int]] = {}
    for row, packed in enumerate(np.packbits(table, axis=1)):
        # Only another picture makes another row of one instance.
        key = packed.tobytes(), rows.labels and rows.labels[row], None if rows.pictures else row
        same.setdefault(key, []).append(row)
    first = [group[0] for group in same.values()]
    if len(first) < 2:
        raise ValueError(f"It has {'only one instance' if first else 'no instances'}: a game needs two or more.")
    places, labels = [rows.places[row] for row in first], rows.labels and tuple(rows.labels[row] for row in first)
    differ((row.tobytes() for row in np.packbits(table[first], axis=1)), places, "attributes")
    differ(labels or [], places, "name")
    if labels and "" in labels:
        raise ValueError(f"{places[labels.index('')]} has no name: name all instances or none.")
    pictures = None
    if rows.pictures is not None:
        if "" in rows.pictures:
            place = rows.places[rows.pictures.index("")]
            raise ValueError(f"{place} names no picture: give every row one, or take the column out.")
        differ(rows.pictures, rows.places, "picture")
        named = list(zip(rows.places, rows.pictures, strict=True))
        pictures = read_pictures(folder, [[named[row] for row in group] for group in same.values()])
    return Space(name, tuple(rows.attributes), table[first], rows.categories, labels, pictures)
