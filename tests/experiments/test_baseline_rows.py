"""Rows of the baselines, on a small scale."""

from dataclasses import replace
from pathlib import Path

import pytest

from implicature.experiments import baselines, learning
from implicature.experiments.paper import paper_figures
from implicature.games import GAMES
from implicature.training.config import Config

SETTING = "la-2018, grounded, numbers-4"
TINY = Config(method="la-2018", train_games=2000, pretraining=250, iterations=250, phases=1, batch=15, width=4)


def test_both_methods_are_trained_in_every_game_from_both_starts():
    told = {(config.method, config.game, config.grounded) for config in baselines.SETTINGS.values()}
    assert told == {(m, game, grounded) for m in ("la-2017", "la-2018") for game in GAMES for grounded in (True, False)}
    assert len(baselines.tasks()) == len(told) * learning.SPLITS * learning.RUNS
    # At most the paper's 100,000 iterations.
    assert all(config.phases * config.iterations <= 100_000 for config in baselines.SETTINGS.values())


def test_a_baseline_has_rows_like_ours_and_its_sampled_speaker_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(baselines, "SETTINGS", {SETTING: TINY})
    before, after = baselines.run(baselines.tasks()[0], 300, tmp_path)
    assert (before["phase"], after["phase"]) == (0, 1)
    assert (after["network"], after["played"]) == ("la-2018", "test")
    assert before.keys() == after.keys()
    # A sampled speaker says something else now and then, but the same pair.
    assert 0 < abs(after["sampled_accuracy"] - after["accuracy"]) < 40
    # Table 2: 81.5 in identical games, 59.5 in equivalent ones.
    line = baselines.render([before, after]).splitlines()[-1]
    assert line.startswith(f"| {SETTING} | 1 | {after['accuracy']:.2f} ± 0.00 (81.5) | ")
    assert f"| {after['equivalent_accuracy']:.2f} ± 0.00 (59.5) |" in line


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
