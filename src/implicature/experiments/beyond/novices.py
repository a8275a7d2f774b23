"""Novices who know no word learn from a fixed partner (evaluation/novices): games until 95 %, and the accuracy on the
way. The run is the numbers-4 pair that ships with the package."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from implicature import training
from implicature.evaluation.novices import GOAL, PARTNERS, TESTS, Lesson, draw_courses, games_until, mean_games, teach
from implicature.experiments.results import Result, TaskSpec, command, mean_and_std, version
from implicature.experiments.table import Row, Table
from implicature.training.runs.run import open_run

__all__ = ["KEY", "draw", "render", "run", "tasks"]

RUN = Path(training.__file__).parent / "pretrained" / "numbers-4"
GAMES, SEEDS = 8_000, 6
KEY = ("partner",)


def tasks() -> list[TaskSpec]:
    return [{"partner": partner} for partner in PARTNERS]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """A row for each seed and each test on the way; `until_…` is where the seed reached the goal, empty if never."""
    course = list(teach(open_run(RUN), task["partner"], GAMES, SEEDS))
    until = {test: games_until(course, test) for test in TESTS}
    return [
        {
            **task, "seed": seed, "games": lesson.games,
            **{test: round(100 * float(lesson.figures[test][seed]), 2) for test in TESTS},
            **{f"until_{test}": until[test][seed] or "" for test in TESTS},
            "version": version(), "command": command(),
        }
        for seed in range(SEEDS)
        for lesson in course
    ]  # fmt: skip


def at_the_end(results: list[Result], partner: str) -> list[Result]:
    own = [one for one in results if one["partner"] == partner]
    last = max((int(one["games"]) for one in own), default=0)
    return [one for one in own if int(one["games"]) == last]


def render(results: list[Result]) -> list[Table]:
    rows = []
    for partner, name in PARTNERS.items():
        if own := at_the_end(results, partner):
            cells = []
            for test in TESTS:
                until = [None if one[f"until_{test}"] == "" else int(one[f"until_{test}"]) for one in own]
                cells += [mean_games(until), mean_and_std(own, test, 1)]
            rows.append(Row(name, [*cells, len(own)]))
    columns = [
        f"{title}: {what}" for title in TESTS.values() for what in (f"games until {100 * GOAL:.0f} %", "at the end, %")
    ]
    return [Table("partner", [*columns, "novices"], rows)]


def draw(results: list[Result]) -> Figure:
    """Accuracy along the way, mean and range over novices."""
    courses = {}
    for partner in PARTNERS:
        own = [one for one in results if one["partner"] == partner]
        by_games: dict[int, list[Result]] = {}
        for one in own:
            by_games.setdefault(int(one["games"]), []).append(one)
        lessons = [
            Lesson(partner, games, {test: np.array([float(one[test]) / 100 for one in some]) for test in TESTS})
            for games, some in sorted(by_games.items())
        ]
        courses |= {partner: lessons} if lessons else {}
    return draw_courses(courses)
