"""Read a space from a file. Anything wrong with the file becomes a ValueError of one sentence.

The format of CSV and JSON files is in docs/own-objects.md; columns.py says what a column is, lexicon_io.py reads words.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from implicature.files import csv_lines, printable, read_text
from implicature.spaces.columns import Column, parse_attributes, parse_column
from implicature.spaces.images import read_images
from implicature.spaces.lexicon import Lexicon
from implicature.spaces.lexicon_io import (
    is_lexicon,
    lexicon_file,
    lexicon_from_json,
    number,
    read_lexicon,
    weights_from_json,
)
from implicature.spaces.space import Space

MAX_BYTES = 20_000_000
MAX_INSTANCES = 100_000
MAX_ATTRIBUTES = 4096
MAX_CELLS = 20_000_000  # instances × attributes: Space sorts that many in a few seconds
MAX_LETTERS = 200
IMAGE_COLUMNS = ("image", "picture")
WORD_KEYS = ("lexicon", "costs", "prior")
"""Of a JSON object: what words mean and cost, and how salient instances are."""
Names = tuple[str, ...] | None


class Rows(NamedTuple):
    """The content of a file: one row for each instance, or for each view of one."""

    locations: list[str]
    """Where each row is in the file, for error messages."""
    attributes: list[str]
    sets: list[list[int]]
    """The attributes of each row, by index."""
    categories: Names = None
    labels: Names = None
    images: list[str] | None = None
    """File names."""
    prior: list[str] | None = None
    """The weight of each row, as it was written."""
    json: Mapping[str, object] = MappingProxyType({})
    """The lexicon, costs and prior of a JSON file, as they were read."""


def read_space(path: str | Path) -> Space:
    """The space in a .csv, .tsv, .txt or .json file, or in a folder with one .csv file."""
    path = Path(path)
    try:
        if path.is_dir():
            path = find_table(path)
        if path.suffix.lower() not in READERS and not path.exists():
            raise ValueError("There is no such file or folder: check its name.")
        if path.suffix.lower() not in READERS:
            raise ValueError(f"A space is read from {', '.join(READERS)}: save it as one of these.")
        # A file's name may contain line breaks, so it is escaped both times.
        rows = READERS[path.suffix.lower()](read_text(path, MAX_BYTES))
        return build_space(repr(path.stem)[1:-1], rows, path)
    except OSError as error:
        message = f"It cannot be read ({error.strerror}): check its name and its permissions."
    except ValueError as error:
        message = str(error)
    raise ValueError(f"{str(path)!r}: {message}")


def find_table(folder: Path) -> Path:
    tables = [path for path in folder.iterdir() if path.suffix.lower() == ".csv" and not path.name.startswith(".")]
    tables = [path for path in tables if not is_lexicon(path)]
    if len(tables) != 1:
        raise ValueError(f"This folder has {len(tables) or 'no'} .csv files: leave one in it, or name a file.")
    return tables[0]


def check_at_most(most: int, number: int, what: str) -> None:
    if number > most:
        raise ValueError(f"{number:,} {what} are more than {most:,}: keep fewer.")


def check_distinct(keys: Iterable[Hashable], locations: list[str], what: str) -> None:
    first: dict[Hashable, int] = {}
    for row, key in enumerate(keys):
        if (earlier := first.setdefault(key, row)) != row:
            raise ValueError(
                f"{locations[earlier]} and {locations[row].lower()} have the same {what}: they must differ."
            )


def clean_name(text: str, location: str) -> str:
    """One spelling for names that look the same, on one line."""
    if len(text) > MAX_LETTERS:
        raise ValueError(f"{location} has a name of {len(text):,} letters: use {MAX_LETTERS} or fewer.")
    text = " ".join(unicodedata.normalize("NFC", text).split())
    if not printable(text):
        raise ValueError(f"{location} has characters that cannot be printed in {text!a}: take them out.")
    return text


def parse_csv(text: str) -> Rows:
    delimiter = max(",;\t", key=text.lstrip("\r\n").partition("\n")[0].count)
    lines = csv_lines(text, delimiter)
    return parse_rows(next(lines, ("", []))[1], lines)


def parse_rows(header: list[str], rows: Iterable[tuple[str, list[str]]]) -> Rows:
    """Rows of cells, each with its location in the file, under a header of categories or attributes."""
    check_at_most(MAX_ATTRIBUTES, len(header), "columns")
    header = [clean_name(column, "The header") for column in header]
    if "" in header:
        raise ValueError(f"Column {header.index('') + 1} has no name in the header: name it or take it out.")
    marked = [parse_column(column) for column in header]
    check_distinct([column.name for column in marked], [f"Column {i}" for i in range(1, len(header) + 1)], "name")
    image_column, prior_column = find_column(header, IMAGE_COLUMNS), find_column(header, ("prior",))
    name_column = find_name_column(marked, (image_column, prior_column))
    kept = [i for i in range(len(header)) if i not in (image_column, prior_column, name_column)]
    locations, labels, images, prior, body, spelling = [], [], [], [], [], {"": ""}
    for location, cells in rows:
        if len(cells) != len(header):
            raise ValueError(
                f"{location} has {len(cells)} cells, but the header has {len(header)}: give each column one."
            )
        locations.append(location)
        if image_column is not None:
            images.append(cells[image_column].strip())
        if prior_column is not None:
            prior.append(cells[prior_column].strip())
        if name_column is not None:
            labels.append(clean_name(cells[name_column], location))
        cells = [cells[i].strip() for i in kept]
        spelling.update({cell: clean_name(cell, location) for cell in cells if cell not in spelling})
        body.append([spelling[cell] for cell in cells])
        check_at_most(MAX_INSTANCES, len(body), "instances")
        check_at_most(MAX_ATTRIBUTES, len(spelling) - 1, "attributes")
    attributes = parse_attributes([marked[i] for i in kept], body, MAX_ATTRIBUTES)
    names = None if name_column is None else tuple(labels)
    return Rows(locations, *attributes, names, images or None, prior or None)


def find_name_column(columns: list[Column], others: tuple[int | None, ...]) -> int | None:
    """The column that is marked as names, or the first if it is called `name`."""
    first = next((i for i in range(len(columns)) if i not in others), None)
    found = [i for i, column in enumerate(columns) if column.marker == "name"]
    if first is not None and columns[first].name.lower() == "name" and columns[first].marker is None:
        found.append(first)
    if len(found) > 1:
        raise ValueError("Two columns name the rows: leave one of them.")
    return found[0] if found else None


def find_column(header: list[str], names: tuple[str, ...]) -> int | None:
    """The column of the first of these names that there is."""
    lower = [column.lower() for column in header]
    return next((lower.index(name) for name in names if name in lower), None)


def parse_json(text: str) -> Rows:
    try:
        # Numbers stay text: no digit is lost, and none is too large.
        read = json.loads(text, object_pairs_hook=unique_keys, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        raise ValueError(f"Line {error.lineno} is not JSON ({error.msg}): correct it there.") from None
    except RecursionError:
        raise ValueError("Its brackets nest too deeply: write a list of lists or of objects.") from None
    if isinstance(read, list) and read and all(isinstance(row, dict) for row in read):
        header = sorted(dict.fromkeys(key for row in read for key in row), key=lambda key: key.lower() != "name")
        check_at_most(MAX_CELLS, len(read) * len(header), "cells")
        rows = ((f"Instance {i}", [row.get(key) for key in header]) for i, row in enumerate(read, 1))
        return parse_rows(header, ((location, parse_names(cells, location)) for location, cells in rows))
    parts = {"instances": read} if isinstance(read, list) else read
    if not isinstance(parts, dict) or not isinstance(parts.get("instances"), list | dict):
        raise ValueError('It has no instances: write a list of them, or an object with a list of "instances".')
    if unknown := parts.keys() - {"instances", "attributes", "categories", "note", *WORD_KEYS}:
        raise ValueError(
            f"Its {min(unknown)[:40]!a} is not instances, attributes, categories, {', '.join(WORD_KEYS)} or note: "
            "rename it."
        )
    rows = parse_sets(parts["instances"], parts.get("attributes"), parts.get("categories"))
    return rows._replace(json={key: parts[key] for key in WORD_KEYS if parts.get(key) is not None})


def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(keys := dict(pairs)) < len(pairs):
        repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{repeated[:40]!a} is written twice in one object: keep one of them.")
    return keys


def parse_names(values: object, location: str) -> list[str]:
    if not isinstance(values, list) or any(isinstance(value, list | dict | float) for value in values):
        raise ValueError(f"{location} is not a list of names: write words or numbers in square brackets.")
    return ["" if value is None else str(value).lower() if isinstance(value, bool) else value for value in values]


def parse_sets(instances: list | dict[str, object], attributes: object, categories: object) -> Rows:
    """Instances as lists of attributes; the keys of an object are their names."""
    check_at_most(MAX_INSTANCES, len(instances), "instances")
    locations = [f"Instance {i}" for i in range(1, len(instances) + 1)]
    labels = tuple(clean_name(label, "An instance") for label in instances) if isinstance(instances, dict) else None
    declared = [clean_name(word, '"attributes"') for word in parse_names(attributes or [], '"attributes"')]
    index = {attribute: i for i, attribute in enumerate(declared)}
    sets = []
    for location, values in zip(
        locations, instances.values() if isinstance(instances, dict) else instances, strict=True
    ):
        names = [clean_name(word, location) for word in parse_names(values, location)]
        if declared and not index.keys() >= set(names):
            raise ValueError(f"{location} has an attribute that is not among the attributes: add it there.")
        sets.append([index.setdefault(attribute, len(index)) for attribute in names])
        check_at_most(MAX_ATTRIBUTES, len(index), "attributes")
    order = declared or list(index)
    if categories is None:
        return Rows(locations, order, sets, None, labels)
    if not isinstance(categories, dict) or categories.keys() != set(order):
        raise ValueError('"categories" is not an object with each attribute once: write {"attribute": "category", …}.')
    of = dict(zip(categories, parse_names(list(categories.values()), '"categories"'), strict=True))
    return Rows(locations, order, sets, tuple(clean_name(of[name], '"categories"') for name in order), labels)


READERS = {".csv": parse_csv, ".tsv": parse_csv, ".txt": parse_csv, ".json": parse_json}


def build_space(name: str, rows: Rows, path: Path) -> Space:
    """The space of these rows, if a game can be played with it."""
    if not rows.attributes and rows.sets:
        raise ValueError("Its instances have no attributes, so there is nothing to say: give them some.")
    check_at_most(MAX_CELLS, len(rows.sets) * len(rows.attributes), "cells")
    table = np.zeros((len(rows.sets), len(rows.attributes)), dtype=bool)
    for row, attributes in enumerate(rows.sets):
        table[row, attributes] = True
    groups = group_views(rows, table)
    first = [group[0] for group in groups]
    if len(first) < 2:
        raise ValueError(f"It has {'only one instance' if first else 'no instances'}: a game needs two or more.")
    locations = [rows.locations[row] for row in first]
    labels = rows.labels and tuple(rows.labels[row] for row in first)
    check_distinct(labels or [], locations, "name")
    if labels and "" in labels:
        raise ValueError(f"{locations[labels.index('')]} has no name: name all instances or none.")
    images = None
    if rows.images is not None:
        if "" in rows.images:
            location = rows.locations[rows.images.index("")]
            raise ValueError(f"{location} names no image: give every row one, or take the column out.")
        check_distinct(rows.images, rows.locations, "image")
        images = read_images(
            path.parent, [[(rows.locations[row], rows.images[row]) for row in group] for group in groups]
        )
    lexicon, prior = build_lexicon(rows, len(first), labels, path), build_prior(rows, first, labels)
    space = Space(name, tuple(rows.attributes), table[first], rows.categories, labels, images, prior=prior)
    return space if lexicon is None else replace(space, lexicon=lexicon)


def build_lexicon(rows: Rows, instances: int, labels: Names, path: Path) -> Lexicon | None:
    """The lexicon of the JSON file or beside the table; None where the words are the attributes."""
    if "lexicon" in rows.json:
        return lexicon_from_json(rows.json["lexicon"], rows.json.get("costs"), instances, labels, clean_name)
    if "costs" in rows.json:
        raise ValueError('It has "costs" but no "lexicon": say there which words there are.')
    beside = lexicon_file(path)
    if path.suffix.lower() == ".json" or not beside.exists():
        return None
    return read_lexicon(beside, instances, labels, clean_name, MAX_BYTES)


def build_prior(rows: Rows, first: list[int], labels: Names) -> Float[np.ndarray, " instances"] | None:
    if "prior" in rows.json:
        return weights_from_json(rows.json["prior"], '"prior"', len(first), labels, 1.0)
    if rows.prior is None:
        return None
    return np.array([number(rows.prior[row], rows.locations[row]) for row in first])


def group_views(rows: Rows, table: Bool[np.ndarray, "rows attributes"]) -> list[list[int]]:
    """The rows of each instance: with images, rows that differ in nothing else are views of one instance."""
    groups: dict[Hashable, list[int]] = {}
    for row, packed in enumerate(np.packbits(table, axis=1)):
        key = packed.tobytes(), rows.labels and rows.labels[row], None if rows.images else row
        groups.setdefault(key, []).append(row)
    return list(groups.values())
