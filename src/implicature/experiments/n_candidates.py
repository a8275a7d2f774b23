"""Pairs trained with 4 candidates play with 2 to 12, without further training."""

from pathlib import Path

from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import summarize
from implicature.experiments.pairs import FIGURES, SETTINGS, exact_accuracy, repeat
from implicature.experiments.pairs import KEY as RUN_KEY
from implicature.experiments.results import Result, TaskSpec, mean, mean_and_std, percent
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import Number, Row, Table

SETTING = "exchange, grounded, numbers-4"
CANDIDATES = range(2, 13)
DEPTH = 3
"""Of the exact recursion: as deep as the pair has phases."""
KEY = RUN_KEY


def tasks() -> list[TaskSpec]:
    return repeat([SETTING])


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    trained = train_or_load(SETTINGS[SETTING], task, runs)
    results = []
    for candidates in CANDIDATES:
        test = held_out_games(trained.task, games, seed=0, candidates=candidates)
        figures = percent(summarize(play_pair(trained.pair(), trained.task, test)), FIGURES)
        exact = {"exact_same_depth": round(float(exact_accuracy(trained, test, DEPTH)[-1]), 3)}
        results.append({**task, "candidates": candidates, **figures, **exact, **provenance(games, trained)})
    return results


def render(results: list[Result]) -> list[Table]:
    rows = []
    for candidates in CANDIDATES:
        if own := [one for one in results if int(one["candidates"]) == candidates]:
            figures = mean_and_std(own, "accuracy"), mean_and_std(own, "valid")
            rows.append(Row(str(candidates), [len(own), *figures, Number(mean(own, "exact_same_depth"))]))
    return [Table("candidates", ["runs", "accuracy", "valid", f"exact, depth {DEPTH}"], rows)]
