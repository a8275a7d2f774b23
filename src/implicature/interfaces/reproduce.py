"""Run an experiment, keep its rows, show its table."""

from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from implicature.experiments import ceilings
from implicature.experiments.rows import write_rows

EXPERIMENTS = {"ceilings": ceilings}


def reproduce(experiment: str, games: int, seed: int, out: Path) -> None:
    if experiment not in EXPERIMENTS:
        raise ValueError(f"No experiment is called {experiment!r}: choose one of {', '.join(EXPERIMENTS)}.")
    if games < 10:
        raise ValueError(f"{games} games are too few to tell anything: ask for 10 or more.")
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file, but rows go into a folder: name another with --out.")
    module = EXPERIMENTS[experiment]
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    rows = []
    with Progress(*columns, transient=True, console=Console(stderr=True)) as progress:
        task = progress.add_task(experiment)
        for row in module.run(games, seed):
            rows.append(row)
            progress.update(task, description=f"{row['game']}: {row['player']}")
    path = out / f"{experiment}.csv"
    write_rows(path, rows)
    Console().print(Markdown(module.render(rows)))
    print(f"{len(rows)} rows in {path}")
