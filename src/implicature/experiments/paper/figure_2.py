"""Figure 2: example games, number sets and images of objects. What the teacher would say of the target, and what the
student then believes, before the first phase and after each."""

from pathlib import Path

import jax
import numpy as np
from matplotlib.figure import Figure

from implicature.experiments.paper.example_games import FirstRound, beliefs_by_phase, draw_rounds, pick_game
from implicature.experiments.paper.pairs import KEY, SETTINGS, SPLITS
from implicature.experiments.results import Result, TaskSpec
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import Number, Row, Table
from implicature.games.registry import load_game

__all__ = ["KEY", "draw", "render", "run", "tasks"]

EXAMPLES = {"exchange, grounded, numbers-4": (1, 2), "exchange, grounded, objects-4": (1,)}
"""The settings, and the levels of the targets."""


def tasks() -> list[TaskSpec]:
    return [{"setting": setting, "split": SPLITS[0], "seed": 100 * SPLITS[0]} for setting in EXAMPLES]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """A result for each game and phase; an array is one cell."""
    trained = train_or_load(SETTINGS[task["setting"]], task, runs)
    results = []
    for level in EXAMPLES[task["setting"]]:
        game = jax.device_get(pick_game(trained, level))
        for played in beliefs_by_phase(trained, game):
            results.append(
                {
                    **task,
                    "level": level,
                    "candidates": format_array(game.candidates),
                    "target": int(game.target),
                    "phase": played.phase,
                    "message": played.message,
                    "message_probabilities": format_array(played.message_probabilities),
                    "belief": format_array(played.belief),
                    **provenance(1, trained, played.phase),
                }
            )
    return results


def format_array(values: np.ndarray) -> str:
    return " ".join(f"{value:.4g}" for value in np.asarray(values).tolist())


def parse_array(cell: str, kind: type = float) -> np.ndarray:
    return np.array([kind(number) for number in cell.split()])


def parse_round(result: Result) -> FirstRound:
    probabilities, belief = parse_array(result["message_probabilities"]), parse_array(result["belief"])
    return FirstRound(int(result["phase"]), probabilities, int(result["message"]), belief)


def group_games(results: list[Result]) -> list[tuple[str, list[Result]]]:
    """The setting of each game, and its results phase by phase."""
    keys = dict.fromkeys((one["setting"], one["level"]) for one in results)
    return [(key[0], [one for one in results if (one["setting"], one["level"]) == key]) for key in keys]


def render(results: list[Result]) -> list[Table]:
    """The most likely message, and the belief in the target after it."""
    rows = []
    for setting, own in group_games(results):
        space, _ = load_game(SETTINGS[setting].game.game)
        for one in own:
            target, played = int(one["target"]), parse_round(one)
            labels = [space.label(int(i)) for i in parse_array(one["candidates"], int)]
            belief = Number(100 * played.belief[target], 0)
            word = space.words[played.message]
            rows.append(Row(" ".join(labels), [labels[target], played.phase, word, belief]))
    return [Table("candidates", ["target", "phase", "message", "student's belief in the target, %"], rows)]


def draw(results: list[Result]) -> Figure:
    """Game under game."""
    games = group_games(results)
    heights = [len(own) + 1 for _, own in games]
    figure = Figure(figsize=(9, 1.2 * sum(heights) + 0.5 * len(games)), layout="constrained")
    parts = figure.subfigures(len(games), 1, height_ratios=heights, squeeze=False)[:, 0]
    for part, (setting, own) in zip(parts, games, strict=True):
        space, _ = load_game(SETTINGS[setting].game.game)
        part.suptitle(f"{setting}: a target of level {own[0]['level']}", fontsize=9, x=0.01, ha="left")
        candidates, target = parse_array(own[0]["candidates"], int), int(own[0]["target"])
        draw_rounds(part, space, candidates, target, [parse_round(one) for one in own])
    return figure
