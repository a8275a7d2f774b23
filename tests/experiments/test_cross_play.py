"""Teachers of one run with students of another."""

from pathlib import Path

import pytest

from implicature.experiments.paper import cross_play, pairs
from implicature.experiments.table import MeanStd
from implicature.training.config import Config

GROUNDED, UNGROUNDED = "exchange, grounded, numbers-4", "la-2018, ungrounded, numbers-4"
SMALL = Config.of(train_games=2000, pretraining_iterations=500, candidate_sets=32)
LITERAL = SMALL.replace(phases=0, width=8, layers=1, q_hidden=16)
CODE = SMALL.replace(method="la-2018", grounded=False, phases=1, iterations=1000, width=32)


@pytest.mark.slow
def test_grounded_pairs_understand_each_other_and_ungrounded_protocols_do_not_transfer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(pairs.SETTINGS, GROUNDED, LITERAL)
    monkeypatch.setitem(pairs.SETTINGS, UNGROUNDED, CODE)
    results = {s: cross_play.run({"setting": s, "split": 0}, 500, tmp_path) for s in (GROUNDED, UNGROUNDED)}
    found = {
        setting: {(one["teacher"], one["student"]): one["accuracy"] for one in own} for setting, own in results.items()
    }
    assert found[GROUNDED].keys() == {(0, 0), (0, 1), (1, 0), (1, 1)}
    # Literal meanings are the same for every pretrained pair; with another's code the student guesses, one in four.
    for teacher, student in ((0, 1), (1, 0)):
        assert found[GROUNDED][teacher, student] > 0.75 * found[GROUNDED][teacher, teacher] > 35
        assert found[UNGROUNDED][teacher, student] < 0.75 * found[UNGROUNDED][teacher, teacher]
    (table,) = cross_play.render(results[GROUNDED] + results[UNGROUNDED])
    first, _ = table.rows
    assert first.full_label == "numbers-4, grounded: ours, exchange network"
    assert isinstance(first.cells[0], MeanStd)
    assert first.cells[0].mean == pytest.approx((found[GROUNDED][0, 0] + found[GROUNDED][1, 1]) / 2)
    assert [str(cell) for cell in first.cells[2:]] == ["25.0", "2 + 2"]


def test_every_pair_that_plays_is_one_that_is_trained():
    tasks = cross_play.tasks()
    assert {task["setting"] for task in tasks} <= set(pairs.SETTINGS)
    assert len({tuple(task[name] for name in cross_play.KEY) for task in tasks}) == len(tasks) == 4 * 2 * 4 * 3
