"""Images of instances: those of the 288 objects, which ship as one contact sheet, and those read from files.

All images of a space have the same size: 64 × 64 pixels where no file is larger than that, else 128 × 128. Others are
scaled and padded with white, so that nothing is cropped or stretched. Transparent pixels become white.
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

from implicature.spaces.space import Space

SHEET = "objects.png"
COLUMNS = 24
GAP = 2
"""White pixels between the images of a contact sheet."""
SIDES = (64, 128)
FORMATS = ("PNG", "JPEG")
MAX_IMAGES = 10_000  # half a gigabyte at 128 × 128
MAX_PIXELS = 50_000_000
MAX_TOTAL_PIXELS = 500_000_000
"""Of all images that are decoded whole: some fifteen seconds."""
JPEG_DRAFT, PROGRESSIVE_DRAFT = 16, 4
"""A JPEG is decoded at a lower resolution, which costs at most this fraction; a progressive one is read whole first."""
MAX_BYTES = 50_000_000


@cache
def object_images() -> UInt8[np.ndarray, "instances height width 3"]:
    """One image of each object, in the order of `objects()`, as `implicature render` renders them. Read-only."""
    with (files("implicature.spaces") / SHEET).open("rb") as file:
        sheet = np.asarray(Image.open(file, formats=["PNG"]).convert("RGB"))
    height, width, _ = sheet.shape
    side = width // COLUMNS
    rows = sheet.reshape(height // side, side, COLUMNS, side, 3).swapaxes(1, 2)
    images = np.ascontiguousarray(rows[:, :, : side - GAP, : side - GAP].reshape(-1, side - GAP, side - GAP, 3))
    images.flags.writeable = False
    return images


def instance_image(space: Space, instance: int, view: int = 0) -> UInt8[np.ndarray, "height width 3"]:
    """One image of an instance: the one that the page, figures and players show of it."""
    if space.images is None:
        raise ValueError(f"The space {space.name} has no images: give it some, or show its attributes.")
    return space.images[instance, view]


def contact_sheet(
    images: UInt8[np.ndarray, "images side side 3"], columns: int = COLUMNS
) -> UInt8[np.ndarray, "height width 3"]:
    """All images in one, row by row, with white lines between."""
    missing = -len(images) % columns
    tiles = np.pad(images, ((0, missing), (0, GAP), (0, GAP), (0, 0)), constant_values=255)
    tiles[len(images) :] = 255
    _, side, _, _ = tiles.shape
    rows = tiles.reshape(-1, columns, side, side, 3).swapaxes(1, 2)
    return rows.reshape(-1, columns * side, 3)


def read_images(
    folder: Path, file_names: list[list[tuple[str, str]]]
) -> UInt8[np.ndarray, "instances views height width 3"]:
    """The images of each instance: (location in the table, for errors; file name relative to the folder).

    Instances with fewer views than others repeat theirs.
    """
    views = max(len(names) for names in file_names)
    if len(file_names) * views > MAX_IMAGES:
        raise ValueError(
            f"{len(file_names):,} instances with up to {views:,} images each are more than {MAX_IMAGES:,}: keep fewer."
        )
    with warnings.catch_warnings(action="ignore"):  # about sizes that are refused here, and about odd EXIF data
        longest, pixels = 0, 0
        for location, name in chain.from_iterable(file_names):
            with open_image(folder, name, location) as image:
                longest = max(longest, *image.size)
                pixels += decoded_pixels(image)
            if pixels > MAX_TOTAL_PIXELS:
                raise ValueError(
                    f"The images have more than {MAX_TOTAL_PIXELS:,} pixels in all: save them smaller, "
                    f"{SIDES[-1]} × {SIDES[-1]} are enough."
                )
        side = next((side for side in SIDES if longest <= side), SIDES[-1])
        images = np.empty((len(file_names), views, side, side, 3), np.uint8)
        for row, names in zip(images, file_names, strict=True):
            for view, (location, name) in enumerate(names):
                with open_image(folder, name, location) as image:
                    row[view] = to_square(image, side)
            row[len(names) :] = row[np.arange(views - len(names)) % len(names)]
    return images


def decoded_pixels(image: Image.Image) -> int:
    """How many pixels cost as much to decode."""
    draft = (PROGRESSIVE_DRAFT if "progressive" in image.info else JPEG_DRAFT) if image.format == "JPEG" else 1
    return image.width * image.height // draft


@contextmanager
def open_image(folder: Path, name: str, location: str) -> Iterator[Image.Image]:
    """An image whose header has been read. Anything wrong with the file becomes an error of one sentence."""
    subject = f"{location} names the image {name[:60]!a}, which"
    path = resolve_path(folder, name, subject)
    try:
        with Image.open(path, formats=FORMATS) as image:
            if image.width * image.height > MAX_PIXELS:
                raise Image.DecompressionBombError
            yield image
    except Image.DecompressionBombError:
        message = f"has more than {MAX_PIXELS:,} pixels: save it smaller."
    except UnidentifiedImageError:
        message = "is no PNG or JPEG image: save it as one."
    except Exception as error:  # Pillow has no common error for damaged files
        reason = getattr(error, "strerror", None)
        message = f"cannot be read ({reason}): check its permissions." if reason else "is damaged: save it again."
    else:
        return
    raise ValueError(f"{subject} {message}")


def resolve_path(folder: Path, name: str, subject: str) -> Path:
    """The path of an image, if it is a file inside the folder once links are followed."""
    try:
        path = (folder / name).resolve() if name.isprintable() else folder
        if not path.is_relative_to(folder.resolve()):
            message = "lies outside the folder of its table: move it there."
        elif not path.is_file():
            message = "is not a file: check its name, relative to the folder of its table."
        elif path.stat().st_size > MAX_BYTES:
            message = f"has more than {MAX_BYTES:,} bytes: save it smaller."
        else:
            return path
    except (OSError, RuntimeError):  # a name too long, a loop of links
        message = "cannot be found: check its name."
    raise ValueError(f"{subject} {message}")


def to_square(image: Image.Image, side: int) -> UInt8[np.ndarray, "side side 3"]:
    """The image upright, opaque and padded to a square, as RGB."""
    image.draft("RGB", (2 * side, 2 * side))  # decode a large JPEG at a lower resolution
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I"):  # 16-bit grey
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    image = ImageOps.pad(image, (side, side), color="white")
    if image.mode == "RGBA":
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return np.asarray(image.convert("RGB"))
