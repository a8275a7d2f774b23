"""`implicature evaluate RUN`: test games, which were never training or validation games."""

import json as json_format
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table

from implicature.evaluation.play import Played, play_games, summary
from implicature.games import Game, Rules, check_games, draw_games
from implicature.training.adaptation import Pair
from implicature.training.run import Setting, instances_of, open_run


def games_to_test(setting: Setting, games: int, seed: int, candidates: int | None = None) -> Game:
    """Games of the test split; of unseen instances where the run held some out."""
    config = setting.config
    instances = instances_of(config, setting.space, seen=False)
    number = candidates or setting.rules.candidates
    check_games(setting.space, number, len(instances))
    key = jax.random.fold_in(jax.random.key(config.split), 1_000 + seed)
    return draw_games(key, games, number, instances, "test", config.split)


def played_by(pair: Pair, setting: Setting, games: Game, equivalent: bool = False) -> Played:
    rules = Rules(games.candidates.shape[1], setting.rules.rounds, setting.rules.message_cost)
    categories = jnp.asarray(setting.space.category_numbers()) if equivalent else None
    return play_games(pair.teacher, pair.student, setting.world.features, setting.world.truth, games, rules, categories)


def over_pairs(each: list[dict[str, Any]]) -> dict[str, Any]:
    """One pair's figures as they are; several pairs' as mean, std and each."""
    if len(each) == 1:
        return each[0]

    def std(name: str) -> float:
        return float(np.std([one[name] for one in each]))

    names = ("accuracy", "hard_accuracy", "valid", "rounds", "gain")
    mean = {name: float(np.mean([one[name] for one in each])) for name in names}
    levels = list(dict.fromkeys(level for one in each for level in one["by_level"]))
    by_level = {
        level: {k: float(np.mean([one["by_level"][level][k] for one in each])) for k in ("accuracy", "share", "rounds")}
        for level in levels
    }
    spread = {name: std(name) for name in names}
    return {**mean, "by_level": by_level, "games": each[0]["games"], "std": spread, "pairs": len(each), "each": each}


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
