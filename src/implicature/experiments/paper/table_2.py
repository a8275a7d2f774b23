"""Table 2: from a grounded start, in identical games and in equivalent ones, where the student sees renamed candidates
and receives the renamed message: whether the protocol kept its grounding."""

from implicature.experiments.paper.pairs import KEY, run
from implicature.experiments.paper.tables import OURS, PaperTable, Part
from implicature.games.registry import GAMES

__all__ = ["KEY", "render", "run", "tasks"]

TABLE = PaperTable(
    "table-2",
    ("la-2018", "la-2017", "as-written", "reinforce", *reversed(OURS)),
    tuple(GAMES),
    (
        Part("equivalent games", "equivalent_accuracy", "grounded", "equivalent-games"),
        Part("identical games", "accuracy", "grounded", "identical-games"),
        Part("valid messages", "valid", "grounded", ""),
    ),
)
tasks, render = TABLE.tasks, TABLE.render
