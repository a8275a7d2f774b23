"""A task as it is handed to a worker, what is heard of it, and how a worker prepares. No JAX here: a worker settles on
its core before it is imported, or at least before it is used."""

import importlib
import os
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Literal

from implicature.experiments.results import Row
from implicature.experiments.smoke import MARK

State = Literal["began", "ended", "failed", "lost"]
TRIES = 10
"""So many workers may be lost over one task before it counts as failed."""


@dataclass(frozen=True)
class Job:
    """One task of an experiment, and all it takes to carry it out elsewhere."""

    module: str
    task: Row
    games: int
    runs: Path
    arguments: list[str]
    """The command's own, for the rows to tell."""


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
    """What became of the job with this number: it began, ended with rows, failed by its own fault, or was lost with its
    worker and will be tried again."""

    number: int
    state: State
    where: str = ""
    sentence: str = ""
    rows: list[Row] = field(default_factory=list)


def lost(number: int, where: str, tries: Counter[int]) -> Event:
    """Whether a job whose worker is gone may have another."""
    tries[number] += 1
    if tries[number] >= TRIES:
        return Event(number, "failed", where, f"{TRIES} workers were lost over it, the last of them {where}.")
    return Event(number, "lost", where, f"{where} is gone; another worker goes on from the last checkpoint.")


def attempt(job: Job) -> tuple[State, str, list[Row]]:
    """Carry a job out in this process: its state, a sentence where it failed, its rows."""
    sys.argv = job.arguments
    try:
        # What a command prints is its rows' table, or lines for a script: warnings go elsewhere.
        with redirect_stdout(sys.stderr), compiled_for(job):
            return "ended", "", importlib.import_module(job.module).run(job.task, job.games, job.runs)
    except ValueError as mistake:
        return "failed", one_sentence(str(mistake)), []
    except Exception as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        place = next((frame for frame in reversed(frames) if "implicature" in frame.filename), frames[-1])
        said = one_sentence(f"{type(problem).__name__}: {problem}")
        return "failed", f"{said} ({Path(place.filename).name}, line {place.lineno})", []


@contextmanager
def compiled_for(job: Job) -> Iterator[None]:
    """A quick run is over before a program that took long to compile has paid for it. Others are many, and a process
    may hold only so many compiled programs: those of one job are forgotten before the next."""
    import jax

    quick, before = bool(job.task.get(MARK)), jax.config.values["jax_disable_most_optimizations"]
    jax.config.update("jax_disable_most_optimizations", quick)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", before)
        if not quick:
            jax.clear_caches()


def one_sentence(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "It did not say why.")


@cache
def settle(gpus: float = 0.0) -> None:
    """A worker's first act: settle on a core of its own. Small programs gain next to nothing from two cores, so two of
    them side by side do twice as much; and how a sum is divided among cores decides its last digit."""
    settings = {"jax_num_cpu_devices": 1} if gpus else {"jax_num_cpu_devices": 1, "jax_platforms": "cpu"}
    for name, value in settings.items():
        os.environ[name.upper()] = str(value)
        if jax := sys.modules.get("jax"):
            # Imported by the script that called the command, but not in use so far.
            jax.config.update(name, value)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {free_core(sorted(os.sched_getaffinity(0)))})


_held: list[IO[str]] = []


def free_core(cores: Sequence[int]) -> int:
    """A core that no worker of any command here has settled on, held by a lock that ends with this process, however it
    ends. If all are held, one is shared."""
    import fcntl

    folder = Path(tempfile.gettempdir()) / f"implicature-cores-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for core in cores:
        file = (folder / str(core)).open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            continue
        _held.append(file)
        return core
    return cores[os.getpid() % len(cores)]
