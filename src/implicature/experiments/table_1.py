"""Table 1: total and hard accuracy from a random start, four games, all methods; unseen instances; a paired t-test."""

from collections.abc import Sequence
from itertools import product

from implicature.experiments.pairs import KEY, run
from implicature.experiments.paper_tables import NAMES, NONE, OURS, PaperTable, Part, better
from implicature.experiments.results import Row
from implicature.games.sampling import GAMES

__all__ = ["BESIDE", "KEY", "ROWS", "render", "run", "tasks"]

ROWS = "pairs"
BESIDE = ("ceilings",)
"""Rows of other experiments that it tells as well."""
BASELINES = ("la-2018", "la-2017")
TABLE = PaperTable(
    "table-1",
    (*BASELINES, *reversed(OURS)),
    tuple(GAMES),
    (
        Part("total", "accuracy", "ungrounded", "total"),
        Part("hard", "hard_accuracy", "ungrounded", "hard"),
        Part("unseen instances", "accuracy", "unseen instances", "unseen-instances"),
        Part("total, sampled speaker", "sampled_accuracy", "ungrounded", ""),
    ),
)
tasks = TABLE.tasks


def render(rows: list[Row], ceilings: Sequence[Row] = ()) -> str:
    """The table, and how sure it is that ours is better."""
    table = TABLE.render(rows, ceilings)
    tests = [
        line
        for title, name in (("total", "accuracy"), ("hard", "hard_accuracy"))
        for line in t_tests(rows, title, name)
    ]
    if not tests:
        return table
    return "\n".join([table, "", f"| one-tailed paired t-test, p | {' | '.join(GAMES)} |", "|---" * 5 + "|", *tests])


def t_tests(rows: list[Row], title: str, name: str) -> list[str]:
    """A line for each of ours and each baseline where there are runs to compare, paired by split and number."""
    lines = []
    for ours, other in product(OURS, BASELINES):
        cells = [better(rows, f"{ours}, ungrounded, {game}", f"{other}, ungrounded, {game}", name) for game in GAMES]
        if any(cells):
            shown = " | ".join(NONE if cell is None else str(cell) for cell in cells)
            lines.append(f"| {title}: {NAMES[ours]} above {NAMES[other]} | {shown} |")
    return lines
