"""`implicature strangers`: how well a pair does with partners that it has never met."""

from pathlib import Path
from typing import Annotated, Any

import tyro


def strangers(
    run: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="RUN")],
    partners: tuple[str, ...] = (),
    all: bool = False,
    games: int = 20_000,
    seed: int = 0,
    phase: int | None = None,
    novice: bool = False,
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    json: bool = False,
) -> None:
    """Let a trained pair play with strangers, in both roles, beside self-play:

    implicature strangers runs/mine --partners runs/other exact:depth=5 --out strangers.png

    The strangers are exact players (literal, depths 1 to 3, utilities belief and log, people's mixture of depths, a
    noisy one, a liar) and, for numbers-4, learned ones of the package: two other seeds, the deep-sets network and both
    baselines.

    Args:
        run: The run's folder; RUN:1 is its pair number 1.
        partners: More strangers: runs of the same space and split, or exact players, as exact:depth=5.
        all: Let everybody play with everybody, teachers × students.
        games: How many test games.
        seed: Another seed draws other games.
        phase: The run as it was after this phase; by default the last.
        novice: Also teach a new student of the run's build, and say after how many games he finds 95 % of the targets.
        out: Draw the figures: a .png file.
        json: Print one JSON object instead: self_play, mean, worst, partners, and with --all the table.
    """
    import json as json_format

    from rich.console import Console
    from rich.progress import Progress

    from implicature.evaluation.strangers.meeting import load_meeting, meet
    from implicature.files import check_png, name_in_errors
    from implicature.games.sampling import check_n_games

    check_n_games(games)
    if out is not None:
        check_png(out, "--out")
    meeting = load_meeting(run, partners, games, seed, phase)
    with Progress(console=Console(stderr=True), transient=True, disable=json) as progress:
        bar = progress.add_task("Playing …", total=len(meeting.cells(all)))
        figures = meet(meeting, all, lambda: progress.advance(bar))
    if novice:
        from implicature.evaluation.strangers.novice import ease_of_learning

        figures["novice"] = ease_of_learning(meeting.run, phase=phase)
    if out is not None:
        from implicature.evaluation.strangers.figure import draw

        with name_in_errors(out):
            draw(meeting.name, figures).savefig(out, dpi=150)
    if json:
        print(json_format.dumps(figures))
        return
    print_figures(meeting.name, figures)
    if out is not None:
        print(f"The figure is {out}")


def print_figures(name: str, figures: dict[str, Any]) -> None:
    from implicature.cli.reproduce import print_table
    from implicature.experiments.table import Number, Row, Table

    columns = ["teaches the partner", "is taught by it", "mean of both", "the partner with itself"]
    names = ("as_teacher", "as_student", "accuracy", "self_play")
    rows = [
        Row(partner, [Number(100 * one[column]) for column in names]) for partner, one in figures["partners"].items()
    ]
    print_table(Table(f"{name}: accuracy with, %", columns, rows))
    if "table" in figures:
        players = figures["players"]
        rows = [
            Row(teacher, [Number(100 * value, 1) for value in line])
            for teacher, line in zip(players, figures["table"], strict=True)
        ]
        print_table(Table("teacher \\ student, %", players, rows))
    own = f"Self-play {100 * figures['self_play']:.2f} %"
    if "cross_play" in figures:
        own += f" and {100 * figures['cross_play']:.2f} % between its {figures['pairs']} pairs"
    print(
        f"{own}; with strangers {100 * figures['mean']:.2f} % on average, {100 * figures['worst']:.2f} % with the "
        f"worst of them ({figures['worst_partner']}); chance {100 * figures['chance']:.1f} %; {figures['games']:,} "
        "test games."
    )
    if "novice" in figures:
        games, curve = figures["novice"]["games"], figures["novice"]["accuracy"]
        after = f"95 % after {games:,} games" if games is not None else f"{100 * curve[-1]:.1f} % in the end"
        print(f"A novice begins at {100 * curve[0]:.1f} % and is at {after}.")
