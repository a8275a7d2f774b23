"""Run an experiment's tasks, keep its rows as they come, show its table."""

import importlib
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from implicature.experiments.rows import Row, read_rows, write_rows

EXPERIMENTS = {
    name: f"implicature.experiments.{name}"
    for name in ("ceilings", "learning", "candidates", "rounds", "baselines", "choices", "seconds")
}


def one_core(taken: "multiprocessing.Queue[int]") -> None:
    """A worker's first act, before it imports JAX: settle on a core of its own. Small programs gain next to nothing
    from two cores, so two of them side by side do twice as much. If the command is killed, so is its worker."""
    os.sched_setaffinity(0, {taken.get()})
    threading.Thread(target=leave_with, args=(os.getppid(),), daemon=True).start()


def leave_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def work(module: str, task: Row, games: int, runs: Path, arguments: list[str]) -> list[Row]:
    """One task, in this process or another."""
    sys.argv = arguments
    return importlib.import_module(module).run(task, games, runs)


def results(module: str, todo: list[Row], games: int, runs: Path, jobs: int) -> Iterator[list[Row]]:
    """The rows of each task as it ends."""
    if jobs == 1:
        for task in todo:
            yield work(module, task, games, runs, sys.argv)
        return
    context = multiprocessing.get_context("spawn")
    cores = context.Queue()
    available = sorted(os.sched_getaffinity(0))
    for i in range(jobs):
        cores.put(available[i % len(available)])
    with ProcessPoolExecutor(jobs, context, one_core, (cores,)) as pool:
        running = [pool.submit(work, module, task, games, runs, sys.argv) for task in todo]
        try:
            for done in as_completed(running):
                yield done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def unfinished(tasks: list[Row], key: tuple[str, ...], rows: list[Row], only: str) -> list[Row]:
    """The tasks that have no rows yet."""

    def identity(row: Row) -> tuple[str, ...]:
        return tuple(str(row[name]) for name in key)

    done = {identity(row) for row in rows}
    return [task for task in tasks if identity(task) not in done and only in " ".join(identity(task))]


def reproduce(experiment: str, games: int, jobs: int, only: str, out: Path, runs: Path) -> None:
    if experiment not in EXPERIMENTS:
        raise ValueError(f"No experiment is called {experiment!r}: choose one of {', '.join(EXPERIMENTS)}.")
    if games < 10:
        raise ValueError(f"{games} games are too few to tell anything: ask for 10 or more.")
    if jobs < 1:
        raise ValueError(f"{jobs} jobs do nothing: ask for 1 or more.")
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file, but rows go into a folder: name another with --out.")
    module = importlib.import_module(EXPERIMENTS[experiment])
    path = out / f"{experiment}.csv"
    rows = read_rows(path)
    todo = unfinished(module.tasks(), module.KEY, rows, only)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        bar = progress.add_task(experiment, total=len(todo))
        for new in results(EXPERIMENTS[experiment], todo, games, runs, min(jobs, len(todo) or 1)):
            rows += new
            write_rows(path, rows)
            progress.advance(bar)
    Console().print(Markdown(module.render(rows)))
    print(f"{len(rows)} rows in {path}")
