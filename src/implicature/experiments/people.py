"""Players against people: exact models, mixtures of depths, and learned pairs, on all published data sets.

Learned pairs are trained on sets of up to three of six words, each set twice (twins), three candidates in a game;
nothing but a lapse rate is fitted to people. Each phase is a model of its own.
"""

from pathlib import Path

from implicature.evaluation import human
from implicature.evaluation.human.models import load_model
from implicature.evaluation.human.published import PUBLISHED, load_published
from implicature.evaluation.human.scores import HALVES, score, summarize
from implicature.experiments.results import Result, TaskSpec, command, mean, version
from implicature.experiments.runs import train_or_load
from implicature.experiments.table import MISSING, Cell, MeanStd, Number, Row, Table
from implicature.training.config import Config

KEY = ("setting", "split", "seed")
EXACT = (
    "literal", "literal:start=indicator",
    *(f"exact:depth={depth},utility={utility}" for depth in (1, 2, 3) for utility in ("belief", "log")),
    "exact:depth=1,utility=belief,start=indicator", "exact:depth=1,utility=log,start=indicator",
    "exact:depth=3,utility=belief,beta=10",
    "pretrained@0", "pretrained@1", "pretrained@2", "pretrained@3",
)  # fmt: skip
"""The package's pair was trained with β = 20 on number sets."""
MIXTURES = ("mixture:depths=0+1+2,utility=belief", "mixture:depths=0+1+2,utility=log")
"""For people who made several decisions."""
SPACE = Path(human.__file__).parent / "training-space.csv"
PHASES = 3
LEARNED = {
    f"learned{', truthful' if truthful else ''}, β={beta:g}": Config.of(
        space=str(SPACE), candidates=3, grounded=True, beta=beta, phases=PHASES, iterations=400, truthful=truthful
    )
    for truthful in (False, True)
    for beta in (1.0, 2.0, 3.0)
}
"""At people's rationality. A truthful teacher chooses among true words, as the exact recursion's does (F-60)."""
SEEDS = (0, 1, 2)
FIGURES = (
    "people", "decisions", "cells", "parameters", "log_likelihood", "held_out", "held_out_std", "r",
    "calibration_error", "chance", "saturated", "saturated_held_out", "aic", "bic", "rationality", "lapse",
)  # fmt: skip


def tasks() -> list[TaskSpec]:
    exact = [{"setting": name, "split": 0, "seed": 0} for name in (*EXACT, *MIXTURES)]
    learned = [{"setting": name, "split": 0, "seed": seed} for seed in SEEDS for name in LEARNED]
    return [*exact, *learned]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """Every data set; of a learned pair, every phase. The number of games has no effect."""
    name = task["setting"]
    if name in LEARNED:
        trained = train_or_load(LEARNED[name], task, runs)
        players = {f"{name}, phase {phase}": f"{trained.folder}@{phase}" for phase in range(PHASES + 1)}
    else:
        players = {name: name}
    results = []
    for label, player in players.items():
        model = load_model(player)
        for data in PUBLISHED:
            for part in load_published(data).parts:
                if name in MIXTURES and part.decisions < 2 * len(part.people):
                    continue
                figures = summarize([score(model, part)])
                made = {"halves": HALVES, "version": version(), "command": command()}
                results.append({**task, "model": label, "data": part.name, **{k: figures[k] for k in FIGURES}, **made})
    return results


def render(results: list[Result]) -> list[Table]:
    """A table for each data set, the best on held-out people first."""
    columns = ["runs", "k", "held out", "log L", "r", "calibration error", "AIC", "BIC", "β or α", "lapse"]
    tables = []
    for data in dict.fromkeys(one["data"] for one in results):
        own = [one for one in results if one["data"] == data]
        models = {name: [one for one in own if one["model"] == name] for name in dict.fromkeys(r["model"] for r in own)}
        rows = [Row(name, model_cells(found)) for name, found in models.items()]
        rows.sort(key=lambda row: -row.cells[2].mean if isinstance(row.cells[2], MeanStd) else 0.0)
        first = own[0]
        blank = [""] * 6
        limits = [
            Row("saturated", ["", "", Number(mean(own, "saturated_held_out"), 3), number(own, "saturated"), *blank]),
            Row("chance", ["", 0, number(own, "chance"), number(own, "chance"), *blank]),
        ]
        title = f"{data}: {first['people']} people, {float(first['decisions']):.0f} decisions, {first['cells']} cells"
        tables.append(Table(title, columns, [*rows, *limits]))
    return tables


def number(results: list[Result], column: str, digits: int = 3) -> Cell:
    """The mean over runs; missing where the model has no such figure."""
    known = [one for one in results if str(one[column]) not in ("", "None")]
    return Number(mean(known, column), digits) if known else MISSING


def model_cells(found: list[Result]) -> list[Cell]:
    held_out = MeanStd(mean(found, "held_out"), mean(found, "held_out_std"), 3)
    figures = [number(found, name) for name in ("log_likelihood", "r", "calibration_error")]
    information = [number(found, name, 1) for name in ("aic", "bic")]
    parameters = [number(found, name, 2) for name in ("rationality", "lapse")]
    return [len(found), int(float(found[0]["parameters"])), held_out, *figures, *information, *parameters]
