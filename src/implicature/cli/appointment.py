"""`train` and `evaluate` for the appointment game."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from implicature.agents.appointment.player import AbstractPlayer
    from implicature.evaluation.matchup_args import MatchupArgs
    from implicature.training.appointment.run import AppointmentRun
    from implicature.training.config import Config


def train_appointment(config: "Config", preset: str | None, out: Path | None, resume: Path | None, quiet: bool) -> None:
    from implicature.cli.train import check_resume
    from implicature.cli.training.progress_bar import train_with_bar
    from implicature.files import check_folder
    from implicature.training.appointment.run import open_appointment, start_appointment
    from implicature.training.runs.run import new_run_folder

    if resume is not None:
        check_resume(resume, config, preset, out)
        run = open_appointment(resume)
    else:
        if preset is not None:
            raise ValueError("--preset has no effect in the appointment game: leave it out.")
        folder = out or new_run_folder(config)
        check_folder(folder, "--out")
        run = start_appointment(folder, config)
    try:
        train_with_bar(run, quiet)
    except KeyboardInterrupt:
        print(f"Stopped. Nothing is lost: go on with  implicature train --resume {run.folder}", file=sys.stderr)
        raise
    print_summary(run)


def print_summary(run: "AppointmentRun") -> None:
    """The pair before and after training, beside exact players, and one dialogue."""
    from implicature.evaluation.appointment import PLAYERS, play_dialogue, play_parts

    exact = PLAYERS["exact"]
    rows: dict[str, tuple[AbstractPlayer, AbstractPlayer]] = {
        "before training": run.players(0), "trained": run.players(), "exact, depth 10": (exact, exact),
    }  # fmt: skip
    split = run.config.data.split_seed
    figures = {name: play_parts(*pair, run.task.rules, split) for name, pair in rows.items()}
    print_figures(f"appointment, up to {run.task.rules.messages} messages", figures)
    one, other = run.players()
    print("One game:")
    for line in play_dialogue(one, other, run.task.rules, seed=0).lines():
        print(f"  {line}")
    print(f"The run is in {run.folder}: `implicature evaluate` takes it from there.")


def print_figures(title: str, figures: dict[str, dict[str, Any]]) -> None:
    """A row for each pair, by the calendars that games are made of."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("", "calendars", "success, %", "return", "messages", title=escape(title))
    for name, parts in figures.items():
        for part, found in parts.items():
            cells = f"{100 * found.success:.2f}", f"{found.episode_return:.3f}", f"{found.messages:.2f}"
            table.add_row(escape(name), part, *cells)
    Console().print(table)


def evaluate_appointment(first: str, second: str, asked: "MatchupArgs", as_json: bool) -> None:
    """Two players, in expectation over all games, over those of training and over those with held-out calendars."""
    import json
    from dataclasses import asdict

    from implicature.evaluation.appointment import load_players, play_parts

    one, other, rules, split = load_players(first, second, asked.rounds, asked.message_cost, asked.phase)
    figures = play_parts(one, other, rules, split)
    if as_json:
        print(json.dumps({part: asdict(found) for part, found in figures.items()}))
        return
    title = f"{first} with {second}" if first != second else first
    print_figures(f"appointment, up to {rules.messages} messages", {title: figures})
