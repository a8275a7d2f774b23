"""Pairs play with 2 to 12 candidates: pairs trained with 4 or 7, and pairs trained with 2 to 12 at once, whose layers
share their weights and so may be applied more or less often than in training (F-65, F-66).

What mixing costs on the paper's own games is the row of 4 candidates of numbers-10 and that of 7 of numbers-12.
"""

from pathlib import Path

from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import summarize
from implicature.experiments.paper.pairs import FIGURES, SETTINGS, exact_accuracy, repeat
from implicature.experiments.paper.pairs import KEY as RUN_KEY
from implicature.experiments.results import Result, TaskSpec, mean, mean_and_std, percent
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import MISSING, Cell, Number, Row, Table
from implicature.training.config import Config
from implicature.training.runs.run import with_layers

MIXED = Config.of(candidates=12, min_candidates=2, share_layers=True, layers=8, candidate_sets=128, iterations=4_000)
SPACES: dict[str, dict[str, Config]] = {
    "numbers-10": {
        "exchange, grounded, numbers-4": SETTINGS["exchange, grounded, numbers-4"],
        "mixed, numbers-10": MIXED.replace(game="numbers-4"),
    },
    "numbers-12": {
        "exchange, grounded, numbers-7": SETTINGS["exchange, grounded, numbers-7"],
        "mixed, numbers-12": MIXED.replace(game="numbers-7"),
    },
}
"""In each space the pair that is trained with one number of candidates, and the one that is trained with many."""
CANDIDATES = range(2, 13)
LAYERS = (3, 4, 6, 8, 12, 16)
"""Layers of the mixed pairs at test time."""
DEPTH = 3
"""Of the exact recursion: as deep as the pair has phases."""
KEY = RUN_KEY


def tasks() -> list[TaskSpec]:
    return repeat([setting for settings in SPACES.values() for setting in settings])


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    config = {name: config for settings in SPACES.values() for name, config in settings.items()}[task["setting"]]
    trained = train_or_load(config, task, runs)
    phase = min(DEPTH, trained.config.optimiser.phases)
    some = LAYERS if config.network.share_layers else ()
    applied = [trained.config.network.layers, *(n for n in some if n != trained.config.network.layers)]
    pairs = {n: (trained if i == 0 else with_layers(trained, n)).pair(phase) for i, n in enumerate(applied)}
    results = []
    for candidates in CANDIDATES:
        test = held_out_games(trained.task, games, seed=0, candidates=candidates)
        exact = {"exact_same_depth": round(float(exact_accuracy(trained, test, DEPTH)[-1]), 3)}
        for layers, pair in pairs.items():
            figures = percent(summarize(play_pair(pair, trained.task, test)), FIGURES)
            where = {"candidates": candidates, "test_layers": layers}
            results.append({**task, **where, **figures, **exact, **provenance(games, trained, phase)})
    return results


def select(results: list[Result], setting: str, candidates: int, layers: int | None = None) -> list[Result]:
    """The results of a setting with so many candidates and layers; by default as many layers as in training."""
    return [
        one
        for one in results
        if one["setting"] == setting
        and int(one["candidates"]) == candidates
        and int(one["test_layers"]) == (int(one["layers"]) if layers is None else layers)
    ]


def render(results: list[Result]) -> list[Table]:
    """For each space accuracy by candidates, beside the exact recursion; then that of the mixed pair by layers."""
    tables = []
    for space, settings in SPACES.items():
        _, mixed = settings
        rows, by_layers = [], []
        for candidates in CANDIDATES:
            own = {setting: select(results, setting, candidates) for setting in settings}
            if found := [one for some in own.values() for one in some]:
                exact = Number(mean(found, "exact_same_depth"))
                cells = [cell for some in own.values() for cell in accuracy_cells(some)]
                rows.append(Row(str(candidates), [*cells, exact]))
            if own[mixed]:
                cells = [mean_and_std(select(results, mixed, candidates, layers), "accuracy") for layers in LAYERS]
                by_layers.append(Row(str(candidates), [*cells, exact]))
        columns = [f"{name}{what}" for name in settings for what in ("", ", valid", ", runs")]
        tables.append(Table(f"candidates, {space}", [*columns, f"exact, depth {DEPTH}"], rows))
        if by_layers:
            columns = [*(f"{layers} layers" for layers in LAYERS), f"exact, depth {DEPTH}"]
            tables.append(Table(f"candidates, {mixed}", columns, by_layers))
    return tables


def accuracy_cells(results: list[Result]) -> list[Cell]:
    if not results:
        return [MISSING] * 3
    return [mean_and_std(results, "accuracy"), mean_and_std(results, "valid"), len(results)]
