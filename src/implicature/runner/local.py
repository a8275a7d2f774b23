"""Processes on this machine, each on a core of its own."""

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

from implicature.runner.tasks import Event, Job, Options, attempt, lost, settle

JOBS = 2
EACH = 8
"""So many processes may share a core."""


def on_this_machine(jobs: Sequence[Job], options: Options) -> Generator[Event, None, None]:
    if options.address is not None or options.gpus:
        raise ValueError("--address and --gpus belong to a cluster: say --engine ray, too.")
    check_workers(options.jobs or JOBS)
    # Not fewer because fewer tasks are left: with one job a task has all cores, and its batch is divided among them.
    return in_turn(jobs) if (options.jobs or JOBS) == 1 else side_by_side(jobs, options.jobs or JOBS)


def check_workers(number: int) -> None:
    """Raise a sentence for more processes than this machine can hold."""
    if number > (most := EACH * (os.cpu_count() or 1)):
        raise ValueError(f"{number:,} processes are too many for this machine: ask for {most} or fewer.")


def in_turn(jobs: Sequence[Job]) -> Generator[Event, None, None]:
    """In this process, one after the other, with all cores."""
    for number, job in enumerate(jobs):
        yield Event(number, "began", "this process")
        state, sentence, rows = attempt(job)
        yield Event(number, state, "this process", sentence, rows)


def side_by_side(jobs: Sequence[Job], workers: int) -> Generator[Event, None, None]:
    """Whoever is free takes the next job. A worker that dies is replaced, and its job is the next."""
    waiting, tries = deque(range(len(jobs))), Counter[int]()
    idle = [hired() for _ in range(min(workers, len(jobs)))]
    busy: dict[Connection, tuple[BaseProcess, int]] = {}
    try:
        while waiting or busy:
            while waiting and idle:
                process, pipe = idle.pop()
                number = waiting.popleft()
                busy[pipe] = process, number
                # If it died meanwhile, it is found dead below.
                with suppress(OSError):
                    pipe.send(jobs[number])
                yield Event(number, "began", f"process {process.pid}")
            for pipe in wait(list(busy)):
                assert isinstance(pipe, Connection)
                process, number = busy.pop(pipe)
                where = f"process {process.pid}"
                try:
                    state, sentence, rows = pipe.recv()
                    idle.append((process, pipe))
                    yield Event(number, state, where, sentence, rows)
                except (EOFError, OSError):
                    event = lost(number, where, tries)
                    if event.state == "lost":
                        waiting.appendleft(number)
                    idle.append(hired())
                    yield event
    finally:
        # Files of a run are written whole or not at all, so that nothing is lost.
        for process, _ in [*idle, *busy.values()]:
            process.kill()
            process.join()


def hired() -> tuple[BaseProcess, Connection]:
    # Python would list at the end what a killed worker left in its hands; it takes that back itself.
    quiet = "ignore:resource_tracker:UserWarning"
    if quiet not in (warnings := os.environ.get("PYTHONWARNINGS", "")):
        os.environ["PYTHONWARNINGS"] = f"{warnings},{quiet}" if warnings else quiet
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def serve(pipe: Connection) -> None:
    """A worker's life: jobs in, what became of them out. If the command is killed, so is its worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with, args=(os.getppid(),), daemon=True).start()
    settle()
    with suppress(EOFError):
        while True:
            pipe.send(attempt(pipe.recv()))


def leave_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
