"""Pictures of instances: those of the 288 objects, which ship as one sheet, and those of your own, from image files.

Every picture of a space has the same size: 128 × 128 pixels, or 64 × 64 where no file is larger than that. Wider or
taller ones are shrunk and get white edges, so that nothing is cropped or stretched; what is transparent is white.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageOps, UnidentifiedImageError

SHEET = "objects.png"
COLUMNS = 24
GAP = 2
SIDES = (64, 128)
FORMATS = ("PNG", "JPEG")
MOST_PICTURES = 10_000  # half a gigabyte at 128 × 128
MOST_PIXELS = 50_000_000
MOST_BYTES = 50_000_000


@cache
def object_pictures() -> UInt8[np.ndarray, "instances height width 3"]:
    """A picture of each object, in the order of `objects()`; `implicature render` draws them again. Read only."""
    with (files("implicature.spaces") / SHEET).open("rb") as file:
        sheet = np.asarray(Image.open(file, formats=["PNG"]).convert("RGB"))
    height, width, _ = sheet.shape
    side = width // COLUMNS
    rows = sheet.reshape(height // side, side, COLUMNS, side, 3).swapaxes(1, 2)
    pictures = np.ascontiguousarray(rows[:, :, : side - GAP, : side - GAP].reshape(-1, side - GAP, side - GAP, 3))
    pictures.flags.writeable = False
    return pictures


def contact_sheet(
    pictures: UInt8[np.ndarray, "pictures side side 3"], columns: int = COLUMNS
) -> UInt8[np.ndarray, "height width 3"]:
    """Pictures in rows, in their order, with white lines between."""
    missing = -len(pictures) % columns
    framed = np.pad(pictures, ((0, missing), (0, GAP), (0, GAP), (0, 0)), constant_values=255)
    framed[len(pictures) :] = 255
    _, side, _, _ = framed.shape
    rows = framed.reshape(-1, columns, side, side, 3).swapaxes(1, 2)
    return rows.reshape(-1, columns * side, 3)


def read_pictures(
    folder: Path, named: list[list[tuple[str, str]]]
) -> UInt8[np.ndarray, "instances pictures height width 3"]:
    """The pictures of each instance, given as places in a file, for what is wrong, and names of images in the folder.

    Where one instance has more pictures than another, the other's begin again, so that all have as many.
    """
    most = max(len(own) for own in named)
    if len(named) * most > MOST_PICTURES:
        raise ValueError(
            f"{len(named):,} instances with up to {most:,} pictures each are more than {MOST_PICTURES:,}: keep fewer."
        )
    with warnings.catch_warnings(action="ignore"):  # of sizes that are refused here, and of odd notes in photographs
        longest = 0
        for place, name in chain.from_iterable(named):
            with opened(folder, name, place) as image:
                longest = max(longest, *image.size)
        side = next((side for side in SIDES if longest <= side), SIDES[-1])
        pictures = np.empty((len(named), most, side, side, 3), np.uint8)
        for row, own in zip(pictures, named, strict=True):
            for copy, (place, name) in enumerate(own):
                with opened(folder, name, place) as image:
                    row[copy] = squared(image, side)
            row[len(own) :] = row[np.arange(most - len(own)) % len(own)]
    return pictures


@contextmanager
def opened(folder: Path, name: str, place: str) -> Iterator[Image.Image]:
    """An image of which only the head was read. Whatever turns out to be wrong with it is a sentence."""
    picture = f"{place} names the picture {name[:60]!a}, which"
    path = inside(folder, name, picture)
    try:
        with Image.open(path, formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise Image.DecompressionBombError
            yield image
    except Image.DecompressionBombError:
        problem = f"has more than {MOST_PIXELS:,} pixels: save it smaller."
    except UnidentifiedImageError:
        problem = "is no PNG or JPEG image: save it as one."
    except Exception as error:  # Pillow has no one error for damaged files
        reason = getattr(error, "strerror", None)
        problem = f"cannot be read ({reason}): check who may read it." if reason else "is damaged: save it again."
    else:
        return
    raise ValueError(f"{picture} {problem}")


def inside(folder: Path, name: str, picture: str) -> Path:
    """Where a picture lies, if that is a file in the folder, links followed."""
    try:
        path = (folder / name).resolve() if name.isprintable() else folder
        if not path.is_relative_to(folder.resolve()):
            problem = "lies outside the folder of its table: move it there."
        elif not path.is_file():
            problem = "is not a file: check its name, relative to the folder of its table."
        elif path.stat().st_size > MOST_BYTES:
            problem = f"has more than {MOST_BYTES:,} bytes: save it smaller."
        else:
            return path
    except (OSError, RuntimeError):  # a name too long, a loop of links
        problem = "cannot be found: check its name."
    raise ValueError(f"{picture} {problem}")


def squared(image: Image.Image, side: int) -> UInt8[np.ndarray, "side side 3"]:
    """The image as it is seen, upright, opaque and square."""
    image.draft("RGB", (2 * side, 2 * side))  # a large JPEG is quicker read at a lower resolution
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I"):  # 16 bits of grey
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    image = ImageOps.pad(image, (side, side), color="white")
    if image.mode == "RGBA":
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return np.asarray(image.convert("RGB"))
