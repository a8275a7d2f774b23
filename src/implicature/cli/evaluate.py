"""`implicature evaluate`: test games, which were never training or validation games."""

import json as json_format
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from implicature.agents.rollout import greedily, softly
from implicature.evaluation.held_out import over_pairs
from implicature.evaluation.matchup import Meeting, own_words
from implicature.evaluation.rollouts import Played, by_rtd, play_games, summary
from implicature.experiments.external import add_row, own_row, own_rows
from implicature.files import check_folder
from implicature.training.algorithm1 import beta_of


def played(meeting: Meeting, equivalent: bool, sampled: bool) -> list[Played]:
    """What came of the games of each pair."""
    setting = meeting.setting
    categories = jnp.asarray(setting.space.category_numbers()) if equivalent else None
    speak = softly(beta_of(setting.config, setting.rules)) if sampled else greedily
    truth = setting.world.truth
    with own_words():
        return [
            play_games(*pair, meeting.sights(*pair), truth, meeting.games, meeting.rules, categories, speak=speak)
            for pair in meeting.pairs
        ]


def evaluated(meeting: Meeting, equivalent: bool = False, sampled: bool = False) -> dict[str, Any]:
    """The figures of all pairs."""
    each = played(meeting, equivalent, sampled)
    figures = over_pairs([summary(one) for one in each])
    if meeting.rules.rounds > 1 and meeting.rules.candidates <= 12:
        tables = [by_rtd(one) for one in each]
        figures["by_rtd"] = {
            rtd: {name: float(np.mean([one[rtd][name] for one in tables])) for name in tables[0][rtd]}
            for rtd in tables[0]
        }
    return figures


def evaluate(meeting: Meeting, equivalent: bool, sampled: bool, json: bool, row: Path | None = None) -> None:
    if row is not None:
        check_folder(row.parent, "--row")
        own_rows(row)  # what is no such file is refused before the work
    figures = evaluated(meeting, equivalent, sampled)
    if row is not None:
        which = ", ".join(["equivalent"] * equivalent + meeting.kinds()) or "test"
        add_row(row, own_row(meeting.title, meeting.setting.config, meeting.rules, figures, which, sampled))
    if json:
        asked = {"novel": meeting.novel, "pictures": meeting.pictures}
        print(json_format.dumps({**figures, **{name: value for name, value in asked.items() if value}}))
        return
    spread, kinds = figures.get("std", {}), meeting.kinds() + ["speaker sampled"] * sampled
    title = ", ".join([meeting.title, f"{figures['games']:,} test games", *kinds])
    table = Table("", "value", title=escape(title))
    for name in ("accuracy", "hard_accuracy", "valid"):
        more = f" ± {100 * spread[name]:.2f}" if spread else ""
        table.add_row(name.replace("_", " "), f"{100 * figures[name]:.2f} %{more}")
    for name in ("rounds", "gain"):
        table.add_row(name, f"{figures[name]:.3f}")
    for level, mine in figures["by_level"].items():
        table.add_row(f"level {level}, {100 * mine['share']:.1f} % of targets", f"{100 * mine['accuracy']:.2f} %")
    Console().print(table)
    if "by_rtd" in figures:
        table = Table(
            "RTD", "share, %", "messages", "accuracy, %", "gain", title="by positive recursive teaching dimension"
        )
        for rtd, mine in figures["by_rtd"].items():
            shares = f"{100 * mine['share']:.1f}", f"{mine['rounds']:.2f}", f"{100 * mine['accuracy']:.2f}"
            table.add_row(rtd, *shares, f"{mine['gain']:.3f}")
        Console().print(table)
