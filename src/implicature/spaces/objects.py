"""3D objects: colour × shape × size × place, 288 instances with 18 attributes, each with an image (section 5)."""

from itertools import product

import numpy as np

from implicature.spaces.images import object_images
from implicature.spaces.space import Space

CATEGORIES: dict[str, tuple[str, ...]] = {
    "colour": ("blue", "red", "yellow", "green", "cyan", "magenta"),
    "shape": ("box", "sphere", "cylinder", "pyramid", "cone", "ellipsoid"),
    "size": ("small", "large"),
    "place": ("upper-left", "upper-right", "lower-left", "lower-right"),
}


def objects() -> Space:
    attributes = tuple(value for values in CATEGORIES.values() for value in values)
    categories = tuple(category for category, values in CATEGORIES.items() for _ in values)
    table = np.array([[value in chosen for value in attributes] for chosen in product(*CATEGORIES.values())])
    return Space("objects", attributes, table, categories, images=object_images()[:, None])
