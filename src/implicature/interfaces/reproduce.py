"""Run an experiment's tasks, keep its rows as they come, show its table."""

import importlib
import json
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from implicature.experiments import own
from implicature.experiments.rows import Row, read_rows, write_rows
from implicature.interfaces.board import Board, Shown
from implicature.interfaces.engines import ENGINES, Event, Job, Options
from implicature.interfaces.plan import Times, identity, plan, told

EXPERIMENTS = {
    name: f"implicature.experiments.{name.replace('-', '_')}"
    for name in (
        "table-1",
        "table-2",
        "table-3",
        "figure-2",
        "figure-3",
        "figure-4",
        "pairs",
        "ceilings",
        "candidates",
        "rounds",
        "choices",
        "seconds",
    )
}


def unfinished(tasks: list[Row], key: tuple[str, ...], rows: list[Row], only: str) -> list[Row]:
    """The tasks that have no rows yet."""
    done = {identity(row, key) for row in rows}
    return [task for task in chosen(tasks, key, only) if identity(task, key) not in done]


def chosen(tasks: list[Row], key: tuple[str, ...], only: str) -> list[Row]:
    return [task for task in tasks if only in " ".join(identity(task, key))]


def check(experiment: str, games: int, jobs: int | None, out: Path) -> None:
    if experiment not in EXPERIMENTS:
        raise ValueError(f"No experiment is called {experiment!r}: choose one of {', '.join(EXPERIMENTS)}.")
    if games < 10:
        raise ValueError(f"{games} games are too few to tell anything: ask for 10 or more.")
    if jobs is not None and jobs < 1:
        raise ValueError(f"{jobs} jobs do nothing: ask for 1 or more.")
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file, but rows go into a folder: name another with --out.")


def reproduce(
    experiment: str,
    games: int,
    jobs: int | None,
    only: str,
    out: Path,
    runs: Path,
    engine: str = "local",
    address: str | None = None,
    gpus: float = 0.0,
    workers: int | None = None,
    as_json: bool = False,
) -> None:
    """With a number of workers nothing is run, only planned."""
    check(experiment, games, jobs, out)
    module = importlib.import_module(EXPERIMENTS[experiment])
    # Tables may share rows, so that a pair is trained once for all of them.
    path = out / f"{getattr(module, 'ROWS', experiment)}.csv"
    if workers is not None:
        planned = plan(chosen(module.tasks(), module.KEY, only), read_rows(path), module.KEY, workers)
        print(json.dumps(planned)) if as_json else Console().print(Markdown(told(planned)))
        return
    key, tasks, rows = module.KEY, module.tasks(), read_rows(path)
    todo = in_order(unfinished(tasks, key, rows, only), engine, Times(rows, key))
    board = Board(experiment, chosen(tasks, key, only), todo, Times(rows, key))
    if todo:
        handed = [Job(EXPERIMENTS[experiment], task, games, runs.resolve(), sys.argv) for task in todo]
        keep(ENGINES[engine](handed, Options(jobs, address, gpus)), board, rows, path, as_json)
    if as_json:
        print(json.dumps({"rows": len(rows), "path": str(path), "failed": board.failed()}, ensure_ascii=False))
    else:
        if rows:
            Console().print(Markdown(module.render(rows)))
        print(f"{len(rows)} rows in {path}")
        if yours := own.render(experiment, read_rows(out / own.FILE)):
            Console().print(Markdown(yours))
        if rows and experiment.startswith("figure"):
            picture = out / f"{experiment}.png"
            module.draw(rows).savefig(picture, dpi=150)
            print(f"The figure is {picture}")
    if board.failed():
        print(f"implicature: tasks failed: {board.failed()}; the same command tries them again.", file=sys.stderr)
        sys.exit(1)


def in_order(todo: list[Row], engine: str, times: Times) -> list[Row]:
    """With many workers the end waits for the longest task, so that it begins first; else they stay as listed."""
    return sorted(todo, key=lambda task: times.expected(task) or 0.0, reverse=True) if engine == "ray" else todo


def keep(events: Generator[Event, None, None], board: Board, rows: list[Row], path: Path, as_json: bool) -> None:
    """Write the rows of each task as it ends, and show how things stand."""
    try:
        with closing(events), Shown(board, as_json) as shown:
            for event in events:
                if event.rows:
                    rows += event.rows
                    write_rows(path, rows)
                shown.note(event)
    except KeyboardInterrupt:
        print(f"\n{board.heading()}. Rows so far are in {path}: the same command goes on.", file=sys.stderr)
        raise
