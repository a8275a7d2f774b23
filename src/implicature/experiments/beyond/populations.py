"""Populations: N teachers and N students who change partners in every batch, beside N pairs trained alone.

Two populations and N independent pairs of each setting, all of one split; who understands whom on the same test games,
how the first pairs do with the suite of strangers, and how many games a novice takes to understand the teachers.
"""

from pathlib import Path

import numpy as np

from implicature.evaluation.held_out import held_out_games
from implicature.evaluation.strangers.matrix import Table as Meeting
from implicature.evaluation.strangers.novice import ease_of_learning
from implicature.evaluation.strangers.partners import exact_partners, learned_partners, run_partners
from implicature.experiments.results import Result, TaskSpec, mean, mean_and_std
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import MISSING, Cell, Number, Row, Table
from implicature.training.config import Config
from implicature.training.runs.run import Run

SIZE = 3
PAIR = Config.of(iterations=400, pretraining_iterations=1_000, train_games=100_000, candidate_sets=32)
SEVEN = PAIR.replace(iterations=600)
SETTINGS: dict[str, Config] = {
    "grounded, numbers-4": PAIR,
    "ungrounded, numbers-4": PAIR.replace(grounded=False, iterations=800),
    "grounded, numbers-7": SEVEN.replace(game="numbers-7", layers=5),
    "grounded, objects-7, attributes": SEVEN.replace(game="objects-7", encoder="none"),
    "grounded, objects-7": SEVEN.replace(game="objects-7"),
}
"""Smaller batches and fewer iterations than in `pairs`, since each setting trains nine pairs."""
SPLITS = (10,)
KINDS: dict[str, dict[str, int]] = {
    "alone": {"seeds": SIZE},
    "population": {"population": SIZE},
    "other population": {"population": SIZE},
}
SEEDS = {"alone": 60, "population": 0, "other population": 30}
"""Added to a hundred times the split: each has SIZE seeds from there on."""
MET = ("population", "alone")
"""The runs whose first pair meets the suite of strangers, and whose teachers meet a novice."""
OF_SELF_PLAY = {"one population": "self-play", "two populations": "self-play", "pairs alone": "self-play alone"}
KEY = ("setting", "split", "part")
Who = tuple[str, int]
"""Of which run, and which pair of it."""
RELATIONS = (
    "self-play", "one population", "two populations", "population and pairs alone", "pairs alone", "self-play alone"
)  # fmt: skip


def relation(one: Who, other: Who) -> str:
    """How a teacher and a student know each other."""
    alone = [kind == "alone" for kind, _ in (one, other)]
    if one == other:
        return "self-play alone" if alone[0] else "self-play"
    if any(alone):
        return "pairs alone" if all(alone) else "population and pairs alone"
    return "one population" if one[0] == other[0] else "two populations"


def kinds(setting: str) -> list[str]:
    """The runs of a setting. Ungrounded strangers have no word in common, so there only the members of one population
    meet."""
    return list(KINDS) if SETTINGS[setting].grounding.grounded else ["population"]


def tasks() -> list[TaskSpec]:
    return [
        {"setting": setting, "split": split, "part": part}
        for split in SPLITS
        for setting in SETTINGS
        for part in ("partners", "novices")
    ]


def train(task: TaskSpec, kind: str, runs: Path) -> Run:
    config = SETTINGS[task["setting"]].replace(**KINDS[kind])
    return train_or_load(
        config, {**task, "setting": f"{kind}, {task['setting']}", "seed": 100 * task["split"] + SEEDS[kind]}, runs
    )


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    if task["part"] == "novices":
        return teach_novices(task, games, runs)
    trained = {kind: train(task, kind, runs) for kind in kinds(task["setting"])}
    first = trained["population"].task
    players = [(kind, i, one) for kind in trained for i, one in enumerate(run_partners(trained[kind], kind))]
    suite = [*exact_partners(first.rules), *learned_partners(first)] if len(trained) > 1 else []
    number, everybody = len(players), len(players) + len(suite)
    met = {kind: [one[:2] for one in players].index((kind, 0)) for kind in MET if suite}
    cells = [(i, j) for i in range(number) for j in range(number)]
    cells += [cell for i in met.values() for j in range(number, everybody) for cell in ((i, j), (j, i))]
    table = Meeting([*(one for _, _, one in players), *suite], first, held_out_games(first, games, seed=0))
    found = table.play(cells)
    each: dict[str, list[float]] = {}
    for i, j in cells[: number**2]:
        each.setdefault(relation(players[i][:2], players[j][:2]), []).append(found[i, j])
    for kind, i in met.items():
        each[f"{kind} and strangers"] = [(found[i, j] + found[j, i]) / 2 for j in range(number, everybody)]
    return [
        {
            **task, "who": name, "pairs": len(values), "accuracy": round(100 * float(np.mean(values)), 3),
            "lowest": round(100 * min(values), 3), "novice_games": "",
            **provenance(games, trained["alone" if "alone" in name and "alone" in trained else "population"]),
        }
        for name, values in each.items()
    ]  # fmt: skip


def teach_novices(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """How many games a new student takes; his accuracy is on validation games."""
    results = []
    for kind in [kind for kind in kinds(task["setting"]) if kind in MET]:
        trained = train(task, kind, runs)
        novice = ease_of_learning(trained)
        figures = {
            "who": f"novice of {kind}", "pairs": SIZE, "accuracy": round(100 * novice["accuracy"][-1], 3),
            "lowest": round(100 * novice["accuracy"][0], 3), "novice_games": novice["games"] or "",
        }  # fmt: skip
        results.append({**task, **figures, **provenance(games, trained)})
    return results


def render(results: list[Result]) -> list[Table]:
    """Accuracy by who plays with whom, in percent, and of self-play; then strangers and novices."""
    rows, more = [], []
    for setting in SETTINGS:
        own = [one for one in results if one["setting"] == setting]
        if not own:
            continue
        who = {name: [one for one in own if one["who"] == name] for name in dict.fromkeys(one["who"] for one in own)}
        cells: list[Cell] = [mean_and_std(who.get(name, []), "accuracy") for name in RELATIONS]
        for name, reference in OF_SELF_PLAY.items():
            known = name in who and reference in who
            of = Number(100 * mean(who[name], "accuracy") / mean(who[reference], "accuracy"), 1) if known else MISSING
            cells.append(of)
        rows.append(Row(setting, cells))
        cells = []
        for kind in MET:
            suite, novices = who.get(f"{kind} and strangers", []), who.get(f"novice of {kind}", [])
            games = [int(one["novice_games"]) for one in novices if one["novice_games"]]
            cells += [Number(mean(suite, name), 1) if suite else MISSING for name in ("accuracy", "lowest")]
            cells.append(f"{np.mean(games):,.0f}" if games else MISSING)
        more.append(Row(setting, cells))
    columns = [*RELATIONS, *(f"{name}, % of self-play" for name in OF_SELF_PLAY)]
    about = ("suite of strangers, mean", "worst", "games until a novice is at 95 %")
    return [
        Table("accuracy, %", columns, rows),
        Table("accuracy, %", [f"{kind}: {name}" for kind in MET for name in about], more),
    ]
