"""An experiment of a few seconds a task, one of which cannot be done: python tiny.py reproduce tiny … (or naps)."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from safetensors.numpy import load_file

from implicature.cli.main import main
from implicature.cli.reproduce import EXPERIMENTS
from implicature.experiments import pairs
from implicature.experiments.results import Row
from implicature.training.config import Config

SMALL = Config(grounded=False, train_games=2000, iterations=1000, phases=1, batch=16, width=4, depth=1)
SETTINGS = {"small": SMALL, "impossible": replace(SMALL, batch=0)}
KEY = pairs.KEY


def tasks() -> list[Row]:
    names = ["small", "small", "impossible"]
    return [{"setting": name, "split": 0, "seed": seed} for seed, name in enumerate(names)]


def run(task: Row, games: int, runs: Path) -> list[Row]:
    """What was learned, to the last bit."""
    pair = pairs.trained(SETTINGS[task["setting"]], task, runs)
    weights = sha256()
    for name, array in sorted(load_file(pair.phase_file(1)).items()):
        weights.update(name.encode() + array.tobytes())
    return [{**task, "weights": weights.hexdigest(), **pairs.made(games, pair)}]


def render(rows: list[Row]) -> str:
    return f"{len(rows)} rows"


if __name__ == "__main__":
    EXPERIMENTS.update(tiny="tiny", naps="naps")
    main()
