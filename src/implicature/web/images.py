"""Pictures of instances as PNG files in memory."""

import io
from functools import lru_cache

from PIL import Image

from implicature.spaces import Space


@lru_cache(maxsize=1024)
def png(space: Space, instance: int) -> bytes:
    """The first picture of an instance."""
    if space.pictures is None:
        raise ValueError(f"The space {space.name} has no pictures.")
    file = io.BytesIO()
    Image.fromarray(space.pictures[instance, 0]).save(file, "PNG", optimize=True)
    return file.getvalue()
