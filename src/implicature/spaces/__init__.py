"""What can be talked about: a space is a set of instances, each with some attributes."""

from collections.abc import Callable

from implicature.spaces.numbers import number_sets
from implicature.spaces.objects import objects
from implicature.spaces.space import Space

SPACES: dict[str, Callable[[], Space]] = {
    "numbers-10": lambda: number_sets(symbols=10, largest=4),
    "numbers-12": lambda: number_sets(symbols=12, largest=5),
    "objects": objects,
}

__all__ = ["SPACES", "Space", "number_sets", "objects"]
