"""The ladder from the paper as written to ours, and feedback of fewer bits."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from implicature.experiments.choices import feedback, ladder
from implicature.experiments.paper import figure_3, pairs
from implicature.experiments.table import Number
from implicature.games.registry import load_game
from implicature.training.checks import check_ignored
from implicature.training.config import Config, preset_config
from implicature.training.resolve import resolve


def test_the_ladder_begins_as_written_and_ends_with_ours():
    for game in pairs.NUMBERS:
        for start in ladder.STARTS:
            first, *_, last = (ladder.SETTINGS[f"{step}, {start}, {game}"] for step in ladder.STEPS)
            written = preset_config("as-written").replace(
                game=game, iterations=ladder.ITERATIONS, grounded=start == "grounded",
                **({"pretraining_iterations": 3_000} if start == "grounded" else {}),
            )  # fmt: skip
            assert first == written
            ours = Config.of(game=game, grounded=start == "grounded", layers=5 if game == "numbers-7" else 3)
            space, candidates = load_game(game)
            ours, last = (resolve(one, space, candidates).flat() for one in (ours, last))
            # What only an ungrounded start ignores, and the paper's image encoder, may differ.
            ignored = {"iterations", "image_network"} | (
                set() if start == "grounded" else {"pretraining_iterations", "grounding_target"}
            )
            assert {name for name in ours if ours[name] != last[name]} <= ignored


def test_every_step_of_the_ladder_changes_something_and_nothing_in_it_is_without_effect():
    for game in pairs.NUMBERS:
        for start in ladder.STARTS:
            steps = [ladder.SETTINGS[f"{step}, {start}, {game}"] for step in ladder.STEPS]
            assert all(one != other for one, other in pairwise(steps))
            for config in steps:
                check_ignored(config, *load_game(game))


def a_result(setting: str, phase: int, accuracy: float, **more: object) -> dict:
    figures = {"hard_accuracy": accuracy - 1, "valid": 99.0, "equivalent_accuracy": 98.0, "divergence": 0.125}
    return {"setting": setting, "split": 10, "seed": 1000, "phase": phase, "accuracy": accuracy, **figures, **more}


def test_the_ladder_shows_each_step_after_the_first_and_the_last_phase():
    first, second = list(ladder.STEPS)[:2]
    results = [
        a_result(f"{step}, ungrounded, numbers-4", phase, accuracy)
        for step, phase, accuracy in ((first, 1, 25.0), (first, 3, 26.0), (second, 1, 80.0), (second, 3, 98.0))
    ]
    (table,) = ladder.render(results)
    assert [row.label for row in table.rows] == [first, second]
    assert [str(cell) for cell in table.rows[1].cells] == ["1", "80.00 ± 0.00", "98.00 ± 0.00", "97.00 ± 0.00"]
    points = [line.get_xdata() for line in ladder.draw(results).axes[0].lines]
    assert any(np.array_equal(each, [26.0, 98.0]) for each in points)


def test_a_belief_takes_more_bits_than_an_answer_and_an_answer_more_than_one():
    assert [feedback.BITS[name](4) for name in ("belief", "answer", "correct", "none")] == [96.0, 2.0, 1.0, 0.0]
    for name, config in feedback.SETTINGS.items():
        check_ignored(config, *load_game(config.game.game))
        assert (name in pairs.SETTINGS) is (config.method.feedback == "belief")


def test_feedback_is_compared_with_the_pair_whose_student_returns_his_belief():
    names = [feedback.setting_of(one, "grounded", "numbers-4") for one in ("belief", "answer")]
    results = [a_result(names[0], 3, 99.5), a_result(names[1], 3, 99.25)]
    (table,) = feedback.render(results)
    assert [str(cell) for cell in table.rows[1].cells] == ["2.0", "99.25 ± 0.00", "-0.25", "0.125 ± 0.000", "1"]
    assert len(feedback.draw(results).axes) == 2


@pytest.mark.slow
def test_her_prediction_diverges_less_from_his_belief_if_he_returns_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    tiny = Config.of(
        train_games=2000, pretraining_iterations=250, iterations=300, phases=3, candidate_sets=32, width=4, layers=1,
        q_hidden=8,
    )  # fmt: skip
    names = [feedback.setting_of(one, "grounded", "numbers-4") for one in ("answer", "none")]
    settings = {name: tiny.replace(feedback=one) for name, one in zip(names, ("answer", "none"), strict=True)}
    monkeypatch.setattr(feedback, "SETTINGS", settings)
    found = [feedback.run({"setting": name, "split": 0, "seed": 0}, 300, tmp_path)[0] for name in names]
    assert [one["bits"] for one in found] == [2.0, 0.0]
    assert 0 <= found[0]["divergence"] < found[1]["divergence"]


def test_the_interval_of_a_level_is_wilsons_over_the_games_of_all_runs():
    # 3 of 4 and 5 of 6: 8 of 10. Wilson at 95 %: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n), z = 1.96, p = 0.8:
    # (0.8 + 0.19207 ± 1.96 √(0.016 + 0.0096)) / 1.38415 = 49.0 to 94.3.
    results = [{"level_2": 75.0, "games_of_level_2": 4}, {"level_2": 100 * 5 / 6, "games_of_level_2": 6}]
    assert figure_3.pooled_accuracy(results, "2") == Number(80.0, 1, note="(49.0 to 94.3, n = 10)")
