"""Files that anybody may have written: read whole if they are files at all and of a sensible size, else refused in one
sentence, before a pipe could keep us waiting or a device could fill the memory."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from unicodedata import category

MOST_BYTES = 200_000_000
UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode's control, formatting, half and line-breaking characters: they could redraw a terminal."""
JOINERS = "\u200c\u200d"


def printable(name: str) -> bool:
    """Whether a name can be shown without doing anything else to a terminal."""
    return not any(category(letter) in UNPRINTABLE and letter not in JOINERS for letter in name)


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """What a text file says."""
    if "\0" in str(path):
        raise ValueError("Its name holds a NUL byte, which no file's does: name another.")
    try:
        if path.exists() and not path.is_file():
            kind = "a folder" if path.is_dir() else "a pipe or a device"
            raise ValueError(f"This is {kind}, not a file: name a file.")
        if (size := path.stat().st_size) > most:
            raise ValueError(f"{size:,} bytes are more than {most:,}: keep fewer.")
        with path.open("rb") as file:
            content = file.read(most)
        if b"\0" in content:
            raise ValueError("It holds NUL bytes, so it is binary or UTF-16: save it as text in UTF-8.")
        return content.decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"It cannot be read ({error.strerror}): check its name and who may read it.") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(f"Line {line} is not UTF-8: save the file again with the encoding UTF-8.") from None


def lines_of(text: str, delimiter: str = ",") -> Iterator[tuple[str, list[str]]]:
    """The cells of each line of CSV that has any, after its place for what is wrong with it."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield f"Line {reader.line_num}", cells
    except csv.Error as error:
        raise ValueError(f"Line {reader.line_num} is not CSV ({error}): look for a stray quote there.") from None


def table_of(text: str, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a table that has these columns, and perhaps others."""
    lines = lines_of(text)
    _, header = next(lines, ("", []))
    if missing := [column for column in columns if column not in header]:
        raise ValueError(f"It has no column {missing[0]}: it is not the table that belongs here.")
    if len(set(header)) < len(header):
        raise ValueError("Two of its columns have the same name: it is not the table that belongs here.")
    rows = []
    for place, cells in lines:
        if len(cells) != len(header):
            raise ValueError(f"{place} has {len(cells)} cells, but the header has {len(header)}: give each column one.")
        rows.append(dict(zip(header, cells, strict=True)))
    return rows


def read_table(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a CSV file; a sentence that names it where it is none."""
    try:
        return table_of(read_text(path), columns)
    except ValueError as problem:
        raise ValueError(f"{path}: {problem}") from None
