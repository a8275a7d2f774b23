"""`implicature train`."""

import sys
import time
from collections.abc import Callable
from functools import partial, wraps
from inspect import Signature, signature
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from implicature.cli import STARTED
from implicature.cli.devices import use_all_cores, use_recorded_devices
from implicature.profiling import Profile, part, start_profile
from implicature.training.config import GAME_DEFAULTS, PRESETS, Config, game_config, preset_config

if TYPE_CHECKING:
    from implicature.training.runs.run import Run


def train(
    config: Annotated[Config, tyro.conf.arg(name="")] = Config(),  # noqa: B008
    preset: Literal["as-written"] | None = None,
    out: Path | None = None,
    resume: Path | None = None,
    quiet: bool = False,
    profile: bool = False,
    json: bool = False,
) -> None:
    """Train a teacher and a student to read between the lines, and show what they can do.

    Without arguments: a grounded pair on numbers-4, in less than two minutes on two cores.

    Args:
        config: How the pair is trained.
        preset: A set of defaults, which explicit options override. "as-written": every choice as the paper's text
            has it, or the authors' released code where the text is silent, for the method chosen (FIDELITY.md).
        out: The run's folder; by default a new one in runs/.
        resume: Go on with a run that was stopped, and end as if it had not been; or, with more --phases, with one that
            has ended. It keeps all its other options.
        quiet: No progress bar.
        profile: Also tell where the time went: imports, drawing games, tracing, compiling, training, validating …
        json: Print one JSON object instead of the tables.
    """
    if config.game.game in GAME_DEFAULTS and config.game.space is None:
        from implicature.cli.appointment import train_appointment

        if profile or json:
            raise ValueError("--profile and --json are not there for the appointment game so far: leave them out.")
        return train_appointment(config, preset, out, resume, quiet)
    use_all_cores()
    recorded = start_profile(STARTED) if profile else None
    with part("imports"):
        from implicature.cli.training.progress_bar import train_with_bar
        from implicature.files import check_folder
        from implicature.training.ahead import Ahead
        from implicature.training.runs.run import new_run_folder, resume_run, start_run

    if resume is not None:
        check_resume(resume, config, preset, out)
        run = resume_run(resume, config.optimiser.phases)
    else:
        folder = out or new_run_folder(config)
        check_folder(folder, "--out")
        run = start_run(folder, config)
    ahead = Ahead()

    def first_phase_begins() -> None:
        """Until then threads have what is trained to compile."""
        ahead.start("summary", partial(prepare, run))

    try:
        train_with_bar(run, quiet or json, first_phase_begins)
    except KeyboardInterrupt:
        print(f"Stopped. Nothing is lost: go on with  implicature train --resume {run.folder}", file=sys.stderr)
        raise
    finally:
        ahead.close()
    return show_summary(run, ahead.wait("summary"), recorded, json)


def prepare(run: "Run") -> object:
    """What can be known of the summary before the end; plotting alone takes half a second to import."""
    from implicature.cli.training.summary import prepare_summary

    return prepare_summary(run)


def show_summary(run: "Run", prepared: Any, recorded: Profile | None, as_json: bool) -> None:
    with part("imports"):
        from implicature.cli.training.summary import print_summary, summary_figures

    if as_json:
        figures = summary_figures(run, prepared)
        print(dumps({**figures, **({} if recorded is None else profile_figures(recorded))}))
        return
    print_summary(run, prepared)
    if recorded is not None:
        print_profile(recorded)


def profile_figures(profile: Profile) -> dict[str, Any]:
    """Wall seconds by part; those of threads beside them; and the processor's seconds of all."""
    parts = {name: round(seconds, 2) for name, seconds in profile.finish().items()}
    threads = {name: round(seconds, 2) for name, seconds in profile.background.items()}
    total, cpu = round(sum(parts.values()), 2), round(time.process_time(), 2)
    return {"profile": {"seconds": parts, "in_threads": threads, "total": total, "cpu_seconds": cpu}}


def print_profile(profile: Profile) -> None:
    from rich.console import Console
    from rich.table import Table

    figures = profile_figures(profile)["profile"]
    table = Table("where the time went", "seconds", "in threads meanwhile")
    for name in dict.fromkeys((*figures["seconds"], *figures["in_threads"])):
        meanwhile = figures["in_threads"].get(name)
        table.add_row(name, f"{figures['seconds'].get(name, 0):.1f}", "" if meanwhile is None else f"{meanwhile:.1f}")
    table.add_row("all", f"{figures['total']:.1f}", "", style="bold")
    table.caption = f"{figures['cpu_seconds']:.1f} seconds of processor time"
    Console().print(table)


def check_resume(folder: Path, config: Config, preset: str | None, out: Path | None) -> None:
    """Raise an error for what a resumed run cannot change: it keeps its config, but for more phases, and its folder."""
    for option, value in {"--preset": preset, "--out": out}.items():
        if value is not None:
            raise ValueError(f"{option} has no effect with --resume, which keeps to the run's own: leave out one.")
    from implicature.training.runs.run import read_config

    trained_with = read_config(folder).flat()
    for name, value in config.flat().items():
        if value != trained_with[name] and name != "phases":
            option = name.replace("_", "-")
            raise ValueError(
                f"--{option} {value} is not what {folder} was started with ({trained_with[name]}), and a resumed run "
                "keeps to its config: leave it out."
            )


def value_of(option: str, arguments: list[str]) -> str | None:
    """The value of an option before all arguments are parsed; the last counts."""
    value = None
    for argument, following in zip(arguments, [*arguments[1:], None], strict=True):
        if argument == option:
            value = following
        elif argument.startswith(f"{option}="):
            value = argument.partition("=")[2]
    return value


def default_config(arguments: list[str]) -> Config | None:
    """The defaults that the arguments ask for: a resumed run's config, or a preset's."""
    if (run := value_of("--resume", arguments)) is not None:
        use_recorded_devices(Path(run))
        use_all_cores()
        from implicature.training.runs.run import read_config

        return read_config(Path(run))
    preset, method = value_of("--preset", arguments), value_of("--method", arguments) or "pragmatic"
    if (game := value_of("--game", arguments)) in GAME_DEFAULTS:
        return game_config(game)
    return preset_config(preset, method) if preset in PRESETS else None


def train_with_defaults(arguments: list[str]) -> Callable[..., None]:
    """The command with the config of a preset or of a resumed run for its defaults, so that explicit options win over
    a preset, differences from a run are noticed, and --help shows them."""
    if (default := default_config(arguments)) is None:
        return train

    @wraps(train)
    def command(*given: Any, **named: Any) -> None:
        train(*given, **named)

    config, *others = signature(train).parameters.values()
    setattr(command, "__signature__", Signature([config.replace(default=default), *others]))  # noqa: B010
    return command
