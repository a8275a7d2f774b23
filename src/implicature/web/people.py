"""People's answers as the page overlays them: for each item its matrix (candidates × words), what was given (the word
that a listener heard, or the candidate that a speaker meant) and how often each answer was given."""

from typing import Any

import numpy as np

from implicature.evaluation.human.items import Item
from implicature.evaluation.human.published import load_published

SOURCES = {
    "qing-franke-2015": ("Qing & Franke 2015", "people"),
    "frank-goodman-2012": ("Frank & Goodman 2012", "people’s bets"),
    "franke-degen-2016": ("Franke & Degen 2016", "answers"),
    "pragmods": ("Frank et al. 2016", "people"),
}
"""Short name and what was counted, in the order in which the page shows them."""
NEUTRAL = ("simple", "complex", "twins", "oddman")
"""Experiments of pragmods in which nothing but the word was varied; in the others the prior was."""


def is_shown(data: str, item: Item) -> bool:
    return data != "pragmods" or item.name.split()[0] in NEUTRAL


def people_items() -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for data, (source, unit) in SOURCES.items():
        for part in load_published(data).parts:
            for item, totals in zip(part.items, part.totals, strict=True):
                if not is_shown(data, item):
                    continue
                counts = np.zeros(item.lexicon.shape[0 if part.role == "listener" else 1])
                counts[list(item.options)] = totals[: len(item.options)]
                items.append(
                    {
                        "source": source,
                        "unit": unit,
                        "n": round(float(counts.sum())),
                        "role": part.role,
                        "matrix": item.lexicon.astype(int).tolist(),
                        "given": item.given,
                        "counts": [round(float(count), 2) for count in counts],
                    }
                )
    return items
