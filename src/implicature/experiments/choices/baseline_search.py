"""The baselines' hyper-parameters, chosen for each game on validation games of a split that no table uses.

Each method is trained with every learning rate × entropy bonus, and with its authors' settings; objects are seen as
attributes. `pairs` takes the best of each game.
"""

from itertools import product
from pathlib import Path

from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import summarize
from implicature.experiments.results import Result, TaskSpec, percent
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import Number, Row, Table
from implicature.games.registry import GAMES
from implicature.training.config import Config, preset_config

METHODS = ("la-2017", "la-2018")
LEARNING_RATES, BONUSES = (1e-3, 3e-3, 1e-2), (0.03, 0.1)
AUTHORS = "authors' settings"
BUDGET = {"phases": 1, "iterations": 4_000, "candidate_sets": 64, "grounded": False}


def choices(method: str) -> dict[str, Config]:
    """What is tried, by name. The authors' settings see as many games as the others."""
    tried = {
        f"rate {rate:g}, bonus {bonus:g}": Config.of(method=method, learning_rate=rate, entropy_bonus=bonus, **BUDGET)
        for rate, bonus in product(LEARNING_RATES, BONUSES)
    }
    return {**tried, AUTHORS: preset_config("as-written", method).replace(**BUDGET, all_targets=True)}


SETTINGS: dict[str, Config] = {
    f"{method}, {choice}, {game}": config.replace(game=game, encoder="none")
    for game in GAMES
    for method in METHODS
    for choice, config in choices(method).items()
}
SPLIT = 0
KEY = ("setting", "split", "seed")


def tasks() -> list[TaskSpec]:
    return [{"setting": setting, "split": SPLIT, "seed": 0} for setting in SETTINGS]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    trained = train_or_load(SETTINGS[task["setting"]], task, runs)
    validation = held_out_games(trained.task, games, seed=0, split="validation")
    figures = percent(summarize(play_pair(trained.pair(), trained.task, validation)), ("accuracy", "hard_accuracy"))
    return [{**task, **figures, **provenance(games, trained)}]


def render(results: list[Result]) -> list[Table]:
    """Accuracy on validation games, hard games in brackets."""
    found = {one["setting"]: one for one in results}
    rows = []
    for method in METHODS:
        for choice in choices(method):
            each = [found.get(f"{method}, {choice}, {game}") for game in GAMES]
            cells = [
                "" if one is None else Number(float(one["accuracy"]), 1, note=f"({float(one['hard_accuracy']):.1f})")
                for one in each
            ]
            rows.append(Row(choice, cells, method))
    return [Table("validation games, %", list(GAMES), rows)]
