"""Figure 3: accuracy by the target's level after each phase, with 4 and with 7 candidates. Each phase should bring the
next levels, as each further thought about the other does for exact players."""

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from implicature.experiments.pairs import KEY, LEVELS, NUMBERS, SETTINGS, last_rows, repeated, run
from implicature.experiments.paper_tables import NAMES, OURS
from implicature.experiments.results import Row, mean, mean_and_std

__all__ = ["KEY", "ROWS", "draw", "render", "run", "tasks"]

ROWS = "pairs"
COLOURS = colormaps["viridis"]


def setting_of(agent: str, game: str) -> str:
    return f"{agent}, grounded, {game}"


def tasks() -> list[Row]:
    return repeated([setting_of(agent, game) for game in NUMBERS for agent in OURS])


MOST = max(SETTINGS[task["setting"]].phases for task in tasks())


def by_phase(rows: list[Row], setting: str) -> list[list[Row]]:
    return [last_rows(rows, setting, phase) for phase in range(SETTINGS[setting].phases + 1)]


def told_levels(rows: list[Row]) -> list[str]:
    """Those that every run met with."""
    return [level for level in LEVELS if rows and all(row[f"level_{level}"] != "" for row in rows)]


def render(rows: list[Row]) -> str:
    """A Markdown table: mean ± std over runs, by phase and level."""
    columns = " | ".join(f"level {level}" for level in LEVELS)
    lines = [f"| setting | phase | runs | {columns} |", "|---" * (len(LEVELS) + 3) + "|"]
    for game in NUMBERS:
        for agent in OURS:
            for phase, mine in enumerate(by_phase(rows, setting_of(agent, game))):
                if mine:
                    cells = " | ".join(mean_and_std(mine, f"level_{level}", 1) for level in LEVELS)
                    lines.append(f"| {setting_of(agent, game)} | {phase} | {len(mine)} | {cells} |")
    return "\n".join(lines)


def draw(rows: list[Row]) -> Figure:
    """A panel for each game and network, a line for each phase."""
    figure = Figure(figsize=(9, 6.8), layout="constrained")
    named = {}
    for axes, game in zip(figure.subplots(2, 2, sharey=True, squeeze=False), NUMBERS, strict=True):
        for axis, agent in zip(axes, OURS, strict=True):
            draw_panel(axis, by_phase(rows, setting_of(agent, game)))
            axis.set_title(f"{game}, {NAMES[agent]}", fontsize=10)
            handles, labels = axis.get_legend_handles_labels()
            named |= dict(zip(labels, handles, strict=True))
        axes[0].set_ylabel("targets found, %")
    if named:
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=len(named), fontsize=8)
    return figure


def draw_panel(axis: Axes, phases: list[list[Row]]) -> None:
    """Targets without a level stand by themselves: no number of thoughts leads to them. A phase has one colour in all
    panels."""
    shown = [level for level in LEVELS if any(level in told_levels(mine) for mine in phases)]
    axis.set_xticks(range(len(shown)), shown)
    axis.set(xlabel="level of the target", xlim=(-0.5, max(1, len(shown)) - 0.5))
    axis.grid(alpha=0.25)
    if not shown:
        axis.text(0.5, 0.5, "no rows so far", ha="center", va="center", transform=axis.transAxes, color="#888888")
    for phase, mine in enumerate(phases):
        levels = told_levels(mine)
        colour = COLOURS(1 - phase / MOST)
        label = "before" if phase == 0 else f"phase {phase}"
        for part in ([level for level in levels if level != "none"], [level for level in levels if level == "none"]):
            if part:
                found = [mean(mine, f"level_{level}") for level in part]
                spread = [np.std([float(row[f"level_{level}"]) for row in mine]) for level in part]
                places = [shown.index(level) for level in part]
                axis.errorbar(places, found, spread, color=colour, marker="o", markersize=3.5, capsize=2, label=label)
                label = None
