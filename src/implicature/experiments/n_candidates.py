"""A pair trained with 4 candidates plays with 2 to 12, without further training."""

from pathlib import Path

import numpy as np

from implicature.evaluation.held_out import held_out_games, played_by
from implicature.evaluation.rollouts import summary
from implicature.experiments.pairs import KEY as RUN
from implicature.experiments.pairs import SETTINGS, exact_accuracy, made, repeated, trained
from implicature.experiments.results import Row, mean_and_std

SETTING = "exchange, grounded, numbers-4"
NUMBERS = range(2, 13)
DEPTH = 3
KEY = RUN


def tasks() -> list[Row]:
    return repeated([SETTING])


def run(task: Row, games: int, runs: Path) -> list[Row]:
    pair = trained(SETTINGS[SETTING], task, runs)
    rows = []
    for number in NUMBERS:
        drawn = held_out_games(pair.setting, games, seed=0, candidates=number)
        figures = summary(played_by(pair.pair(), pair.setting, drawn))
        shares = {name: round(100 * figures[name], 3) for name in ("accuracy", "hard_accuracy", "valid")}
        exact = round(float(exact_accuracy(pair, drawn, DEPTH)[-1]), 3)
        rows.append({**task, "candidates": number, **shares, "exact": exact, **made(games, pair)})
    return rows


def render(rows: list[Row]) -> str:
    """A Markdown table by number of candidates."""
    lines = [f"| candidates | runs | accuracy | valid | exact, depth {DEPTH} |", "|---|---|---|---|---|"]
    for number in NUMBERS:
        mine = [row for row in rows if int(row["candidates"]) == number]
        if mine:
            exact = np.mean([float(row["exact"]) for row in mine])
            figures = " | ".join(mean_and_std(mine, name) for name in ("accuracy", "valid"))
            lines.append(f"| {number} | {len(mine)} | {figures} | {exact:.2f} |")
    return "\n".join(lines)
