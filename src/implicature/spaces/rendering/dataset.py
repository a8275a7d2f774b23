"""Drawn objects as a folder that is a space: PNG files, a table of their attributes, and a contact sheet."""

import csv
import os
import tempfile
from collections.abc import Iterable
from math import ceil, sqrt
from pathlib import Path

import numpy as np
from PIL import Image

from implicature.spaces.images import COLUMNS, contact_sheet
from implicature.spaces.objects import CATEGORIES
from implicature.spaces.rendering.renderer import Picture, draw_objects

TABLE = "objects.csv"
WIDEST = 4096  # pixels of a contact sheet


def write(out: Path, sheet: Path, per_object: int, drawn: Iterable[tuple[tuple[str, ...], Picture]]) -> None:
    """Each picture as it comes, then the sheet, and the table last: a folder without one is unfinished."""
    (out / "pictures").mkdir(parents=True)
    sheet.parent.mkdir(parents=True, exist_ok=True)
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
    with (out / TABLE).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(table)


def varied_objects(folder: Path, per_object: int, seed: int) -> Path:
    """A folder of varied pictures: drawn now, unless it is there already. Whoever else draws the same meanwhile draws
    the same pictures, and the first one's stay."""
    if (folder / TABLE).exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        new = Path(scratch) / "new"
        write(new, new / "sheet.png", per_object, draw_objects(per_object=per_object, jitter=True, seed=seed))
        try:
            os.replace(new, folder)
        except OSError:
            if not (folder / TABLE).exists():
                raise ValueError(f"{folder} is in the way of pictures to be drawn: remove it.") from None
    return folder
