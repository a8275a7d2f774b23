"""Strangers: everybody with everybody in the suite of frozen partners (evaluation/strangers), in the four games.
Nothing is trained: the learned partners are the package's, of numbers-4, on whose split the games are held out."""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from implicature.evaluation.held_out import held_out_games
from implicature.evaluation.strangers.figure import draw_table
from implicature.evaluation.strangers.matrix import Table as Meeting
from implicature.evaluation.strangers.partners import exact_partners, learned_partners
from implicature.experiments.results import Result, TaskSpec, command, version
from implicature.experiments.table import Number, Row, Table
from implicature.games.registry import GAMES
from implicature.training.config import Config
from implicature.training.task import make_task

SPLIT = 0
"""The one that the package's pairs were trained with."""
DRAWN = "numbers-4"
KEY = ("game",)


def tasks() -> list[TaskSpec]:
    return [{"game": game} for game in GAMES]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """A result for each teacher with each student. Candidates are known by their attributes."""
    started = time.monotonic()
    made = make_task(Config.of(game=task["game"], train_games=1, split_seed=SPLIT, encoder="none"))
    players = [*exact_partners(made.rules), *learned_partners(made)]
    number = range(len(players))
    found = Meeting(players, made, held_out_games(made, games, seed=0)).play([(i, j) for i in number for j in number])
    how = {
        "split": SPLIT, "games": games, "seconds": round(time.monotonic() - started), "version": version(),
        "command": command(),
    }  # fmt: skip
    return [
        {**task, "teacher": players[i].name, "student": players[j].name, "accuracy": round(100 * accuracy, 3), **how}
        for (i, j), accuracy in sorted(found.items())
    ]


def square(results: list[Result], game: str) -> tuple[list[str], np.ndarray]:
    """The names, and accuracy in percent, teachers × students."""
    found = {(one["teacher"], one["student"]): float(one["accuracy"]) for one in results if one["game"] == game}
    names = list(dict.fromkeys(teacher for teacher, _ in found))
    return names, np.asarray([[found[teacher, student] for student in names] for teacher in names])


def render(results: list[Result]) -> list[Table]:
    """The table of each game, with each teacher's mean over students that are not she."""
    tables = []
    for game in GAMES:
        if not any(one["game"] == game for one in results):
            continue
        names, table = square(results, game)
        others = (table.sum(axis=1) - np.diagonal(table)) / max(1, len(names) - 1)
        rows = [
            Row(name, [*(Number(value, 1) for value in line), Number(other, 1)])
            for name, line, other in zip(names, table, others, strict=True)
        ]
        tables.append(Table(f"{game}: teacher \\ student, %", [*names, "others"], rows))
    return tables


def draw(results: list[Result]) -> Figure:
    game = DRAWN if any(one["game"] == DRAWN for one in results) else results[0]["game"]
    figure = Figure(figsize=(9.5, 7), constrained_layout=True)
    axes = figure.subplots()
    draw_table(axes, *square(results, game))
    axes.set_title(f"accuracy in {game}, %", fontsize=10)
    return figure
