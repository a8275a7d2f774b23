"""The ceilings' rows, the table made of them alone, and the file they are kept in."""

import csv
from pathlib import Path

import pytest

from implicature.experiments import ceilings
from implicature.experiments.ceilings import render, run
from implicature.experiments.results import Row, write_rows

GAME = "numbers-4"
PLAYERS = {name: ceilings.RECURSIONS[name] for name in ("share β=10", "best response")}
DEPTHS = (0, 1, 3)


@pytest.fixture(scope="module", autouse=True)
def fewer():
    """One game, two players and three depths are enough to see the shape."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ceilings, "GAMES", {GAME: ceilings.GAMES[GAME]})
        patch.setattr(ceilings, "RECURSIONS", PLAYERS)
        patch.setattr(ceilings, "DEPTHS", DEPTHS)
        yield


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return [row for task in ceilings.tasks() for row in run(task, 200, tmp_path_factory.mktemp("runs"))]


def test_rows_have_the_same_columns_and_say_what_made_them(rows: list[Row]):
    assert len({tuple(row) for row in rows}) == 1
    for row in rows:
        assert (row["games"], row["seed"]) == (200, 0)
        assert row["version"].startswith("0.")
        assert row["command"]
        assert 0 <= row["accuracy"] <= 100
        assert 0 <= row["hard_accuracy"] <= 100
        assert 0 <= row["accuracy_error"] <= 100 * 0.5 / 200**0.5 + 1e-3  # no larger than a coin's


def test_every_player_has_a_row_at_every_depth(rows: list[Row]):
    cells = [(row["game"], row["player"], row["depth"]) for row in rows]
    assert len(set(cells)) == len(cells)
    assert {(GAME, player, depth) for player in PLAYERS for depth in DEPTHS} <= set(cells)
    assert (GAME, "no-clash", None) in cells


def test_shares_of_levels_add_up(rows: list[Row]):
    shares = [row["accuracy"] for row in rows if row["player"].startswith("share of level")]
    assert sum(shares) == pytest.approx(100, abs=0.01)


def test_thinking_about_each_other_helps_and_no_clash_is_the_ceiling(rows: list[Row]):
    found = {(row["player"], row["depth"]): row["accuracy"] for row in rows}
    # About 93 % at depth 0, over 99 % at depth 3
    assert found["share β=10", 0] < found["share β=10", 3] <= found["no-clash", None]


def test_the_table_has_a_line_for_each_game_and_player(rows: list[Row], monkeypatch: pytest.MonkeyPatch):
    games = ["numbers-4", "objects-4"]
    monkeypatch.setattr(ceilings, "GAMES", dict.fromkeys(games))
    lines = render([{**row, "game": game} for game in games for row in rows]).splitlines()
    assert lines[0] == "| game | player | t=0 | t=1 | t=3 | hard |"
    assert len({line.count("|") for line in lines}) == 1
    for game in games:
        for player in (*PLAYERS, "no-clash", "share of level 0"):
            assert sum(line.startswith(f"| {game} | {player} |") for line in lines) == 1


def test_the_table_needs_only_what_is_in_the_file(rows: list[Row], tmp_path: Path):
    write_rows(tmp_path / "ceilings.csv", rows)
    with (tmp_path / "ceilings.csv").open(newline="", encoding="utf-8") as file:
        assert render(list(csv.DictReader(file))) == render(rows)


def test_rows_replace_the_file_at_once_or_not_at_all(tmp_path: Path):
    path = tmp_path / "new folder" / "rows.csv"
    write_rows(path, [{"game": "numbers-4", "accuracy": 1}])
    write_rows(path, [{"game": "objects, 4", "accuracy": 2}])
    assert path.read_text(encoding="utf-8") == 'game,accuracy\n"objects, 4",2\n'
    with pytest.raises(ValueError, match="surrogates not allowed"):
        write_rows(path, [{"game": "numbers-4", "accuracy": 3}, {"game": "\ud800", "accuracy": 3}])
    assert path.read_text(encoding="utf-8") == 'game,accuracy\n"objects, 4",2\n'
    # A row of a later version has another column: nothing of either is lost.
    write_rows(path, [{"game": "numbers-7", "accuracy": 4}, {"game": "objects-4", "valid": 5}])
    assert path.read_text(encoding="utf-8") == "game,accuracy,valid\nnumbers-7,4,\nobjects-4,,5\n"
    assert [file.name for file in path.parent.iterdir()] == ["rows.csv"]
