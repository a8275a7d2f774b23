"""Rows of the paper's tables, of the baselines and ours."""

from dataclasses import replace
from pathlib import Path

import pytest

from implicature.experiments import pairs, table_1, table_2, table_3
from implicature.experiments.paper import paper_figures
from implicature.experiments.paper_tables import better
from implicature.experiments.results import Row
from implicature.games.sampling import GAMES
from implicature.training.config import Config

SETTING = "la-2018, grounded, numbers-4"
TINY = Config(method="la-2018", train_games=2000, pretraining=250, iterations=250, phases=1, batch=15, width=4)


def test_baselines_are_trained_in_every_game_from_both_starts_and_no_longer_than_the_papers():
    told = {(config.method, config.game, config.grounded) for config in pairs.SETTINGS.values()}
    for method in ("la-2017", "la-2018"):
        assert {(method, game, grounded) for game in GAMES for grounded in (True, False)} <= told
    baselines = [config for config in pairs.SETTINGS.values() if config.method != "pragmatic"]
    assert all(config.phases * config.iterations <= 100_000 for config in baselines)


def test_a_baseline_has_rows_like_ours_and_tables_tell_the_papers_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(pairs.SETTINGS, SETTING, TINY)
    task = next(task for task in table_2.tasks() if task["setting"] == SETTING)
    before, after = pairs.run(task, 300, tmp_path)
    assert (before["phase"], after["phase"]) == (0, 1)
    assert (after["method"], after["played"]) == ("la-2018", "test")
    assert before.keys() == after.keys()
    # A sampled speaker says something else now and then, but the same pair.
    assert 0 < abs(after["sampled_accuracy"] - after["accuracy"]) < 40
    # Table 2: 81.5 in identical games, 59.5 in equivalent ones; a tiny pair is not as good.
    lines = table_2.render([before, after]).splitlines()
    told = {line.split(" | ")[0].strip("| "): line for line in lines}
    accuracy, equivalent = after["accuracy"], after["equivalent_accuracy"]
    assert f"| {accuracy:.2f} ± 0.00 ▽ (81.5) | – |" in told["identical games: Lazaridou et al. 2018"]
    assert f"| {equivalent:.2f} ± 0.00 " in told["equivalent games: Lazaridou et al. 2018"]
    assert "(59.5)" in told["equivalent games: Lazaridou et al. 2018"]
    # What has no rows so far is said, not left out.
    assert (
        told["identical games: ours, exchange network"]
        == "| identical games: ours, exchange network " + "| – " * 4 + "| 0 of 6 |"
    )


def rows_of(setting: str, found: list[float]) -> list[Row]:
    phase = pairs.SETTINGS[setting].phases
    usual = {"hard_accuracy": 80.0, "valid": 90.0, "sampled_accuracy": 80.0, "equivalent_accuracy": "", "ceiling": 99.5}
    return [
        {"setting": setting, "split": i // 2, "seed": 100 * (i // 2) + i % 2, "phase": phase, "accuracy": x, **usual}
        for i, x in enumerate(found)
    ]


def test_the_t_test_is_paired_by_split_and_run():
    # Always 1 to 2 points better, whatever the split: surely better, though the spread between splits is larger.
    theirs = [80.0, 81.0, 90.0, 91.0, 70.0, 71.0]
    ours = [x + more for x, more in zip(theirs, [1, 2, 1, 2, 1, 2], strict=True)]
    names = "exchange, ungrounded, numbers-4", "la-2017, ungrounded, numbers-4"
    rows = rows_of(names[0], ours) + rows_of(names[1], theirs)
    # The differences' mean is 1.5, their standard error √(0.3 / 6) = 0.2236: t = 6.708, 5 degrees of freedom.
    found, reverse = better(rows, *names), better(rows, *reversed(names))
    assert found is not None
    assert reverse is not None
    assert found.p == pytest.approx(0.000558, abs=2e-5)
    assert reverse.p == pytest.approx(1 - 0.000558, abs=2e-5)
    assert found.runs == 6
    # As they come from a file or from a run that has just ended: the same pairs.
    read = [{name: str(value) for name, value in row.items()} for row in rows_of(names[1], theirs)]
    assert better(rows_of(names[0], ours) + read, *names) == found
    told = table_1.render(rows)
    # The paper has 98.9 for ours and 96.8 for theirs.
    assert "| total: ours, exchange network | 82.00 ± 8.23 ▽ (98.9) |" in told
    assert "| total: ours, exchange network above Lazaridou et al. 2017 | < 0.001 (n = 6) | – |" in told
    # Hard accuracy is 80 in every run of both: no differences, no test.
    assert "| hard: ours, exchange network above Lazaridou et al. 2017 | – (n = 6) | – |" in told
    assert "| total: exact recursion of depth 10 | 99.50 |" in told


def test_runs_that_the_other_has_not_made_so_far_are_left_out_of_the_t_test():
    names = "exchange, ungrounded, numbers-4", "la-2017, ungrounded, numbers-4"
    ours, theirs = rows_of(names[0], [90.0, 92.0, 91.0]), rows_of(names[1], [88.0, 89.0])
    found = better(ours + theirs, *names)
    # Differences 2 and 3: mean 2.5, standard error 0.5, t = 5, 1 degree of freedom: p = 1/2 − arctan(5)/π.
    assert found is not None
    assert (found.p, found.runs) == (pytest.approx(0.5 - 1.373400767 / 3.141592654), 2)
    assert better(ours + theirs[:1], *names) is None


def test_exact_players_stand_in_table_1_beside_what_was_learned():
    rows = rows_of("exchange, ungrounded, numbers-4", [99.0])
    ceilings = [
        {"game": "numbers-4", "player": player, "depth": depth, "accuracy": total, "hard_accuracy": hard}
        for player, depth, total, hard in (
            ("share β=10", "0", "92.8", "71.6"),
            ("share β=10", "3", "99.75", "99.03"),
            ("best response", "10", "99.3", "97.2"),
            ("no-clash", "", "100", "99.99"),
        )
    ]
    told = table_1.render(rows, ceilings)
    assert "| total: literal, exact recursion of depth 0 | 92.80 | – | – | – | |" in told
    assert "| hard: exact recursion of depth 3 | 99.03 |" in told
    assert "| total: hard iterated best response | 99.30 |" in told
    assert "| hard: no-clash, the ceiling of true words | 99.99 |" in told
    assert "| total: ours, exchange network | 99.00 ± 0.00 ▲ (98.9) | – | – | – | 0 to 1 of 6 |" in told


def test_no_rows_no_table():
    assert table_1.render([]) == table_2.render([]) == table_3.render([]) == ""


def test_every_pair_of_the_tables_is_among_those_that_are_trained():
    for table in (table_1, table_2, table_3):
        assert {task["setting"] for task in table.tasks()} <= set(pairs.SETTINGS)
    assert len(table_1.tasks()) == (4 * 4 + 2 * 2) * 6
    assert len(table_3.tasks()) == 3 * 2 * 6


@pytest.mark.parametrize(
    ("method", "game", "total", "hard"),
    [
        ("la-2017", "numbers-7", 80.8, 66.2),
        ("la-2018", "objects-4", 86.9, 86.9),
        ("pragmatic", "objects-7", 97.4, 94.1),
    ],
)
def test_the_papers_figures_are_those_of_the_method(method, game: str, total: float, hard: float):
    config = replace(Config(grounded=False, game=game), method=method)
    assert paper_figures(config) == pytest.approx({"accuracy": total / 100, "hard_accuracy": hard / 100})
    assert paper_figures(replace(config, candidates=5)) == {}
