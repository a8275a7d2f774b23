"""A task as it is handed to a worker, the events that come back, and the setup of a worker process. JAX is not imported
here: a worker is pinned to its core before JAX starts."""

import importlib
import os
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from implicature.compilation_cache import enable_compilation_cache
from implicature.experiments.results import Result, TaskSpec
from implicature.experiments.smoke import MARK
from implicature.files import exclusive_lock, private_folder

State = Literal["started", "finished", "failed", "lost"]
MAX_LOSSES = 10
"""A task fails when so many workers were lost while running it."""


@dataclass(frozen=True)
class Job:
    """One task of an experiment, with all that is needed to run it elsewhere."""

    module: str
    task: TaskSpec
    games: int
    runs: Path
    arguments: list[str]
    """Of the command, for the provenance of its results."""


@dataclass(frozen=True)
class Options:
    jobs: int | None = None
    """Tasks at once."""
    address: str | None = None
    """The Ray cluster's."""
    gpus: float = 0.0
    """For each task."""


@dataclass(frozen=True)
class Event:
    """What happened to a job: it started, finished with results, failed, or was lost with its worker and will be tried
    again."""

    job: int
    """Its index."""
    state: State
    worker: str = ""
    message: str = ""
    results: list[Result] = field(default_factory=list)


def worker_lost(job: int, worker: str, losses: Counter[int]) -> Event:
    """The event of a job whose worker is gone: it is tried again, up to a limit."""
    losses[job] += 1
    if losses[job] >= MAX_LOSSES:
        message = f"{MAX_LOSSES} workers were lost while running it, the last of them {worker}."
        return Event(job, "failed", worker, message)
    return Event(job, "lost", worker, f"{worker} is gone; another worker continues from the last checkpoint.")


def run_job(job: Job) -> tuple[State, str, list[Result]]:
    """Run a job in this process: its state, an error message if it failed, its results."""
    sys.argv = job.arguments
    try:
        # Standard output is for the command's tables or JSON lines.
        with redirect_stdout(sys.stderr), compilation_for(job):
            return "finished", "", importlib.import_module(job.module).run(job.task, job.games, job.runs)
    except ValueError as error:
        return "failed", first_line(str(error)), []
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = next((frame for frame in reversed(frames) if "implicature" in frame.filename), frames[-1])
        message = first_line(f"{type(error).__name__}: {error}")
        return "failed", f"{message} ({Path(place.filename).name}, line {place.lineno})", []


@contextmanager
def compilation_for(job: Job) -> Iterator[None]:
    """A smoke run ends before optimised programs have paid for their compilation. Other runs compile many, and a
    process can hold only so many, so those of one job are dropped before the next."""
    import jax

    is_smoke, before = bool(job.task.get(MARK)), jax.config.values["jax_disable_most_optimizations"]
    jax.config.update("jax_disable_most_optimizations", is_smoke)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", before)
        if not is_smoke:
            jax.clear_caches()


def first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "No reason was given.")


@cache
def set_up_worker(gpus: float = 0.0) -> None:
    """Pin this process to a core of its own. A small program gains next to nothing from a second core, so two workers
    side by side do twice as much; and how a sum is divided among cores decides its last digit."""
    enable_compilation_cache()
    settings = {"jax_num_cpu_devices": 1} if gpus else {"jax_num_cpu_devices": 1, "jax_platforms": "cpu"}
    for name, value in settings.items():
        os.environ[name.upper()] = str(value)
        if jax := sys.modules.get("jax"):
            # Imported by the script that called the command, but not used so far.
            jax.config.update(name, value)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {claim_core(sorted(os.sched_getaffinity(0)))})


_claims = ExitStack()
"""Locks that are held as long as this process lives."""


def claim_core(cores: Sequence[int]) -> int:
    """A core that no other worker of this user has claimed, by a file lock that ends with this process, however it
    ends. If all are claimed, one is shared."""
    folder = private_folder("cores")
    for core in cores:
        with suppress(ValueError, OSError):
            _claims.enter_context(exclusive_lock(folder / str(core), "claimed"))
            return core
    return cores[os.getpid() % len(cores)]
