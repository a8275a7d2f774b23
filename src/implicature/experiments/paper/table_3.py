"""Table 3: novel targets. Training games use 80 % of the objects; the targets of test games are among the others, their
distractors among all. A message is valid if it is true of the target."""

from implicature.experiments.paper.pairs import KEY, OBJECTS, run
from implicature.experiments.paper.tables import OURS, PaperTable, Part

__all__ = ["KEY", "render", "run", "tasks"]

TABLE = PaperTable(
    "table-3",
    ("la-2017", "reinforce", *reversed(OURS)),
    OBJECTS,
    (
        Part("valid messages", "valid", "novel targets", "valid"),
        Part("accuracy", "accuracy", "novel targets", "accuracy"),
    ),
)
tasks, render = TABLE.tasks, TABLE.render
