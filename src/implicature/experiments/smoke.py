"""A quick version of an experiment: every table and figure from a few small runs, in a folder of their own and marked,
to see the whole in minutes. Most of that time goes into compiling, so few settings and few kinds of program."""

from dataclasses import replace

from implicature.experiments.results import Row
from implicature.training.config import Config

MARK = "quick"
"""The column that only these rows have, and the folder that they are in."""
GAMES = 1_000
"""Test games in each cell."""
TWICE = (
    "exchange, ungrounded, numbers-4",
    "la-2017, ungrounded, numbers-4",
    "exchange, grounded, numbers-4",
    "la-2017, grounded, numbers-4",
)
"""What is trained by two runs, so that they can be compared and meet in cross-play."""
ONCE = (
    "paper, ungrounded, numbers-4",
    "la-2018, ungrounded, numbers-4",
    "exchange, grounded, numbers-7",
    "exchange, grounded, objects-4",
    "exchange, novel targets, objects-4",
    "la-2017, novel targets, objects-4",
)
"""With the above, each table and figure has something to tell."""
SPACES = ("numbers-4", "objects-4")
"""The games that exact players play."""
WARNING = (
    "QUICK: small runs on few games, one split and one or two seeds, to see that everything works; "
    "no figure here is a result."
)


def sized(config: Config, task: Row) -> Config:
    """A task's config: much smaller where the task is marked."""
    if not task.get(MARK):
        return config
    alone = config.method != "pragmatic"
    return replace(
        config,
        phases=min(config.phases, 3),
        iterations=1_000 if alone else 150,
        pretraining=min(config.pretraining, 100),
        batch=32,
        depth=min(config.depth, 2),
        train_games=20_000,
    )


def some(tasks: list[Row]) -> list[Row]:
    """Those of an experiment's tasks that the quick version does, marked. A second run comes after all first ones: it
    finds its programs compiled."""
    marked = [{**task, MARK: "yes"} for task in tasks if is_among(task)]
    return sorted(marked, key=lambda task: task.get("seed", 0))


def is_among(task: Row) -> bool:
    if "setting" not in task:
        return task["game"] in SPACES
    # What names no seed takes both.
    settings = (*TWICE, *ONCE) if task.get("seed") == 0 else TWICE
    return task["setting"] in settings and task["split"] == 0 and task.get("seed", 0) in (0, 1)
