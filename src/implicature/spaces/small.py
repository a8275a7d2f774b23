"""Small spaces whose words are not just the attributes, one for each thing a lexicon may have:

shapes-costs      colour × shape; words for colours cost more than words for shapes
quantifiers       how many of ten came: none, some, most, all; "some" and "most" are true where all came, and "none"
                  and "all" cost more
sizes             colour × ten sizes; "big" and "small" are graded (Degen et al. 2020)
shapes-salience   colour × shape; every second instance is four times, every third twice as salient as the others
"""

from dataclasses import replace
from itertools import product

import numpy as np

from implicature.spaces.lexicon import Lexicon, lexicon_from_words
from implicature.spaces.space import Space

COLOURS = ("blue", "red", "green", "yellow")
SHAPES = ("sphere", "cone", "box", "ring")
SALIENCE = (7.0, 2.0, 1.0)


def shapes() -> Space:
    """Colour × shape, 16 instances."""
    table = np.array([[word in chosen for word in (*COLOURS, *SHAPES)] for chosen in product(COLOURS, SHAPES)])
    categories = ("colour",) * len(COLOURS) + ("shape",) * len(SHAPES)
    return Space("shapes", (*COLOURS, *SHAPES), table, categories)


def shapes_with_costs() -> Space:
    space = shapes()
    costs = np.array([0.1 if category == "colour" else 0.02 for category in space.categories or ()])
    return replace(space, name="shapes-costs", lexicon=replace(space.lexicon, costs=costs))


def shapes_with_salience() -> Space:
    """Three candidates may well have a prior of 70/20/10, and where they have the same colour it decides."""
    space = shapes()
    colours = Lexicon(COLOURS, space.features[:, : len(COLOURS)])
    weights = np.array([SALIENCE[(row // len(SHAPES) + row) % len(SALIENCE)] for row in range(space.instances)])
    return replace(space, name="shapes-salience", lexicon=colours, prior=weights)


def quantifiers(number: int = 10) -> Space:
    """0 to `number` of them came; agents see how many, as a row of so many ones."""
    came = np.arange(number + 1)
    words = {"none": came == 0, "some": came > 0, "most": came > number / 2, "all": came == number}
    costs = {"none": 0.1, "some": 0.0, "most": 0.05, "all": 0.1}
    return Space(
        "quantifiers",
        tuple(f"at least {i + 1}" for i in range(number)),
        came[:, None] > np.arange(number),
        labels=tuple(f"{i} of {number}" for i in came),
        lexicon=lexicon_from_words({word: true.astype(float).tolist() for word, true in words.items()}, costs),
    )


def sizes(steps: int = 10) -> Space:
    """Colour × size; "big" is as true as the size is large, "small" the less."""
    size = np.tile(np.linspace(0.05, 0.95, steps), 2)
    red = np.repeat([0.0, 1.0], steps)
    meaning = np.stack([red, 1 - red, size, 1 - size], axis=1)
    features = np.stack([red, 1 - red, size, 1 - size], axis=1)
    labels = tuple(f"{'red' if r else 'blue'}, size {i % steps + 1}" for i, r in enumerate(red))
    lexicon = Lexicon(("red", "blue", "big", "small"), meaning)
    return Space("sizes", ("is red", "is blue", "size", "smallness"), features, labels=labels, lexicon=lexicon)
