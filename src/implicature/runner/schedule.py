"""How long tasks take, reckoned from those measured, and when so many workers are through with them."""

from collections.abc import Iterable, Sequence
from heapq import heapify, heapreplace
from math import inf, nan

import numpy as np

from implicature.experiments.results import Row

MOST_WORKERS = 1_000_000
REPEATS = ("split", "seed", "run")
"""What tells apart tasks of one setting."""


def identity(row: Row, key: Sequence[str]) -> tuple[str, ...]:
    """What was run, as a task or any of its rows tells it."""
    return tuple(str(row[name]) for name in key)


def setting(row: Row, key: Sequence[str]) -> str:
    return ", ".join(str(row[name]) for name in key if name not in REPEATS)


def time_of(cell: object) -> float:
    """Seconds as a row tells them."""
    try:
        seconds = float(str(cell))
    except ValueError:
        seconds = nan
    if not 0 <= seconds < inf:
        raise ValueError(f"A row tells of {str(cell)[:40]!r} seconds: mend it, or name other rows with --out.")
    return seconds


def task_seconds(rows: Iterable[Row], key: Sequence[str]) -> dict[tuple[str, ...], float]:
    """What each task took by its rows, which count from its start: the last of them tells the whole."""
    seconds: dict[tuple[str, ...], float] = {}
    for row in rows:
        if row.get("seconds"):
            name = identity(row, key)
            seconds[name] = max(time_of(row["seconds"]), seconds.get(name, 0.0))
    return seconds


class Times:
    """Measured seconds by setting. Those of this very command count more than those of rows, which another machine
    may have made."""

    def __init__(self, rows: Iterable[Row], key: Sequence[str]):
        rows = list(rows)
        settings = {identity(row, key): setting(row, key) for row in rows}
        self.key = key
        self.told: dict[str, list[float]] = {}
        self.seen: dict[str, list[float]] = {}
        for name, seconds in task_seconds(rows, key).items():
            self.told.setdefault(settings[name], []).append(seconds)

    def add(self, task: Row, seconds: float) -> None:
        self.seen.setdefault(setting(task, self.key), []).append(seconds)

    def expected(self, task: Row) -> float | None:
        """The mean of the same setting, or of those which differ from it in the fewest words; none where nothing is
        known."""
        wanted = words(setting(task, self.key))
        known = [(name, 0, times) for name, times in self.seen.items()]
        known += [(name, 1, times) for name, times in self.told.items()]
        distances = [(len(words(name) ^ wanted), age) for name, age, _ in known]
        nearest = [times for (_, _, times), far in zip(known, distances, strict=True) if far == min(distances)]
        return float(np.mean([seconds for times in nearest for seconds in times])) if nearest else None


def words(setting: str) -> set[str]:
    return set(setting.replace(":", ",").split(", "))


def wall(times: Iterable[float], workers: int, busy: Sequence[float] = ()) -> float:
    """Seconds until all is done if whoever is free takes the next task; some may be busy for a while."""
    free = [*busy, *[0.0] * (workers - len(busy))]
    heapify(free)
    for seconds in times:
        heapreplace(free, free[0] + seconds)
    return max(free)


def longest_first(times: Iterable[float]) -> list[float]:
    """In this order no schedule of `wall` ends later than 4/3 of the best (Graham 1969)."""
    return sorted(times, reverse=True)


def span(seconds: float) -> str:
    """A time as one would say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


def reckoned(tasks: Sequence[Row], rows: Sequence[Row], key: Sequence[str]) -> tuple[list[float], int]:
    """Seconds of every task, and how many of them were measured."""
    measured, times = task_seconds(rows, key), Times(rows, key)
    seconds = [measured.get(identity(task, key), times.expected(task)) for task in tasks]
    known = [each for each in seconds if each is not None]
    if len(known) < len(tasks) or not tasks:
        raise ValueError("No row tells how long a task takes: run some of them first, or name other rows with --out.")
    return known, sum(identity(task, key) in measured for task in tasks)


def plan(tasks: Sequence[Row], rows: Sequence[Row], key: Sequence[str], workers: int) -> Row:
    """The wall time of all tasks from their start, with one worker and with more, up to this many."""
    if workers < 1:
        raise ValueError(f"{workers} workers do nothing: plan with 1 or more.")
    seconds, measured = reckoned(tasks, rows, key)
    if workers > MOST_WORKERS:
        raise ValueError(f"{workers:,} workers are more than there are tasks for: plan with {MOST_WORKERS:,} or fewer.")
    counts = sorted(n for n in {1, 2, workers, *(10**n for n in range(1, 7))} if n <= workers)
    walls = {count: wall(longest_first(seconds), count) for count in counts}
    return {
        "tasks": len(tasks),
        "measured": measured,
        "seconds": round(sum(seconds), 1),
        "longest": round(max(seconds), 1),
        "plan": [
            {"workers": n, "seconds": round(taken, 1), "speedup": round(sum(seconds) / taken if taken else 1.0, 2)}
            for n, taken in walls.items()
        ],
    }


def told(planned: Row) -> str:
    """A plan in Markdown."""
    head = (
        f"{planned['tasks']} tasks, {span(planned['seconds'])} of work, the longest {span(planned['longest'])}; "
        f"{planned['measured']} were measured, the others are taken to be like those nearest to them."
    )
    lines = [head, "", "| workers | wall time | speed-up | busy |", "|---|---|---|---|"]
    for row in planned["plan"]:
        busy = 100 * row["speedup"] / row["workers"]
        lines.append(f"| {row['workers']} | {span(row['seconds'])} | {row['speedup']:.1f} | {busy:.0f} % |")
    return "\n".join(lines)
