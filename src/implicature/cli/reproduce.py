"""`implicature reproduce`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from implicature.cli.devices import use_all_cores

if TYPE_CHECKING:
    from implicature.experiments.registry import Folders
    from implicature.experiments.table import Table
    from implicature.runner import Options

GAMES = 100_000
MAX_CANDIDATES = 12
"""Of any game that an experiment plays."""


def reproduce(
    experiment: tyro.conf.Positional[str],
    smoke: bool = False,
    games: Annotated[int | None, tyro.conf.arg(metavar="N")] = None,
    jobs: Annotated[int | None, tyro.conf.arg(metavar="N")] = None,
    only: str = "",
    out: Path = Path("results"),
    runs: Path = Path("runs"),
    engine: Literal["local", "ray"] = "local",
    address: Annotated[str | None, tyro.conf.arg(metavar="HOST:PORT")] = None,
    gpus: float = 0.0,
    plan: Annotated[int | None, tyro.conf.arg(metavar="N")] = None,
    json: bool = False,
) -> None:
    """Run an experiment. Results are written when a task finishes; a task with results is not run again.

    Args:
        experiment: table-1, table-2, table-3, figure-2, figure-3, figure-4 (the paper's, from the same trained pairs),
            pairs (all of these pairs, and some beyond), ceilings (exact players in the paper's four games), cross-play
            (the teacher of one run with the student of another), n-candidates (trained with 4, tested with 2 to 12),
            all (all of these), ladder (from the paper as written to ours, one choice at a time), feedback (the student
            returns less than his belief), multi-round (games of up to four rounds), teaching (gradient learning from a
            helpful teacher), robustness (clean and jittered images), ablations (one change at a time), baseline-search
            (hyper-parameters of the baselines), time-to-accuracy (seconds to the paper's accuracy: with --jobs 1 on
            an idle machine), own-words (word costs, graded words, a prior, noise, two words: beside exact players),
            concepts (labelled examples beside teaching dimensions), novices (who learns words from whom),
            appointment (the game in which both players know something), appointment-search (its baseline's
            hyper-parameters), strangers (everybody with everybody), populations (who change partners).
        smoke: A small version that takes minutes, to check that everything works. Its results and runs are marked and
            stay in folders named smoke inside the others.
        games: Test games in each cell; by default 100,000, or 1,000 with --smoke.
        jobs: Tasks at once, each on a core of its own (1: one task on all cores); by default 2 on this machine, and as
            many as there is room for on a cluster.
        only: Run only tasks whose description contains this.
        out: The folder of results.
        runs: The folder of trained pairs; on a cluster all nodes share it.
        engine: Where tasks run: in processes on this machine, or on an existing Ray cluster (docs/clusters.md).
        address: The cluster's; by default the one that runs on this machine.
        gpus: GPUs for each task, on a cluster.
        plan: Run nothing: print how long all tasks take on N workers, by the seconds in the results.
        json: Print one JSON object per line when a task starts or ends, and at the end.
    """
    if jobs == 1 and engine == "local":
        use_all_cores()
    from implicature.experiments.registry import ALL, SHOWN, SMOKE, TRAINING, Folders
    from implicature.experiments.smoke import GAMES as SMOKE_GAMES
    from implicature.files import check_folder
    from implicature.runner import Options
    from implicature.runner.sweep import run_experiment

    folders, options = Folders(out, runs, smoke), Options(jobs, address, gpus)
    games = games if games is not None else SMOKE_GAMES if smoke else GAMES
    check_arguments(experiment, games, folders, options)
    names = [experiment] if experiment != "all" else [*(SMOKE if smoke else ALL)]
    if plan is not None:
        return print_plan([name for name in names if len(names) == 1 or name in TRAINING], only, folders, plan, json)
    check_folder(runs, "--runs")
    failed = 0
    for number, name in enumerate(names, 1):
        title = name if len(names) == 1 else f"{name} ({number} of {len(names)})"
        failed += run_experiment(name, games, folders, options, only=only, engine=engine, title=title, as_json=json)
    if not json:
        shown = [name for name in SHOWN if folders.results_file(name).exists()] if experiment == "all" else names
        for name in shown:
            print_results(name, folders)
    if failed:
        print(f"implicature: tasks failed: {failed}; the same command tries them again.", file=sys.stderr)
        sys.exit(1)
    return None


def check_arguments(experiment: str, games: int, folders: "Folders", options: "Options") -> None:
    from math import inf

    from implicature.experiments.registry import EXPERIMENTS
    from implicature.experiments.smoke import MARK
    from implicature.files import check_folder
    from implicature.games.sampling import check_n_games

    if experiment not in (*EXPERIMENTS, "all"):
        raise ValueError(f"No experiment is called {experiment!r}: choose one of {', '.join(EXPERIMENTS)}, all.")
    check_n_games(games, MAX_CANDIDATES)
    if options.jobs is not None and options.jobs < 1:
        raise ValueError(f"{options.jobs} jobs do nothing: ask for 1 or more.")
    if not 0 <= options.gpus < inf:
        raise ValueError(f"{options.gpus:g} GPUs for each task: ask for 0 or more.")
    if folders.results.exists() and not folders.results.is_dir():
        raise ValueError(f"{folders.results} is a file, but results go into a folder: name another with --out.")
    if folders.results.name == MARK:
        raise ValueError(
            f"{folders.results} is for results of smoke runs, which stay apart from others: name its parent with --out."
        )
    check_folder(folders.results, "--out")


def print_plan(names: list[str], only: str, folders: "Folders", workers: int, as_json: bool) -> None:
    import json

    from implicature.runner.schedule import format_plan
    from implicature.runner.sweep import plan_experiments

    planned = plan_experiments(names, only, folders, workers)
    if as_json:
        print(json.dumps(planned))
        return
    summary, table = format_plan(planned)
    print(f"{summary}\n")
    print_table(table)


def print_results(experiment: str, folders: "Folders") -> None:
    """An experiment's tables, and its figure as a file."""
    from implicature.experiments import external
    from implicature.experiments.registry import is_figure
    from implicature.experiments.results import read_results
    from implicature.experiments.smoke import WARNING
    from implicature.files import name_in_errors

    path = folders.results_file(experiment)
    results = folders.read(experiment)
    if results and folders.smoke:
        print(WARNING)
    for table in folders.render(experiment):
        print_table(table)
    print(f"{len(results)} results in {path}")
    for table in external.render(experiment, read_results(folders.results / external.FILE)):
        print_table(table)
    if results and is_figure(experiment):
        image = path.with_name(f"{experiment}.png")
        figure = folders.draw(experiment)
        with name_in_errors(image):
            figure.savefig(image, dpi=150)
        print(f"The figure is {image}")


def print_table(table: "Table") -> None:
    """For a terminal; to a file or a pipe, whose width is unknown, as Markdown."""
    from rich.console import Console

    console = Console()
    console.print(table.to_rich()) if console.is_terminal else print(f"{table.to_markdown()}\n")
