"""An experiment without JAX whose tasks only take time: the first none, the second more than anybody has."""

import time
from pathlib import Path

from implicature.experiments.results import Row

KEY = ("setting",)
SECONDS = {"a wink": 0, "a winter": 10_000}


def tasks() -> list[Row]:
    return [{"setting": name} for name in SECONDS]


def run(task: Row, games: int, runs: Path) -> list[Row]:
    time.sleep(SECONDS[task["setting"]])
    return [{**task, "games": games}]


def render(rows: list[Row]) -> str:
    return f"{len(rows)} naps"
