"""Expected durations of tasks, from those measured, and the makespan of a plan."""

from collections.abc import Iterable, Sequence
from heapq import heapify, heapreplace
from typing import Any

import numpy as np

from implicature.experiments.results import (
    Result,
    TaskSpec,
    format_duration,
    setting_name,
    task_id,
    task_seconds,
)
from implicature.experiments.table import Number, Row, Table

MAX_WORKERS = 1_000_000


class Durations:
    """Measured seconds by setting. Those of this command take precedence over those of earlier results, which may come
    from another machine."""

    def __init__(self, results: Iterable[Result], key: Sequence[str]):
        results = list(results)
        settings = {task_id(result, key): setting_name(result, key) for result in results}
        self.key = key
        self.earlier: dict[str, list[float]] = {}
        self.current: dict[str, list[float]] = {}
        for task, seconds in task_seconds(results, key).items():
            self.earlier.setdefault(settings[task], []).append(seconds)

    def add(self, task: TaskSpec, seconds: float) -> None:
        self.current.setdefault(setting_name(task, self.key), []).append(seconds)

    def expected(self, task: TaskSpec) -> float | None:
        """The mean of the same setting, or of those that differ from it in the fewest words; None if nothing is
        known."""
        wanted = words(setting_name(task, self.key))
        known = [(name, 0, seconds) for name, seconds in self.current.items()]
        known += [(name, 1, seconds) for name, seconds in self.earlier.items()]
        distances = [(len(words(name) ^ wanted), age) for name, age, _ in known]
        nearest = [seconds for (_, _, seconds), far in zip(known, distances, strict=True) if far == min(distances)]
        return float(np.mean([each for seconds in nearest for each in seconds])) if nearest else None


def words(setting: str) -> set[str]:
    return set(setting.replace(":", ",").split(", "))


def makespan(seconds: Iterable[float], workers: int, busy: Sequence[float] = ()) -> float:
    """Seconds until all tasks are done if each free worker takes the next; some workers may be busy for a while."""
    free_at = [*busy, *[0.0] * (workers - len(busy))]
    heapify(free_at)
    for each in seconds:
        heapreplace(free_at, free_at[0] + each)
    return max(free_at)


def longest_first(seconds: Iterable[float]) -> list[float]:
    """In this order the makespan is at most 4/3 of the optimal one (Graham 1969)."""
    return sorted(seconds, reverse=True)


def estimate(tasks: Sequence[TaskSpec], results: Sequence[Result], key: Sequence[str]) -> tuple[list[float], int]:
    """The seconds of every task, and how many of them were measured."""
    measured, durations = task_seconds(results, key), Durations(results, key)
    seconds = [measured.get(task_id(task, key), durations.expected(task)) for task in tasks]
    known = [each for each in seconds if each is not None]
    if len(known) < len(tasks) or not tasks:
        raise ValueError("No result has the seconds of a task: run some tasks first, or name other results with --out.")
    return known, sum(task_id(task, key) in measured for task in tasks)


def plan(tasks: Sequence[TaskSpec], results: Sequence[Result], key: Sequence[str], workers: int) -> dict[str, Any]:
    """The makespan of all tasks from their start, for one worker and for more, up to this many."""
    if workers < 1:
        raise ValueError(f"{workers} workers do nothing: plan with 1 or more.")
    seconds, measured = estimate(tasks, results, key)
    if workers > MAX_WORKERS:
        raise ValueError(f"{workers:,} workers are more than there are tasks for: plan with {MAX_WORKERS:,} or fewer.")
    counts = sorted(n for n in {1, 2, workers, *(10**n for n in range(1, 7))} if n <= workers)
    makespans = {count: makespan(longest_first(seconds), count) for count in counts}
    return {
        "tasks": len(tasks),
        "measured": measured,
        "seconds": round(sum(seconds), 1),
        "longest": round(max(seconds), 1),
        "plan": [
            {"workers": n, "seconds": round(taken, 1), "speedup": round(sum(seconds) / taken if taken else 1.0, 2)}
            for n, taken in makespans.items()
        ],
    }


def format_plan(planned: dict[str, Any]) -> tuple[str, Table]:
    """A plan as a sentence and a table."""
    summary = (
        f"{planned['tasks']} tasks, {format_duration(planned['seconds'])} of work, the longest "
        f"{format_duration(planned['longest'])}; {planned['measured']} were measured, the others are estimated from "
        "the most similar settings."
    )
    rows = []
    for one in planned["plan"]:
        utilisation = Number(100 * one["speedup"] / one["workers"], 0, note="%")
        cells = [format_duration(one["seconds"]), Number(one["speedup"], 1), utilisation]
        rows.append(Row(str(one["workers"]), cells))
    return summary, Table("workers", ["makespan", "speed-up", "utilisation"], rows)
