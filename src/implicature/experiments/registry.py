"""The experiments by name, and the folders of their results and runs.

To add one: write a module like those beside this file (see `Experiment`) and name it in FOLDERS.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol, TypeVar, cast, runtime_checkable

from matplotlib.figure import Figure

from implicature.experiments import smoke
from implicature.experiments.results import Result, TaskSpec, read_results
from implicature.experiments.table import Table

FOLDERS: dict[str, tuple[str, ...]] = {
    "paper": (
        "table-1", "table-2", "table-3", "figure-2", "figure-3", "figure-4", "pairs", "ceilings", "cross-play",
        "n-candidates",
    ),
    "choices": (
        "ladder", "feedback", "robustness", "ablations", "baseline-search", "time-to-accuracy",
    ),
    "beyond": (
        "multi-round", "teaching", "people", "own-words", "concepts", "novices", "appointment", "appointment-search",
        "strangers", "populations", "vocabulary",
    ),
}  # fmt: skip
"""Experiments by the folder of their modules."""
EXPERIMENTS: dict[str, str] = {
    name: f"implicature.experiments.{folder}.{name.replace('-', '_')}"
    for folder, names in FOLDERS.items()
    for name in names
}
"""The module of each."""
SHARED_RESULTS: dict[str, str] = dict.fromkeys(("table-1", "table-2", "table-3", "figure-3"), "pairs")
"""The experiment whose results a table or figure shows, where it has none of its own."""
REFERENCES: dict[str, tuple[str, ...]] = {"table-1": ("ceilings",)}
"""Other experiments whose results a table also shows."""
ALL = ("ceilings", "pairs", "figure-2", "figure-4", "cross-play", "n-candidates")
"""What `all` runs, in this order: later ones play with the pairs that `pairs` trained."""
SMOKE = ("ceilings", "pairs", "figure-2", "figure-4", "cross-play")
"""What `all --smoke` runs."""
SHOWN = (
    "table-1", "table-2", "table-3", "figure-2", "figure-3", "figure-4", "cross-play", "n-candidates"
)  # fmt: skip
"""What `all` shows."""
TRAINING = ("pairs",)
"""Those of ALL that train pairs; the others play with them."""

Rendered = TypeVar("Rendered")


@runtime_checkable
class Experiment(Protocol):
    """What the module of an experiment has. That of a figure also has `draw(results) -> Figure`."""

    KEY: tuple[str, ...]
    """The columns that identify a task."""

    def tasks(self) -> list[TaskSpec]: ...

    def run(self, task: TaskSpec, games: int, runs: Path) -> list[Result]:
        """The results of one task, from so many test games; `runs` is the folder of trained pairs."""
        ...

    def render(self, results: list[Result], *references: list[Result]) -> list[Table]: ...


@runtime_checkable
class FigureExperiment(Experiment, Protocol):
    def draw(self, results: list[Result]) -> Figure: ...


def load_experiment(name: str) -> Experiment:
    return cast(Experiment, import_module(EXPERIMENTS[name]))


def experiment_tasks(name: str, is_smoke: bool) -> list[TaskSpec]:
    tasks = load_experiment(name).tasks()
    return smoke.smoke_tasks(tasks) if is_smoke else tasks


def is_figure(name: str) -> bool:
    return name.startswith("figure") or name in (
        "ladder", "feedback", "teaching", "concepts", "novices", "appointment", "strangers"
    )  # fmt: skip


@dataclass(frozen=True)
class Folders:
    """Where results and runs are. Those of smoke runs have folders of their own inside."""

    results: Path
    runs: Path
    smoke: bool = False

    def results_file(self, experiment: str) -> Path:
        folder = self.results / smoke.MARK if self.smoke else self.results
        return folder / f"{SHARED_RESULTS.get(experiment, experiment)}.csv"

    def runs_folder(self) -> Path:
        return (self.runs / smoke.MARK if self.smoke else self.runs).resolve()

    def read(self, experiment: str) -> list[Result]:
        return read_results(self.results_file(experiment), load_experiment(experiment).KEY)

    def render(self, experiment: str) -> list[Table]:
        """An experiment's tables from the results there are; none without results."""
        if not (results := self.read(experiment)):
            return []
        references = [self.read(name) for name in REFERENCES.get(experiment, ())]
        return self._render(load_experiment(experiment).render, experiment, results, *references)

    def draw(self, figure: str) -> Figure:
        """A figure from the results there are, with a watermark if they are of smoke runs."""
        module = cast(FigureExperiment, load_experiment(figure))
        drawn = self._render(module.draw, figure, self.read(figure))
        if self.smoke:
            drawn.text(
                0.5, 0.5, "SMOKE", fontsize=90, color="#d1495b", alpha=0.13, ha="center", va="center", rotation=25
            )
        return drawn

    def _render(self, render: Callable[..., Rendered], experiment: str, *results: list[Result]) -> Rendered:
        try:
            return render(*results)
        except Exception as error:
            raise ValueError(
                f"{self.results_file(experiment)} has results that are not of this experiment "
                f"({type(error).__name__}: {error}): correct it or move it away, or name another folder."
            ) from None
