"""The figures that the paper reports, from its tables."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from implicature.games.registry import GAMES
from implicature.training.config import Config

METHODS = {"pragmatic": "pragmatic", "la-2017": "lazaridou-2017", "la-2018": "lazaridou-2018"}
"""The name of each method in paper-results.json."""


@cache
def paper_results() -> dict[str, Any]:
    return json.loads((files("implicature.experiments") / "paper-results.json").read_text(encoding="utf-8"))


def paper_figures(config: Config) -> dict[str, float]:
    """The paper's figures for a game, as fractions: table 1 for a random start, table 2 for a grounded one. Empty for a
    game or a method that it does not report."""
    game, method = config.game, METHODS.get(config.method.method)
    if (
        method is None
        or game.space is not None
        or game.rounds != 1
        or game.game not in GAMES
        or game.candidates not in (None, GAMES[game.game][1])
    ):
        return {}
    grounded = config.grounding.grounded
    table = paper_results()["table-2" if grounded else "table-1"]
    names = (
        {"accuracy": "identical-games", "equivalent_accuracy": "equivalent-games"}
        if grounded
        else {"accuracy": "total", "hard_accuracy": "hard"}
    )
    column = table["columns"].index(game.game)
    return {name: table[theirs][method][column][0] / 100 for name, theirs in names.items()}
