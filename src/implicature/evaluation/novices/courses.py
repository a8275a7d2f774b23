"""What novices knew after so many games: games until 95 %, a table's cells, a picture."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from implicature.evaluation.novices.partners import PARTNERS

TESTS = {"words": "words that single out", "own": "with his partner", "run": "with the run's teacher"}
GOAL = 0.95


@dataclass(frozen=True)
class Lesson:
    """How far the novices of one partner have come."""

    partner: str
    games: int
    figures: dict[str, Float[np.ndarray, " seeds"]]
    """By test."""


def games_until(course: list[Lesson], test: str, goal: float = GOAL) -> list[int | None]:
    """For each seed, the games after which it first reached the goal; None where it never did."""
    reached = np.stack([lesson.figures[test] for lesson in course]) >= goal
    return [course[int(np.argmax(column))].games if column.any() else None for column in reached.T]


def summarize_course(course: list[Lesson]) -> dict[str, Any]:
    """For each test: games until the goal, and the accuracy at the end, by seed."""
    last = course[-1]
    return {
        test: {"games": games_until(course, test), "accuracy": [round(float(x), 4) for x in last.figures[test]]}
        for test in TESTS
    }


def mean_games(games: list[int | None]) -> str:
    """The mean over seeds; where some never reached the goal, how many did."""
    reached = [number for number in games if number is not None]
    if not reached:
        return "never"
    return f"{np.mean(reached):,.0f}" if len(reached) == len(games) else f"{len(reached)} of {len(games)} seeds"


def draw_courses(courses: dict[str, list[Lesson]]) -> Figure:
    """One panel a test: accuracy after so many games, mean and range over seeds."""
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    axes = figure.subplots(1, len(TESTS), sharey=True)
    for axis, (test, title) in zip(axes, TESTS.items(), strict=True):
        for i, (name, course) in enumerate(courses.items()):
            taught = [lesson for lesson in course if lesson.games]
            games = [lesson.games for lesson in taught]
            each = 100 * np.stack([lesson.figures[test] for lesson in taught])
            axis.plot(games, each.mean(axis=1), color=f"C{i}", label=PARTNERS[name])
            axis.fill_between(games, each.min(axis=1), each.max(axis=1), color=f"C{i}", alpha=0.1)
        axis.axhline(100 * GOAL, color="grey", linewidth=0.8, linestyle="--")
        axis.set(title=title, xlabel="games", ylim=(20, 101), xscale="log")
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("accuracy, %")
    axes[-1].legend(fontsize=8, loc="lower right")
    return figure
