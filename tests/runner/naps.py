"""An experiment without JAX whose tasks only take time: the first none, the second longer than any test."""

import time
from pathlib import Path

from implicature.experiments.results import Result, TaskSpec
from implicature.experiments.table import Row, Table

KEY = ("setting",)
SECONDS = {"short": 0, "endless": 10_000}


def tasks() -> list[TaskSpec]:
    return [{"setting": name} for name in SECONDS]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    time.sleep(SECONDS[task["setting"]])
    return [{**task, "games": games}]


def render(results: list[Result]) -> list[Table]:
    return [Table("naps", [], [Row(one["setting"], []) for one in results])]
