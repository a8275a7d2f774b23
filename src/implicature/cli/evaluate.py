"""`implicature evaluate`."""

from pathlib import Path
from typing import Annotated, Any

import tyro

from implicature.evaluation.matchup_args import MatchupArgs


def evaluate(
    matchup: Annotated[MatchupArgs, tyro.conf.arg(name="")] = MatchupArgs(),  # noqa: B008
    equivalent: bool = False,
    sampled: bool = False,
    row: Annotated[Path | None, tyro.conf.arg(metavar="CSV")] = None,
    json: bool = False,
) -> None:
    """Let a trained pair play test games, which it has never seen in training or validation; or any two players:

    implicature evaluate --teacher my_module:teacher --student runs/mine

    Args:
        matchup: Who plays.
        equivalent: Equivalent games: teacher and student see differently named candidates, and messages are translated.
        sampled: The teacher samples her message, as in training, instead of sending the best.
        row: Add the figures to a file of results; `reproduce table-1` and `table-2` show those in
            results/external.csv.
        json: Print one JSON object instead.
    """
    if (found := appointment_players(matchup)) is not None:
        from implicature.cli.appointment import evaluate_appointment

        return evaluate_appointment(*found, matchup, json)
    import json as json_format

    from implicature.evaluation.matchup import evaluate_matchup, load_matchup
    from implicature.experiments.external import add_result, external_result, read_external
    from implicature.files import check_folder

    players = load_matchup(*matchup.players(), matchup)
    if row is not None:
        check_folder(row.parent, "--row")
        read_external(row)  # a file of something else is refused before the work
    figures = evaluate_matchup(players, equivalent, sampled)
    if row is not None:
        test_set = ", ".join(["equivalent"] * equivalent + players.special()) or "test"
        config, rules = players.task.config, players.rules
        add_result(row, external_result(players.title, config, rules, figures, test_set, sampled))
    if json:
        asked = {"novel": players.novel, "images": players.images}
        print(json_format.dumps({**figures, **{name: value for name, value in asked.items() if value}}))
        return None
    title = ", ".join([players.title, *players.special(), *["teacher sampled"] * sampled])
    return print_figures(title, figures, players.task.config.grounding.grounded)


def appointment_players(matchup: MatchupArgs) -> tuple[str, str] | None:
    """Who plays, if it is the appointment game."""
    names = [name for name in (matchup.run, matchup.teacher, matchup.student) if name is not None]
    if matchup.game != "appointment" and not any((Path(name) / "config.json").is_file() for name in names):
        return None
    from implicature.training.appointment.run import is_appointment

    if matchup.game != "appointment" and not any(is_appointment(name) for name in names):
        return None
    return matchup.players()


def print_figures(title: str, figures: dict[str, Any], grounded: bool) -> None:
    """Whether messages are true of the target means nothing in an ungrounded pair."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    std = figures.get("std", {})
    table = Table("", "value", title=escape(f"{title}, {figures['games']:,} test games"))
    for name in ("accuracy", "hard_accuracy", "valid")[: 3 if grounded else 2]:
        spread = f" ± {100 * std[name]:.2f}" if std else ""
        table.add_row(name.replace("_", " "), f"{100 * figures[name]:.2f} %{spread}")
    for name in ("messages", "return"):
        table.add_row(name, f"{figures[name]:.3f}")
    for level, part in figures["by_level"].items():
        n = round(part["fraction"] * figures["games"])
        table.add_row(f"level {level} (n = {n:,})", f"{100 * part['accuracy']:.2f} %")
    console = Console()
    console.print(table)
    if "by_rtd" in figures:
        columns = "RTD", "targets, %", "messages", "accuracy, %", "return"
        table = Table(*columns, title="by positive recursive teaching dimension")
        for rtd, part in figures["by_rtd"].items():
            cells = f"{100 * part['fraction']:.1f}", f"{part['messages']:.2f}", f"{100 * part['accuracy']:.2f}"
            table.add_row(rtd, *cells, f"{part['return']:.3f}")
        console.print(table)
