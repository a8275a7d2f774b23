"""Figure 2: example games, number sets and objects in pictures. What she would say of the target, and what he then
believes, before the first phase and after each."""

from pathlib import Path

import jax
import numpy as np
from matplotlib.figure import Figure

from implicature.experiments.example_games import Thought, draw_in, telling_game, thoughts
from implicature.experiments.pairs import KEY, SETTINGS, made, trained
from implicature.experiments.results import Row
from implicature.games.sampling import named_game

__all__ = ["KEY", "draw", "render", "run", "tasks"]

EXAMPLES = {"exchange, grounded, numbers-4": (1, 2), "exchange, grounded, objects-4": (1,)}
"""The settings, and the levels of the targets that are shown."""


def tasks() -> list[Row]:
    return [{"setting": setting, "split": 0, "seed": 0} for setting in EXAMPLES]


def numbers(values: np.ndarray) -> str:
    return " ".join(f"{value:.4g}" for value in np.asarray(values).tolist())


def run(task: Row, games: int, runs: Path) -> list[Row]:
    """A row for each game and phase; what has several numbers has them in one cell."""
    pair = trained(SETTINGS[task["setting"]], task, runs)
    rows = []
    for level in EXAMPLES[task["setting"]]:
        game = jax.device_get(telling_game(pair, level))
        for thought in thoughts(pair, game):
            rows.append(
                {
                    **task,
                    "level": level,
                    "candidates": numbers(game.candidates),
                    "target": int(game.target),
                    "phase": thought.phase,
                    "message": thought.message,
                    "speaking": numbers(thought.speaking),
                    "belief": numbers(thought.belief),
                    **made(1, pair, thought.phase),
                }
            )
    return rows


def shown_games(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """The rows of each game, phase by phase."""
    keys = dict.fromkeys((row["setting"], row["level"]) for row in rows)
    return [(key[0], [row for row in rows if (row["setting"], row["level"]) == key]) for key in keys]


def whole(cell: str) -> np.ndarray:
    return np.array([int(number) for number in cell.split()])


def thought_of(row: Row) -> Thought:
    speaking, belief = (np.array([float(x) for x in row[name].split()]) for name in ("speaking", "belief"))
    return Thought(int(row["phase"]), speaking, int(row["message"]), belief)


def render(rows: list[Row]) -> str:
    """A Markdown table: the word she would say, and his belief in the target."""
    lines = ["| game | target | phase | she says | he believes the target, % |", "|---|---|---|---|---|"]
    for setting, mine in shown_games(rows):
        space, _ = named_game(SETTINGS[setting].game)
        for row in mine:
            candidates, target, thought = whole(row["candidates"]), int(row["target"]), thought_of(row)
            labels, word = [space.label(int(i)) for i in candidates], space.attributes[thought.message]
            belief = f"{100 * thought.belief[target]:.0f}"
            lines.append(f"| {' '.join(labels)} | {labels[target]} | {row['phase']} | {word} | {belief} |")
    return "\n".join(lines)


def draw(rows: list[Row]) -> Figure:
    """Game under game."""
    games = shown_games(rows)
    heights = [len(mine) + 1 for _, mine in games]
    figure = Figure(figsize=(9, 1.2 * sum(heights) + 0.5 * len(games)), layout="constrained")
    places = figure.subfigures(len(games), 1, height_ratios=heights, squeeze=False)[:, 0]
    for place, (setting, mine) in zip(places, games, strict=True):
        space, _ = named_game(SETTINGS[setting].game)
        place.suptitle(f"{setting}: a target of level {mine[0]['level']}", fontsize=9, x=0.01, ha="left")
        found = [thought_of(row) for row in mine]
        draw_in(place, space, whole(mine[0]["candidates"]), int(mine[0]["target"]), found)
    return figure
