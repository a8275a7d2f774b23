"""How long a pair trains until it finds validation games as often as the paper's found test games: wall seconds, from
drawing the training games on. To be measured on a machine with nothing else to do, one job at a time."""

import os
import time
from dataclasses import replace
from pathlib import Path

from implicature.experiments.pairs import SETTINGS as LEARNED
from implicature.experiments.results import Row, command, version
from implicature.training.run import start_run

PAPER = {"numbers-4": 0.989, "numbers-7": 0.932}
SETTINGS = {
    name: LEARNED[name]
    for game in PAPER
    for network in ("exchange", "paper")
    for name in (f"{network}, grounded, {game}", f"{network}, ungrounded, {game}")
}
RUNS = 3
KEY = ("setting", "seed")


def tasks() -> list[Row]:
    return [{"setting": setting, "seed": seed} for setting in SETTINGS for seed in range(RUNS)]


def programs() -> int:
    """How many compiled programs are kept on disk."""
    folder = Path(os.environ["JAX_COMPILATION_CACHE_DIR"])
    return len(list(folder.iterdir())) if folder.exists() else 0


def run(task: Row, games: int, runs: Path) -> list[Row]:
    """Train until then; the share reached and no seconds where training ends before."""
    config = replace(SETTINGS[task["setting"]], seed=task["seed"])
    kept, begun, best = programs(), time.monotonic(), 0.0
    folder = runs / f"seconds-{os.getpid()}-{time.time_ns()}"
    reached: float | str = ""
    for progress in start_run(folder, config).train():
        best = max(best, progress.info["accuracy"][0])
        if best >= PAPER[config.game]:
            reached = round(time.monotonic() - begun, 1)
            break
    cache = "cold" if programs() > kept else "warm"
    figures = {"wanted": PAPER[config.game], "best": round(best, 4), "seconds": reached, "cache": cache}
    return [{**task, **figures, "iterations": config.iterations, "version": version(), "command": command()}]


def render(rows: list[Row]) -> str:
    """A Markdown table: each run's seconds, where some program was yet to compile and where none was."""
    lines = ["| setting | validation accuracy, % | seconds, cold | seconds, warm |", "|---|---|---|---|"]
    for setting in SETTINGS:
        mine = [row for row in rows if row["setting"] == setting]
        if mine:

            def cell(cache: str, mine: list[Row] = mine) -> str:
                values = [row["seconds"] for row in mine if row["cache"] == cache]
                return ", ".join("not reached" if value == "" else f"{float(value):.0f}" for value in values) or "–"

            lines.append(f"| {setting} | {100 * float(mine[0]['wanted']):.1f} | {cell('cold')} | {cell('warm')} |")
    return "\n".join(lines)
