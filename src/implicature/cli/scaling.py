"""How much more is learned a second by several workers side by side than by one: what `bench` measures, in each of them
at the same time."""

import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from implicature.experiments.results import Row
from implicature.runner import ENGINES, Job, Options
from implicature.runner.local import check_workers


def run(task: Row, games: int, runs: Path) -> list[Row]:
    """One worker's share."""
    from implicature.cli.bench import seconds, some_games, training
    from implicature.games.registry import load_game
    from implicature.training.config import Config

    learned = training(Config(), some_games(*load_game("numbers-4"), games))
    took = sum(seconds(*learned.halves, least=task["seconds"]))
    return [{"worker": task["worker"], "games_per_second": learned.games / took}]


def games_per_second(workers: int, engine: str, address: str | None, seconds: float) -> float:
    """Of all workers together."""
    # The engine has no more workers than jobs: one is one process on one core, too.
    tasks = [{"worker": i, "seconds": seconds} for i in range(workers)]
    jobs = [Job(__name__, task, 20_000, Path("runs").resolve(), sys.argv) for task in tasks]
    total = 0.0
    for event in ENGINES[engine](jobs, Options(jobs=max(2, workers), address=address)):
        if event.state in ("failed", "lost"):
            raise ValueError(f"A worker could not be measured: {event.sentence}")
        total += sum(row["games_per_second"] for row in event.rows)
    return total


def scaling(workers: int, engine: str, address: str | None, as_json: bool, seconds: float = 10.0) -> None:
    if workers < 1:
        raise ValueError(f"{workers} workers do nothing: measure 1 or more.")
    if engine == "local":
        check_workers(workers)
    if not 0 < seconds < 3600:
        raise ValueError(f"{seconds} seconds measure nothing: ask for more than 0 and less than an hour.")
    counts = sorted({workers, *(2**n for n in range(20) if 2**n < workers)})
    rates = {count: games_per_second(count, engine, address, seconds) for count in counts}
    figures = [
        {"workers": count, "games_per_second": round(rate), "times": round(rate / rates[1], 2)}
        for count, rate in rates.items()
    ]
    if as_json:
        print(json.dumps({"engine": engine, "scaling": figures}))
        return
    table = Table("workers", "games a second", "times as many", title="Training on numbers-4, side by side")
    for row in figures:
        table.add_row(str(row["workers"]), f"{row['games_per_second']:,}", f"{row['times']:.2f}")
    Console().print(table)
