"""What the paper reports, from its tables."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from implicature.training.config import Config

METHODS = {"pragmatic": "pragmatic", "la-2017": "lazaridou-2017", "la-2018": "lazaridou-2018"}
"""What its tables call each method."""


@cache
def paper_results() -> dict[str, Any]:
    return json.loads((files("implicature.experiments") / "paper-results.json").read_text(encoding="utf-8"))


def paper_figures(config: Config) -> dict[str, float]:
    """Its figures for a game, shares between 0 and 1: table 1 for a random start, table 2 for a grounded one; none
    where it has none."""
    results = paper_results()
    if config.space is not None or config.candidates is not None or config.rounds != 1:
        return {}
    table = "table-2" if config.grounded else "table-1"
    names = (
        {"accuracy": "identical-games", "equivalent_accuracy": "equivalent-games"}
        if config.grounded
        else {"accuracy": "total", "hard_accuracy": "hard"}
    )
    column, method = results[table]["columns"].index(config.game), METHODS[config.method]
    return {name: results[table][theirs][method][column][0] / 100 for name, theirs in names.items()}
