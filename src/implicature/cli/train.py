"""`implicature train`."""

import sys
from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from implicature.cli.devices import use_all_cores
from implicature.training.config import PRESETS, Config, preset_config

if TYPE_CHECKING:
    pass


def train(
    config: Annotated[Config, tyro.conf.arg(name="")] = Config(),  # noqa: B008
    preset: Literal["paper"] | None = None,
    out: Path | None = None,
    resume: Path | None = None,
    quiet: bool = False,
) -> None:
    """Train a teacher and a student to read between the lines, and show what they can do.

    Without arguments: a grounded pair on numbers-4, in less than two minutes on two cores.

    Args:
        config: How the pair is trained.
        preset: A set of defaults, which explicit options override. "paper": the paper's budget, learning rate, sigmoid
            likelihood, sampled credit and random start, with our deep-sets network, for the method chosen.
        out: The run's folder; by default a new one in runs/.
        resume: Go on with a run that was stopped, and end as if it had not been.
        quiet: No progress bar.
    """
    use_all_cores()
    from implicature.files import check_folder
    from implicature.training.run import new_run_folder, open_run, start_run

    if resume is not None:
        run = open_run(resume)
    else:
        folder = out or new_run_folder(config)
        check_folder(folder, "--out")
        run = start_run(folder, config)
    try:
        train_with_bar(run, quiet)
    except KeyboardInterrupt:
        print(f"Stopped. Nothing is lost: go on with  implicature train --resume {run.folder}", file=sys.stderr)
        raise
    # Only now: plotting and scoring take most of a second to import.
    from implicature.cli.train_summary import print_summary

    print_summary(run)


def value_of(option: str, arguments: list[str]) -> str | None:
    """What an option is given as, before the arguments are parsed."""
    for i, argument in enumerate(arguments):
        if argument == option and i + 1 < len(arguments):
            return arguments[i + 1]
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return None


def train_with_preset(arguments: list[str]) -> Callable[..., None]:
    """The command with a preset's defaults for its defaults, so that explicit options win and --help shows them."""
    preset, method = value_of("--preset", arguments), value_of("--method", arguments) or "pragmatic"
    if preset not in PRESETS:
        return train

    @wraps(train)
    def command(*given: object, **named: object) -> None:
        train(*given, **named)  # type: ignore[arg-type]

    plain = signature(train)
    config = plain.parameters["config"].replace(default=preset_config(preset, method))
    setattr(command, "__signature__", plain.replace(parameters=[config, *list(plain.parameters.values())[1:]]))  # noqa: B010
    return command


def train_with_bar(run, quiet: bool) -> None:
    """Train with a bar that shows the stage, the reward and the accuracy on validation games. Warnings are shown even
    quietly; what holds a path or a name is printed as it is, neither as rich's markup nor folded."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from implicature.training.stages import phase_name

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
        task = bar.add_task("compiling …", total=run.total_iterations)
        for progress in run.train(say):
            stage = phase_name(run.config, progress.stage.phase)
            means = {name: sum(values) / len(values) for name, values in progress.metrics.items()}
            shown = "  ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in means.items())
            description = f"{stage}, {progress.stage.agent}:  {shown}"
            bar.update(task, completed=run.iterations_done(progress), description=description)
