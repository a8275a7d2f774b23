"""An existing Ray cluster: each task is one Ray task, and its results stream back.

All nodes share the folder of runs (docs/clusters.md), so that a task whose worker was lost continues from its last
checkpoint on any node. That the folder is shared is checked before the first task, and on every node that runs a task.
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

from implicature.runner.tasks import Event, Job, Options, first_line, run_job, set_up_worker, worker_lost

NODE_TIMEOUT = 60.0
"""Seconds for a node to answer; it may have to start a process first."""


@dataclass(frozen=True)
class Requirements:
    """What every node must have in common with the machine that runs the command."""

    token: Path
    """A file in the folder of runs."""
    versions: dict[str, str]


def installed_versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in ("implicature", "jax", "jaxlib")}


def node_error(required: Requirements) -> str | None:
    """Why tasks cannot run on this node, if so."""
    here = socket.gethostname()
    if not required.token.exists():
        return f"{here} does not see {required.token.parent}: name a folder that all nodes share with --runs."
    for name, wanted in required.versions.items():
        if (found := installed_versions()[name]) != wanted:
            return f"{here} has {name} {found} where the command has {wanted}: install the same on all nodes."
    return None


def ray_task(job: Job, required: Requirements, gpus: float) -> Iterator[tuple[Any, ...]]:
    """That it has started and where, then its outcome."""
    yield "started", f"process {os.getpid()} on {socket.gethostname()}", []
    if error := node_error(required):
        yield "failed", error, []
        return
    set_up_worker(gpus)
    yield run_job(job)


def run_on_ray(jobs: Sequence[Job], options: Options) -> Generator[Event, None, None]:
    ray = connect(options.address)
    required = Requirements(jobs[0].runs / f".shared-{secrets.token_hex(8)}", installed_versions())
    try:
        check_resources(ray, options.gpus)
        create_token(required.token)
        check_nodes(ray, required)
    except BaseException:
        disconnect(ray, required)
        raise
    return stream_events(ray, jobs, required, options)


def create_token(token: Path) -> None:
    try:
        token.parent.mkdir(parents=True, exist_ok=True)
        token.touch()
    except OSError as error:
        folder = token.parent
        raise ValueError(f"{folder} cannot be written to ({error.strerror}): name another with --runs.") from None


def disconnect(ray: ModuleType, required: Requirements) -> None:
    """Ray ends the tasks that still run."""
    with suppress(OSError):
        required.token.unlink()
    ray.shutdown()


def stream_events(
    ray: ModuleType, jobs: Sequence[Job], required: Requirements, options: Options
) -> Generator[Event, None, None]:
    """All jobs are submitted at once, or as many as --jobs allows; a lost one is submitted again before the others."""
    resources = {"num_cpus": 1, "num_gpus": options.gpus, "max_retries": 0, "num_returns": "streaming"}
    task = ray.remote(ray_task).options(**resources)
    pending, losses = deque(range(len(jobs))), Counter[int]()
    running: dict[Any, int] = {}
    workers: dict[int, str] = {}
    try:
        # Ray prints a paragraph about each lost worker.
        with redirect_stdout(io.StringIO()):
            while pending or running:
                while pending and len(running) < (options.jobs or len(jobs)):
                    index = pending.popleft()
                    running[task.remote(jobs[index], required, options.gpus)] = index
                for stream in ray.wait(list(running), num_returns=1)[0]:
                    index = running[stream]
                    event = next_event(ray, stream, index, workers, losses)
                    if event.state != "started":
                        del running[stream]
                    if event.state == "lost":
                        pending.appendleft(index)
                    yield event
    finally:
        disconnect(ray, required)


def next_event(ray: ModuleType, stream: Any, index: int, workers: dict[int, str], losses: Counter[int]) -> Event:
    """The next item of a task's stream, or the loss of its worker."""
    try:
        state, message, results = ray.get(next(stream))
    except ray.exceptions.RayTaskError as error:
        return Event(index, "failed", workers.get(index, ""), first_line(str(error.cause)))
    except ray.exceptions.RayError:
        return worker_lost(index, workers.get(index, "its worker"), losses)
    if state == "started":
        workers[index] = message
        return Event(index, "started", message)
    return Event(index, state, workers[index], message, results)


# Connecting to the cluster


def connect(address: str | None) -> ModuleType:
    """The ray module, connected to the cluster at the address, or to the one on this machine."""
    try:
        import ray
    except ImportError:
        raise ValueError("Clusters need Ray: pip install 'implicature[cluster]'.") from None
    found = address or os.environ.get("RAY_ADDRESS") or local_cluster()
    if found is None:
        raise ValueError("No Ray cluster runs here: start one with `ray start --head`, or name one with --address.")
    check_reachable(found)
    try:
        ray.init(address=found, logging_level=logging.ERROR, log_to_driver=False)
    except (ValueError, ConnectionError, RuntimeError) as error:
        raise ValueError(f"Ray cannot join the cluster at {found}: {first_line(str(error))}") from None
    return ray


def local_cluster() -> str | None:
    """The address of the cluster that `ray start` started on this machine, from the file where it keeps it."""
    file = Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()) / "ray" / "ray_current_cluster"
    return file.read_text().strip() or None if file.exists() else None


def check_reachable(address: str) -> None:
    """Ray itself would retry for minutes. It speaks HTTP/2, where both sides begin with an empty SETTINGS frame."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise ValueError(f"{address!r} is not the address of a Ray cluster: give HOST:PORT, as `ray start` prints it.")
    try:
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
            answer = connection.recv(4)
    except (OSError, OverflowError):
        answer = None
    if answer is None or answer[3:] != b"\4":
        reason = "Nothing answers" if answer is None else "Something other than Ray answers"
        raise ValueError(f"{reason} at {address}: start a cluster there with `ray start --head`, or name another.")


def check_resources(ray: ModuleType, gpus: float) -> None:
    available = ray.cluster_resources()
    for wanted, name in ((1, "CPU"), (gpus, "GPU")):
        if available.get(name, 0) < wanted:
            raise ValueError(f"Each task needs {wanted:g} {name}, but the cluster has {available.get(name, 0):g}.")


def check_nodes(ray: ModuleType, required: Requirements) -> None:
    """Ask every node for its error, if any."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    question = ray.remote(node_error)
    asked = {}
    for node in ray.nodes():
        if node["Alive"]:
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            answer = question.options(num_cpus=0, max_retries=0, scheduling_strategy=there).remote(required)
            asked[answer] = node["NodeManagerAddress"]
    answered, silent = ray.wait(list(asked), num_returns=len(asked), timeout=NODE_TIMEOUT)
    if silent:
        raise ValueError(f"The node at {asked[silent[0]]} does not answer: see `ray status`, and repair or remove it.")
    for answer in answered:
        try:
            error = ray.get(answer)
        except ray.exceptions.RayError as failure:
            reason = first_line(str(getattr(failure, "cause", failure)))
            raise ValueError(
                f"The node at {asked[answer]} cannot run tasks ({reason}): install implicature there."
            ) from None
        if error:
            raise ValueError(error)
