"""A run of the appointment game: training in a folder that can be interrupted and resumed.

    RUN/config.json               the config, the version
    RUN/metrics.csv               a line for each chunk of iterations
    RUN/phase-N.safetensors       the players after phase N; phase 0 is before the first
    RUN/checkpoint.safetensors    the players after the last half of a phase that was finished

Every random number is a function of (seed, half phase, iteration): a run that was stopped begins its half again and
ends as if it had not been.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

import jax

from implicature import __version__
from implicature.agents.appointment.learned import LearnedPlayer
from implicature.agents.contracts import Pair
from implicature.files import exclusive_lock, write_atomic
from implicature.games.appointment import NAME, AppointmentRules
from implicature.training.algorithm1 import Progress
from implicature.training.appointment.algorithm1 import (
    AppointmentTask,
    appointment_algorithm1,
    appointment_stages,
    new_players,
)
from implicature.training.appointment.partner import MAX_MESSAGES
from implicature.training.config import Config
from implicature.training.fields import flag
from implicature.training.runs.checkpoint import load_tree, read_whole, save_tree
from implicature.training.runs.environment import environment
from implicature.training.runs.metrics import MetricsFile, Position
from implicature.training.runs.run import FILES, LOCK, busy, check_finite, read_config
from implicature.training.runs.upgrade import FORMAT
from implicature.training.stages import Stage

USED = (
    "game", "rounds", "message_cost", "train_instance_fraction", "split_seed", "width", "phases", "iterations",
    "learning_rate", "schedule", "gradient_clip", "optimiser", "weight_decay", "seed", "beta",
)  # fmt: skip
"""The settings that have an effect in this game."""


class AppointmentRun:
    """A run folder of two players, new or existing."""

    def __init__(self, folder: Path, config: Config):
        self.folder, self.config = folder, config
        self.task = AppointmentTask(config, appointment_rules(config))
        self.stages = appointment_stages(config)
        self.key = jax.random.key(config.optimiser.seed)

    @cached_property
    def new(self) -> Pair:
        return new_players(jax.random.fold_in(self.key, 0), self.task)

    @property
    def metrics(self) -> MetricsFile:
        return MetricsFile(self.folder / "metrics.csv", 1)

    @property
    def total_iterations(self) -> int:
        return sum(stage.iterations for stage in self.stages)

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint.safetensors"

    def phase_file(self, phase: int) -> Path:
        return self.folder / f"phase-{phase}.safetensors"

    @property
    def finished(self) -> bool:
        return self.phase_file(self.config.optimiser.phases).exists()

    def iterations_done(self, progress: Progress) -> int:
        return sum(stage.iterations for stage in self.stages[: progress.stage_index]) + progress.iteration

    def train(self, warn: Callable[[str], None] = print) -> Iterator[Progress]:
        """Train from where the folder stands to the end, yielding after each chunk."""
        if self.finished:
            return
        with exclusive_lock(self.folder / LOCK, busy(self.folder)):
            stage_index, pair = self._restore()
            self.metrics.truncate(stage_index, 0)
            started = time.monotonic() - self.metrics.seconds()
            if stage_index == 0:
                self._save(self.phase_file(0), pair, 0)
            for progress in appointment_algorithm1(self.task, self.key, pair, stage_index):
                check_finite(progress, self.folder)
                stage, index = progress.stage, progress.stage_index
                position = Position(index, stage.phase, stage.agent, progress.iteration)
                self.metrics.append(position, progress.metrics, time.monotonic() - started)
                if progress.iteration == stage.iterations:
                    self._save_half(progress.pairs, stage, index + 1)
                yield progress

    def _save_half(self, pair: Pair, stage: Stage, done: int) -> None:
        if done == len(self.stages) or self.stages[done].phase != stage.phase:
            self._save(self.phase_file(stage.phase), pair, done)
        if done < len(self.stages):
            self._save(self.checkpoint, pair, done)

    def _save(self, path: Path, pair: Pair, done: int) -> None:
        save_tree(path, pair, {"stage": str(done), "version": __version__, "config": json.dumps(self.config.flat())})

    def _restore(self) -> tuple[int, Pair]:
        if not self.checkpoint.exists():
            return 0, self.new
        notes, _ = read_whole(self.checkpoint)
        done = int(notes.get("stage", "-1"))
        if not 0 < done < len(self.stages):
            raise ValueError(f"{self.checkpoint} is at a stage that this run does not have: train another.")
        return done, load_tree(self.checkpoint, self.new)

    def players(self, phase: int | None = None) -> tuple[LearnedPlayer, LearnedPlayer]:
        """Both after a phase, by default the last."""
        phases = self.config.optimiser.phases
        number = phases if phase is None else phase
        if not 0 <= number <= phases:
            raise ValueError(f"{self.folder} has phases 0 to {phases}, but no phase {number}.")
        if not self.phase_file(number).exists():
            raise ValueError(
                f"{self.folder} is not trained so far: go on with  implicature train --resume {self.folder}"
            )
        pair = load_tree(self.phase_file(number), self.new)
        assert isinstance(pair.teacher, LearnedPlayer)
        assert isinstance(pair.student, LearnedPlayer)
        return pair.teacher, pair.student


def appointment_rules(config: Config) -> AppointmentRules:
    return AppointmentRules(messages=config.game.rounds, message_cost=config.game.message_cost)


def check_appointment(config: Config) -> None:
    """Raise an error for settings that this game does not have."""
    values, defaults = config.flat(), Config.of(game=NAME).flat()
    for name, value in values.items():
        if name not in USED and value != defaults[name]:
            raise ValueError(f"{flag(name)} has no effect in the appointment game: leave it out.")
    if not 1 <= config.game.rounds <= MAX_MESSAGES:
        raise ValueError(
            f"--rounds is {config.game.rounds}: players of the appointment game are trained with 1 or {MAX_MESSAGES}."
        )
    if config.data.train_instance_fraction != defaults["train_instance_fraction"]:
        raise ValueError("--train-instance-fraction is 0.7 in the appointment game: leave it out.")
    if config.network.width is None or config.method.beta is None:
        raise ValueError("The appointment game needs --width and --beta: make its config with Config.of(game=…).")


def start_appointment(folder: Path, config: Config) -> AppointmentRun:
    """A new run in an empty or new folder."""
    check_appointment(config)
    if (folder / "config.json").exists():
        raise ValueError(f"{folder} holds a run already: go on with --resume, or choose another --out.")
    if existing := sorted(name for pattern in FILES for name in folder.glob(pattern)):
        raise ValueError(
            f"{folder} has a {existing[0].name} already, which a run would overwrite: choose another --out."
        )
    run = AppointmentRun(folder, config)
    folder.mkdir(parents=True, exist_ok=True)
    content = {"format": FORMAT, "version": __version__, "config": asdict(config), "environment": environment()}
    write_atomic(folder / "config.json", json.dumps(content, indent=2).encode())
    return run


def is_appointment(folder: Path | str) -> bool:
    """Whether the folder is a run of this game."""
    return (Path(folder) / "config.json").is_file() and read_config(Path(folder)).game.game == NAME


def open_appointment(folder: Path | str) -> AppointmentRun:
    config = read_config(Path(folder))
    check_appointment(config)
    return AppointmentRun(Path(folder), config)
