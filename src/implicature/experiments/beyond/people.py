"""Players against people: exact models, mixtures of depths, and learned pairs, on all published data sets.

Learned pairs are trained on games of three candidates with twins and salience priors (evaluation/human/training_space).
The teacher adapts first, so that after phase 1 both are of depth 1. Nothing but a lapse rate is fitted to people. Each
phase is a model of its own; with phases 0+1 each person is like one of the two, equally likely.
"""

from pathlib import Path

from implicature.evaluation.human.models import load_model
from implicature.evaluation.human.published import PUBLISHED, load_published
from implicature.evaluation.human.scores import HALVES, score, summarize
from implicature.evaluation.human.training_space import training_space
from implicature.experiments.results import Result, TaskSpec, command, mean, version
from implicature.experiments.runs import train_or_load
from implicature.experiments.table import MISSING, Cell, MeanStd, Number, Row, Table
from implicature.training.config import Config

KEY = ("setting", "split", "seed")
EXACT = (
    "literal", "literal:start=indicator",
    *(f"exact:depth={depth},utility={utility}" for depth in (1, 2, 3) for utility in ("belief", "log")),
    "exact:depth=1,utility=belief,start=indicator", "exact:depth=1,utility=log,start=indicator",
)  # fmt: skip
"""With fitted rationality."""
CERTAIN = ("exact:depth=3,utility=belief,beta=10", "pretrained@0", "pretrained@1", "pretrained@2", "pretrained@3")
"""At the rationality that agents are otherwise trained with: the package's pair with β = 20, on number sets."""
MIXTURES = ("mixture:depths=0+1+2,utility=belief", "mixture:depths=0+1+2,utility=log")
"""For people who made several decisions."""
SPACE = f"{training_space.__module__}:{training_space.__name__}"
PHASES, MIXED = 3, "0+1"
BETAS = (1.0, 1.5, 2.0, 2.5, 3.0)
"""At people's rationality."""
MAIN = "learned at β=2"
"""The pair in the middle of the range."""


def pair_config(beta: float, truthful: bool = True) -> Config:
    """A truthful teacher chooses among true words, as the exact recursion's does (F-60). Lapses are fitted to people,
    so the network needs none of its own (F-15)."""
    return Config.of(
        space=SPACE, candidates=3, grounded=True, beta=beta, phases=PHASES, truthful=truthful,
        first_learner="teacher", lapse_rate=0.001, learning_rate=6e-3,
    )  # fmt: skip


ANY_WORD = "learned at β=2, any word"
LEARNED = {
    **{f"learned at β={beta:g}": pair_config(beta) for beta in BETAS},
    ANY_WORD: pair_config(2.0, truthful=False),
}
GIVEN = tuple(f"exact:depth=1,utility=belief,beta={beta:g}" for beta in BETAS)
"""What the pairs of these β are to learn: like theirs, its rationality is not fitted."""
SEEDS = (0, 1, 2)
TOP = 6
"""Models of each data set that are shown."""
FIGURES = (
    "people", "decisions", "cells", "parameters", "log_likelihood", "held_out", "held_out_std", "r",
    "calibration_error", "chance", "saturated", "saturated_held_out", "aic", "bic", "rationality", "lapse",
)  # fmt: skip


def tasks() -> list[TaskSpec]:
    exact = [{"setting": name, "split": 0, "seed": 0} for name in (*EXACT, *CERTAIN, *GIVEN, *MIXTURES)]
    learned = [{"setting": name, "split": 0, "seed": seed} for seed in SEEDS for name in LEARNED]
    return [*exact, *learned]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """Every data set; of a learned pair, every phase. The number of games has no effect."""
    name = task["setting"]
    if name in LEARNED:
        trained = train_or_load(LEARNED[name], task, runs)
        players = {f"{name}, phase {phase}": f"{trained.folder}@{phase}" for phase in range(PHASES + 1)}
        players[f"{name}, phases {MIXED}"] = f"{trained.folder}@{MIXED}"
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
    """Models without fitted rationality beside the best exact one, then the best models of each data set."""
    return [table for table in (summary(results), *leaders(results)) if table.rows]


def by_model(results: list[Result], data: str) -> dict[str, list[Result]]:
    own = [one for one in results if one["data"] == data]
    return {name: [one for one in own if one["model"] == name] for name in dict.fromkeys(one["model"] for one in own)}


def summary(results: list[Result]) -> Table:
    """How far each pair, and the recursion that it is to learn, is from the best exact model with fitted parameters:
    that of one depth, and where there is one the mixture of depths."""
    wanted = [
        *GIVEN,
        *(f"learned at β={beta:g}, phase 1" for beta in BETAS),
        *(f"learned at β={beta:g}, phases {MIXED}" for beta in BETAS),
        *(f"{MAIN}, phase {phase}" for phase in (0, 2, 3)),
        f"{ANY_WORD}, phase 1",
    ]
    columns, best, beside = [], [], []
    for data in dict.fromkeys(one["data"] for one in results):
        models = {name: mean(found, "held_out") for name, found in by_model(results, data).items()}
        readable = " ".join(data.rsplit("-", 1))
        for kind, title in ((EXACT, readable), (MIXTURES, f"{readable}, mixture")):
            if known := [models[name] for name in kind if name in models]:
                columns.append(title)
                best.append(Number(max(known), 3))
                beside.append({name: value - max(known) for name, value in models.items()})
    rows = [
        Row(name, [Number(one[name], 3, signed=True) if name in one else MISSING for one in beside])
        for name in wanted
        if any(name in one for one in beside)
    ]
    head = [Row("best exact model", best)] if rows else []
    return Table("held out, minus the best exact model", columns, [*head, *rows])


def leaders(results: list[Result]) -> list[Table]:
    """The best TOP models of each data set on held-out people, the best learned one, the literal one and the limits."""
    columns = ["runs", "k", "held out", "log L", "r", "calibration error", "AIC", "BIC", "β or α", "lapse"]
    tables = []
    for data in dict.fromkeys(one["data"] for one in results):
        models = by_model(results, data)
        order = sorted(models, key=lambda name: -mean(models[name], "held_out"))
        learned = [name for name in order if name.startswith("learned")]
        shown = [name for name in order if name in (*order[:TOP], *learned[:1], "literal")]
        own = [one for one in results if one["data"] == data]
        first = own[0]
        blank = [""] * 6
        limits = [
            Row("saturated", ["", "", Number(mean(own, "saturated_held_out"), 3), number(own, "saturated"), *blank]),
            Row("chance", ["", 0, number(own, "chance"), number(own, "chance"), *blank]),
        ]
        title = f"{data}: {first['people']} people, {float(first['decisions']):.0f} decisions, {first['cells']} cells"
        tables.append(Table(title, columns, [*(Row(name, model_cells(models[name])) for name in shown), *limits]))
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
