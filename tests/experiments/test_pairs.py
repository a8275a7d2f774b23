"""Experiments that train pairs, on a small scale: results that can be told apart and tables made of them alone."""

from pathlib import Path

import pytest

from implicature.experiments.beyond import multi_round
from implicature.experiments.choices import ablations, time_to_accuracy
from implicature.experiments.paper import n_candidates, pairs
from implicature.experiments.results import Result
from implicature.games.registry import load_game
from implicature.training.checks import check_ignored
from implicature.training.config import Config

TINY = Config.of(
    train_games=2000, pretraining_iterations=250, iterations=250, phases=1, candidate_sets=16, width=4, layers=1,
    q_hidden=8,
)  # fmt: skip
FIXED = "exchange, grounded, numbers-4"
MIXED = TINY.replace(candidates=5, min_candidates=2, share_layers=True, layers=2, iterations=100)
GAMES = 300


@pytest.fixture(scope="module", autouse=True)
def small():
    four_rounds = {multi_round.ONE: TINY, multi_round.FOUR: TINY.replace(rounds=2)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "SETTINGS", {FIXED: TINY})
        patch.setattr(n_candidates, "SPACES", {"numbers-10": {FIXED: TINY, "mixed, numbers-10": MIXED}})
        patch.setattr(n_candidates, "CANDIDATES", (2, 5))
        patch.setattr(n_candidates, "LAYERS", (2, 3))
        patch.setattr(multi_round, "SETTINGS", four_rounds)
        patch.setattr(time_to_accuracy, "SETTINGS", {"easy": TINY, "hard": TINY.replace(game="numbers-7")})
        patch.setattr(time_to_accuracy, "TARGET_ACCURACY", {"numbers-4": 0.1, "numbers-7": 1.1})
        yield


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.mark.slow
def test_a_pair_has_a_result_after_every_phase_beside_the_exact_recursion(runs: Path):
    task = pairs.tasks()[0]
    results = pairs.run(task, GAMES, runs)
    assert [one["phase"] for one in results] == [0, 1]
    assert all(one["setting"] == task["setting"] and one["games"] == GAMES for one in results)
    # Exact players know at depth 0 what it takes a pair to learn, about 93 %, and more at depth 1.
    exact = [one["exact_same_depth"] for one in results]
    assert 85 < exact[0] < exact[1] <= results[0]["exact_depth_10"] <= 100
    last, by_phase = pairs.render(results)
    assert last.rows[0].cells[0] == 1
    assert by_phase.columns == ["phase 0", "phase 1"]
    # The run is there: nothing is trained again, and the same results come out.
    assert pairs.run(task, GAMES, runs) == results


@pytest.mark.slow
def test_a_run_of_another_config_is_not_taken_for_this_one(runs: Path):
    task = pairs.tasks()[0]
    with pytest.raises(ValueError, match="another config"):
        pairs.train_or_load(TINY.replace(width=5), task, runs)


@pytest.mark.slow
def test_the_same_pair_plays_with_other_numbers_of_candidates_and_a_mixed_one_with_other_layers(runs: Path):
    fixed, mixed = (n_candidates.run(task, GAMES, runs) for task in n_candidates.tasks()[::2][:2])
    assert [one["candidates"] for one in fixed] == [2, 5]
    # Two are easier to tell apart than five, for the exact recursion and for a pair that has learned a little.
    assert fixed[0]["exact_same_depth"] >= fixed[1]["exact_same_depth"]
    assert fixed[0]["accuracy"] > fixed[1]["accuracy"]
    assert [(one["candidates"], one["test_layers"]) for one in mixed] == [(2, 2), (2, 3), (5, 2), (5, 3)]
    by_candidates, by_layers = n_candidates.render(fixed + mixed)
    assert [row.label for row in by_candidates.rows] == ["2", "5"]
    assert [str(cell) for cell in by_layers.rows[1].cells[:2]] == [f"{one['accuracy']:.2f} ± 0.00" for one in mixed[2:]]


@pytest.mark.slow
def test_several_rounds_are_summarized_by_teaching_dimension_beside_one_round(runs: Path):
    one, four = (
        multi_round.run({"setting": name, "split": 0, "seed": 0}, GAMES, runs / "rounds")
        for name in multi_round.SETTINGS
    )
    total = {part["targets"]: part for part in four}["all"]
    assert all(part["messages"] == 1 for part in one)
    assert 1 <= total["messages"] <= 2
    fractions = [part["fraction"] for part in four if part["targets"].startswith("RTD")]
    assert sum(fractions) == pytest.approx(100, abs=0.01)
    assert "| all | 100.0 |" in multi_round.render(one + four)[0].to_markdown()


@pytest.mark.slow
def test_seconds_are_counted_until_the_target_accuracy_or_are_missing(runs: Path):
    results: list[Result] = []
    for setting in time_to_accuracy.SETTINGS:
        results += time_to_accuracy.run({"setting": setting, "seed": 0}, GAMES, runs)
    easy, hard = results
    assert 0 < easy["seconds"] < 600
    assert hard["seconds"] == ""
    assert hard["best_accuracy"] <= 1
    assert "not reached" in time_to_accuracy.render(results)[0].to_markdown()


def test_no_setting_of_an_ablation_is_without_effect():
    for name, config in ablations.SETTINGS.items():
        check_ignored(config, *load_game(config.game.game))
        default = ablations.SETTINGS[f"{name.partition(': ')[0]}: default"]
        assert (config == default) is name.endswith(": default")
