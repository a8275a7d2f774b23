"""`implicature train`: a bar while a pair learns; at the end what it can do, beside the paper and the ceiling."""

import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from implicature.agents.dialogue import softly
from implicature.agents.exact import greedy_accuracy, soft_recursion
from implicature.evaluation.accuracy import hard_games
from implicature.evaluation.play import Played, summary
from implicature.evaluation.runs import held_out_games, played_by
from implicature.experiments.paper import paper_figures
from implicature.interfaces.transcript import example
from implicature.interfaces.writing import check_folder
from implicature.training.adaptation import beta_of
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
    report(trained(config, preset, out, resume, quiet))


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


def ceiling(played: Played, depth: int = 10) -> np.ndarray:
    """The chance of each game's target to be found by the exact players of this depth."""

    @jax.jit
    @jax.vmap
    def one(truth, target):
        belief = soft_recursion(truth, depth).student[-1]
        return greedy_accuracy(truth, belief, belief)[target]

    return np.asarray(one(jnp.asarray(played.truth), jnp.asarray(played.target)))


def report(run: Run) -> None:
    """Ours, the paper's and the exact ceiling, and one dialogue before and after."""
    console = Console()
    config = run.setting.config
    games = held_out_games(run.setting, 10_000, seed=0)
    runs = [played_by(run.pair(index=i), run.setting, games) for i in range(config.seeds)]
    ours, exact, paper = [summary(played) for played in runs], ceiling(runs[0]), paper_figures(config)
    first = runs[0]

    def share(values: list[float]) -> str:
        spread = f" ± {100 * np.std(values):.1f}" if len(values) > 1 else ""
        return f"{100 * np.mean(values):.1f}{spread}"

    method = "" if config.method == "pragmatic" else f", {config.method}"
    title = escape(f"{config.space or config.game}{method}: 10,000 test games, greedy")
    table = Table("test games, %", "ours", "paper", "exact ceiling", title=title)
    hard = exact[hard_games(first.hardness)].mean()
    for name, best in (("accuracy", exact.mean()), ("hard_accuracy", hard), ("valid", 1.0)):
        theirs = f"{100 * paper[name]:.1f}" if name in paper else "–"
        shown = name.replace("_", " ") if name != "valid" else "messages true of the target"
        table.add_row(shown, share([one[name] for one in ours]), theirs, f"{100 * best:.1f}")
    if config.method != "pragmatic":
        speak = softly(beta_of(config, run.setting.rules))
        sampled = [played_by(run.pair(index=i), run.setting, games, speak=speak) for i in range(config.seeds)]
        table.add_row("accuracy, speaker sampled", share([float(played.found.mean()) for played in sampled]), "–", "–")
    for level, mine in ours[0]["by_level"].items():
        here = first.level == (-1 if level == "none" else int(level))
        found = [one["by_level"][level]["accuracy"] for one in ours]
        label = f"level {level} ({100 * mine['share']:.1f} % of targets)"
        table.add_row(label, share(found), "–", f"{100 * exact[here].mean():.1f}")
    console.print(table)
    example(run, console)
    print(f"The run is in {run.folder}: `implicature evaluate`, `implicature watch` take it from there.")
