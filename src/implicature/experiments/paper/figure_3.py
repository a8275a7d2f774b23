"""Figure 3: accuracy by the target's level after each phase, number sets and objects, with 4 and with 7 candidates.
Each phase should add levels, as each step of the exact recursion does."""

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import binomtest

from implicature.experiments.paper.pairs import KEY, LEVELS, SETTINGS, repeat, run, select_phase
from implicature.experiments.paper.tables import NAMES, OURS
from implicature.experiments.results import Result, TaskSpec, mean_and_std
from implicature.experiments.table import MISSING, Cell, MeanStd, Number, Row, Table
from implicature.games.registry import GAMES

__all__ = ["KEY", "draw", "render", "run", "tasks"]

COLOURS = colormaps["viridis"]


def setting_of(agent: str, game: str) -> str:
    return f"{agent}, grounded, {game}"


def tasks() -> list[TaskSpec]:
    return repeat([setting_of(agent, game) for game in GAMES for agent in OURS])


MAX_PHASES = max(SETTINGS[task["setting"]].optimiser.phases for task in tasks())


def by_phase(results: list[Result], setting: str) -> list[list[Result]]:
    phases = SETTINGS[setting].optimiser.phases
    return [select_phase(results, setting, phase) for phase in range(phases + 1)]


def common_levels(results: list[Result]) -> list[str]:
    """The levels that targets of every run have."""
    return [level for level in LEVELS if results and all(one[f"level_{level}"] != "" for one in results)]


def render(results: list[Result]) -> list[Table]:
    """Accuracy over all games of the runs, by phase and level, with its 95 % interval and the number of games."""
    rows = []
    for game in GAMES:
        for agent in OURS:
            for phase, own in enumerate(by_phase(results, setting_of(agent, game))):
                if own:
                    figures = [pooled_accuracy(own, level) for level in LEVELS]
                    rows.append(Row(setting_of(agent, game), [phase, len(own), *figures]))
    return [Table("setting", ["phase", "runs", *(f"level {level}" for level in LEVELS)], rows)]


def pooled_accuracy(results: list[Result], level: str) -> Cell:
    """Of all games of a level in these runs, with Wilson's interval: targets of high levels are few."""
    have = [one for one in results if one[f"level_{level}"] != ""]
    counts = [int(one[f"games_of_level_{level}"]) for one in have]
    if not (games := sum(counts)):
        return MISSING
    right = sum(count * float(one[f"level_{level}"]) / 100 for count, one in zip(counts, have, strict=True))
    low, high = binomtest(round(right), games).proportion_ci(method="wilson")
    return Number(100 * right / games, 1, note=f"({100 * low:.1f} to {100 * high:.1f}, n = {games:,})")


def draw(results: list[Result]) -> Figure:
    """A panel for each game and network, a line for each phase."""
    figure = Figure(figsize=(9, 3.4 * len(GAMES)), layout="constrained")
    legend = {}
    for axes, game in zip(figure.subplots(len(GAMES), 2, sharey=True, squeeze=False), GAMES, strict=True):
        for axis, agent in zip(axes, OURS, strict=True):
            draw_panel(axis, by_phase(results, setting_of(agent, game)))
            axis.set_title(f"{game}, {NAMES[agent]}", fontsize=10)
            handles, labels = axis.get_legend_handles_labels()
            legend |= dict(zip(labels, handles, strict=True))
        axes[0].set_ylabel("accuracy, %")
    if legend:
        figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=len(legend), fontsize=8)
    return figure


def draw_panel(axis: Axes, phases: list[list[Result]]) -> None:
    """Targets without a level stand apart. A phase has the same colour in all panels."""
    shown = [level for level in LEVELS if any(level in common_levels(own) for own in phases)]
    axis.set_xticks(range(len(shown)), shown)
    axis.set(xlabel="level of the target", xlim=(-0.5, max(1, len(shown)) - 0.5))
    axis.grid(alpha=0.25)
    if not shown:
        axis.text(0.5, 0.5, "no results so far", ha="center", va="center", transform=axis.transAxes, color="#888888")
    for phase, own in enumerate(phases):
        figures = {level: mean_and_std(own, f"level_{level}") for level in common_levels(own)}
        label = "before" if phase == 0 else f"phase {phase}"
        for apart in (False, True):
            part = {level: one for level, one in figures.items() if (level == "none") is apart}
            values = np.array([(one.mean, one.std) for one in part.values() if isinstance(one, MeanStd)])
            if len(values):
                places, colour = [shown.index(level) for level in part], COLOURS(1 - phase / MAX_PHASES)
                axis.errorbar(places, *values.T, color=colour, marker="o", markersize=3.5, capsize=2, label=label)
                label = None
