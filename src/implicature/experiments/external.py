"""Results of agents that no experiment here trains: added by `implicature evaluate --row`, shown below tables 1 and 2.

A result is one matchup of two players in one game; the same matchup again replaces it.
"""

from pathlib import Path
from typing import Any

from implicature.experiments.paper.pairs import FIGURES
from implicature.experiments.results import Result, command, merge_results, percent, read_results, version
from implicature.experiments.table import Cell, MeanStd, Number, Row, Table
from implicature.games.registry import GAMES
from implicature.games.rules import Rules
from implicature.training.config import Config

FILE = "external.csv"
"""Where tables look for such results, in the folder of results."""
KEY = ("players", "game", "candidates", "rounds", "message_cost", "speaker", "game_set")
PARTS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "table-1": (("total", "accuracy", "test"), ("hard", "hard_accuracy", "test")),
    "table-2": (("identical games", "accuracy", "test"), ("equivalent games", "accuracy", "equivalent")),
}
"""For each table its groups of rows: title, column and set of games."""


def external_result(
    players: str, config: Config, rules: Rules, figures: dict[str, Any], game_set: str, sampled: bool
) -> Result:
    """Figures in percent, and their provenance."""
    std = percent(figures["std"], FIGURES) if "std" in figures else dict.fromkeys(FIGURES, "")
    return {
        "players": players,
        "game": config.game.space or config.game.game,
        "candidates": rules.candidates,
        "rounds": rules.rounds,
        "message_cost": rules.message_cost,
        "speaker": "sampled" if sampled else "greedy",
        "game_set": game_set,
        **percent(figures, FIGURES),
        **{f"{name}_std": value for name, value in std.items()},
        "pairs": figures.get("pairs", 1),
        "games": figures["games"],
        "version": version(),
        "command": command(),
    }


def read_external(path: Path) -> list[Result]:
    """The results of such a file; none where there is no file yet."""
    if path.suffix != ".csv":
        raise ValueError(f"{path} is not a file of results: name one that ends in .csv.")
    return read_results(path, KEY)


def add_result(path: Path, result: Result) -> None:
    """Add a result to such a file, in place of an earlier one of the same matchup."""
    read_external(path)  # a file of something else stays as it is
    merge_results(path, [result], KEY)


def is_paper_game(result: Result) -> bool:
    """Whether it is one of the paper's games, with the paper's rules."""
    game = GAMES.get(result["game"])
    return game is not None and (str(result["candidates"]), str(result["rounds"])) == (str(game[1]), "1")


def render(table: str, results: list[Result]) -> list[Table]:
    """A row for each two players, a column for each of the paper's games; nothing without results."""
    rows = []
    for title, column, game_set in PARTS.get(table, ()):
        shown = [one for one in results if is_paper_game(one) and one["game_set"] == game_set]
        for players, speaker in dict.fromkeys((one["players"], one["speaker"]) for one in shown):
            own = {one["game"]: one for one in shown if (one["players"], one["speaker"]) == (players, speaker)}
            label = players if speaker == "greedy" else f"{players}, sampled speaker"
            rows.append(Row(label, [figure_cell(own.get(game), column) for game in GAMES], title))
    return [Table("external agents", list(GAMES), rows)] if rows else []


def figure_cell(result: Result | None, column: str) -> Cell:
    if result is None:
        return ""
    std = result[f"{column}_std"]
    return Number(float(result[column])) if std in ("", None) else MeanStd(float(result[column]), float(std))
