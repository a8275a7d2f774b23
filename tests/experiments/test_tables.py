"""The paper's tables, from results of the baselines and ours."""

from pathlib import Path

import pytest

from implicature.experiments.choices import baseline_search
from implicature.experiments.paper import pairs, table_1, table_2, table_3
from implicature.experiments.paper.published import paper_figures
from implicature.experiments.paper.tables import paired_t_test
from implicature.experiments.results import Result, read_results
from implicature.experiments.table import MISSING, Comparison, Table
from implicature.games.registry import GAMES
from implicature.training.config import Config

SETTING = "la-2018, grounded, numbers-4"
TINY = Config.of(
    method="la-2018",
    train_games=2000,
    pretraining_iterations=250,
    iterations=250,
    phases=1,
    candidate_sets=15,
    width=16,
)
OURS, BASELINE = "exchange, ungrounded, numbers-4", "la-2017, ungrounded, numbers-4"


def markdown(tables: list[Table]) -> str:
    return "\n\n".join(table.to_markdown() for table in tables)


def test_baselines_are_trained_in_every_game_from_both_starts_and_no_longer_than_the_papers():
    configs = pairs.SETTINGS.values()
    trained = {(one.method.method, one.game.game, one.grounding.grounded) for one in configs}
    for method in ("la-2017", "la-2018"):
        assert {(method, game, grounded) for game in GAMES for grounded in (True, False)} <= trained
    baselines = [one.optimiser for one in configs if one.method.method != "pragmatic"]
    assert all(one.phases * one.iterations <= 100_000 for one in baselines)


@pytest.mark.slow
def test_a_baseline_has_results_like_ours_and_tables_show_the_papers_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(pairs.SETTINGS, SETTING, TINY)
    task = next(task for task in table_2.tasks() if task["setting"] == SETTING)
    before, after = pairs.run(task, 300, tmp_path)
    assert (before["phase"], after["phase"]) == (0, 1)
    assert (after["method"], after["game_set"]) == ("la-2018", "test")
    assert before.keys() == after.keys()
    # A sampled speaker says something else now and then, but it is the same pair.
    assert 0 < abs(after["sampled_accuracy"] - after["accuracy"]) < 40
    (table,) = table_2.render([before, after])
    rows = {row.full_label: row for row in table.rows}
    # Table 2: 81.5 in identical games, 59.5 in equivalent ones; a tiny pair is not as good.
    identical, *others = rows["identical games: Lazaridou et al. 2018"].cells
    assert isinstance(identical, Comparison)
    assert (identical.ours.mean, identical.paper, identical.at_least) == (after["accuracy"], 81.5, False)
    assert others[:3] == [MISSING] * 3
    equivalent = rows["equivalent games: Lazaridou et al. 2018"].cells[0]
    assert isinstance(equivalent, Comparison)
    assert (equivalent.ours.mean, equivalent.paper) == (after["equivalent_accuracy"], 59.5)
    # What has no results so far is shown as missing, not left out.
    exchange = rows["identical games: ours, exchange network"].cells
    assert [str(cell) for cell in exchange] == ["–"] * 4 + ["0 of 6"]


def results_of(setting: str, accuracies: list[float]) -> list[Result]:
    figures = {"hard_accuracy": 80.0, "valid": 90.0, "sampled_accuracy": 80.0, "equivalent_accuracy": ""}
    figures |= {"exact_depth_10": 99.5, "phase": pairs.SETTINGS[setting].optimiser.phases}
    return [
        {"setting": setting, "split": i // 2, "seed": 100 * (i // 2) + i % 2, "accuracy": x, **figures}
        for i, x in enumerate(accuracies)
    ]


def test_the_t_test_is_paired_by_split_and_seed():
    # Always 1 to 2 points better, whatever the split: surely better, though the spread between splits is larger.
    theirs = [80.0, 81.0, 90.0, 91.0, 70.0, 71.0]
    ours = [x + more for x, more in zip(theirs, [1, 2, 1, 2, 1, 2], strict=True)]
    results = results_of(OURS, ours) + results_of(BASELINE, theirs)
    # The differences' mean is 1.5, their standard error √(0.3 / 6) = 0.2236: t = 6.708, 5 degrees of freedom.
    found, reverse = paired_t_test(results, OURS, BASELINE), paired_t_test(results, BASELINE, OURS)
    assert found is not None
    assert reverse is not None
    assert found.p == pytest.approx(0.000558, abs=2e-5)
    assert reverse.p == pytest.approx(1 - 0.000558, abs=2e-5)
    assert found.runs == 6
    # From a file or from a run that has just ended: the same pairs.
    read = [{name: str(value) for name, value in one.items()} for one in results_of(BASELINE, theirs)]
    assert paired_t_test(results_of(OURS, ours) + read, OURS, BASELINE) == found
    text = markdown(table_1.render(results))
    # The paper has 98.9 for ours and 96.8 for theirs.
    assert "| total: ours, exchange network | 82.00 ± 8.23 ▽ (98.9) |" in text
    assert "| total: ours, exchange network above Lazaridou et al. 2017 | < 0.001 (n = 6) | – |" in text
    # Hard accuracy is 80 in every run of both: no differences, no test.
    assert "| hard: ours, exchange network above Lazaridou et al. 2017 | – (n = 6) | – |" in text
    assert "| total: exact recursion of depth 10 | 99.50 |" in text


def test_runs_without_a_counterpart_are_left_out_of_the_t_test():
    ours, theirs = results_of(OURS, [90.0, 92.0, 91.0]), results_of(BASELINE, [88.0, 89.0])
    found = paired_t_test(ours + theirs, OURS, BASELINE)
    # Differences 2 and 3: mean 2.5, standard error 0.5, t = 5, 1 degree of freedom: p = 1/2 − arctan(5)/π.
    assert found is not None
    assert (found.p, found.runs) == (pytest.approx(0.5 - 1.373400767 / 3.141592654), 2)
    assert paired_t_test(ours + theirs[:1], OURS, BASELINE) is None


def test_exact_players_stand_in_table_1_beside_the_learned_pairs():
    ceilings = [
        {"game": "numbers-4", "player": player, "depth": depth, "accuracy": total, "hard_accuracy": hard}
        for player, depth, total, hard in (
            ("share β=10", "0", "92.8", "71.6"),
            ("share β=10", "3", "99.75", "99.03"),
            ("best response", "10", "99.3", "97.2"),
            ("no-clash", "", "100", "99.99"),
        )
    ]
    text = markdown(table_1.render(results_of(OURS, [99.0]), ceilings))
    assert "| total: literal, exact recursion of depth 0 | 92.80 | – | – | – |  |" in text
    assert "| hard: exact recursion of depth 3 | 99.03 |" in text
    assert "| total: hard iterated best response | 99.30 |" in text
    assert "| hard: no-clash, the ceiling of true words | 99.99 |" in text
    assert "| total: ours, exchange network | 99.00 ± 0.00 ▲ (98.9) | – | – | – | 0 to 1 of 6 |" in text


def test_without_results_there_is_no_table():
    assert table_1.render([]) == table_2.render([]) == table_3.render([]) == []


def test_every_pair_of_the_tables_is_among_those_that_are_trained():
    for table in (table_1, table_2, table_3):
        assert {task["setting"] for task in table.tasks()} <= set(pairs.SETTINGS)
    assert len(table_1.tasks()) == (5 * 4 + 2 * 2) * 6
    assert len(table_3.tasks()) == 4 * 2 * 6


@pytest.mark.parametrize(
    ("method", "game", "total", "hard"),
    [
        ("la-2017", "numbers-7", 80.8, 66.2),
        ("la-2018", "objects-4", 86.9, 86.9),
        ("pragmatic", "objects-7", 97.4, 94.1),
    ],
)
def test_the_papers_figures_are_those_of_the_method(method: str, game: str, total: float, hard: float):
    config = Config.of(grounded=False, game=game, method=method)
    assert paper_figures(config) == pytest.approx({"accuracy": total / 100, "hard_accuracy": hard / 100})
    # A resolved config names the game's own number of candidates; another number is another game.
    assert paper_figures(config.replace(candidates=GAMES[game][1])) == paper_figures(config)
    assert paper_figures(config.replace(candidates=5)) == {}


def test_the_baselines_have_the_best_settings_of_the_search():
    results = read_results(Path(__file__).parents[2] / "results" / "baseline-search.csv")
    for (method, game), chosen in pairs.BASELINES.items():
        own = [one for one in results if one["setting"].startswith(method) and one["setting"].endswith(game)]
        assert len(own) == len(baseline_search.choices(method))
        best = max(own, key=lambda one: (float(one["accuracy"]), float(one["hard_accuracy"])))
        assert best["setting"] == (
            f"{method}, rate {chosen['learning_rate']:g}, bonus {chosen['entropy_bonus']:g}, {game}"
        )
        config = pairs.SETTINGS[f"{method}, ungrounded, {game}"].flat()
        assert {name: config[name] for name in chosen} == chosen
