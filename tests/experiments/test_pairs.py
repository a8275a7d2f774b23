"""Experiments that train pairs, on a small scale: rows that can be told apart and tables made of them alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from implicature.experiments import candidates, pairs, rounds, seconds
from implicature.experiments.results import Row
from implicature.training.config import Config

TINY = Config(train_games=2000, pretraining=250, iterations=250, phases=1, batch=16, width=4, depth=1)
GAMES = 300


@pytest.fixture(scope="module", autouse=True)
def small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "SETTINGS", {candidates.SETTING: TINY})
        patch.setattr(candidates, "SETTINGS", pairs.SETTINGS)
        patch.setattr(candidates, "NUMBERS", (2, 5))
        patch.setattr(rounds, "SETTINGS", {rounds.ONE: TINY, rounds.FOUR: replace(TINY, rounds=2)})
        patch.setattr(seconds, "SETTINGS", {"easy": TINY, "hard": replace(TINY, game="numbers-7")})
        patch.setattr(seconds, "PAPER", {"numbers-4": 0.1, "numbers-7": 1.1})
        yield


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


def test_a_pair_has_a_row_after_every_phase_beside_the_exact_recursion(runs: Path):
    task = pairs.tasks()[0]
    rows = pairs.run(task, GAMES, runs)
    assert [row["phase"] for row in rows] == [0, 1]
    assert all(row["setting"] == task["setting"] and row["games"] == GAMES for row in rows)
    # Exact players know at depth 0 what it takes a pair to learn, about 93 %, and more at depth 1.
    assert 85 < rows[0]["exact"] < rows[1]["exact"] <= 100
    assert "| phase 1 |" in pairs.render(rows)
    # The run is there: nothing is trained again, and the same rows come out.
    again = pairs.run(task, GAMES, runs)
    assert again == rows


def test_a_run_of_other_settings_is_not_taken_for_this_one(runs: Path):
    task = pairs.tasks()[0]
    with pytest.raises(ValueError, match="other settings"):
        pairs.trained(replace(TINY, width=5), task, runs)


def test_the_same_pair_plays_with_other_numbers_of_candidates(runs: Path):
    rows = candidates.run(candidates.tasks()[0], GAMES, runs)
    assert [row["candidates"] for row in rows] == [2, 5]
    # Two are easier to tell apart than five, for the exact recursion and for whoever has learned a little.
    assert rows[0]["exact"] >= rows[1]["exact"]
    assert rows[0]["accuracy"] > rows[1]["accuracy"]
    assert candidates.render(rows).count("\n") == 3


def test_many_rounds_are_told_by_teaching_dimension_beside_the_one_round_twin(runs: Path):
    one, four = (
        rounds.run({"setting": name, "split": 0, "seed": 0}, GAMES, runs / "rounds") for name in rounds.SETTINGS
    )
    whole = {row["targets"]: row for row in four}["all"]
    assert all(row["messages"] == 1 for row in one)
    assert 1 <= whole["messages"] <= 2
    shares = [row["share"] for row in four if row["targets"].startswith("RTD")]
    assert sum(shares) == pytest.approx(100, abs=0.01)
    assert "| all | 100.0 |" in rounds.render(one + four)


def test_seconds_are_counted_until_the_wanted_accuracy_or_are_missing(runs: Path):
    rows: list[Row] = []
    for setting in seconds.SETTINGS:
        rows += seconds.run({"setting": setting, "seed": 0}, GAMES, runs)
    easy, hard = rows
    assert 0 < easy["seconds"] < 600
    assert hard["seconds"] == ""
    assert hard["best"] <= 1
    assert "not reached" in seconds.render(rows)
