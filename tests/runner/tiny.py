"""An experiment of a few seconds a task, one of which fails: python tiny.py reproduce tiny … (or naps)."""

from hashlib import sha256
from pathlib import Path

from safetensors.numpy import load_file

from implicature.cli.main import main
from implicature.experiments.paper import pairs
from implicature.experiments.registry import EXPERIMENTS
from implicature.experiments.results import Result, TaskSpec
from implicature.experiments.table import Row, Table
from implicature.training.config import Config

SMALL = Config.of(
    grounded=False, train_games=2000, iterations=1000, phases=1, candidate_sets=16, width=4, layers=1, q_hidden=8
)
SETTINGS = {"small": {}, "impossible": {"candidate_sets": 0}}
KEY = pairs.KEY


def tasks() -> list[TaskSpec]:
    names = ["small", "small", "impossible"]
    return [{"setting": name, "split": 0, "seed": seed} for seed, name in enumerate(names)]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """What was learned, to the last bit."""
    trained = pairs.train_or_load(SMALL.replace(**SETTINGS[task["setting"]]), task, runs)
    weights = sha256()
    for name, array in sorted(load_file(trained.phase_file(1)).items()):
        weights.update(name.encode() + array.tobytes())
    return [{**task, "weights": weights.hexdigest(), **pairs.provenance(games, trained)}]


def render(results: list[Result]) -> list[Table]:
    return [Table("tiny", ["weights"], [Row(one["setting"], [one["weights"]]) for one in results])]


if __name__ == "__main__":
    EXPERIMENTS.update(tiny="tiny", naps="naps")
    main()
