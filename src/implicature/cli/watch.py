"""`implicature watch RUN`: accuracy by level after each phase, and rewards and losses over time, as one picture."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from rich.console import Console
from rich.table import Table

from implicature.evaluation.held_out import held_out_games, played_by
from implicature.evaluation.rollouts import summary
from implicature.files import check_png
from implicature.games.sampling import check_number
from implicature.training.metrics import METRICS
from implicature.training.run import Run, named_phase, open_run

COLOURS = plt.get_cmap("viridis")


def read_metrics(run: Run) -> dict[str, np.ndarray]:
    """Each figure over chunks and pairs, nan where a stage does not have it; and where each chunk ends."""
    lines, pairs = run.metrics.lines(), run.setting.config.seeds
    if not lines:
        raise ValueError(f"{run.folder} has no metrics yet: train it first.")
    # A chunk that is being written may lack its last pairs.
    lines = lines[: len(lines) // pairs * pairs]
    if any(line.where.stage >= len(run.stages) for line in lines):
        raise ValueError(f"{run.metrics.path} tells of stages that this run does not have: it is another run's.")
    before = np.concatenate([[0], np.cumsum([stage.iterations for stage in run.stages])])
    at = [before[line.where.stage] + line.where.iteration for line in lines[::pairs]]
    nan = float("nan")
    figures = {name: np.array([line.figures.get(name, nan) for line in lines]).reshape(-1, pairs) for name in METRICS}
    return {"iteration": np.array(at), **figures}


def draw_levels(axes: Axes, run: Run, games: int) -> dict[int, dict[str, float]]:
    """Bars: for each level, the accuracy after each phase (the paper's figure 3)."""
    drawn = held_out_games(run.setting, games, seed=0)
    phases = [phase for phase in range(run.setting.config.phases + 1) if run.phase_file(phase).exists()]
    found: dict[int, dict[str, float]] = {}
    for phase in phases:
        each = [summary(played_by(run.pair(phase, i), run.setting, drawn)) for i in range(run.setting.config.seeds)]
        names = each[0]["by_level"]
        found[phase] = {level: float(np.mean([one["by_level"][level]["accuracy"] for one in each])) for level in names}
    if not found:
        raise ValueError(f"{run.folder} has no phase to show yet: let it train a little longer.")
    names = sorted(next(iter(found.values())), key=lambda level: (level == "none", level))
    for i, phase in enumerate(phases):
        places = np.arange(len(names)) + (i - (len(phases) - 1) / 2) * 0.8 / len(phases)
        colour = COLOURS(i / max(1, len(phases) - 1))
        heights = [100 * found[phase][name] for name in names]
        axes.bar(places, heights, 0.8 / len(phases), color=colour, label=f"after phase {phase}" if phase else "start")
    axes.set_xticks(range(len(names)), [f"level {name}" if name != "none" else "no level" for name in names])
    axes.set(ylabel="targets found, %", ylim=(0, 101), title="accuracy by the target's level")
    axes.legend(loc="lower left", fontsize=8)
    return found


def draw_metrics(axes: Axes, run: Run, names: tuple[str, ...], metrics: dict[str, np.ndarray], title: str) -> None:
    for name in names:
        values = metrics[name]
        if np.isfinite(values).any():
            mean = np.full(len(values), np.nan)
            known = np.isfinite(values).any(axis=1)
            mean[known] = np.nanmean(values[known], axis=1)
            axes.plot(metrics["iteration"], mean, label=name.replace("_", " "), linewidth=1.5)
    start, named = 0, -1
    for stage in run.stages:
        axes.axvline(start, color="0.85", linewidth=0.8, zorder=0)
        if stage.phase != named:
            named = stage.phase
            name = named_phase(run.setting.config, stage.phase)
            axes.text(start, 1.01, f" {name}", transform=axes.get_xaxis_transform(), fontsize=7, color="0.4")
        start += stage.iterations
    axes.set(xlabel="iteration", title=title + "\n")
    axes.legend(fontsize=8)


def watch(folder: Path, games: int, out: Path | None) -> None:
    if out is not None:
        check_png(out, "--out")
    check_number(games)
    run = open_run(folder)
    path = out or folder / "watch.png"
    metrics = read_metrics(run)
    figure, (levels, accuracy, losses) = plt.subplots(1, 3, figsize=(15, 4.5), constrained_layout=True)
    found = draw_levels(levels, run, games)
    draw_metrics(accuracy, run, ("accuracy", "reward"), metrics, "validation accuracy and reward in training")
    names = ("q_loss", "obverter_loss", "speaker_loss", "student_loss", "grounding_loss", "looking_loss")
    draw_metrics(losses, run, names, metrics, "losses")
    figure.savefig(path, dpi=130)
    plt.close(figure)
    table = Table("accuracy, %", *(f"phase {phase}" for phase in found))
    for level in next(iter(found.values())):
        table.add_row(f"level {level}", *(f"{100 * found[phase][level]:.1f}" for phase in found))
    Console().print(table)
    print(f"The picture is in {path}")
