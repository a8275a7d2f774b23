"""Table 1: total and hard accuracy from a random start, four games, all methods; unseen instances; a paired t-test."""

from collections.abc import Sequence
from itertools import product

from implicature.experiments.paper.pairs import KEY, run
from implicature.experiments.paper.tables import NAMES, OURS, PaperTable, Part, paired_t_test
from implicature.experiments.results import Result
from implicature.experiments.table import MISSING, Row, Table
from implicature.games.registry import GAMES

__all__ = ["KEY", "render", "run", "tasks"]

BASELINES = ("la-2018", "la-2017")
TABLE = PaperTable(
    "table-1",
    (*BASELINES, "as-written", *reversed(OURS)),
    tuple(GAMES),
    (
        Part("total", "accuracy", "ungrounded", "total"),
        Part("hard", "hard_accuracy", "ungrounded", "hard"),
        Part("unseen instances", "accuracy", "unseen instances", "unseen-instances"),
        Part("total, sampled speaker", "sampled_accuracy", "ungrounded", ""),
    ),
)
tasks = TABLE.tasks


def render(results: list[Result], ceilings: Sequence[Result] = ()) -> list[Table]:
    """The table, and whether ours is significantly better than the baselines."""
    rows = [*t_test_rows(results, "total", "accuracy"), *t_test_rows(results, "hard", "hard_accuracy")]
    tests = [Table("one-tailed paired t-test, p", list(GAMES), rows)] if rows else []
    return TABLE.render(results, ceilings) + tests


def t_test_rows(results: list[Result], title: str, column: str) -> list[Row]:
    """A row for each of ours and each baseline where there are runs to compare."""
    rows = []
    for ours, other in product(OURS, BASELINES):
        tests = [
            paired_t_test(results, f"{ours}, ungrounded, {game}", f"{other}, ungrounded, {game}", column)
            for game in GAMES
        ]
        if any(tests):
            cells = [MISSING if test is None else test.cell() for test in tests]
            rows.append(Row(f"{NAMES[ours]} above {NAMES[other]}", cells, title, "ours"))
    return rows
