"""Teachers of one run with students of another."""

from dataclasses import replace
from pathlib import Path

import pytest

from implicature.experiments import cross_play, pairs
from implicature.training.config import Config

GROUNDED, UNGROUNDED = "exchange, grounded, numbers-4", "la-2018, ungrounded, numbers-4"
TINY = Config(train_games=2000, pretraining=500, phases=0, batch=32, width=8, depth=1)
CODE = replace(TINY, method="la-2018", grounded=False, phases=1, iterations=1000)


def test_who_was_taught_what_words_mean_understands_strangers_and_who_made_a_code_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(pairs.SETTINGS, GROUNDED, TINY)
    monkeypatch.setitem(pairs.SETTINGS, UNGROUNDED, CODE)
    rows = {s: cross_play.run({"setting": s, "split": 0}, 500, tmp_path) for s in (GROUNDED, UNGROUNDED)}
    found = {
        setting: {(row["teacher"], row["student"]): row["accuracy"] for row in mine} for setting, mine in rows.items()
    }
    assert found[GROUNDED].keys() == {(0, 0), (0, 1), (1, 0), (1, 1)}
    # Literal meanings are the same for whoever was taught them; with another's code one guesses, one in four.
    for hers, his in ((0, 1), (1, 0)):
        assert found[GROUNDED][hers, his] > 0.75 * found[GROUNDED][hers, hers] > 35
        assert found[UNGROUNDED][hers, his] < 0.75 * found[UNGROUNDED][hers, hers]
    own = (found[GROUNDED][0, 0] + found[GROUNDED][1, 1]) / 2
    table = cross_play.render(rows[GROUNDED] + rows[UNGROUNDED]).splitlines()
    assert table[2].startswith(f"| numbers-4, grounded: ours, exchange network | {own:.2f} ± ")
    assert table[2].endswith("| 25.0 | 2 + 2 |")
    assert len(table) == 4


def test_every_pair_that_plays_is_one_that_is_trained():
    tasks = cross_play.tasks()
    assert {task["setting"] for task in tasks} <= set(pairs.SETTINGS)
    assert len({tuple(task[name] for name in cross_play.KEY) for task in tasks}) == len(tasks) == 4 * 2 * 4 * 3
