"""Images of instances as PNG files in memory."""

import io
from functools import lru_cache

from PIL import Image

from implicature.spaces import Space
from implicature.spaces.images import instance_image


@lru_cache(maxsize=1024)
def encode_png(space: Space, instance: int) -> bytes:
    """The first image of an instance."""
    file = io.BytesIO()
    Image.fromarray(instance_image(space, instance)).save(file, "PNG", optimize=True)
    return file.getvalue()
