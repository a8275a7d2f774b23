"""What pairs learn on 3D objects: seen in pictures, and known by their attributes, to show what seeing costs."""

from dataclasses import replace
from pathlib import Path

from implicature.experiments import learning
from implicature.experiments.learning import KEY, after_every_phase, repeated
from implicature.experiments.rows import Row
from implicature.training.config import Config

__all__ = ["KEY", "SETTINGS", "render", "run", "tasks"]

SEEN = Config(game="objects-4", iterations=2_000, pretraining=1_000)
PAPER = replace(SEEN, network="paper", iterations=3_000, batch=128)
GAMES = {"objects-4": {}, "objects-7": {"game": "objects-7", "iterations": 3_000, "batch": 128}}
KINDS = {
    "pictures, grounded": SEEN,
    "pictures, ungrounded": replace(SEEN, grounded=False),
    "pictures, novel targets": replace(SEEN, instances=0.8),
    "symbols, grounded": replace(SEEN, sight="symbols"),
    "symbols, ungrounded": replace(SEEN, sight="symbols", grounded=False),
    "pictures, paper network, grounded": PAPER,
    "pictures, paper network, ungrounded": replace(PAPER, grounded=False),
    "pictures, paper network, novel targets": replace(PAPER, instances=0.8),
}
SETTINGS = {
    f"{kind}, {game}": replace(config, **more) for kind, config in KINDS.items() for game, more in GAMES.items()
}


def tasks() -> list[Row]:
    return repeated(list(SETTINGS))


def run(task: Row, games: int, runs: Path) -> list[Row]:
    config = SETTINGS[task["setting"]]
    return after_every_phase(config, task, games, runs, novel=config.instances < 1)


def render(rows: list[Row]) -> str:
    return learning.render(rows, SETTINGS)
