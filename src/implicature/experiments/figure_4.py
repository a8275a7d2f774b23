"""Figure 4: covariance between messages and the distractors' attributes: 58 novel targets × 100 games of objects-4."""

from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from implicature.evaluation.covariance import covariance
from implicature.evaluation.held_out import sights_between
from implicature.experiments.pairs import KEY, SETTINGS, made, repeated, trained
from implicature.experiments.paper_tables import NAMES
from implicature.experiments.results import Row
from implicature.spaces import SPACES, Space
from implicature.training.run import instances_of

__all__ = ["KEY", "draw", "render", "run", "tasks"]

AGENTS = ("exchange", "paper", "la-2017")
GAMES = 100
"""Of each target (paper: 100)."""


def setting_of(agent: str) -> str:
    return f"{agent}, novel targets, objects-4"


def tasks() -> list[Row]:
    return repeated([setting_of(agent) for agent in AGENTS])


def run(task: Row, games: int, runs: Path) -> list[Row]:
    """A row for each message, a column for each attribute."""
    trained_run = trained(SETTINGS[task["setting"]], task, runs)
    setting, pair = trained_run.setting, trained_run.pair()
    space, targets = setting.space, np.asarray(instances_of(setting.config, setting.space, seen=False))
    sights = sights_between(pair.teacher, pair.student, space)
    found = covariance(
        pair.teacher, pair.student, sights, space, setting.rules, targets, min(games, GAMES), setting.config.split
    )
    about = made(len(targets) * min(games, GAMES), trained_run)
    return [
        {**task, "message": message, **dict(zip(space.attributes, np.round(line, 5).tolist(), strict=True)), **about}
        for message, line in zip(space.attributes, found, strict=True)
    ]


def table_of(rows: list[Row], agent: str, space: Space) -> Float[np.ndarray, "messages attributes"] | None:
    """The mean over runs."""
    mine = [row for row in rows if row["setting"] == setting_of(agent)]
    if not mine:
        return None
    names = space.attributes
    return np.stack([[np.mean([float(row[a]) for row in mine if row["message"] == m]) for a in names] for m in names])


def render(rows: list[Row]) -> str:
    """A Markdown table: how saying a word goes with its being true of distractors, and with other words of its kind."""
    space = SPACES["objects"]()
    kind = np.asarray(space.category_numbers())
    same = (kind[:, None] == kind) & ~np.eye(len(kind), dtype=bool)
    lines = [
        "| mean covariance of a message and | the same attribute of distractors | others of its category | the rest |",
        "|---|---|---|---|",
    ]
    for agent in AGENTS:
        table = table_of(rows, agent, space)
        if table is not None:
            parts = table[np.eye(len(kind), dtype=bool)], table[same], table[kind[:, None] != kind]
            lines.append(f"| {NAMES[agent]} | {' | '.join(f'{part.mean():+.4f}' for part in parts)} |")
    return "\n".join(lines)


def draw(rows: list[Row]) -> Figure:
    """A map for each method, all in one scale; categories are outlined."""
    space = SPACES["objects"]()
    tables = {agent: table for agent in AGENTS if (table := table_of(rows, agent, space)) is not None}
    figure = Figure(figsize=(5.2 * max(1, len(tables)), 5.2), layout="constrained")
    axes = figure.subplots(1, max(1, len(tables)), squeeze=False)[0]
    most = max((float(np.abs(table).max()) for table in tables.values()), default=1.0)
    image: AxesImage | None = None
    for axis, (agent, table) in zip(axes, tables.items(), strict=False):
        image = draw_map(axis, table, space, most)
        axis.set_title(NAMES[agent], fontsize=10)
    if image is not None:
        figure.colorbar(image, ax=axes, shrink=0.7, label="covariance")
    return figure


def draw_map(axis: Axes, table: np.ndarray, space: Space, most: float) -> AxesImage:
    image = axis.imshow(table, cmap="RdBu_r", vmin=-most, vmax=most)
    axis.set_xticks(range(len(space.attributes)), space.attributes, rotation=90, fontsize=7)
    axis.set_yticks(range(len(space.attributes)), space.attributes, fontsize=7)
    axis.set(xlabel="attribute of distractors", ylabel="message")
    kind = np.asarray(space.category_numbers())
    for number in np.unique(kind):
        first, size = int(np.argmax(kind == number)), int(np.sum(kind == number))
        axis.add_patch(Rectangle((first - 0.5, first - 0.5), size, size, fill=False, edgecolor="#222222"))
    return image
