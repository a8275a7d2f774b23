"""A Ray cluster that is there already: each task is one Ray task, rows stream back.

The runs folder is shared by all nodes (docs/clusters.md), so that whoever takes over a task whose worker was lost finds
its last checkpoint. That it is shared is checked before the first task, and again on every node that a task reaches.
"""

import importlib.metadata
import io
import logging
import os
import secrets
import socket
import tempfile
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from implicature.runner.tasks import Event, Job, Options, attempt, lost, one_sentence, settle

PATIENCE = 60.0
"""Seconds for a node to answer; it may have to start a process first."""


@dataclass(frozen=True)
class Common:
    """What every node must have in common with the machine that the command runs on."""

    token: Path
    """A file in the runs folder."""
    versions: dict[str, str]


def versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in ("implicature", "jax", "jaxlib")}


def unfit(common: Common) -> str | None:
    """Why tasks cannot be carried out here, if so."""
    here = socket.gethostname()
    if not common.token.exists():
        return f"{here} does not see {common.token.parent}: name a folder that all nodes share with --runs."
    for name, wanted in common.versions.items():
        if (found := versions()[name]) != wanted:
            return f"{here} has {name} {found} where the command has {wanted}: install the same on all nodes."
    return None


def carry_out(job: Job, common: Common, gpus: float) -> Iterator[tuple[Any, ...]]:
    """The Ray task: that it began and where, then what became of it."""
    yield "began", f"process {os.getpid()} on {socket.gethostname()}", []
    if problem := unfit(common):
        yield "failed", problem, []
        return
    settle(gpus)
    yield attempt(job)


def on_ray(jobs: Sequence[Job], options: Options) -> Generator[Event, None, None]:
    ray = connected(options.address)
    common = Common(jobs[0].runs / f".shared-{secrets.token_hex(8)}", versions())
    try:
        check_resources(ray, options.gpus)
        make(common.token)
        check_nodes(ray, common)
    except BaseException:
        left(ray, common)
        raise
    return streamed(ray, jobs, common, options)


def make(token: Path) -> None:
    try:
        token.parent.mkdir(parents=True, exist_ok=True)
        token.touch()
    except OSError as problem:
        folder = token.parent
        raise ValueError(f"{folder} cannot be written to ({problem.strerror}): name another with --runs.") from None


def left(ray: ModuleType, common: Common) -> None:
    """Ray ends what still runs of ours."""
    with suppress(OSError):
        common.token.unlink()
    ray.shutdown()


def streamed(ray: ModuleType, jobs: Sequence[Job], common: Common, options: Options) -> Generator[Event, None, None]:
    """All jobs are handed in at once, or as many as --jobs allows; a lost one is handed in again, first in line."""
    wanted = {"num_cpus": 1, "num_gpus": options.gpus, "max_retries": 0, "num_returns": "streaming"}
    task = ray.remote(carry_out).options(**wanted)
    waiting, tries = deque(range(len(jobs))), Counter[int]()
    running: dict[Any, int] = {}
    places: dict[int, str] = {}
    try:
        # Ray prints a paragraph about each worker that is lost: one sentence is enough.
        with redirect_stdout(io.StringIO()):
            while waiting or running:
                while waiting and len(running) < (options.jobs or len(jobs)):
                    number = waiting.popleft()
                    running[task.remote(jobs[number], common, options.gpus)] = number
                for stream in ray.wait(list(running), num_returns=1)[0]:
                    number = running[stream]
                    event = heard(ray, stream, number, places, tries)
                    if event.state != "began":
                        del running[stream]
                    if event.state == "lost":
                        waiting.appendleft(number)
                    yield event
    finally:
        left(ray, common)


def heard(ray: ModuleType, stream: Any, number: int, places: dict[int, str], tries: Counter[int]) -> Event:
    """The next thing that a task tells, or that its worker is gone."""
    try:
        state, sentence, rows = ray.get(next(stream))
    except ray.exceptions.RayTaskError as problem:
        return Event(number, "failed", places.get(number, ""), one_sentence(str(problem.cause)))
    except ray.exceptions.RayError:
        return lost(number, places.get(number, "its worker"), tries)
    if state == "began":
        places[number] = sentence
        return Event(number, "began", sentence)
    return Event(number, state, places[number], sentence, rows)


# Reaching the cluster


def connected(address: str | None) -> ModuleType:
    """Ray, once it has joined the cluster: the one named, or the one that runs on this machine."""
    try:
        import ray
    except ImportError:
        raise ValueError("Clusters need Ray: pip install 'implicature[cluster]'.") from None
    where = address or os.environ.get("RAY_ADDRESS") or last_started()
    if where is None:
        raise ValueError("No Ray cluster runs here: start one with `ray start --head`, or name one with --address.")
    check_reachable(where)
    try:
        ray.init(address=where, logging_level=logging.ERROR, log_to_driver=False)
    except (ValueError, ConnectionError, RuntimeError) as problem:
        raise ValueError(f"Ray cannot join the cluster at {where}: {one_sentence(str(problem))}") from None
    return ray


def last_started() -> str | None:
    """Where `ray start` notes the cluster of this machine."""
    note = Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()) / "ray" / "ray_current_cluster"
    return note.read_text().strip() or None if note.exists() else None


def check_reachable(address: str) -> None:
    """Ray itself would try for minutes. It speaks HTTP/2, whose two sides begin with an empty frame of settings."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise ValueError(f"{address!r} is no address of a Ray cluster: it reads HOST:PORT, as `ray start` tells it.")
    try:
        with socket.create_connection((host, int(port)), timeout=5) as line:
            line.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
            answer = line.recv(4)
    except (OSError, OverflowError):
        answer = None
    if answer is None or answer[3:] != b"\4":
        said = "Nobody answers" if answer is None else "Something other than Ray answers"
        raise ValueError(f"{said} at {address}: start a cluster there with `ray start --head`, or name another.")


def check_resources(ray: ModuleType, gpus: float) -> None:
    there = ray.cluster_resources()
    for wanted, name in ((1, "CPU"), (gpus, "GPU")):
        if there.get(name, 0) < wanted:
            raise ValueError(f"Each task asks for {wanted:g} {name}, but the cluster has {there.get(name, 0):g}.")


def check_nodes(ray: ModuleType, common: Common) -> None:
    """One question to each node."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    question = ray.remote(unfit)
    asked = {}
    for node in ray.nodes():
        if node["Alive"]:
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            answer = question.options(num_cpus=0, max_retries=0, scheduling_strategy=there).remote(common)
            asked[answer] = node["NodeManagerAddress"]
    answered, silent = ray.wait(list(asked), num_returns=len(asked), timeout=PATIENCE)
    if silent:
        raise ValueError(f"The node at {asked[silent[0]]} does not answer: see `ray status`, and mend or remove it.")
    for answer in answered:
        try:
            problem = ray.get(answer)
        except ray.exceptions.RayError as error:
            said = one_sentence(str(getattr(error, "cause", error)))
            raise ValueError(f"The node at {asked[answer]} cannot run tasks ({said}): install implicature.") from None
        if problem:
            raise ValueError(problem)
