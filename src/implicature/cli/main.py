"""`implicature`: two agents learn to read between the lines.

Each command imports what it needs when it runs, so that help needs neither JAX nor NumPy.
"""

import os
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from functools import partial, wraps
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import Annotated, Literal

import tyro

from implicature import __version__
from implicature.cli.errors import of_options, of_system, one_line
from implicature.evaluation.matchup_args import Sides
from implicature.training.config import Config


def use_processors() -> None:
    """Let JAX see each core as a device of its own (up to four), so that a batch is divided among them: faster than
    cores that share every small operation. To be called before JAX is imported."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    os.environ.setdefault("JAX_NUM_CPU_DEVICES", str(min(4, cores)))


def explain(
    candidates: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="CANDIDATE …")],
    target: Annotated[int | None, tyro.conf.arg(metavar="N")] = None,
    depth: int = 6,
    beta: float = 10.0,
    start: Literal["share", "indicator"] = "share",
    space: Annotated[str | None, tyro.conf.arg(metavar="SPACE")] = None,
    json: bool = False,
) -> None:
    """Show what each message means literally and how it sharpens when teacher and student think about each other.

    Example: implicature explain blue,sphere red,sphere blue,cone --target 1

    Args:
        candidates: Each argument is one candidate, its attributes by name with commas between: 1,2,3,9 1,2,4 2,3
        target: Mark the N-th candidate, from 1, as the one the teacher means, and tell its story alone.
        depth: How many times teacher and student think about each other, 0 to 100.
        beta: The teacher's rationality, 0 to 1000: how strongly she prefers the message he understands best.
        start: The literal teacher: "share" picks any true message, 1/|o| each; "indicator" only weighs truth.
        space: Where the names come from: numbers-10, numbers-12, objects, a .csv or .json file, whose
            instances may be candidates by name, too, or a folder. Without it any names will do.
        json: Print one JSON object instead.
    """
    from implicature.explain.terminal import explain as run

    run(list(candidates), target, depth, beta, start, json, space)


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
        preset: "paper": the paper's network, budget and random start, for the method chosen.
        out: The run's folder; by default a new one in runs/.
        resume: Go on with a run that was stopped, and end as if it had not been.
        quiet: No progress bar.
    """
    use_processors()
    from implicature.cli.train import train as run

    run(config, preset, out, resume, quiet)


def evaluate(
    sides: Annotated[Sides, tyro.conf.arg(name="")] = Sides(),  # noqa: B008
    equivalent: bool = False,
    sampled: bool = False,
    row: Annotated[Path | None, tyro.conf.arg(metavar="CSV")] = None,
    json: bool = False,
) -> None:
    """Let a trained pair play test games, which it has never seen in training or validation; or any two players:

    implicature evaluate --teacher my_module:teacher --student runs/mine

    Args:
        sides: Who plays.
        equivalent: Teacher and student see differently named candidates, and the message is translated.
        sampled: The teacher speaks by chance, as in training, instead of saying what is best.
        row: Add the figures to a file of rows; `reproduce table-1` and `table-2` show those in results/own.csv.
        json: Print one JSON object instead.
    """
    from implicature.cli.evaluate import evaluate as play
    from implicature.evaluation.matchup import meeting

    play(meeting(sides), equivalent, sampled, json, row)


def language(
    sides: Annotated[Sides, tyro.conf.arg(name="")] = Sides(),  # noqa: B008
    json: bool = False,
) -> None:
    """Measure the language of a pair on test games: what its words tell of the target, and what he makes of them.

    Args:
        sides: Who plays.
        json: Print one JSON object instead.
    """
    from implicature.cli.language import language as measure
    from implicature.evaluation.matchup import meeting

    measure(meeting(sides), json)


def export(
    out: Path,
    sides: Annotated[Sides, tyro.conf.arg(name="")] = Sides(),  # noqa: B008
) -> None:
    """Write the dialogues of a pair on test games to a file, one row a round; or in EGG's layout, one a game.

    Args:
        out: The file: .csv or .parquet (tidy tables), .txt or .safetensors (what EGG's tools read).
        sides: Who plays.
    """
    from implicature.evaluation.export import export as write

    write(out, sides)


def watch(run: tyro.conf.Positional[Path], games: int = 10_000, out: Path | None = None) -> None:
    """Draw a run: accuracy by level after each phase, reward and losses over time.

    Args:
        run: The run's folder.
        games: Test games for the accuracy after each phase.
        out: The picture's file; by default watch.png in the run's folder.
    """
    from implicature.cli.watch import watch as draw

    draw(run, games, out)


def reproduce(
    experiment: tyro.conf.Positional[str],
    quick: bool = False,
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
    """Run an experiment. Rows are kept as each task ends; what has rows already is not done again.

    Args:
        experiment: table-1, table-2, table-3, figure-2, figure-3, figure-4 (the paper's, which share their pairs),
            pairs (all of them, and some beyond), ceilings (exact players in the paper's four games), cross-play (the
            teacher of one run with the student of another), candidates (trained with 4, playing with 2 to 12), rounds
            (games of up to four), robustness (clean pictures and varied ones), all (all of these), choices (one thing
            changed at a time), seconds (until the paper's accuracy: with --jobs 1 on an idle machine).
        quick: A small version in minutes, to see that everything works: rows and runs in folders "quick" inside the
            others, marked as such.
        games: Test games in each cell; by default 20,000, or 1,000 if quick.
        jobs: Tasks at once, each on a core of its own (1: one task on all cores); by default 2 on this machine, and as
            many as it has room for on a cluster.
        only: Only tasks whose description contains this.
        out: The folder for rows.
        runs: The folder for the runs of trained pairs; on a cluster all nodes share it.
        engine: Where: processes on this machine, or a Ray cluster that is there already (docs/clusters.md).
        address: The cluster's; by default the one that runs on this machine.
        gpus: Graphics processors for each task, on a cluster.
        plan: Run nothing: tell how long all tasks take on N workers, by the seconds in the rows.
        json: A JSON object a line: when a task begins and ends, and at the end.
    """
    if jobs == 1 and engine == "local":
        use_processors()
    from implicature.cli.reproduce import Folders
    from implicature.cli.reproduce import reproduce as run
    from implicature.runner import Options

    run(experiment, games, only, Folders(out, runs, quick), Options(jobs, address, gpus), engine, plan, json)


def report(
    out: Path | None = None,
    markdown: bool = False,
    readme: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    rows: Path = Path("results"),
    quick: bool = False,
) -> None:
    """Write one page that tells all rows: every table beside the paper's figures, every figure, and what is missing.

    Args:
        out: The page, an HTML file that needs nothing beside it; by default report.html.
        markdown: Print the tables as Markdown instead.
        readme: Instead, rewrite what stands between <!-- rows --> and <!-- /rows --> in this file.
        rows: The folder that `implicature reproduce` wrote rows to.
        quick: Tell the rows of `reproduce --quick`.
    """
    from implicature.report import report as write

    write(rows, quick, out, markdown, readme)


def bench(
    json: bool = False,
    curves: bool = False,
    picture: Path | None = None,
    workers: Annotated[int | None, tyro.conf.arg(metavar="N")] = None,
    seconds: float = 10.0,
    engine: Literal["local", "ray"] = "local",
    address: Annotated[str | None, tyro.conf.arg(metavar="HOST:PORT")] = None,
) -> None:
    """Measure how fast games are played and learned from here. For true figures let nothing else run meanwhile.

    Args:
        json: Print one JSON object instead.
        curves: Also measure what a game costs by the number of candidates and of messages (some minutes).
        picture: Draw these curves to a PNG file.
        workers: Instead, measure how much more is learned by up to N workers side by side, a core each.
        seconds: How long each of these is measured, for each half of a phase: they do not start at the same moment.
        engine: Where these are: processes on this machine, or a Ray cluster that is there already.
        address: The cluster's; by default the one that runs on this machine.
    """
    if workers is not None:
        from implicature.cli.scaling import scaling

        return scaling(workers, engine, address, json, seconds)
    use_processors()
    from implicature.cli.bench import bench as run

    run(json, curves, picture)


def render(
    out: Path = Path("pictures"),
    per_object: int = 1,
    jitter: bool = False,
    seed: int = 0,
    size: int = 128,
    sheet: Annotated[Path | None, tyro.conf.arg(metavar="PNG")] = None,
    quiet: bool = False,
) -> None:
    """Draw the 288 objects with MuJoCo, as a folder of pictures that can be trained on. Needs implicature[objects].

    Without arguments: the pictures that ship with the package, again.

    Args:
        out: A new folder, for PNG files and objects.csv, which tells their attributes.
        per_object: How many pictures of each object; more than one with --jitter.
        jitter: Vary pose, light, camera and colour.
        seed: Another seed varies them otherwise.
        size: Width and height of a picture in pixels.
        sheet: The contact sheet; by default sheet.png in the folder.
        quiet: No progress bar.
    """
    from implicature.cli.render import render as run

    run(out, per_object, jitter, seed, size, sheet, quiet)


def play(
    run: tyro.conf.Positional[Path | None] = None,
    teacher: str | None = None,
    student: str | None = None,
    port: int = 8642,
    browser: bool = True,
    host: str = "127.0.0.1",
    record: Path | None = None,
    consent: str | None = None,
) -> None:
    """Open a page to play with the agents and see what they think. Without a run: exact agents and a small pair.

    Args:
        run: A run's folder, to play with the pair trained in it.
        teacher: Who speaks instead: a run's folder, "exact", "literal", or module:object, an agent of your own.
        student: Who listens instead, likewise.
        port: Where the page is; 0 for any port that is free.
        browser: Open the page in a browser.
        host: The network address to answer on; by default only this computer can open the page.
        record: Keep the decisions of people who agree to it in this SQLite file, for `implicature study`.
        consent: The sentence that they agree to, instead of the usual one.
    """
    from implicature.web.server import play as serve

    serve(run, host, port, browser, record, consent, teacher, student)


def study(
    file: tyro.conf.Positional[Path],
    csv: Path | None = None,
    json: bool = False,
) -> None:
    """Fit each participant's rationality and depth to what `implicature play --record` kept, and export it all.

    Args:
        file: The SQLite file.
        csv: A folder for tidy tables: decisions, beliefs, values, participants.
        json: Print the fits as one JSON object instead.
    """
    from implicature.cli.study import study as run

    run(file, csv, json)


COMMANDS: dict[str, Callable[..., None]] = {
    "explain": explain,
    "train": train,
    "evaluate": evaluate,
    "language": language,
    "export": export,
    "watch": watch,
    "reproduce": reproduce,
    "report": report,
    "bench": bench,
    "render": render,
    "play": play,
    "study": study,
}


def parsed(arguments: list[str]) -> Callable[[], None]:
    """The command that these ask for, ready to run; a sentence where they are not understood."""

    def ready(command: Callable[..., None]) -> Callable[..., Callable[[], None]]:
        return wraps(command)(lambda *given, **named: partial(command, *given, **named))

    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        raise ValueError(f"No command is called {arguments[0][:40]!r}: choose one of {', '.join(COMMANDS)}.")
    said = StringIO()
    try:
        with redirect_stderr(said):
            return tyro.extras.subcommand_cli_from_dict(
                {name: ready(command) for name, command in COMMANDS.items()},
                prog="implicature",
                description="Two agents learn to read between the lines.",
                args=arguments or ["--help"],
                config=(tyro.conf.OmitArgPrefixes,),
            )
    except SystemExit as end:
        if not end.code:
            raise
    except AssertionError as mistake:  # of an unknown shell to complete commands in
        raise ValueError(f"{mistake}.") from None
    raise ValueError(of_options(said, arguments, list(COMMANDS)))


def main() -> None:
    """Run one command; a mistake in the input is one sentence and exit code 2."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        print(__version__)
        return
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file's name may hold what no encoding has
    try:
        parsed(arguments)()
        return
    except ValueError as problem:
        mistake = str(problem)
    except BrokenPipeError:
        sys.stderr.close()
        return
    except OSError as problem:
        mistake = of_system(problem)
    except MemoryError:
        mistake = "This does not fit into memory: ask for less at once."
    except KeyboardInterrupt:
        print("\nimplicature: stopped.", file=sys.stderr)
        sys.exit(130)
    print(f"implicature: {one_line(mistake)}", file=sys.stderr)
    sys.exit(2)
