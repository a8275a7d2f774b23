"""Utterances of several words, as a lexicon of their own: every set of 1 … n words.

    ⟦m_1 … m_k⟧(o) = combine(⟦m_1⟧(o), …, ⟦m_k⟧(o)),   by default the product: conjunction
    c(m_1 … m_k)   = Σ c_m + (k − 1) · c_length         what each further word costs

Enumerated, so that exact players take them as they take words; that is for small vocabularies: M words make
M + M (M − 1) / 2 utterances of up to two.
"""

from collections.abc import Callable
from itertools import chain, combinations
from math import comb

import numpy as np
from jaxtyping import Float

from implicature.spaces.lexicon import Lexicon

MAX_UTTERANCES = 4096

Combine = Callable[[Float[np.ndarray, "instances words"]], Float[np.ndarray, " instances"]]
"""The meaning of an utterance from those of its words."""


def conjunction(meanings: Float[np.ndarray, "instances words"]) -> Float[np.ndarray, " instances"]:
    """All words are true; of graded ones, the product."""
    return np.prod(meanings, axis=1)


def utterances(lexicon: Lexicon, max_words: int, combine: Combine = conjunction, length_cost: float = 0.0) -> Lexicon:
    """The lexicon of all utterances of up to `max_words` of its words: "blue", "sphere", "blue sphere"."""
    number = len(lexicon.words)
    if not 1 <= max_words <= number:
        raise ValueError(f"Utterances of up to {max_words} of {number} words: ask for 1 to {number}.")
    if (total := sum(comb(number, k) for k in range(1, max_words + 1))) > MAX_UTTERANCES:
        raise ValueError(f"{total:,} utterances are more than {MAX_UTTERANCES:,}: take fewer words, or shorter ones.")
    sets = [list(one) for one in chain.from_iterable(combinations(range(number), k) for k in range(1, max_words + 1))]
    meaning = lexicon.meaning.astype(np.float64)
    columns = [meaning[:, one[0]] if len(one) == 1 else np.asarray(combine(meaning[:, one])) for one in sets]
    costs = np.array([lexicon.costs[one].sum() + (len(one) - 1) * length_cost for one in sets])
    names = tuple(" ".join(lexicon.words[i] for i in one) for one in sets)
    return Lexicon(names, np.stack(columns, axis=1), costs)
