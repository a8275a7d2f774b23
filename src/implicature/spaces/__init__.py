"""What can be talked about: a space is a set of instances with some attributes, and a lexicon of words for them."""

from collections.abc import Callable

from implicature.spaces.concepts import CONCEPT_CLASSES
from implicature.spaces.emoji import emoji
from implicature.spaces.lexicon import Lexicon
from implicature.spaces.numbers import number_sets
from implicature.spaces.objects import objects
from implicature.spaces.small import quantifiers, shapes_with_costs, shapes_with_salience, sizes
from implicature.spaces.space import Space

SPACES: dict[str, Callable[[], Space]] = {
    "numbers-10": lambda: number_sets(symbols=10, largest=4),
    "numbers-12": lambda: number_sets(symbols=12, largest=5),
    "objects": objects,
    "emoji": emoji,
    "shapes-costs": shapes_with_costs,
    "quantifiers": quantifiers,
    "sizes": sizes,
    "shapes-salience": shapes_with_salience,
    **CONCEPT_CLASSES,
}

__all__ = ["SPACES", "Lexicon", "Space", "number_sets", "objects"]
