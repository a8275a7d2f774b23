"""Run experiments task by task, keep their rows as they come, show their tables."""

import importlib
import json
import sys
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from math import inf
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from matplotlib.figure import Figure
from rich.console import Console
from rich.markdown import Markdown

from implicature.experiments import external as own
from implicature.experiments import smoke as quick
from implicature.experiments.results import Row, read_rows, write_rows
from implicature.files import check_folder
from implicature.games.sampling import check_n_games
from implicature.runner import ENGINES, Event, Job, Options
from implicature.runner.progress import Board, Shown
from implicature.runner.schedule import Times, identity, plan, told

Shape = TypeVar("Shape")
MOST_PLAYED = 12
"""Candidates of any game that an experiment plays."""

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
        "cross-play",
        "candidates",
        "rounds",
        "robustness",
        "choices",
        "seconds",
    )
}
ALL = ("ceilings", "pairs", "figure-2", "figure-4", "cross-play", "rounds", "candidates")
"""What makes rows for the whole paper, one after the other, as later ones play with the pairs of `pairs`."""
QUICK = ("ceilings", "pairs", "figure-2", "figure-4", "cross-play")
SHOWN = ("table-1", "table-2", "table-3", "figure-2", "figure-3", "figure-4", "cross-play", "rounds", "candidates")
"""What is made of these rows."""
TRAINING = ("pairs", "rounds")
"""Those that take the time: the others play with their pairs."""
GAMES = 20_000


@dataclass(frozen=True)
class Folders:
    """Where rows and runs are; quick ones have folders of their own."""

    out: Path
    runs: Path
    quick: bool = False

    def rows(self, experiment: str) -> Path:
        """Tables may share rows, so that a pair is trained once for all of them."""
        name = getattr(module_of(experiment), "ROWS", experiment)
        return (self.out / quick.MARK if self.quick else self.out) / f"{name}.csv"

    def read(self, experiment: str) -> list[Row]:
        return read_rows(self.rows(experiment), module_of(experiment).KEY)

    def trained(self) -> Path:
        return (self.runs / quick.MARK if self.quick else self.runs).resolve()

    def rendered(self, experiment: str) -> str:
        """An experiment's table by the rows that are there."""
        module = module_of(experiment)
        beside = [self.read(name) for name in getattr(module, "BESIDE", ())]
        rows = self.read(experiment)
        return told_by(module.render, self.rows(experiment), rows, *beside) if rows else ""


def module_of(experiment: str) -> ModuleType:
    return importlib.import_module(EXPERIMENTS[experiment])


def tasks_of(experiment: str, small: bool) -> list[Row]:
    tasks = module_of(experiment).tasks()
    return quick.some(tasks) if small else tasks


def unfinished(tasks: list[Row], key: tuple[str, ...], rows: list[Row], only: str) -> list[Row]:
    """The tasks that have no rows yet."""
    done = {identity(row, key) for row in rows}
    return [task for task in chosen(tasks, key, only) if identity(task, key) not in done]


def chosen(tasks: list[Row], key: tuple[str, ...], only: str) -> list[Row]:
    return [task for task in tasks if only in " ".join(identity(task, key))]


def check(experiment: str, games: int, folders: Folders, options: Options) -> None:
    if experiment not in (*EXPERIMENTS, "all"):
        raise ValueError(f"No experiment is called {experiment!r}: choose one of {', '.join(EXPERIMENTS)}, all.")
    check_n_games(games, MOST_PLAYED)
    if options.jobs is not None and options.jobs < 1:
        raise ValueError(f"{options.jobs} jobs do nothing: ask for 1 or more.")
    if not 0 <= options.gpus < inf:
        raise ValueError(f"{options.gpus:g} graphics processors for each task: ask for 0 or more.")
    if folders.out.exists() and not folders.out.is_dir():
        raise ValueError(f"{folders.out} is a file, but rows go into a folder: name another with --out.")
    if folders.out.name == quick.MARK:
        raise ValueError(f"{folders.out} is for quick rows, which stay apart from others: name its parent with --out.")
    check_folder(folders.out, "--out")


def told_by(way: Callable[..., Shape], path: Path, *rows: list[Row]) -> Shape:
    """What rows tell, as a table or a picture; a sentence for those that are not of the experiment."""
    try:
        return way(*rows)
    except Exception as problem:
        raise ValueError(
            f"{path} has rows that are not of this experiment ({type(problem).__name__}: {problem}): "
            "mend it or move it away, or name another folder with --out."
        ) from None


def reproduce(
    experiment: str,
    games: int | None,
    only: str,
    folders: Folders,
    options: Options,
    engine: str = "local",
    workers: int | None = None,
    as_json: bool = False,
) -> None:
    """With a number of workers nothing is run, only planned."""
    if games is None:
        games = quick.GAMES if folders.quick else GAMES
    check(experiment, games, folders, options)
    several = (QUICK if folders.quick else ALL) if experiment == "all" else (experiment,)
    if workers is not None:
        planned = planned_for(
            [name for name in several if len(several) == 1 or name in TRAINING], only, folders, workers
        )
        print(json.dumps(planned)) if as_json else tell(told(planned))
        return
    check_folder(folders.runs, "--runs")
    failed = 0
    for number, name in enumerate(several):
        title = name if len(several) == 1 else f"{name} ({number + 1} of {len(several)})"
        failed += carried_out(name, title, games, only, folders, options, engine, as_json)
    shown = [name for name in SHOWN if folders.rows(name).exists()] if experiment == "all" else [experiment]
    if not as_json:
        for name in shown:
            show(name, folders)
    if failed:
        print(f"implicature: tasks failed: {failed}; the same command tries them again.", file=sys.stderr)
        sys.exit(1)


def planned_for(experiments: list[str], only: str, folders: Folders, workers: int) -> Row:
    """Experiments that train the same pairs count them once."""
    key = module_of(experiments[0]).KEY
    tasks: dict[tuple[str, ...], Row] = {}
    rows: list[Row] = []
    for name in experiments:
        tasks |= {identity(task, key): task for task in chosen(tasks_of(name, folders.quick), key, only)}
        rows += folders.read(name)
    return plan(list(tasks.values()), rows, key, workers)


def carried_out(
    experiment: str, title: str, games: int, only: str, folders: Folders, options: Options, engine: str, as_json: bool
) -> int:
    """Do what is left of one experiment; how many tasks failed."""
    path, key = folders.rows(experiment), module_of(experiment).KEY
    tasks, rows = tasks_of(experiment, folders.quick), folders.read(experiment)
    folders.rendered(experiment)  # rows that are not of it are found rather before more are added to them than after
    todo = in_order(unfinished(tasks, key, rows, only), engine, Times(rows, key))
    board = Board(title, chosen(tasks, key, only), todo, Times(rows, key))
    if todo:
        handed = [Job(EXPERIMENTS[experiment], task, games, folders.trained(), sys.argv) for task in todo]
        keep(ENGINES[engine](handed, options), board, rows, path, as_json)
    if as_json:
        print(json.dumps({"rows": len(rows), "path": str(path), "failed": board.failed()}, ensure_ascii=False))
    return board.failed()


def tell(markdown: str) -> None:
    """As a table for eyes; for a file or a pipe, where nobody knows how wide a line may be, as it is."""
    console = Console()
    console.print(Markdown(markdown)) if console.is_terminal else print(markdown)


def show(experiment: str, folders: Folders) -> None:
    """An experiment's table, and its picture in a file."""
    path = folders.rows(experiment)
    rows = folders.read(experiment)
    if rows:
        if folders.quick:
            print(quick.WARNING)
        tell(folders.rendered(experiment))
    print(f"{len(rows)} rows in {path}")
    if yours := own.render(experiment, read_rows(folders.out / own.FILE)):
        tell(yours)
    if rows and experiment.startswith("figure"):
        picture = path.with_name(f"{experiment}.png")
        picture_of(experiment, folders).savefig(picture, dpi=150)
        print(f"The figure is {picture}")


def picture_of(experiment: str, folders: Folders) -> Figure:
    """A figure by the rows that are there; a quick one says so."""
    figure = told_by(module_of(experiment).draw, folders.rows(experiment), folders.read(experiment))
    if folders.quick:
        figure.text(0.5, 0.5, "QUICK", fontsize=90, color="#d1495b", alpha=0.13, ha="center", va="center", rotation=25)
    return figure


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
