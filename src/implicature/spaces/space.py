"""A space Ω is a 0/1 table, instances × attributes; a message names one attribute, so it has as many messages."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, UInt8


@dataclass(frozen=True, eq=False)
class Space:
    """Instances that differ in their attributes. Attributes of one category exclude each other."""

    name: str
    attributes: tuple[str, ...]
    table: Bool[np.ndarray, "instances attributes"]
    categories: tuple[str, ...] | None = None
    """The category of each attribute; None where any attributes may occur together."""
    labels: tuple[str, ...] | None = None
    """A name for each instance; None where its attributes are its name."""
    images: UInt8[np.ndarray, "instances views height width 3"] | None = None
    """Images of each instance, as many of each, RGB; None where there are none."""

    def __post_init__(self) -> None:
        instances, attributes = self.table.shape
        if instances == 0:
            raise ValueError(f"The space {self.name} has no instances: give it at least two.")
        if len(self.attributes) != attributes:
            raise ValueError(f"{attributes} columns but {len(self.attributes)} attribute names: name each column once.")
        if any(not attribute.strip() for attribute in self.attributes):
            raise ValueError(f"The space {self.name} has an attribute without a name: every attribute needs one.")
        if repeated := [name for name, times in Counter(self.attributes).items() if times > 1]:
            raise ValueError(f"The attribute {repeated[0]!r} is named twice: attribute names must differ.")
        if self.categories is not None and len(self.categories) != attributes:
            raise ValueError(f"{len(self.categories)} categories for {attributes} attributes: give each attribute one.")
        if self.labels is not None and len(self.labels) != instances:
            raise ValueError(f"{len(self.labels)} labels for {instances} instances: give each instance one.")
        if self.images is not None:
            check_images(self.images, instances)
        unique, first = np.unique(self.table, axis=0, return_index=True)
        if len(unique) < instances:
            again = next(i for i in range(instances) if i not in set(first.tolist()))
            raise ValueError(
                f"The instance {self.label(again)} is in the space {self.name} twice: instances must differ."
            )

    @property
    def instances(self) -> int:
        return len(self.table)

    def names(self, instance: int) -> list[str]:
        """The attributes of one instance, by name."""
        return [self.attributes[i] for i in np.flatnonzero(self.table[instance])]

    def label(self, instance: int) -> str:
        if self.labels is not None:
            return self.labels[instance]
        return "{" + ", ".join(self.names(instance)) + "}"

    def category_numbers(self) -> list[int]:
        """The category of each attribute as a number; all zero where there are none."""
        if self.categories is None:
            return [0] * len(self.attributes)
        order = list(dict.fromkeys(self.categories))
        return [order.index(category) for category in self.categories]


def check_images(images: np.ndarray, instances: int) -> None:
    """Raise an error for what are not images of so many instances."""
    if images.dtype != np.uint8 or images.ndim != 5 or images.shape[-1] != 3:
        raise ValueError(
            f"Images of shape {images.shape} and type {images.dtype}: give bytes in an array "
            "instances × views × height × width × 3."
        )
    if len(images) != instances or not images.size:
        raise ValueError(
            f"{images.shape[1]} images of {len(images)} instances, {images.shape[2]} × {images.shape[3]} "
            f"pixels, for {instances} instances: give each at least one that is not empty."
        )


def with_images(space: Space, other: Space) -> Space:
    """The space with the images that another has of the same instances: those with the same attributes, by name."""
    if other.images is None:
        raise ValueError(f"The space {other.name} has no images: name a folder of some.")
    row = {frozenset(other.names(i)): i for i in range(other.instances)}
    rows = [row.get(frozenset(space.names(i))) for i in range(space.instances)]
    found = [i for i in rows if i is not None]
    if len(found) < len(rows):
        missing = space.label(rows.index(None))
        raise ValueError(
            f"The space {other.name} has no images of {len(rows) - len(found)} of {len(rows)} instances, {missing} "
            "first: name images of the same instances."
        )
    return replace(space, images=other.images[found])


def space_from_sets(name: str, sets: list[list[str]], categories: tuple[str, ...] | None = None) -> Space:
    """A space from instances given as lists of attribute names; attributes are in order of first appearance."""
    attributes = tuple(dict.fromkeys(attribute for names in sets for attribute in names))
    column = {attribute: i for i, attribute in enumerate(attributes)}
    table = np.zeros((len(sets), len(attributes)), dtype=bool)
    for row, names in enumerate(sets):
        table[row, [column[attribute] for attribute in names]] = True
    return Space(name, attributes, table, categories)
