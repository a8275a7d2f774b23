"""Table 2: from a grounded start, in identical games and in equivalent ones, where teacher and student see differently
named candidates and the message is translated: how far a protocol has left its grounding."""

from implicature.experiments.pairs import KEY, run
from implicature.experiments.paper_tables import OURS, PaperTable, Part
from implicature.games.sampling import GAMES

__all__ = ["KEY", "ROWS", "render", "run", "tasks"]

ROWS = "pairs"
TABLE = PaperTable(
    "table-2",
    ("la-2018", "la-2017", *reversed(OURS)),
    tuple(GAMES),
    (
        Part("equivalent games", "equivalent_accuracy", "grounded", "equivalent-games"),
        Part("identical games", "accuracy", "grounded", "identical-games"),
        Part("valid messages", "valid", "grounded", ""),
    ),
)
tasks, render = TABLE.tasks, TABLE.render
