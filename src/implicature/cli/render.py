"""`implicature render`."""

from pathlib import Path
from typing import Annotated

import tyro


def render(
    out: Path = Path("images"),
    per_object: int = 1,
    jitter: bool = False,
    seed: int = 0,
    size: int = 128,
    sheet: Annotated[Path | None, tyro.conf.arg(metavar="PNG")] = None,
    quiet: bool = False,
) -> None:
    """Render the 288 objects with MuJoCo, as a folder of images that can be trained on. Needs implicature[objects].

    Without arguments: the images that ship with the package, again.

    Args:
        out: A new folder, for PNG files and objects.csv, which has their attributes.
        per_object: How many images of each object; more than one with --jitter.
        jitter: Vary pose, light, camera and colour.
        seed: Another seed varies them otherwise.
        size: Width and height of an image in pixels.
        sheet: The contact sheet; by default sheet.png in the folder.
        quiet: No progress bar.
    """
    import shlex
    from itertools import chain

    from rich.console import Console
    from rich.progress import track

    from implicature.spaces.rendering.dataset import write_dataset
    from implicature.spaces.rendering.renderer import render_objects

    sheet = sheet or out / "sheet.png"
    total = n_objects() * per_object
    try:
        check_destination(out, sheet, per_object)
        images = render_objects(size, per_object, jitter, seed)
        images = chain([next(images)], images)  # what cannot be rendered leaves no folder behind
        bar = track(images, "rendering", total, console=Console(stderr=True), transient=True, disable=quiet)
        write_dataset(out, sheet, per_object, bar)
    except OSError as error:
        raise ValueError(f"The images cannot be written ({error.strerror or error}): check --out, --sheet.") from None
    print(f"{total:,} images in {out}, contact sheet {sheet}")
    print(f"To train on them:  implicature train --game objects-4 --images {shlex.quote(str(out))}")


def n_objects() -> int:
    from math import prod

    from implicature.spaces.objects import CATEGORIES

    return prod(len(values) for values in CATEGORIES.values())


def check_destination(out: Path, sheet: Path, per_object: int) -> None:
    from implicature.files import check_folder
    from implicature.spaces.images import MAX_IMAGES

    if n_objects() * per_object > MAX_IMAGES:
        most = MAX_IMAGES // n_objects()
        raise ValueError(f"{per_object} images of each object are more than a space holds: ask for {most} or fewer.")
    check_folder(out, "--out")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{str(out)!r} is not an empty folder: name another with --out.")
    if sheet.suffix.lower() != ".png" or sheet.is_dir():
        raise ValueError(f"The contact sheet {str(sheet)!r} is not a PNG file: name one that ends in .png.")
