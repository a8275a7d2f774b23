"""The ladder: from the paper as written to ours, one choice at a time in the order of their effect; test games.

Every step keeps the changes of those before it. All have the same number of iterations; the paper's own budget, 10,000
a half phase, is in tables 1 and 2.
"""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from implicature.experiments.paper.pairs import FIGURES, NUMBERS, SPLITS, evaluate_phases
from implicature.experiments.paper.tables import paper_mean
from implicature.experiments.results import Result, TaskSpec, mean, mean_and_std
from implicature.experiments.runs import KEY as RUN_KEY
from implicature.experiments.table import Row, Table
from implicature.games.registry import GAMES
from implicature.training.config import Config, preset_config

__all__ = ["KEY", "draw", "render", "run", "tasks"]

ITERATIONS = 3_000
STEPS: dict[str, dict[str, object]] = {
    "as written, 3,000 iterations": {},
    "Q reads the predicted belief (F-08)": {"q_reads_belief": True},
    "learning rate, schedule and clipping (F-11)": {
        "learning_rate": 3e-3, "schedule": "cosine", "gradient_clip": 1.0, "pretraining_learning_rate": None
    },
    "initial scales and means for contexts (F-07, F-34)": {"initial_scales": "tuned", "context": "mean"},
    "softmax likelihood and lapse rate (F-06, F-15)": {"likelihood": "softmax", "lapse_rate": 0.05},
    "every target of 256 candidate sets (F-10)": {"all_targets": True, "candidate_sets": 256},
    "exploration (F-38)": {"epsilon": (0.95, 0.05)},
    "expected credit, α, student first, speaker target (F-17 to F-19, F-36)": {
        "credit": "expected", "reinforce_baseline": "belief", "calibration_alpha": None, "first_learner": None,
        "grounding_target": "speaker",
    },
    "hidden layer of Q and a third block (F-37): ours, deep-sets": {"q_hidden": 32, "layers": 3},
    "exchange network, frozen semantics (F-05, F-20): ours": {"network": "exchange"},
}  # fmt: skip
"""What each step changes."""
STARTS = {"ungrounded": {"grounded": False}, "grounded": {"grounded": True, "pretraining_iterations": 3_000}}


def ladder() -> dict[str, Config]:
    """Every step of every ladder, by "step, start, game"."""
    settings: dict[str, Config] = {}
    for game in NUMBERS:
        for start, values in STARTS.items():
            config = preset_config("as-written").replace(game=game, iterations=ITERATIONS, **values)
            for step, changes in STEPS.items():
                config = config.replace(**changes)
                if config.network.network == "exchange" and game == "numbers-7":
                    config = config.replace(layers=5)
                settings[f"{step}, {start}, {game}"] = config
    return settings


SETTINGS = ladder()
SEEDS = (0, 1)
KEY = RUN_KEY


def tasks() -> list[TaskSpec]:
    """Two splits × two seeds; a run of every step before the next."""
    return [
        {"setting": setting, "split": split, "seed": 100 * split + seed}
        for split in SPLITS[:2]
        for seed in SEEDS
        for setting in SETTINGS
    ]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    return evaluate_phases(SETTINGS[task["setting"]], task, games, runs)


def after_phase(results: list[Result], setting: str, phase: int) -> list[Result]:
    return [one for one in results if one["setting"] == setting and int(one["phase"]) == phase]


def render(results: list[Result]) -> list[Table]:
    """Mean ± std over runs after the first and the last phase, a table for each game and start."""
    tables = []
    for game in NUMBERS:
        for start in STARTS:
            rows = []
            for step in STEPS:
                setting = f"{step}, {start}, {game}"
                last = after_phase(results, setting, SETTINGS[setting].optimiser.phases)
                if last:
                    names = (*FIGURES, "equivalent_accuracy") if start == "grounded" else FIGURES[:2]
                    cells = [mean_and_std(last, name) for name in names]
                    first = mean_and_std(after_phase(results, setting, 1), "accuracy")
                    rows.append(Row(step, [len(last), first, *cells]))
            figures = ["accuracy", "hard", "valid", "equivalent games"][: 4 if start == "grounded" else 2]
            if rows:
                tables.append(Table(f"{game}, {start}: changes so far", ["runs", "after phase 1", *figures], rows))
    return tables


def draw(results: list[Result]) -> Figure:
    """A panel for each game and start, a row for each step: the runs, their mean, and the paper's figure."""
    figure = Figure(figsize=(11, 6.4), layout="constrained")
    panels = figure.subplots(len(STARTS), len(NUMBERS), sharey=True, squeeze=False)
    names = [step.split(" (")[0].replace("expected credit, ", "expected credit,\n") for step in STEPS]
    for axes, start in zip(panels, STARTS, strict=True):
        for axis, game in zip(axes, NUMBERS, strict=True):
            draw_panel(axis, results, start, game)
            axis.set_yticks(range(len(STEPS)), names, fontsize=8)
        axes[0].invert_yaxis()
    for axis in panels[-1]:
        axis.set_xlabel("accuracy after phase 3, %")
    return figure


def draw_panel(axis: Axes, results: list[Result], start: str, game: str) -> None:
    table, part = ("table-1", "total") if start == "ungrounded" else ("table-2", "identical-games")
    paper = paper_mean(table, part, "exchange", game)
    assert paper is not None
    axis.axvline(paper, color="#d1495b", linestyle="--", linewidth=1, label=f"the paper's figure, {paper:.1f}")
    axis.axvline(100 / GAMES[game][1], color="#888888", linestyle=":", linewidth=1, label="chance")
    means: dict[int, float] = {}
    for place, step in enumerate(STEPS):
        setting = f"{step}, {start}, {game}"
        own = after_phase(results, setting, SETTINGS[setting].optimiser.phases)
        axis.plot([float(one["accuracy"]) for one in own], [place] * len(own), "o", color="#9db4d3", markersize=4)
        if own:
            means[place] = mean(own, "accuracy")
    axis.plot(list(means.values()), list(means), "-", color="#30507a", linewidth=1.5, marker="|", markersize=9)
    axis.set_title(f"{game}, {start}", fontsize=10)
    axis.set_xlim(0, 102)
    axis.grid(axis="x", alpha=0.25)
    axis.legend(loc="lower left", fontsize=7)
