"""A game of your own, made by a program: clock times, with words that are not the attributes. In this folder:

implicature train --space my_game:clock --candidates 3
implicature evaluate --teacher exact --student exact --space my_game:clock --candidates 3
"""

import numpy as np

from implicature.spaces import Lexicon, Space

HOURS = tuple(range(24))
WORDS = {
    "morning": lambda hour: 6 <= hour < 12,
    "afternoon": lambda hour: 12 <= hour < 18,
    "evening": lambda hour: 18 <= hour < 24,
    "night": lambda hour: hour < 6,
    "early": lambda hour: hour % 6 < 2,
    "late": lambda hour: hour % 6 > 3,
    "even": lambda hour: hour % 2 == 0,
    "noon or midnight": lambda hour: hour % 12 == 0,
}


def clock() -> Space:
    """Agents see the hour; they can say only vaguer things about it, and the longest word costs something."""
    features = np.eye(len(HOURS), dtype=bool)
    meaning = np.array([[true_of(hour) for true_of in WORDS.values()] for hour in HOURS])
    costs = np.array([0.1 if " " in word else 0.0 for word in WORDS])
    return Space(
        "clock",
        tuple(f"h{hour}" for hour in HOURS),
        features=features,
        labels=tuple(f"{hour}:00" for hour in HOURS),
        lexicon=Lexicon(tuple(WORDS), meaning, costs),
    )
