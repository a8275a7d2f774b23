"""Predicted against observed, cell by cell: a row for each model, a column for each data set."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from implicature.evaluation.human.scores import Score, correlation

COLOURS = {"listener": "#00798c", "speaker": "#d1495b"}
MARKERS = {"listener": "o", "speaker": "s"}
Panel = tuple[str, str, Sequence[Score]]
"""The model's name, the data set's, and the model's scores on its parts."""


def standard_error(score: Score) -> np.ndarray:
    """Of each observed frequency, from the number of decisions that it is a mean of."""
    cells, totals = score.answers.cells, score.answers.totals.sum(axis=1, keepdims=True)
    inside = cells >= 0
    number = np.bincount(cells[inside], (totals * np.ones(cells.shape))[inside])
    return np.sqrt(score.observed * (1 - score.observed) / number)


def draw_cells(panels: Sequence[Panel]) -> Figure:
    models, data = (list(dict.fromkeys(panel[i] for panel in panels)) for i in (0, 1))
    width, height = 2.3 * len(data) + 0.5, 2.3 * len(models) + 0.6
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(len(models), len(data), squeeze=False, sharex=True, sharey=True)
    for model, name, scores in panels:
        row, column = models.index(model), data.index(name)
        axis = axes[row, column]
        axis.plot([0, 1], [0, 1], color="0.8", linewidth=0.8, zorder=0)
        for one in scores:
            role = one.answers.role
            axis.errorbar(
                one.predicted, one.observed, 1.96 * standard_error(one), fmt=MARKERS[role], color=COLOURS[role],
                markersize=3.5, linewidth=0.8, alpha=0.85, label=f"{role}s",
            )  # fmt: skip
        r = correlation(*(np.concatenate([getattr(one, part) for one in scores]) for part in ("predicted", "observed")))
        total = sum(one.answers.decisions for one in scores)
        mean = sum(one.fit.log_likelihood for one in scores) / total
        text = f"{'r –' if r is None else f'r = {r:.3f}'}\nlog L = {mean:.3f}"
        axis.text(0.04, 0.96, text, va="top", fontsize=7, transform=axis.transAxes)
        axis.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        axis.tick_params(labelsize=7)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
        if row == 0:
            axis.set_title(name, fontsize=8)
        if column == 0:
            axis.set_ylabel(f"{model}\nobserved", fontsize=7)
        if row == len(models) - 1:
            axis.set_xlabel("predicted", fontsize=7)
    handles = {label: mark for axis in axes.flat for mark, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=2, fontsize=7, frameon=False)
    return figure
