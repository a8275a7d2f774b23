"""Draw the objects again, plainly or varied, as a folder that is a space."""

import shlex
from itertools import chain
from math import prod
from pathlib import Path

from rich.console import Console
from rich.progress import track

from implicature.files import check_folder
from implicature.spaces.images import MOST_PICTURES
from implicature.spaces.objects import CATEGORIES
from implicature.spaces.rendering.dataset import write
from implicature.spaces.rendering.renderer import draw_objects

OBJECTS = prod(len(values) for values in CATEGORIES.values())


def render(out: Path, per_object: int, jitter: bool, seed: int, size: int, sheet: Path | None, quiet: bool) -> None:
    sheet = sheet or out / "sheet.png"
    total = OBJECTS * per_object
    try:
        check(out, sheet, per_object)
        drawn = draw_objects(size, per_object, jitter, seed)
        drawn = chain([next(drawn)], drawn)  # what cannot be drawn leaves no folder behind
        console = Console(stderr=True)
        write(out, sheet, per_object, track(drawn, "drawing", total, console=console, transient=True, disable=quiet))
    except OSError as error:
        raise ValueError(f"The pictures cannot be written ({error.strerror or error}): check --out, --sheet.") from None
    print(f"{total:,} pictures in {out}, contact sheet {sheet}")
    print(f"To learn from them:  implicature train --game objects-4 --pictures {shlex.quote(str(out))}")


def check(out: Path, sheet: Path, per_object: int) -> None:
    if OBJECTS * per_object > MOST_PICTURES:
        most = MOST_PICTURES // OBJECTS
        raise ValueError(f"{per_object} pictures of each object are more than a space holds: ask for {most} or fewer.")
    check_folder(out, "--out")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{str(out)!r} is not an empty folder: name another with --out.")
    if sheet.suffix.lower() != ".png" or sheet.is_dir():
        raise ValueError(f"The contact sheet {str(sheet)!r} is not a PNG file: name one that ends in .png.")
