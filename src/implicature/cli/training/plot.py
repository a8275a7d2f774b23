"""Accuracy by level after each phase, and rewards and losses over time, as one plot."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from rich.console import Console
from rich.table import Table

from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import summarize
from implicature.files import check_png, name_in_errors
from implicature.games.sampling import check_n_games
from implicature.training.runs.metrics import METRICS
from implicature.training.runs.run import Run, open_run
from implicature.training.stages import phase_name

COLOURS = plt.get_cmap("viridis")


def read_metrics(run: Run) -> dict[str, np.ndarray]:
    """Each metric over chunks and pairs, nan where a stage does not have it; and the iteration at each chunk's end."""
    lines, pairs = run.metrics.lines(), run.config.optimiser.pairs
    if not lines:
        raise ValueError(f"{run.folder} has no metrics yet: train it first.")
    # A chunk that is being written may lack its last pairs.
    lines = lines[: len(lines) // pairs * pairs]
    if any(line.position.stage >= len(run.stages) for line in lines):
        raise ValueError(f"{run.metrics.path} has stages that this run does not have: it is another run's.")
    before = np.concatenate([[0], np.cumsum([stage.iterations for stage in run.stages])])
    at = [before[line.position.stage] + line.position.iteration for line in lines[::pairs]]
    nan = float("nan")
    metrics = {name: np.array([line.metrics.get(name, nan) for line in lines]).reshape(-1, pairs) for name in METRICS}
    return {"iteration": np.array(at), **metrics}


def draw_levels(axes: Axes, run: Run, games: int) -> dict[int, dict[str, float]]:
    """Bars: for each level, the accuracy after each phase (the paper's figure 3)."""
    drawn = held_out_games(run.task, games, seed=0)
    phases = [phase for phase in range(run.config.optimiser.phases + 1) if run.phase_file(phase).exists()]
    by_phase: dict[int, dict[str, float]] = {}
    for phase in phases:
        each = [summarize(play_pair(run.pair(phase, i), run.task, drawn)) for i in range(run.config.optimiser.pairs)]
        names = each[0]["by_level"]
        by_phase[phase] = {
            level: float(np.mean([one["by_level"][level]["accuracy"] for one in each])) for level in names
        }
    if not by_phase:
        raise ValueError(f"{run.folder} has no phase to show yet: let it train a little longer.")
    names = sorted(next(iter(by_phase.values())), key=lambda level: (level == "none", level))
    for i, phase in enumerate(phases):
        places = np.arange(len(names)) + (i - (len(phases) - 1) / 2) * 0.8 / len(phases)
        colour = COLOURS(i / max(1, len(phases) - 1))
        heights = [100 * by_phase[phase][name] for name in names]
        axes.bar(places, heights, 0.8 / len(phases), color=colour, label=f"after phase {phase}" if phase else "start")
    axes.set_xticks(range(len(names)), [f"level {name}" if name != "none" else "no level" for name in names])
    axes.set(ylabel="accuracy, %", ylim=(0, 101), title="accuracy by the target's level")
    axes.legend(loc="lower left", fontsize=8)
    return by_phase


def draw_metrics(axes: Axes, run: Run, names: tuple[str, ...], metrics: dict[str, np.ndarray], title: str) -> None:
    for name in names:
        values = metrics[name]
        if np.isfinite(values).any():
            mean = np.full(len(values), np.nan)
            known = np.isfinite(values).any(axis=1)
            mean[known] = np.nanmean(values[known], axis=1)
            axes.plot(metrics["iteration"], mean, label=name.replace("_", " "), linewidth=1.5)
    start, last_phase = 0, -1
    for stage in run.stages:
        axes.axvline(start, color="0.85", linewidth=0.8, zorder=0)
        if stage.phase != last_phase:
            last_phase = stage.phase
            name = phase_name(run.config, stage.phase)
            axes.text(start, 1.01, f" {name}", transform=axes.get_xaxis_transform(), fontsize=7, color="0.4")
        start += stage.iterations
    axes.set(xlabel="iteration", title=title + "\n")
    axes.legend(fontsize=8)


def plot_run(folder: Path, games: int, out: Path | None) -> None:
    if out is not None:
        check_png(out, "--out")
    check_n_games(games)
    run = open_run(folder)
    path = out or folder / "watch.png"
    metrics = read_metrics(run)
    figure, (levels, accuracy, losses) = plt.subplots(1, 3, figsize=(15, 4.5), constrained_layout=True)
    by_phase = draw_levels(levels, run, games)
    draw_metrics(accuracy, run, ("accuracy", "reward"), metrics, "validation accuracy and reward in training")
    names = ("q_loss", "obverter_loss", "speaker_loss", "student_loss", "grounding_loss", "contrastive_loss")
    draw_metrics(losses, run, names, metrics, "losses")
    with name_in_errors(path):
        figure.savefig(path, dpi=130)
    plt.close(figure)
    table = Table("accuracy, %", *(f"phase {phase}" for phase in by_phase))
    for level in next(iter(by_phase.values())):
        table.add_row(f"level {level}", *(f"{100 * by_phase[phase][level]:.1f}" for phase in by_phase))
    Console().print(table)
    print(f"The plot is in {path}")
