"""Throughput of several workers side by side: what `bench` measures, in each of them at the same time."""

import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from implicature.experiments.results import Result, TaskSpec
from implicature.runner import ENGINES, Job, Options
from implicature.runner.local import check_workers

GAMES = 20_000


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """What one worker does: train on numbers-4 for some seconds."""
    from implicature.cli.benchmarks.throughput import median_seconds, training_calls
    from implicature.games.registry import load_game
    from implicature.training.config import Config

    calls = training_calls(Config(), *load_game("numbers-4"))
    seconds = sum(median_seconds(*calls.halves, at_least=task["seconds"]))
    return [{"worker": task["worker"], "games_per_second": calls.games / seconds}]


def games_per_second(workers: int, engine: str, address: str | None, seconds: float) -> float:
    """Of all workers together."""
    # The engine starts no more workers than jobs: one job is one process on one core.
    tasks = [{"worker": i, "seconds": seconds} for i in range(workers)]
    jobs = [Job(__name__, task, GAMES, Path("runs").resolve(), sys.argv) for task in tasks]
    total = 0.0
    for event in ENGINES[engine](jobs, Options(jobs=max(2, workers), address=address)):
        if event.state in ("failed", "lost"):
            raise ValueError(f"A worker could not be measured: {event.message}")
        total += sum(result["games_per_second"] for result in event.results)
    return total


def print_scaling(workers: int, engine: str, address: str | None, as_json: bool, seconds: float) -> None:
    if workers < 1:
        raise ValueError(f"{workers} workers do nothing: measure 1 or more.")
    if engine == "local":
        check_workers(workers)
    if not 0 < seconds < 3600:
        raise ValueError(f"{seconds} seconds measure nothing: ask for more than 0 and less than an hour.")
    counts = sorted({workers, *(2**n for n in range(20) if 2**n < workers)})
    rates = {count: games_per_second(count, engine, address, seconds) for count in counts}
    figures = [
        {"workers": count, "games_per_second": round(rate), "speedup": round(rate / rates[1], 2)}
        for count, rate in rates.items()
    ]
    if as_json:
        print(json.dumps({"engine": engine, "scaling": figures}))
        return
    table = Table("workers", "games per second", "speed-up", title="training on numbers-4, side by side")
    for row in figures:
        table.add_row(str(row["workers"]), f"{row['games_per_second']:,}", f"{row['speedup']:.2f}")
    Console().print(table)
