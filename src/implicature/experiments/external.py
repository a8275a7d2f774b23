"""Agents of any kind beside the paper's: rows that `implicature evaluate --row` adds, shown below table 1 and table 2.

A row tells one meeting of two players in one game, as `evaluate` measured it; the same meeting again replaces it.
"""

from pathlib import Path
from typing import Any

from implicature.experiments.results import Row, command, read_rows, version, write_rows
from implicature.games.sampling import GAMES, Rules
from implicature.training.config import Config

FILE = "own.csv"
"""Where tables look for such rows, in the folder of all rows."""
KEY = ("players", "game", "candidates", "rounds", "message_cost", "speaker", "played")
FIGURES = ("accuracy", "hard_accuracy", "valid")
PARTS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "table-1": (("total", "accuracy", "test"), ("hard", "hard_accuracy", "test")),
    "table-2": (("identical games", "accuracy", "test"), ("equivalent games", "accuracy", "equivalent")),
}
"""Of each table: what its lines are called, which figure they tell, and of which games."""


def own_row(players: str, config: Config, rules: Rules, figures: dict[str, Any], played: str, sampled: bool) -> Row:
    """Figures in percent, and what made them."""
    spread = figures.get("std", {})
    return {
        "players": players,
        "game": config.space or config.game,
        "candidates": rules.candidates,
        "rounds": rules.rounds,
        "message_cost": rules.message_cost,
        "speaker": "sampled" if sampled else "greedy",
        "played": played,
        **{name: round(100 * figures[name], 3) for name in FIGURES},
        **{f"{name}_std": round(100 * spread[name], 3) if spread else "" for name in FIGURES},
        "pairs": figures.get("pairs", 1),
        "games": figures["games"],
        "version": version(),
        "command": command(),
    }


def own_rows(path: Path) -> list[Row]:
    """The rows of such a file; none where there is none yet."""
    if path.suffix != ".csv":
        raise ValueError(f"{path} is not a file of rows: name one that ends in .csv.")
    return read_rows(path, KEY)


def add_row(path: Path, row: Row) -> None:
    """Keep the row in a file of such rows, instead of the one of the same meeting."""
    meeting = [str(row[name]) for name in KEY]
    write_rows(path, [*(one for one in own_rows(path) if [one[name] for name in KEY] != meeting), row])


def usual(row: Row) -> bool:
    """Whether it is one of the paper's games, as the paper plays it."""
    game = GAMES.get(row["game"])
    return game is not None and (str(row["candidates"]), str(row["rounds"])) == (str(game[1]), "1")


def render(table: str, rows: list[Row]) -> str:
    """Markdown: a line for each two players, a column for each of the paper's games; nothing where there is nothing."""
    lines = []
    for title, name, played in PARTS.get(table, ()):
        told = [row for row in rows if usual(row) and row["played"] == played]
        for players, speaker in dict.fromkeys((row["players"], row["speaker"]) for row in told):
            mine = {row["game"]: row for row in told if (row["players"], row["speaker"]) == (players, speaker)}
            who = players if speaker == "greedy" else f"{players}, speaker sampled"
            lines.append(f"| {title}: {who} | {' | '.join(cell(mine.get(game), name) for game in GAMES)} |")
    return "\n".join([f"| yours | {' | '.join(GAMES)} |", "|---" * (len(GAMES) + 1) + "|", *lines]) if lines else ""


def cell(row: Row | None, name: str) -> str:
    if row is None:
        return ""
    spread = row[f"{name}_std"]
    return f"{float(row[name]):.2f} ± {float(spread):.2f}" if spread not in ("", None) else f"{float(row[name]):.2f}"
