"""Agents of any kind have rows of their own, which stand below the paper's tables."""

from pathlib import Path
from typing import Any

import pytest

from implicature.experiments.external import add_row, own_row, render
from implicature.experiments.results import Row, read_rows, write_rows
from implicature.games.sampling import Rules
from implicature.training.config import Config

FIGURES = {"accuracy": 0.5, "hard_accuracy": 0.25, "valid": 1.0, "games": 200}


def row(game: str = "numbers-4", candidates: int = 4, rounds: int = 1, played: str = "test", **figures: Any) -> Row:
    rules = Rules(candidates, rounds)
    return own_row("mine teaches exact", Config(game=game), rules, {**FIGURES, **figures}, played, sampled=False)


def test_a_row_is_kept_once_for_each_meeting_and_replaced_by_the_same_one_again(tmp_path: Path):
    path = tmp_path / "results" / "own.csv"
    for one in (row(), row("numbers-7", 7), row(accuracy=0.75)):
        add_row(path, one)
    rows = read_rows(path)
    assert [(one["game"], one["accuracy"]) for one in rows] == [("numbers-7", "50.0"), ("numbers-4", "75.0")]
    assert {"version", "command", "games"} <= rows[0].keys()


def test_tables_show_what_was_played_as_the_paper_plays_it(tmp_path: Path):
    path = tmp_path / "own.csv"
    several = {"accuracy": 0.6, "std": {"accuracy": 0.1, "hard_accuracy": 0, "valid": 0}, "pairs": 2}
    for one in (row(), row("numbers-7", 7, **several), row(played="equivalent", accuracy=0.4), row("numbers-7", 5)):
        add_row(path, one)
    add_row(path, row("objects-4", rounds=2))
    first, second = render("table-1", read_rows(path)), render("table-2", read_rows(path))
    assert first.splitlines()[2:] == [
        "| total: mine teaches exact | 50.00 | 60.00 ± 10.00 |  |  |",
        "| hard: mine teaches exact | 25.00 | 25.00 ± 0.00 |  |  |",
    ]
    assert second.splitlines()[-1] == "| equivalent games: mine teaches exact | 40.00 |  |  |  |"
    assert render("table-3", read_rows(path)) == render("table-1", []) == ""


def test_rows_of_another_kind_are_left_alone(tmp_path: Path):
    path = tmp_path / "pairs.csv"
    write_rows(path, [{"setting": "ours"}])
    with pytest.raises(ValueError, match="has no column players"):
        add_row(path, row())
    with pytest.raises(ValueError, match="is not a file of rows: name one that ends in"):
        add_row(tmp_path / "own.txt", row())
    assert read_rows(path) == [{"setting": "ours"}]
