"""Agents of any kind have results of their own, which stand below the paper's tables."""

from pathlib import Path
from typing import Any

import pytest

from implicature.experiments.external import add_result, external_result, render
from implicature.experiments.results import Result, read_results, write_results
from implicature.games.rules import Rules
from implicature.training.config import Config

FIGURES = {"accuracy": 0.5, "hard_accuracy": 0.25, "valid": 1.0, "games": 200}


def result(game: str = "numbers-4", size: int = 4, rounds: int = 1, game_set: str = "test", **more: Any) -> Result:
    config, rules = Config.of(game=game), Rules(size, rounds)
    return external_result("mine teaches exact", config, rules, {**FIGURES, **more}, game_set, sampled=False)


def test_a_matchup_has_one_result_and_the_same_matchup_again_replaces_it(tmp_path: Path):
    path = tmp_path / "results" / "external.csv"
    for one in (result(), result("numbers-7", 7), result(accuracy=0.75)):
        add_result(path, one)
    results = read_results(path)
    assert [(one["game"], one["accuracy"]) for one in results] == [("numbers-7", "50.0"), ("numbers-4", "75.0")]
    assert {"version", "command", "games"} <= results[0].keys()


def test_tables_show_the_games_that_were_played_with_the_papers_rules(tmp_path: Path):
    path = tmp_path / "external.csv"
    several = {"accuracy": 0.6, "std": {"accuracy": 0.1, "hard_accuracy": 0, "valid": 0}, "pairs": 2}
    for one in (
        result(),
        result("numbers-7", 7, **several),
        result(game_set="equivalent", accuracy=0.4),
        result("numbers-7", 5),
        result("objects-4", rounds=2),
    ):
        add_result(path, one)
    (first,), (second,) = (render(table, read_results(path)) for table in ("table-1", "table-2"))
    assert first.to_markdown().splitlines()[2:] == [
        "| total: mine teaches exact | 50.00 | 60.00 ± 10.00 |  |  |",
        "| hard: mine teaches exact | 25.00 | 25.00 ± 0.00 |  |  |",
    ]
    assert second.to_markdown().splitlines()[-1] == "| equivalent games: mine teaches exact | 40.00 |  |  |  |"
    assert render("table-3", read_results(path)) == render("table-1", []) == []


def test_results_of_another_kind_are_left_alone(tmp_path: Path):
    path = tmp_path / "pairs.csv"
    write_results(path, [{"setting": "ours"}])
    with pytest.raises(ValueError, match="has no column players"):
        add_result(path, result())
    with pytest.raises(ValueError, match="is not a file of results: name one that ends in"):
        add_result(tmp_path / "external.txt", result())
    assert read_results(path) == [{"setting": "ours"}]
