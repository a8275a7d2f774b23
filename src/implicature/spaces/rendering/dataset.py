"""Rendered objects as a folder that is a space: PNG files, a table of their attributes, and a contact sheet."""

import csv
import os
import tempfile
from collections.abc import Iterable
from math import ceil, sqrt
from pathlib import Path

import numpy as np
from PIL import Image

from implicature.files import name_in_errors
from implicature.spaces.images import COLUMNS, contact_sheet
from implicature.spaces.objects import CATEGORIES
from implicature.spaces.rendering.renderer import ImageArray, render_objects

TABLE = "objects.csv"
MAX_SHEET_WIDTH = 4096
"""Pixels."""


def write_dataset(
    out: Path, sheet: Path, per_object: int, rendered: Iterable[tuple[tuple[str, ...], ImageArray]]
) -> None:
    """Write each image as it is rendered, then the contact sheet, and the table last: a folder without a table is
    incomplete."""
    (out / "images").mkdir(parents=True)
    sheet.parent.mkdir(parents=True, exist_ok=True)
    columns = COLUMNS * ceil(sqrt(per_object))
    table, tiles = [["image", *CATEGORIES]], []
    for i, (attributes, pixels) in enumerate(rendered):
        view = f"-{i % per_object + 1}" if per_object > 1 else ""
        name = f"images/{'-'.join(attributes)}{view}.png"
        image = Image.fromarray(pixels)
        with name_in_errors(out / name):
            image.save(out / name)
        table.append([name, *attributes])
        side = min(image.width, MAX_SHEET_WIDTH // columns)
        tiles.append(np.asarray(image.resize((side, side))))
    with name_in_errors(sheet):
        Image.fromarray(contact_sheet(np.stack(tiles), columns)).save(sheet, optimize=True)
    with name_in_errors(out / TABLE), (out / TABLE).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(table)


def jittered_objects(folder: Path, per_object: int, seed: int) -> Path:
    """A folder of jittered images, rendered unless it exists. Processes that render the same folder at the same time
    produce the same images, and the first to finish keeps its own."""
    if (folder / TABLE).exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        new = Path(scratch) / "new"
        write_dataset(new, new / "sheet.png", per_object, render_objects(per_object=per_object, jitter=True, seed=seed))
        try:
            os.replace(new, folder)
        except OSError:
            if not (folder / TABLE).exists():
                raise ValueError(f"{folder} exists but holds no rendered images: remove it.") from None
    return folder
