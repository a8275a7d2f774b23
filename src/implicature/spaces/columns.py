"""What a column of a table is: a category, whose cells are words, or one word that is true or false of each row.

A column of 0, 1, true and false is a word, named by its header; any other is a category. What could be meant otherwise
is not guessed: a column of measured numbers, or one with another value in every row, is an error that says how to mark
it in the header, as in `height (category)`. docs/own-objects.md has the format.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from implicature.files import is_number

TRUE, FALSE = ("1", "true"), ("0", "false")
MARKERS = ("category", "word", "name")
MIN_ROWS_OF_NAMES = 5
"""A column with another value in each of fewer rows is no sign of a name."""


class Column(NamedTuple):
    name: str
    marker: str | None


def parse_column(header: str) -> Column:
    """`height (category)` is the column height, marked as a category."""
    name, _, marker = header.rpartition(" (")
    if name and marker.endswith(")") and marker[:-1].lower() in MARKERS:
        return Column(name, marker[:-1].lower())
    return Column(header, None)


def parse_attributes(
    columns: Sequence[Column], body: list[list[str]], max_attributes: int
) -> tuple[list[str], list[list[int]], tuple[str, ...] | None]:
    """All attributes, those of each row, and their categories: none where every column is a word."""
    names = [column.name for column in columns]
    values = [dict.fromkeys(cells[i] for cells in body if cells[i]) for i in range(len(columns))]
    if all(column.marker != "category" for column in columns) and is_boolean(value for own in values for value in own):
        return names, [[i for i, cell in enumerate(cells) if cell.lower() in TRUE] for cells in body], None
    boolean = [is_word(column, own) for column, own in zip(columns, values, strict=True)]
    for i, column in enumerate(columns):
        if not boolean[i] and column.marker is None:
            check_category(column.name, [cells[i] for cells in body], alone=len(columns) == 1)
    # A word of its own has no cell.
    order = [(i, cell) for i, own in enumerate(values) for cell in (("",) if boolean[i] else own)]
    if len(order) > max_attributes:
        raise ValueError(f"{len(order):,} attributes are more than {max_attributes:,}: keep fewer.")
    times = Counter(cell or names[i] for i, cell in order)
    attributes = [cell if times[cell] == 1 else f"{names[i]}:{cell}" if cell else names[i] for i, cell in order]
    index = {attribute: number for number, attribute in enumerate(order)}
    sets = [
        [
            index[i, "" if boolean[i] else cell]
            for i, cell in enumerate(cells)
            if (cell.lower() in TRUE if boolean[i] else cell)
        ]
        for cells in body
    ]
    return attributes, sets, tuple(names[i] for i, _ in order)


def is_boolean(values: Iterable[str]) -> bool:
    """Whether there are values, and all are 0, 1, true or false."""
    found = {value.lower() for value in values}
    return bool(found) and found <= {*TRUE, *FALSE}


def is_word(column: Column, values: Iterable[str]) -> bool:
    if column.marker == "category":
        return False
    if column.marker == "word" and (other := [value for value in values if not is_boolean([value])]):
        raise ValueError(
            f"The column {column.name!r:.60} is marked as a word but has {other[0]!r:.60}: write 0 and 1 in it, or "
            "take the mark out."
        )
    return column.marker == "word" or is_boolean(values)


def check_category(name: str, cells: list[str], alone: bool) -> None:
    """Raise an error for a column that may have been meant otherwise."""
    given = [cell for cell in cells if cell]
    mark = f"write '{name:.60} (category)' in the header"
    if given and all(map(is_number, given)) and (fractions := [cell for cell in given if not is_whole(cell)]):
        raise ValueError(
            f"The column {name!r:.60} has numbers such as {fractions[0]:.20}: is a word more or less true, put it into "
            f"a lexicon beside the table; is each number a word, {mark}."
        )
    if not alone and len(cells) >= MIN_ROWS_OF_NAMES and len(set(given)) == len(cells):
        raise ValueError(
            f"The column {name!r:.60} has another value in every row: does it name the rows, write '{name:.60} (name)' "
            f"in the header; is each value a word, {mark}."
        )


def is_whole(cell: str) -> bool:
    return float(cell).is_integer()
