"""What is left of an experiment is reckoned from what was measured, and told live."""

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

from implicature.experiments.results import Row, write_rows
from implicature.runner import Event
from implicature.runner.progress import Board
from implicature.runner.schedule import Times, longest_first, plan, span, task_seconds, wall

KEY = ("setting", "split", "seed")


def task(setting: str, seed: int = 0) -> Row:
    return {"setting": setting, "split": 0, "seed": seed}


def test_two_workers_share_the_tasks_as_they_get_free():
    times = [2.0, 3.0, 4.0, 6.0]
    # As listed: 2, then 4 | 3, then 6. Longest first: 6, then 2 | 4, then 3.
    assert wall(times, workers=2) == 9
    assert wall(longest_first(times), workers=2) == 8
    # One of them is busy for 5 more: 2, 3 and 4 | 5, then 6.
    assert wall(times, workers=2, busy=[5.0]) == 11
    assert wall(times, workers=100) == 6
    assert wall([], workers=3, busy=[1.0, 7.0]) == 7


@given(st.lists(st.integers(1, 20).map(float), min_size=1, max_size=6), st.integers(1, 3))
def test_longest_first_ends_within_four_thirds_of_the_best(times: list[float], workers: int):
    shares = product(range(workers), repeat=len(times))
    best = min(
        max(sum(t for t, w in zip(times, share, strict=True) if w == k) for k in range(workers)) for share in shares
    )
    assert best <= wall(longest_first(times), workers) <= best * 4 / 3


def test_a_tasks_seconds_are_those_of_its_last_row():
    rows = [{**task("a"), "seconds": "9"}, {**task("a"), "seconds": "100"}, {**task("a", 1), "seconds": ""}, task("b")]
    assert task_seconds(rows, KEY) == {("a", "0", "0"): 100.0}


def test_the_nearest_setting_tells_how_long_a_task_will_take():
    rows = [
        {**task("exchange, grounded, numbers-4", 0), "seconds": "100"},
        {**task("exchange, grounded, numbers-4", 1), "seconds": "120"},
        {**task("paper, grounded, numbers-4"), "seconds": "60"},
    ]
    times = Times(rows, KEY)
    assert times.expected(task("exchange, grounded, numbers-4", 2)) == 110
    assert times.expected(task("paper, ungrounded, numbers-4")) == 60
    # Two words away from either setting.
    assert times.expected(task("other, grounded, numbers-4")) == pytest.approx((100 + 120 + 60) / 3)
    # What was seen here comes before what rows tell.
    times.add(task("exchange, grounded, numbers-4", 2), 50.0)
    assert times.expected(task("exchange, grounded, numbers-4", 3)) == 50
    assert Times([], KEY).expected(task("a")) is None


def test_a_plan_counts_every_task_as_measured_or_like_its_setting():
    tasks = [task("a", seed) for seed in range(4)] + [task("b")]
    rows = [{**task("a"), "seconds": 10}, {**task("a", 1), "seconds": 20}, {**task("b"), "seconds": 40}]
    # 10, 20, 15, 15 and 40: 100 in all. On two workers 40 and 10 | 20, 15 and 15.
    planned = plan(tasks, rows, KEY, workers=100)
    assert (planned["tasks"], planned["measured"], planned["seconds"], planned["longest"]) == (5, 3, 100, 40)
    walls = {row["workers"]: (row["seconds"], row["speedup"]) for row in planned["plan"]}
    assert walls == {1: (100, 1), 2: (50, 2), 10: (40, 2.5), 100: (40, 2.5)}
    with pytest.raises(ValueError, match="No row tells how long a task takes: run some of them first"):
        plan(tasks, [], KEY, workers=2)
    with pytest.raises(ValueError, match="0 workers do nothing: plan with 1 or more"):
        plan(tasks, rows, KEY, workers=0)


def test_a_plan_is_printed_and_runs_nothing(tmp_path: Path):
    setting = "paper, grounded, numbers-4"
    write_rows(tmp_path / "pairs.csv", [{"setting": setting, "split": 0, "seed": 0, "seconds": 95}])
    command = [Path(sys.executable).with_name("implicature"), "reproduce", "pairs", "--only", setting]
    command += ["--out", tmp_path, "--runs", tmp_path / "runs", "--plan", "6", "--json"]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    # Three splits and two runs, like the one that was measured.
    assert (said["tasks"], said["measured"], said["seconds"]) == (6, 1, 570)
    assert said["plan"][-1] == {"workers": 6, "seconds": 95, "speedup": 6}
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.csv"]


def test_times_are_told_as_one_would_say_them():
    assert [span(s) for s in (0.0, 89.4, 90.0, 5_399.0, 5_400.0)] == [
        "0 s",
        "89 s",
        "2 min",
        "1 h 30 min",
        "1 h 30 min",
    ]


# The board


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def board(clock: Clock) -> Board:
    """Two of six tasks were done before."""
    tasks = [task(name, seed) for name in ("a", "[b]") for seed in range(3)]
    rows = [{**task("a"), "seconds": 100}, task("[b]")]
    left = [each for each in tasks if each["seed"] > 0]
    return Board("demo", tasks, left, Times(rows, KEY), clock)


def shown(board: Board) -> list[str]:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(board)
    return [" ".join(line.split()) for line in console.export_text().splitlines()]


def test_the_board_tells_what_is_done_running_and_to_come(board: Board, clock: Clock):
    board.note(Event(0, "began"))
    board.note(Event(2, "began"))
    clock.now = 40.0
    # Both have 60 s to go, and two tasks of 100 s come after them.
    assert shown(board) == [
        "demo: 2 of 6 done, 2 running, 2 to come; about 3 min to go",
        "setting done running to come a task takes",
        "a 1 1 (40 s) 1 2 min",
        "[b] 1 1 (40 s) 1 2 min",
    ]
    assert board.rest() == 160
    # One took 40 s here, so its twin will, and so will the others, of which nothing nearer is known. The one that runs
    # should be over by now and is given another 4 s; the last comes after it.
    board.note(Event(0, "ended"))
    board.note(Event(1, "began"))
    assert board.line(Event(0, "ended")) == "3/6 a 0 1: done in 40 s; about 44 s to go"
    clock.now = 100.0
    board.note(Event(2, "lost", sentence="It is gone."))
    assert board.to_come() == [2, 3]
    board.note(Event(2, "began"))
    # A task that lost its worker is as old as it was.
    assert board.elapsed(2) == 100
    board.note(Event(2, "failed", sentence="No luck."))
    assert board.line(Event(2, "failed", sentence="No luck.")) == "3/6 [b] 0 1: failed: No luck."
    assert shown(board)[0].startswith("demo: 3 of 6 done, 1 running, 1 to come, 1 failed; about ")
    record = json.loads(board.record(Event(2, "failed", "here", "No luck.")))
    assert record["task"] == task("[b]", 1)
    assert (record["state"], record["seconds"], record["done"], record["running"]) == ("failed", 100, 3, 1)


def test_without_a_measured_task_there_is_no_estimate(clock: Clock):
    board = Board("demo", [task("a")], [task("a")], Times([], KEY), clock)
    board.note(Event(0, "began"))
    assert board.heading() == "demo: 0 of 1 done, 1 running, 0 to come; no estimate yet"
    clock.now = 60.0
    board.note(Event(0, "ended"))
    assert board.line(Event(0, "ended")) == "1/1 a 0 0: done in 60 s"
