"""An experiment of a few seconds a task, one of which cannot be done: python tiny.py reproduce tiny …"""

from dataclasses import replace
from pathlib import Path

from implicature.experiments import learning
from implicature.experiments.rows import Row
from implicature.interfaces.cli import main
from implicature.interfaces.reproduce import EXPERIMENTS
from implicature.training.config import Config

GROUNDED = Config(train_games=2000, pretraining=250, iterations=2500, phases=1, batch=16, width=4, depth=1)
SETTINGS = {"grounded": GROUNDED, "impossible": replace(GROUNDED, batch=0)}
KEY = learning.KEY


def tasks() -> list[Row]:
    names = ["grounded", "grounded", "grounded", "impossible"]
    return [{"setting": name, "split": 0, "seed": seed} for seed, name in enumerate(names)]


def run(task: Row, games: int, runs: Path) -> list[Row]:
    return learning.after_every_phase(SETTINGS[task["setting"]], task, games, runs)


def render(rows: list[Row]) -> str:
    return f"{len(rows)} rows"


if __name__ == "__main__":
    EXPERIMENTS["tiny"] = "tiny"
    main()
