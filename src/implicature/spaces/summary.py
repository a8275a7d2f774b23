"""What a space consists of, as `implicature space` tells it: instances, words by category, twins, words that say
nothing."""

from typing import Any

import numpy as np

from implicature.spaces.space import Space


def summarize_space(space: Space) -> dict[str, Any]:
    """Names and counts, ready for JSON."""
    lexicon, labels = space.lexicon, [space.label(i) for i in range(space.instances)]
    said = [[lexicon.words[i] for i in np.flatnonzero(row)] for row in lexicon.truth]
    return {
        "name": space.name,
        "instances": [{"name": label, "words": words} for label, words in zip(labels, said, strict=True)],
        "words": list(lexicon.words),
        "categories": words_by_category(space),
        "graded": lexicon.graded,
        "costs": {word: float(cost) for word, cost in zip(lexicon.words, lexicon.costs, strict=True) if cost},
        "prior": None if space.prior is None else space.prior.tolist(),
        "twins": [[labels[i] for i in group] for group in twins(space)],
        "fits_nobody": [lexicon.words[i] for i in np.flatnonzero(~lexicon.truth.any(axis=0))],
        "fits_everybody": [lexicon.words[i] for i in np.flatnonzero(lexicon.truth.all(axis=0))],
        "images": 0 if space.images is None else int(space.images.shape[1]),
    }


def words_by_category(space: Space) -> dict[str, list[str]]:
    """Empty where there are no categories."""
    found: dict[str, list[str]] = {}
    for word, category in zip(space.words, space.lexicon.categories or (), strict=False):
        found.setdefault(category, []).append(word)
    return found


def twins(space: Space) -> list[list[int]]:
    """Instances that no word tells apart."""
    groups: dict[bytes, list[int]] = {}
    for i, row in enumerate(space.lexicon.meaning):
        groups.setdefault(row.tobytes(), []).append(i)
    return [group for group in groups.values() if len(group) > 1]
