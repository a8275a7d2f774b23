"""The time left is estimated from the durations measured, and shown live."""

import io
import json
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from implicature.experiments.results import TaskSpec, format_duration, task_seconds, write_results
from implicature.runner import Event
from implicature.runner.progress import Progress
from implicature.runner.schedule import Durations, format_plan, longest_first, makespan, plan

KEY = ("setting", "split", "seed")


def task(setting: str, seed: int = 0) -> TaskSpec:
    return {"setting": setting, "split": 0, "seed": seed}


def test_two_workers_share_the_tasks_as_they_get_free():
    times = [2.0, 3.0, 4.0, 6.0]
    # As listed: 2, then 4 | 3, then 6. Longest first: 6, then 2 | 4, then 3.
    assert makespan(times, workers=2) == 9
    assert makespan(longest_first(times), workers=2) == 8
    # One of them is busy for 5 more: 2, 3 and 4 | 5, then 6.
    assert makespan(times, workers=2, busy=[5.0]) == 11
    assert makespan(times, workers=100) == 6
    assert makespan([], workers=3, busy=[1.0, 7.0]) == 7


@given(st.lists(st.integers(1, 20).map(float), min_size=1, max_size=6), st.integers(1, 3))
def test_longest_first_ends_within_four_thirds_of_the_best(times: list[float], workers: int):
    assignments = product(range(workers), repeat=len(times))
    best = min(
        max(sum(time for time, worker in zip(times, each, strict=True) if worker == k) for k in range(workers))
        for each in assignments
    )
    assert best <= makespan(longest_first(times), workers) <= best * 4 / 3


def test_a_tasks_seconds_are_those_of_its_last_result():
    results = [
        {**task("a"), "seconds": "9"},
        {**task("a"), "seconds": "100"},
        {**task("a", 1), "seconds": ""},
        task("b"),
    ]
    assert task_seconds(results, KEY) == {("a", "0", "0"): 100.0}


def test_the_nearest_setting_tells_how_long_a_task_will_take():
    results = [
        {**task("exchange, grounded, numbers-4", 0), "seconds": "100"},
        {**task("exchange, grounded, numbers-4", 1), "seconds": "120"},
        {**task("deep-sets, grounded, numbers-4"), "seconds": "60"},
    ]
    durations = Durations(results, KEY)
    assert durations.expected(task("exchange, grounded, numbers-4", 2)) == 110
    assert durations.expected(task("deep-sets, ungrounded, numbers-4")) == 60
    # Two words away from either setting.
    assert durations.expected(task("other, grounded, numbers-4")) == pytest.approx((100 + 120 + 60) / 3)
    # What this command measured takes precedence over earlier results.
    durations.add(task("exchange, grounded, numbers-4", 2), 50.0)
    assert durations.expected(task("exchange, grounded, numbers-4", 3)) == 50
    assert Durations([], KEY).expected(task("a")) is None


def test_a_plan_counts_every_task_as_measured_or_like_its_setting():
    tasks = [task("a", seed) for seed in range(4)] + [task("b")]
    results = [{**task("a"), "seconds": 10}, {**task("a", 1), "seconds": 20}, {**task("b"), "seconds": 40}]
    # 10, 20, 15, 15 and 40: 100 in all. On two workers 40 and 10 | 20, 15 and 15.
    planned = plan(tasks, results, KEY, workers=100)
    assert (planned["tasks"], planned["measured"], planned["seconds"], planned["longest"]) == (5, 3, 100, 40)
    makespans = {one["workers"]: (one["seconds"], one["speedup"]) for one in planned["plan"]}
    assert makespans == {1: (100, 1), 2: (50, 2), 10: (40, 2.5), 100: (40, 2.5)}
    summary, table = format_plan(planned)
    assert summary.startswith("5 tasks, 2 min of work, the longest 40 s; 3 were measured, ")
    assert table.to_markdown().splitlines()[3] == "| 2 | 50 s | 2.0 | 100 % |"
    with pytest.raises(ValueError, match="No result has the seconds of a task: run some tasks first"):
        plan(tasks, [], KEY, workers=2)
    with pytest.raises(ValueError, match="0 workers do nothing: plan with 1 or more"):
        plan(tasks, results, KEY, workers=0)


@pytest.mark.slow
def test_a_plan_is_printed_and_runs_nothing(tmp_path: Path):
    setting = "deep-sets, grounded, numbers-4"
    write_results(tmp_path / "pairs.csv", [{"setting": setting, "split": 10, "seed": 1000, "seconds": 95}])
    command = [Path(sys.executable).with_name("implicature"), "reproduce", "pairs", "--only", setting]
    command += ["--out", tmp_path, "--runs", tmp_path / "runs", "--plan", "6", "--json"]
    planned = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    # Three splits and two runs, like the one that was measured.
    assert (planned["tasks"], planned["measured"], planned["seconds"]) == (6, 1, 570)
    assert planned["plan"][-1] == {"workers": 6, "seconds": 95, "speedup": 6}
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.csv"]


def test_durations_are_shown_in_seconds_minutes_or_hours():
    assert [format_duration(s) for s in (0.0, 89.4, 90.0, 5_399.0, 5_400.0)] == [
        "0 s",
        "89 s",
        "2 min",
        "1 h 30 min",
        "1 h 30 min",
    ]


# Progress


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def progress(clock: Clock) -> Progress:
    """Two of six tasks were done before."""
    tasks = [task(name, seed) for name in ("a", "[b]") for seed in range(3)]
    results = [{**task("a"), "seconds": 100}, task("[b]")]
    left = [each for each in tasks if each["seed"] > 0]
    return Progress("demo", tasks, left, Durations(results, KEY), clock)


def shown(progress: Progress) -> list[str]:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(progress)
    return [" ".join(line.split()) for line in console.export_text().splitlines()]


def test_progress_shows_what_is_done_running_and_pending(progress: Progress, clock: Clock):
    progress.update(Event(0, "started"))
    progress.update(Event(2, "started"))
    clock.now = 40.0
    # Both have 60 s to go, and two tasks of 100 s come after them.
    assert shown(progress) == [
        "demo: 2 of 6 done, 2 running, 2 pending; about 3 min left",
        "setting done running pending time per task",
        "a 1 1 (40 s) 1 2 min",
        "[b] 1 1 (40 s) 1 2 min",
    ]
    assert progress.seconds_left() == 160
    # One took 40 s here, so its twin will, and so will the others, of which nothing nearer is known. The one that runs
    # should be over by now and is given another 4 s; the last comes after it.
    progress.update(Event(0, "finished"))
    progress.update(Event(1, "started"))
    assert progress.line(Event(0, "finished")) == "3/6 a 0 1: done in 40 s; about 44 s left"
    clock.now = 100.0
    progress.update(Event(2, "lost", message="It is gone."))
    assert progress.pending() == [2, 3]
    progress.update(Event(2, "started"))
    # A task that lost its worker keeps its start.
    assert progress.elapsed(2) == 100
    progress.update(Event(2, "failed", message="No luck."))
    assert progress.line(Event(2, "failed", message="No luck.")) == "3/6 [b] 0 1: failed: No luck."
    assert shown(progress)[0].startswith("demo: 3 of 6 done, 1 running, 1 pending, 1 failed; about ")
    record = json.loads(progress.to_json(Event(2, "failed", "here", "No luck.")))
    assert record["task"] == task("[b]", 1)
    assert (record["state"], record["seconds"], record["done"], record["running"]) == ("failed", 100, 3, 1)


def test_without_a_measured_task_there_is_no_estimate(clock: Clock):
    progress = Progress("demo", [task("a")], [task("a")], Durations([], KEY), clock)
    progress.update(Event(0, "started"))
    assert progress.heading() == "demo: 0 of 1 done, 1 running, 0 pending; no estimate yet"
    clock.now = 60.0
    progress.update(Event(0, "finished"))
    assert progress.line(Event(0, "finished")) == "1/1 a 0 0: done in 60 s"
