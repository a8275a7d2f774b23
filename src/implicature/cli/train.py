"""`implicature train`: a bar while a pair learns, and what came of it at the end."""

import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from implicature.files import check_folder
from implicature.training.config import Config
from implicature.training.run import Run, named_phase, open_run, start_run

BASELINE_PRESET = {
    "iterations": 100_000, "batch": 128, "phases": 1, "grounded": False, "learning_rate": 1e-3, "every_target": False,
    "answers": "one",
}  # fmt: skip
PAPER_PRESETS = {
    "pragmatic": {**BASELINE_PRESET, "network": "paper", "likelihood": "sigmoid", "iterations": 10_000, "phases": 3},
    "la-2017": {**BASELINE_PRESET, "temperature": 10.0},
    "la-2018": BASELINE_PRESET,
}


def train(config: Config, preset: str | None, out: Path | None, resume: Path | None, quiet: bool) -> None:
    run = trained(config, preset, out, resume, quiet)
    # Only now: drawing and scoring take most of a second to import.
    from implicature.cli.train_summary import report

    report(run)


def trained(config: Config, preset: str | None, out: Path | None, resume: Path | None, quiet: bool) -> Run:
    """A new run, or one taken up again, to its end."""
    if resume is not None:
        run = open_run(resume)
    else:
        if preset == "paper":
            config = replace(config, **PAPER_PRESETS[config.method])
        folder = out or new_folder(config)
        check_folder(folder, "--out")
        run = start_run(folder, config)
    try:
        watch_training(run, quiet)
    except KeyboardInterrupt:
        print(f"Stopped. Nothing is lost: go on with  implicature train --resume {run.folder}", file=sys.stderr)
        raise
    return run


def new_folder(config: Config) -> Path:
    """runs/<game>-<date and time>, with the method before that if it is not ours, and a number where that exists."""
    name = Path(config.space).stem if config.space else config.game
    name += "" if config.method == "pragmatic" else f"-{config.method}"
    stem = f"{name}-{'grounded' if config.grounded else 'ungrounded'}-{datetime.now():%Y%m%d-%H%M%S}"
    folder, more = Path("runs") / stem, 1
    while folder.exists():
        folder, more = Path("runs") / f"{stem}-{more}", more + 1
    return folder


def watch_training(run: Run, quiet: bool) -> None:
    """Train with a bar that tells the stage, the reward and the accuracy on validation games. Warnings are told even
    quietly; what holds a path or a name is printed as it is, neither as rich's markup nor folded."""
    console = Console(stderr=True)

    def say(sentence: str) -> None:
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)

    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn(),
        TimeRemainingColumn(),
    )  # fmt: skip
    if not quiet:
        say(f"Training in {run.folder}")
    with Progress(*columns, console=console, transient=True, disable=quiet) as bar:
        task = bar.add_task("compiling …", total=sum(stage.iterations for stage in run.stages))
        for now in run.train(say):
            what = named_phase(run.setting.config, now.stage.phase)
            mean = {name: float(np.mean(values)) for name, values in now.info.items()}
            shown = "  ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in mean.items())
            bar.update(task, completed=now.done, description=f"{what}, {now.stage.agent}:  {shown}")
