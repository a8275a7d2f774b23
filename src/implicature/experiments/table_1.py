"""Table 1: total and hard accuracy from a random start, four games, all methods; unseen instances; a paired t-test."""

from implicature.experiments.pairs import KEY, run
from implicature.experiments.rows import Row
from implicature.experiments.tables import NAMES, OURS, PaperTable, Part, better
from implicature.games import GAMES

__all__ = ["KEY", "ROWS", "render", "run", "tasks"]

ROWS = "pairs"
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


def render(rows: list[Row]) -> str:
    """The table, and how sure it is that ours is better."""
    lines = [TABLE.render(rows), "", f"| one-tailed paired t-test, p | {' | '.join(GAMES)} |", "|---" * 5 + "|"]
    for ours in OURS:
        for other in BASELINES:
            cells = [better(rows, *(f"{agent}, ungrounded, {game}" for agent in (ours, other))) for game in GAMES]
            if any(p is not None for p in cells):
                shown = ["" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}" for p in cells]
                lines.append(f"| {NAMES[ours]} above {NAMES[other]} | {' | '.join(shown)} |")
    return "\n".join(lines)
