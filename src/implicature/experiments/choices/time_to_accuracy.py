"""Time to accuracy: seconds of training, from drawing the training games on, until validation accuracy reaches what the
paper's pairs reached on test games. Measure it on an idle machine, one job at a time."""

import os
import time
from pathlib import Path

from implicature.experiments.paper.pairs import SETTINGS as PAIRS
from implicature.experiments.results import Result, TaskSpec, command, version
from implicature.experiments.table import MISSING, Cell, Number, Row, Table
from implicature.training.runs.run import start_run

TARGET_ACCURACY = {"numbers-4": 0.989, "numbers-7": 0.932}
SETTINGS = {
    name: PAIRS[name]
    for game in TARGET_ACCURACY
    for network in ("exchange", "deep-sets")
    for name in (f"{network}, grounded, {game}", f"{network}, ungrounded, {game}")
}
RUNS = 3
KEY = ("setting", "seed")


def tasks() -> list[TaskSpec]:
    return [{"setting": setting, "seed": seed} for setting in SETTINGS for seed in range(RUNS)]


def count_programs() -> int:
    """How many compiled programs JAX's cache on disk holds."""
    import jax

    folder = jax.config.values["jax_compilation_cache_dir"]
    return len(list(Path(folder).iterdir())) if folder and Path(folder).exists() else 0


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """Train until the target accuracy; the best accuracy and no seconds where training ends before."""
    config = SETTINGS[task["setting"]].replace(seed=task["seed"])
    target = TARGET_ACCURACY[config.game.game]
    programs, started, best = count_programs(), time.monotonic(), 0.0
    folder = runs / f"time-to-accuracy-{os.getpid()}-{time.time_ns()}"
    seconds: float | str = ""
    for progress in start_run(folder, config).train():
        best = max(best, progress.metrics["accuracy"][0])
        if best >= target:
            seconds = round(time.monotonic() - started, 1)
            break
    cache = "cold" if count_programs() > programs else "warm"
    figures = {"target_accuracy": target, "best_accuracy": round(best, 4), "seconds": seconds, "cache": cache}
    iterations = config.optimiser.iterations
    return [{**task, **figures, "iterations": iterations, "version": version(), "command": command()}]


def render(results: list[Result]) -> list[Table]:
    """The seconds of each run, where some program had to be compiled and where none had."""
    rows = []
    for setting in SETTINGS:
        if own := [one for one in results if one["setting"] == setting]:
            target = Number(100 * float(own[0]["target_accuracy"]), 1)
            rows.append(Row(setting, [target, seconds_cell(own, "cold"), seconds_cell(own, "warm")]))
    return [Table("setting", ["validation accuracy, %", "seconds, cold cache", "seconds, warm cache"], rows)]


def seconds_cell(results: list[Result], cache: str) -> Cell:
    seconds = [one["seconds"] for one in results if one["cache"] == cache]
    return ", ".join("not reached" if each == "" else f"{float(each):.0f}" for each in seconds) or MISSING
