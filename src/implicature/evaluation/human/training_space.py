"""What pairs are trained on before they are compared with people: three candidates as in the published items, but in
all combinations, with twins and salience priors.

Objects are sets of up to three of six words, seven of each. Salience is an attribute that agents see and no word names:
log₂ of how likely an object is to be meant, against one of 0. An object without any of the six words has a word of its
own; otherwise a truthful teacher would say anything of it, and a student expect every word of it.

    implicature train --space implicature.evaluation.human.training_space:training_space --candidates 3 --truthful …
"""

from itertools import combinations

import numpy as np
from jaxtyping import Float

from implicature.spaces import Lexicon, Space

WORDS = ("a", "b", "c", "d", "e", "f")
MOST_WORDS = 3
SALIENCE, NOTHING = "salience", "nothing"
LEVELS = (-1.0, -0.5, 0.0, 0.0, 0.0, 0.5, 1.0)
"""Several of level 0, since most published items have equal priors."""
MAX_LEVEL = 1.5


def training_space() -> Space:
    chosen = [words for number in range(MOST_WORDS + 1) for words in combinations(range(len(WORDS)), number)]
    table = np.array([np.isin(range(len(WORDS)), words) for words in chosen])
    objects, levels = np.repeat(table, len(LEVELS), axis=0), np.tile(LEVELS, len(table))
    meaning = np.column_stack([objects, ~objects.any(axis=1)])
    features = np.column_stack([objects, levels]).astype(np.float32)
    return Space("items", (*WORDS, SALIENCE), features, lexicon=Lexicon((*WORDS, NOTHING), meaning), prior=2**levels)


def salience_levels(prior: Float[np.ndarray, " candidates"]) -> Float[np.ndarray, " candidates"]:
    """The attribute of candidates with this prior: log₂, 0 on average."""
    levels = np.log2(np.maximum(prior, 1e-6))
    return np.clip(levels - levels.mean(), -MAX_LEVEL, MAX_LEVEL)
