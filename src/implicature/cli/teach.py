"""`implicature teach`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

if TYPE_CHECKING:
    from implicature.evaluation.novices import Lesson


def teach(
    run: tyro.conf.Positional[Path],
    partner: Annotated[tuple[str, ...], tyro.conf.arg(metavar="PARTNER …")] = (),
    games: Annotated[int, tyro.conf.arg(metavar="N")] = 8_000,
    seeds: Annotated[int, tyro.conf.arg(metavar="N")] = 6,
    phase: int | None = None,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Teach a novice who knows no word, with one partner after the other: how many games does he take?

    The novice is a new network of the run's kind. In every game his partner says one word of the target, and then the
    target is revealed: he learns by cross-entropy on it. Example: implicature teach runs/numbers-4 --partner random run

    Args:
        run: The run's folder: its game, its network and its teacher. It must be grounded.
        partner: Who teaches: random (any true word), literal, exact (depth 3), run (the run's teacher), understood (the
            word that this novice understands best), tailored (the word that teaches this novice most); by default all.
        games: Games for each novice.
        seeds: Novices for each partner, each from a seed of its own.
        phase: The run's teacher as she was after this phase; by default the last.
        out: The PNG file; by default teach.png in the run's folder.
        json: Print one JSON object instead of a table: for each partner and test the games until 95 % (null: never)
            and the accuracy at the end, for each seed.
    """
    import json as json_format

    from implicature.evaluation.novices import MAX_GAMES, MAX_SEEDS, PARTNERS, draw_courses, summarize_course
    from implicature.files import check_png, name_in_errors
    from implicature.training.runs.run import open_run

    if unknown := [name for name in partner if name not in PARTNERS]:
        raise ValueError(f"No partner is called {unknown[0]!r:.40}: choose among {', '.join(PARTNERS)}.")
    for name, value, most in (("games", games, MAX_GAMES), ("seeds", seeds, MAX_SEEDS)):
        if not 1 <= value <= most:
            raise ValueError(f"--{name} {value:,} is not between 1 and {most:,}: choose one that is.")
    image = out or run / "teach.png"
    check_png(image, "--out")
    opened = open_run(run)
    courses = {name: teach_with_bar(opened, name, games, seeds, phase, json) for name in partner or PARTNERS}
    figures = {name: summarize_course(course) for name, course in courses.items()}
    with name_in_errors(image):
        draw_courses(courses).savefig(image, dpi=150)
    if json:
        print(json_format.dumps({"run": str(run), "games": games, "seeds": seeds, "partners": figures}))
        return
    print_courses(figures, f"{run}: novices who know no word, {seeds} {'seed' if seeds == 1 else 'seeds'}")
    print(f"Drawn in {image}")


def teach_with_bar(run: Any, partner: str, games: int, seeds: int, phase: int | None, quiet: bool) -> "list[Lesson]":
    from rich.console import Console
    from rich.progress import Progress

    from implicature.evaluation.novices import PARTNERS, TESTS, teach

    course = []
    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task(f"{PARTNERS[partner]}: compiling …", total=games)
        for lesson in teach(run, partner, games, seeds, phase):
            course.append(lesson)
            shown = "  ".join(f"{test} {100 * lesson.figures[test].mean():.1f} %" for test in TESTS)
            bar.update(task, completed=lesson.games, description=f"{PARTNERS[partner]}:  {shown}")
    return course


def print_courses(figures: dict[str, Any], title: str) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from implicature.evaluation.novices import GOAL, PARTNERS, TESTS, mean_games

    heading = f"{title}: games until {100 * GOAL:.0f} % (accuracy at the end)"
    table = Table("partner", *TESTS.values(), title=escape(heading))
    for name, tests in figures.items():
        ends = {test: 100 * sum(tests[test]["accuracy"]) / len(tests[test]["accuracy"]) for test in TESTS}
        table.add_row(PARTNERS[name], *(f"{mean_games(tests[test]['games'])} ({ends[test]:.1f} %)" for test in TESTS))
    Console().print(table)
