"""A run and its strangers as a picture: dots for each partner, or everybody with everybody as a table in colours."""

from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

TEACHER, STUDENT, PARTNER = "#00798c", "#d1495b", "0.6"


def draw(title: str, figures: dict[str, Any]) -> Figure:
    """Dots, and beside them the whole table where there is one."""
    number = len(figures["partners"])
    if "table" not in figures:
        figure, axes = plt.subplots(figsize=(8, 1.6 + 0.32 * number), constrained_layout=True)
        draw_partners(axes, figures)
    else:
        figure, (axes, grid) = plt.subplots(
            1, 2, figsize=(16, 1.6 + 0.45 * number), constrained_layout=True, width_ratios=(1, 1.15)
        )
        draw_partners(axes, figures)
        draw_table(grid, figures["players"], 100 * np.asarray(figures["table"]))
    figure.suptitle(f"{title}, {figures['games']:,} test games", fontsize=11)
    return figure


def draw_partners(axes: Axes, figures: dict[str, Any]) -> None:
    partners = sorted(figures["partners"].items(), key=lambda item: item[1]["accuracy"])
    places = np.arange(len(partners))
    columns = {name: [100 * one[name] for _, one in partners] for name in ("as_teacher", "as_student", "self_play")}
    ends = np.sort([columns["as_teacher"], columns["as_student"]], axis=0)
    axes.hlines(places, *ends, color="0.85", linewidth=3, zorder=1)
    axes.scatter(columns["self_play"], places, marker="|", s=120, color=PARTNER, label="the partner with itself")
    axes.scatter(columns["as_teacher"], places, color=TEACHER, label="teaches the partner", zorder=3)
    axes.scatter(columns["as_student"], places, color=STUDENT, label="is taught by the partner", zorder=3)
    axes.axvline(100 * figures["self_play"], color="black", linewidth=1, label="with itself (self-play)")
    axes.axvline(100 * figures["mean"], color="black", linewidth=1, linestyle="--", label="mean over partners")
    axes.axvline(100 * figures["chance"], color="0.8", linewidth=1, linestyle=":", label="chance")
    axes.set_yticks(places, [name for name, _ in partners])
    axes.set(xlabel="accuracy, %", xlim=(0, 101))
    axes.legend(fontsize=8, loc="upper left")


def draw_table(axes: Axes, names: list[str], table: np.ndarray) -> None:
    axes.imshow(table, vmin=0, vmax=100, cmap="viridis", aspect="auto")
    for (i, j), value in np.ndenumerate(table):
        colour = "black" if value > 60 else "white"
        axes.text(j, i, f"{value:.0f}" if value < 99.95 else "100", ha="center", va="center", fontsize=7, color=colour)
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set(xlabel="student", ylabel="teacher")
