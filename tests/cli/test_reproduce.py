"""Experiments run task by task and continue where they stopped."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from implicature.experiments.paper import pairs
from implicature.experiments.results import Result, TaskSpec, read_results
from implicature.runner.sweep import filter_tasks, unfinished

KEY = ("setting", "seed")


def test_tasks_with_results_are_not_run_again():
    tasks: list[TaskSpec] = [{"setting": setting, "seed": seed} for setting in ("a", "b") for seed in (0, 1)]
    results: list[Result] = [{"setting": "a", "seed": "0", "accuracy": "1"}, {"setting": "b", "seed": "1"}]
    assert unfinished(tasks, KEY, results) == [{"setting": "a", "seed": 1}, {"setting": "b", "seed": 0}]
    assert unfinished(filter_tasks(tasks, KEY, only="b"), KEY, results) == [{"setting": "b", "seed": 0}]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_second_time_costs_nothing_and_changes_nothing(tmp_path: Path, jobs: str):
    command = [Path(sys.executable).with_name("implicature"), "reproduce", "ceilings", "--games", "50", "--jobs", jobs]
    command += ["--out", tmp_path, "--only", "numbers-4"]
    first = subprocess.run(command, capture_output=True, text=True, check=True)
    path = tmp_path / "ceilings.csv"
    kept = path.read_bytes()
    assert {one["game"] for one in read_results(path)} == {"numbers-4"}
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert path.read_bytes() == kept
    assert first.stdout == again.stdout
    # Where there is no terminal, a line when a task ends.
    assert "1/1 numbers-4: done in " in first.stderr
    assert again.stderr == ""


@pytest.mark.slow
def test_smoke_results_stay_apart_and_are_marked(tmp_path: Path):
    command = [Path(sys.executable).with_name("implicature"), "reproduce", "ceilings", "--only", "numbers-4"]
    command += ["--games", "50", "--smoke", "--out"]
    done = subprocess.run([*command, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("SMOKE: ")
    assert [path.name for path in tmp_path.iterdir()] == ["smoke"]
    assert {one["smoke"] for one in read_results(tmp_path / "smoke" / "ceilings.csv")} == {"yes"}
    # Nor can others be put among them.
    refused = subprocess.run([*command, tmp_path / "smoke"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "stay apart" in refused.stderr


@pytest.mark.slow
def test_all_shows_the_results_there_are_and_runs_nothing_twice(tmp_path: Path):
    results = Path(__file__).parents[2] / "results"
    for name in ("ceilings.csv", "pairs.csv"):
        (tmp_path / name).write_bytes((results / name).read_bytes())
    command = [Path(sys.executable).with_name("implicature"), "reproduce", "all", "--out", tmp_path]
    wide = {**os.environ, "COLUMNS": "300"}
    done = subprocess.run([*command, "--only", "no such task"], capture_output=True, text=True, check=True, env=wide)
    assert done.stderr == ""
    assert "hard iterated best response" in done.stdout
    assert "level none" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"ceilings.csv", "pairs.csv", "figure-3.png"}
    assert (tmp_path / "pairs.csv").read_bytes() == (results / "pairs.csv").read_bytes()
    planned = subprocess.run([*command, "--plan", "2", "--json"], capture_output=True, text=True, check=True)
    assert json.loads(planned.stdout)["tasks"] == len(pairs.tasks())


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are looked up in /proc")
def test_a_killed_command_leaves_no_worker_behind(tmp_path: Path):
    command = [Path(sys.executable).with_name("implicature"), "reproduce", "pairs", "--jobs", "2"]
    command += [
        "--only",
        "exchange, grounded, numbers-4 10",
        "--out",
        tmp_path / "results",
        "--runs",
        tmp_path / "runs",
    ]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    end = time.monotonic() + 180
    while len(list(tmp_path.glob("runs/*/config.json"))) < 2:
        assert running.poll() is None
        assert time.monotonic() < end
        time.sleep(0.2)
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    assert len(children) >= 2
    running.kill()
    running.wait()
    end = time.monotonic() + 30
    while alive := [child for child in children if Path(f"/proc/{child}/exe").exists()]:
        assert time.monotonic() < end, alive
        time.sleep(0.2)
