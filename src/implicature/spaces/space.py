"""A space Ω is what agents see and what can be said: features, a table instances × attributes, and a lexicon.

By default the lexicon is the attributes: a word names one of them, and is true of the instances that have it.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from implicature.spaces.lexicon import Lexicon, as_numbers


@dataclass(frozen=True, eq=False)
class Space:
    """Instances, their attributes, and the words for them. Attributes of one category exclude each other. Instances may
    be equal (twins): which of them is meant still counts.

    >>> import numpy as np
    >>> pair = Space(features=np.eye(2), lexicon=Lexicon(("left", "both"), np.array([[1, 1], [0, 1]])))
    >>> pair.words, pair.attributes
    (('left', 'both'), ('feature 1', 'feature 2'))
    """

    name: str = "space"
    attributes: tuple[str, ...] = ()
    features: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), bool))
    """What agents see of each instance, instances × attributes: which it has, or how much of each."""
    categories: tuple[str, ...] | None = None
    """The category of each attribute; None where any attributes may occur together."""
    labels: tuple[str, ...] | None = None
    """A name for each instance; None where its attributes are its name."""
    images: UInt8[np.ndarray, "instances views height width 3"] | None = None
    """Images of each instance, as many of each, RGB; None where there are none."""
    lexicon: Lexicon = None  # pyright: ignore[reportAssignmentType]
    """What can be said; the attributes, if left out."""
    prior: np.ndarray | None = None
    """How salient each instance is, as weights: how likely it is to be the target among others; None: all alike."""

    def __post_init__(self) -> None:
        features = self.features if isinstance(self.features, np.ndarray) else as_numbers(self.features, "A feature")
        if features.dtype != bool:
            features = check_features(features)
        object.__setattr__(self, "features", features)
        instances, attributes = features.shape
        if instances == 0:
            raise ValueError(f"The space {self.name} has no instances: give it at least two.")
        if self.lexicon is not None and not self.attributes:
            object.__setattr__(self, "attributes", tuple(f"feature {i + 1}" for i in range(attributes)))
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
        if self.lexicon is None:
            object.__setattr__(self, "lexicon", Lexicon(self.attributes, features, categories=self.categories))
        if self.lexicon.instances != instances:
            raise ValueError(
                f"The lexicon has {self.lexicon.instances} rows, but {self.name} has {instances} instances: "
                "give each one row."
            )
        if self.prior is not None:
            object.__setattr__(self, "prior", check_prior(self.prior, instances))

    @property
    def table(self) -> Bool[np.ndarray, "instances attributes"]:
        """Which attributes each instance has."""
        return self.features if self.features.dtype == bool else self.features >= 0.5

    @property
    def words(self) -> tuple[str, ...]:
        """What can be said."""
        return self.lexicon.words

    @property
    def words_are_attributes(self) -> bool:
        """Whether each word names one attribute and is true of the instances that have it."""
        return self.words == self.attributes and np.array_equal(self.lexicon.meaning, self.features)

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

    def cells(self, question: str) -> Int[np.ndarray, " instances"]:
        """A partition of the instances by a category of attributes, or by one attribute: the cell that each is in."""
        kinds = (*(self.categories or ()), *self.attributes)
        if question not in kinds:
            some = ", ".join(dict.fromkeys(kinds))
            raise ValueError(
                f"The space {self.name} has no category {question!r:.40} to ask about: ask one of {some:.200}."
            )
        if question in (self.categories or ()):
            columns = [i for i, category in enumerate(self.categories or ()) if category == question]
        else:
            columns = [self.attributes.index(question)]
        return np.unique(self.features[:, columns], axis=0, return_inverse=True)[1].ravel().astype(np.int32)

    def category_numbers(self) -> list[int]:
        """The category of each attribute as a number; all zero where there are none."""
        if self.categories is None:
            return [0] * len(self.attributes)
        order = list(dict.fromkeys(self.categories))
        return [order.index(category) for category in self.categories]


def check_features(features: np.ndarray) -> np.ndarray:
    """Features that are not Boolean: as such where all are 0 or 1, else float32."""
    if features.ndim != 2 or not np.isfinite(features).all():
        raise ValueError(
            "The features are not a table of numbers: give a row for each instance, a column for each attribute."
        )
    return features.astype(bool) if np.isin(features, (0, 1)).all() else features.astype(np.float32)


def check_prior(prior: object, instances: int) -> Float[np.ndarray, " instances"]:
    """Weights of the instances, as float32."""
    weights = as_numbers(prior, "A prior")
    if weights.shape != (instances,) or not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ValueError(f"A prior is {instances} weights above 0, one for each instance: how likely each is meant.")
    return weights.astype(np.float32)


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
