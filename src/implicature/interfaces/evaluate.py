"""`implicature evaluate RUN`: test games, which were never training or validation games."""

import json as json_format
from pathlib import Path

from rich.console import Console
from rich.table import Table

from implicature.evaluation.play import summary
from implicature.evaluation.runs import games_to_test, over_pairs, played_by
from implicature.training.run import open_run


def evaluate(
    folder: Path, games: int, seed: int, phase: int | None, candidates: int | None, equivalent: bool, json: bool
) -> None:
    if games < 10:
        raise ValueError(f"{games} games are too few to tell anything: ask for 10 or more.")
    run = open_run(folder)
    phase = run.setting.config.phases if phase is None else phase
    if not run.phase_file(phase).exists():
        raise ValueError(f"{folder} has no pair after phase {phase}: it is not trained so far, or has fewer phases.")
    drawn = games_to_test(run.setting, games, seed, candidates)
    pairs = [run.pair(phase, i) for i in range(run.setting.config.seeds)]
    figures = over_pairs([summary(played_by(pair, run.setting, drawn, equivalent)) for pair in pairs])
    if json:
        print(json_format.dumps(figures))
        return
    spread = figures.get("std", {})
    table = Table("", "value", title=f"{folder}: phase {phase}, {games:,} test games")
    for name in ("accuracy", "hard_accuracy", "valid"):
        more = f" ± {100 * spread[name]:.2f}" if spread else ""
        table.add_row(name.replace("_", " "), f"{100 * figures[name]:.2f} %{more}")
    for name in ("rounds", "gain"):
        table.add_row(name, f"{figures[name]:.3f}")
    for level, mine in figures["by_level"].items():
        table.add_row(f"level {level}, {100 * mine['share']:.1f} % of targets", f"{100 * mine['accuracy']:.2f} %")
    Console().print(table)
