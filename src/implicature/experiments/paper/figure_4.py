"""Figure 4: covariance between messages and the distractors' attributes: 58 novel targets × 100 games of objects-4, as
in the paper, and of objects-7."""

from itertools import product
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from implicature.evaluation.covariance import covariance
from implicature.experiments.paper.pairs import KEY, OBJECTS, SETTINGS, repeat
from implicature.experiments.paper.tables import NAMES, OURS
from implicature.experiments.results import Result, TaskSpec
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import Number, Row, Table
from implicature.spaces import SPACES, Space
from implicature.training.task import task_instances

__all__ = ["KEY", "draw", "render", "run", "tasks"]

AGENTS = ("exchange", "deep-sets", "la-2017")
GAMES_PER_TARGET = 100
"""As in the paper."""
Matrix = Float[np.ndarray, "messages attributes"]


def setting_of(agent: str, game: str) -> str:
    return f"{agent}, novel targets, {game}"


def tasks() -> list[TaskSpec]:
    return repeat([setting_of(agent, game) for game in OBJECTS for agent in AGENTS])


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """A result for each message, with a column for each attribute."""
    trained = train_or_load(SETTINGS[task["setting"]], task, runs)
    space, config = trained.task.space, trained.config
    targets, per_target = np.asarray(task_instances(config, space, held_out=True)), min(games, GAMES_PER_TARGET)
    matrix = covariance(trained.pair(), space, trained.task.rules, targets, per_target, config.data.split_seed)
    about = provenance(len(targets) * per_target, trained)
    return [
        {**task, "message": message, **dict(zip(space.attributes, np.round(row, 5).tolist(), strict=True)), **about}
        for message, row in zip(space.words, matrix, strict=True)
    ]


def mean_covariance(results: list[Result], agent: str, game: str, space: Space) -> Matrix | None:
    """The mean over runs."""
    own = [one for one in results if one["setting"] == setting_of(agent, game)]
    if not own:
        return None
    names = space.attributes
    return np.stack([[np.mean([float(one[a]) for one in own if one["message"] == m]) for a in names] for m in names])


def render(results: list[Result]) -> list[Table]:
    """Means over the diagonal, over other attributes of the message's category, and over the rest."""
    space = SPACES["objects"]()
    category = np.asarray(space.category_numbers())
    diagonal, same = np.eye(len(category), dtype=bool), category[:, None] == category
    rows = []
    for game, agent in product(OBJECTS, AGENTS):
        matrix = mean_covariance(results, agent, game, space)
        if matrix is not None:
            cells = [Number(matrix[part].mean(), 4, signed=True) for part in (diagonal, same & ~diagonal, ~same)]
            rows.append(Row(NAMES[agent], cells, game, kind="ours" if agent in OURS else "baseline"))
    columns = ["the same attribute of distractors", "other attributes of its category", "the rest"]
    return [Table("mean covariance of a message and", columns, rows)]


def draw(results: list[Result]) -> Figure:
    """A heat map for each method and game, all in one scale; categories are outlined."""
    space = SPACES["objects"]()
    found = {key: mean_covariance(results, key[1], key[0], space) for key in product(OBJECTS, AGENTS)}
    matrices = {key: matrix for key, matrix in found.items() if matrix is not None}
    games = list(dict.fromkeys(game for game, _ in matrices)) or [OBJECTS[0]]
    figure = Figure(figsize=(5.2 * len(AGENTS), 5.2 * len(games)), layout="constrained")
    axes = figure.subplots(len(games), len(AGENTS), squeeze=False)
    scale = max((float(np.abs(matrix).max()) for matrix in matrices.values()), default=1.0)
    image: AxesImage | None = None
    for (row, game), (column, agent) in product(enumerate(games), enumerate(AGENTS)):
        axis = axes[row, column]
        axis.set_title(f"{game}, {NAMES[agent]}", fontsize=10)
        if (game, agent) in matrices:
            image = draw_matrix(axis, matrices[game, agent], space, scale)
        else:
            axis.axis("off")
    if image is not None:
        figure.colorbar(image, ax=axes, shrink=0.7, label="covariance")
    return figure


def draw_matrix(axis: Axes, matrix: Matrix, space: Space, scale: float) -> AxesImage:
    image = axis.imshow(matrix, cmap="RdBu_r", vmin=-scale, vmax=scale)
    axis.set_xticks(range(len(space.attributes)), space.attributes, rotation=90, fontsize=7)
    axis.set_yticks(range(len(space.words)), space.words, fontsize=7)
    axis.set(xlabel="attribute of distractors", ylabel="message")
    category = np.asarray(space.category_numbers())
    for number in np.unique(category):
        first, size = int(np.argmax(category == number)), int(np.sum(category == number))
        axis.add_patch(Rectangle((first - 0.5, first - 0.5), size, size, fill=False, edgecolor="#222222"))
    return image
