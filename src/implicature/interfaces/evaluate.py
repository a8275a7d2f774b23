"""`implicature evaluate RUN`: test games, which were never training or validation games."""

import json as json_format
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from implicature.agents.dialogue import greedily, softly
from implicature.evaluation.play import by_rtd, summary
from implicature.evaluation.runs import held_out_games, over_pairs, played_by
from implicature.training.adaptation import beta_of
from implicature.training.run import open_run


def evaluate(
    folder: Path,
    games: int,
    seed: int,
    phase: int | None,
    candidates: int | None,
    equivalent: bool,
    sampled: bool,
    json: bool,
) -> None:
    if games < 10:
        raise ValueError(f"{games} games are too few to tell anything: ask for 10 or more.")
    run = open_run(folder)
    phase = run.setting.config.phases if phase is None else phase
    if not run.phase_file(phase).exists():
        raise ValueError(f"{folder} has no pair after phase {phase}: it is not trained so far, or has fewer phases.")
    drawn = held_out_games(run.setting, games, seed, candidates)
    pairs = [run.pair(phase, i) for i in range(run.setting.config.seeds)]
    speak = softly(beta_of(run.setting.config, run.setting.rules)) if sampled else greedily
    played = [played_by(pair, run.setting, drawn, equivalent, speak) for pair in pairs]
    figures = over_pairs([summary(one) for one in played])
    if run.setting.rules.rounds > 1 and drawn.candidates.shape[1] <= 12:
        each = [by_rtd(one) for one in played]
        figures["by_rtd"] = {
            rtd: {name: float(np.mean([one[rtd][name] for one in each])) for name in each[0][rtd]} for rtd in each[0]
        }
    if json:
        print(json_format.dumps(figures))
        return
    spread, manner = figures.get("std", {}), ", speaker sampled" if sampled else ""
    table = Table("", "value", title=f"{folder}: phase {phase}, {games:,} test games{manner}")
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
