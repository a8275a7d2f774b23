"""`implicature train`."""

import sys
from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from implicature.cli.devices import use_all_cores, use_recorded_devices
from implicature.training.config import PRESETS, Config, preset_config


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
    if resume is not None:
        use_recorded_devices(resume)
    use_all_cores()
    from implicature.cli.progress_bar import train_with_bar
    from implicature.files import check_folder
    from implicature.training.run import new_run_folder, open_run, start_run

    if resume is not None:
        check_resume(config, preset, out)
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


def check_resume(config: Config, preset: str | None, out: Path | None) -> None:
    """Raise an error for an option that a resumed run would ignore, since it has its own config and folder."""
    given = {"preset": preset, "out": out, **config.flat()}
    defaults = {"preset": None, "out": None, **Config().flat()}
    if changed := [name for name, value in given.items() if value != defaults[name]]:
        option = changed[0].replace("_", "-")
        raise ValueError(f"--{option} has no effect with --resume, which keeps to the run's config: leave out one.")


def value_of(option: str, arguments: list[str]) -> str | None:
    """The value of an option before all arguments are parsed; the last counts."""
    value = None
    for argument, following in zip(arguments, [*arguments[1:], None], strict=True):
        if argument == option:
            value = following
        elif argument.startswith(f"{option}="):
            value = argument.partition("=")[2]
    return value


def train_with_preset(arguments: list[str]) -> Callable[..., None]:
    """The command with a preset's defaults for its defaults, so that explicit options win and --help shows them."""
    preset, method = value_of("--preset", arguments), value_of("--method", arguments) or "pragmatic"
    if preset not in PRESETS:
        return train

    @wraps(train)
    def command(*given: Any, **named: Any) -> None:
        train(*given, **named)

    config, *others = signature(train).parameters.values()
    config = config.replace(default=preset_config(preset, method))
    setattr(command, "__signature__", Signature([config, *others]))  # noqa: B010
    return command
