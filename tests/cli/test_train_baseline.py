"""A baseline is trained, evaluated and watched with the commands that serve our pairs."""

import json
import sys
from pathlib import Path

import pytest

from implicature.cli.main import main

ARGUMENTS = "--method la-2017 --train-games 2000 --iterations 250 --phases 1 --candidate-sets 15 --width 16 --filters 4"
ARGUMENTS += " --no-grounded --quiet"


@pytest.mark.slow
def test_a_baseline_is_trained_evaluated_and_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    folder = tmp_path / "run"

    def implicature(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["implicature", *arguments])
        main()
        return capsys.readouterr().out

    said = implicature("train", *ARGUMENTS.split(), "--out", str(folder))
    assert "numbers-4, la-2017: 10,000 test games, argmax" in said
    cells = {line.split("│")[1].strip(): line.split("│")[2:6] for line in said.splitlines() if line.startswith("│")}
    # Beside what the paper has for this method: 96.8 and 91.5.
    assert [float(cells[name][2]) for name in ("accuracy", "hard accuracy")] == [96.8, 91.5]
    assert 0 < float(cells["accuracy, speaker sampled"][1]) < 100
    assert "she says “" in said

    best, sampled, again = (
        json.loads(implicature("evaluate", str(folder), "--json", "--games", "10000", *more))
        for more in ([], ["--sampled"], ["--sampled"])
    )
    assert best != sampled
    assert sampled == again
    shown = implicature("evaluate", str(folder), "--games", "10000", "--sampled")
    assert "teacher sampled" in " ".join(shown.split())

    implicature("watch", str(folder), "--games", "10000")
    assert (folder / "watch.png").stat().st_size > 10_000
