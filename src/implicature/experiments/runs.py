"""The trained pair of a task, and how its results came about."""

import re
from pathlib import Path

from implicature.experiments.results import Result, TaskSpec, command, version
from implicature.experiments.smoke import shrink
from implicature.training.config import Config
from implicature.training.resolve import resolve
from implicature.training.runs.environment import recorded_environment
from implicature.training.runs.run import Run, open_run, start_run

KEY = ("setting", "split", "seed")


def train_or_load(config: Config, task: TaskSpec, runs: Path) -> Run:
    """The trained pair of a task: its run is started, resumed or loaded."""
    config = shrink(config, task).replace(split_seed=task["split"], seed=task["seed"])
    folder = runs / re.sub(r"[^\w.]+", "-", "-".join(str(task[name]) for name in KEY))
    run = open_run(folder) if (folder / "config.json").exists() else start_run(folder, config)
    if run.config != resolve(config, run.task.space, run.task.rules.candidates):
        raise ValueError(f"{folder} holds a run of another config: remove it, or name another folder with --runs.")
    for _ in run.train():
        pass
    return run


def provenance(games: int, run: Run, phase: int | None = None) -> Result:
    """How a result came about; the seconds are those until the end of the phase. Results depend on the number of
    devices."""
    names = ("game", "method", "network", "grounded", "layers", "iterations", "candidate_sets", "weight_decay")
    config, devices = run.config.flat(), recorded_environment(run.folder).get("devices", "")
    seconds = round(run.metrics.seconds(phase))
    return {name: config[name] for name in names} | {
        "games": games, "seconds": seconds, "devices": devices, "version": version(), "command": command()
    }  # fmt: skip
