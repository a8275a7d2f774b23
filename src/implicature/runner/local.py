"""Worker processes on this machine, each on a core of its own."""

import multiprocessing
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from implicature.runner.tasks import Event, Job, Options, run_job, set_up_worker, worker_lost

DEFAULT_WORKERS = 2
MAX_WORKERS_PER_CORE = 8


def run_local(jobs: Sequence[Job], options: Options) -> Generator[Event, None, None]:
    if options.address is not None or options.gpus:
        raise ValueError("--address and --gpus belong to a cluster: add --engine ray.")
    workers = options.jobs or DEFAULT_WORKERS
    check_workers(workers)
    # One worker means all cores for each task, so it is not chosen because only one task is left.
    return run_in_turn(jobs) if workers == 1 else run_in_parallel(jobs, workers)


def check_workers(workers: int) -> None:
    """Raise an error for more processes than this machine can hold."""
    if workers > (most := MAX_WORKERS_PER_CORE * (os.cpu_count() or 1)):
        raise ValueError(f"{workers:,} processes are too many for this machine: ask for {most} or fewer.")


def run_in_turn(jobs: Sequence[Job]) -> Generator[Event, None, None]:
    """In this process, one after the other, with all cores."""
    for index, job in enumerate(jobs):
        yield Event(index, "started", "this process")
        state, message, results = run_job(job)
        yield Event(index, state, "this process", message, results)


# Why no concurrent.futures, loky or joblib: when one worker is killed, their pools break and end the others, too. An
# executor for each worker would save a dozen lines, hide the pid and hang if a worker is killed while it sends results.
def run_in_parallel(jobs: Sequence[Job], workers: int) -> Generator[Event, None, None]:
    """Each free worker takes the next job. A worker that dies is replaced, and its job comes next."""
    pending, losses = deque(range(len(jobs))), Counter[int]()
    idle = [start_worker() for _ in range(min(workers, len(jobs)))]
    busy: dict[Connection, tuple[BaseProcess, int]] = {}
    try:
        while pending or busy:
            while pending and idle:
                process, pipe = idle.pop()
                index = pending.popleft()
                busy[pipe] = process, index
                # If the worker has died meanwhile, it is noticed below.
                with suppress(OSError):
                    pipe.send(jobs[index])
                yield Event(index, "started", f"process {process.pid}")
            for pipe in wait(list(busy)):
                assert isinstance(pipe, Connection)
                process, index = busy.pop(pipe)
                worker = f"process {process.pid}"
                try:
                    state, message, results = pipe.recv()
                    idle.append((process, pipe))
                    yield Event(index, state, worker, message, results)
                except (EOFError, OSError):
                    event = worker_lost(index, worker, losses)
                    if event.state == "lost":
                        pending.appendleft(index)
                    idle.append(start_worker())
                    yield event
    finally:
        # The files of a run are written atomically, so that killing loses nothing.
        for process, _ in [*idle, *busy.values()]:
            process.kill()
            process.join()


def start_worker() -> tuple[BaseProcess, Connection]:
    # At exit Python would warn about what killed workers held, which it frees by itself.
    quiet = "ignore:resource_tracker:UserWarning"
    if quiet not in (warnings := os.environ.get("PYTHONWARNINGS", "")):
        os.environ["PYTHONWARNINGS"] = f"{warnings},{quiet}" if warnings else quiet
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve_jobs, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def serve_jobs(pipe: Connection) -> None:
    """The main loop of a worker. It ends with the command, even if the command is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=exit_with_parent, args=(os.getppid(),), daemon=True).start()
    set_up_worker()
    with suppress(EOFError):
        while True:
            pipe.send(run_job(pipe.recv()))


def exit_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
