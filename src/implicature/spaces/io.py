"""Read a space from a file. Anything wrong with the file becomes a ValueError of one sentence.

CSV: a header, then one row for each instance; separated by comma, semicolon or tab; UTF-8. Each column is a category
and each cell an attribute, named by its value, or `column:value` where two columns share the value. If all cells are 0,
1, true or false, each column is an attribute instead. An empty cell means no attribute. A first column `name` names the
instances. A column `image` (or `picture`, as in older tables) names an image file, relative to the table's folder; rows
that differ in nothing else are several views of one instance. A folder may stand for the table if it has one .csv file.

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
from jaxtyping import Bool

from implicature.files import csv_lines, printable, read_text
from implicature.spaces.images import read_images
from implicature.spaces.space import Space

MAX_BYTES = 20_000_000
MAX_INSTANCES = 100_000
MAX_ATTRIBUTES = 4096
MAX_CELLS = 20_000_000  # instances × attributes: Space sorts that many in a few seconds
MAX_LETTERS = 200
IMAGE_COLUMNS = ("image", "picture")
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
        return build_space(repr(path.stem)[1:-1], rows, path.parent)
    except OSError as error:
        message = f"It cannot be read ({error.strerror}): check its name and its permissions."
    except ValueError as error:
        message = str(error)
    raise ValueError(f"{str(path)!r}: {message}")


def find_table(folder: Path) -> Path:
    tables = [path for path in folder.iterdir() if path.suffix.lower() == ".csv" and not path.name.startswith(".")]
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
    check_distinct(header, [f"Column {i}" for i in range(1, len(header) + 1)], "name")
    image_column = find_image_column(header)
    columns = [column for i, column in enumerate(header) if i != image_column]
    named = int([column.lower() for column in columns[:1]] == ["name"])
    locations, labels, images, body, spelling = [], [], [], [], {"": ""}
    for location, cells in rows:
        if len(cells) != len(header):
            raise ValueError(
                f"{location} has {len(cells)} cells, but the header has {len(header)}: give each column one."
            )
        locations.append(location)
        if image_column is not None:
            images.append(cells[image_column].strip())
            cells = cells[:image_column] + cells[image_column + 1 :]
        labels += [clean_name(label, location) for label in cells[:named]]
        cells = [cell.strip() for cell in cells[named:]]
        spelling.update({cell: clean_name(cell, location) for cell in cells if cell not in spelling})
        body.append([spelling[cell] for cell in cells])
        check_at_most(MAX_INSTANCES, len(body), "instances")
        check_at_most(MAX_ATTRIBUTES, len(spelling) - 1, "attributes")
    attributes = parse_attributes(columns[named:], body)
    return Rows(locations, *attributes, tuple(labels) if named else None, None if image_column is None else images)


def find_image_column(header: list[str]) -> int | None:
    """The column `image`, or else `picture`."""
    lower = [column.lower() for column in header]
    return next((lower.index(name) for name in IMAGE_COLUMNS if name in lower), None)


def parse_attributes(columns: list[str], body: list[list[str]]) -> tuple[list[str], list[list[int]], Names]:
    """All attributes, those of each row, and their categories."""
    values = {cell.lower() for cells in body for cell in cells} - {""}
    if values and values <= {"0", "1", "false", "true"}:
        return columns, [[i for i, cell in enumerate(cells) if cell.lower() in ("1", "true")] for cells in body], None
    index: dict[tuple[int, str], int] = {}
    for cells in body:
        index.update({pair: 0 for pair in enumerate(cells) if pair[1]})
        check_at_most(MAX_ATTRIBUTES, len(index), "attributes")
    order = sorted(index, key=lambda attribute: attribute[0])
    index = {attribute: i for i, attribute in enumerate(order)}
    times = Counter(cell for _, cell in order)
    attributes = [cell if times[cell] == 1 else f"{columns[i]}:{cell}" for i, cell in order]
    sets = [[index[pair] for pair in enumerate(cells) if pair[1]] for cells in body]
    return attributes, sets, tuple(columns[i] for i, _ in order)


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
    if unknown := parts.keys() - {"instances", "attributes", "categories", "note"}:
        raise ValueError(f"Its {min(unknown)[:40]!a} is not instances, attributes, categories or note: rename it.")
    return parse_sets(parts["instances"], parts.get("attributes"), parts.get("categories"))


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


def build_space(name: str, rows: Rows, folder: Path) -> Space:
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
    check_distinct((row.tobytes() for row in np.packbits(table[first], axis=1)), locations, "attributes")
    check_distinct(labels or [], locations, "name")
    if labels and "" in labels:
        raise ValueError(f"{locations[labels.index('')]} has no name: name all instances or none.")
    images = None
    if rows.images is not None:
        if "" in rows.images:
            location = rows.locations[rows.images.index("")]
            raise ValueError(f"{location} names no image: give every row one, or take the column out.")
        check_distinct(rows.images, rows.locations, "image")
        images = read_images(folder, [[(rows.locations[row], rows.images[row]) for row in group] for group in groups])
    return Space(name, tuple(rows.attributes), table[first], rows.categories, labels, images)


def group_views(rows: Rows, table: Bool[np.ndarray, "rows attributes"]) -> list[list[int]]:
    """The rows of each instance: with images, rows that differ in nothing else are views of one instance."""
    groups: dict[Hashable, list[int]] = {}
    for row, packed in enumerate(np.packbits(table, axis=1)):
        key = packed.tobytes(), rows.labels and rows.labels[row], None if rows.images else row
        groups.setdefault(key, []).append(row)
    return list(groups.values())
