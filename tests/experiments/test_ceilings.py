"""The results of exact players, and the table made of them alone."""

from pathlib import Path

import pytest

from implicature.experiments.paper import ceilings
from implicature.experiments.paper.ceilings import render, run
from implicature.experiments.results import Result, read_results, write_results

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
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    return [one for task in ceilings.tasks() for one in run(task, 200, tmp_path_factory.mktemp("runs"))]


def test_results_have_the_same_columns_and_their_provenance(results: list[Result]):
    assert len({tuple(one) for one in results}) == 1
    for one in results:
        assert (one["games"], one["seed"]) == (200, 0)
        assert one["version"].startswith("0.")
        assert one["command"]
        assert 0 <= one["accuracy"] <= 100
        assert 0 <= one["hard_accuracy"] <= 100
        assert 0 <= one["accuracy_error"] <= 100 * 0.5 / 200**0.5 + 1e-3  # no larger than a coin's


def test_every_player_has_a_result_at_every_depth(results: list[Result]):
    cells = [(one["game"], one["player"], one["depth"]) for one in results]
    assert len(set(cells)) == len(cells)
    assert {(GAME, player, depth) for player in PLAYERS for depth in DEPTHS} <= set(cells)
    assert (GAME, "no-clash", None) in cells


def test_fractions_of_levels_add_up(results: list[Result]):
    fractions = [one["accuracy"] for one in results if one["player"].startswith("fraction of level")]
    assert sum(fractions) == pytest.approx(100, abs=0.01)


def test_a_deeper_recursion_is_better_and_no_clash_is_the_ceiling(results: list[Result]):
    found = {(one["player"], one["depth"]): one["accuracy"] for one in results}
    # About 93 % at depth 0, over 99 % at depth 3
    assert found["share β=10", 0] < found["share β=10", 3] <= found["no-clash", None]


def test_the_table_has_a_row_for_each_game_and_player(results: list[Result], monkeypatch: pytest.MonkeyPatch):
    games = ["numbers-4", "objects-4"]
    monkeypatch.setattr(ceilings, "GAMES", dict.fromkeys(games))
    (table,) = render([{**one, "game": game} for game in games for one in results])
    assert [table.title, *table.columns] == ["game", "player", "t=0", "t=1", "t=3", "hard"]
    for game in games:
        players = [row.cells[0] for row in table.rows if row.label == game]
        assert len(set(players)) == len(players)
        assert {*PLAYERS, "no-clash", "fraction of level 0"} <= set(players)


def test_the_table_needs_only_what_is_in_the_file(results: list[Result], tmp_path: Path):
    write_results(tmp_path / "ceilings.csv", results)
    assert render(read_results(tmp_path / "ceilings.csv")) == render(results)
