"""Draw the objects again, plainly or varied, as a folder that is a space: PNG files, a table of their attributes, and
a contact sheet."""

import csv
import shlex
from collections.abc import Iterable
from itertools import chain
from math import ceil, prod, sqrt
from pathlib import Path

import numpy as np
from PIL import Image
from rich.console import Console
from rich.progress import track

from implicature.interfaces.writing import check_folder
from implicature.spaces.objects import CATEGORIES
from implicature.spaces.pictures import COLUMNS, MOST_PICTURES, contact_sheet
from implicature.spaces.scenes import draw_objects

OBJECTS = prod(len(values) for values in CATEGORIES.values())
WIDEST = 4096  # pixels of a contact sheet


def render(out: Path, per_object: int, jitter: bool, seed: int, size: int, sheet: Path | None, quiet: bool) -> None:
    sheet = sheet or out / "sheet.png"
    total = OBJECTS * per_object
    try:
        check(out, sheet, per_object)
        drawn = draw_objects(size, per_object, jitter, seed)
        drawn = chain([next(drawn)], drawn)  # what cannot be drawn leaves no folder behind
        (out / "pictures").mkdir(parents=True)
        sheet.parent.mkdir(parents=True, exist_ok=True)
        console = Console(stderr=True)
        write(out, sheet, per_object, track(drawn, "drawing", total, console=console, transient=True, disable=quiet))
    except OSError as error:
        raise ValueError(f"The pictures cannot be written ({error.strerror or error}): check --out, --sheet.") from None
    print(f"{total:,} pictures in {out}, contact sheet {sheet}")
    print(f"As a space:  implicature train --space {shlex.quote(str(out))} --candidates 4")


def check(out: Path, sheet: Path, per_object: int) -> None:
    if OBJECTS * per_object > MOST_PICTURES:
        most = MOST_PICTURES // OBJECTS
        raise ValueError(f"{per_object} pictures of each object are more than a space holds: ask for {most} or fewer.")
    check_folder(out, "--out")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{str(out)!r} is not an empty folder: name another with --out.")
    if sheet.suffix.lower() != ".png" or sheet.is_dir():
        raise ValueError(f"The contact sheet {str(sheet)!r} is not a PNG file: name one that ends in .png.")


def write(out: Path, sheet: Path, per_object: int, drawn: Iterable[tuple[tuple[str, ...], np.ndarray]]) -> None:
    """Each picture as it comes, then the sheet, and the table last: a folder without one is unfinished."""
    columns = COLUMNS * ceil(sqrt(per_object))
    table, tiles = [["picture", *CATEGORIES]], []
    for number, (thing, pixels) in enumerate(drawn):
        copy = f"-{number % per_object + 1}" if per_object > 1 else ""
        name = f"pictures/{'-'.join(thing)}{copy}.png"
        picture = Image.fromarray(pixels)
        picture.save(out / name)
        table.append([name, *thing])
        side = min(picture.width, WIDEST // columns)
        tiles.append(np.asarray(picture.resize((side, side))))
    Image.fromarray(contact_sheet(np.stack(tiles), columns)).save(sheet, optimize=True)
    with (out / "objects.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(table)
