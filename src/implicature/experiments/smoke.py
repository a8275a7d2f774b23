"""The smoke test of the experiments: every table and figure from a few small runs, in folders of their own and marked.
Most of its minutes go into compilation, so it has few settings and few kinds of programs."""

from implicature.experiments.results import TaskSpec
from implicature.training.config import Config

MARK = "smoke"
"""The column that only results of smoke runs have, and the name of their folder."""
GAMES = 1_000
"""Test games in each cell."""
TWO_RUNS = (
    "exchange, ungrounded, numbers-4",
    "la-2017, ungrounded, numbers-4",
    "exchange, grounded, numbers-4",
    "la-2017, grounded, numbers-4",
)
"""Settings with two runs, for the t-test and for cross-play."""
ONE_RUN = (
    "deep-sets, ungrounded, numbers-4",
    "as-written, ungrounded, numbers-4",
    "reinforce, grounded, numbers-4",
    "la-2018, ungrounded, numbers-4",
    "exchange, grounded, numbers-7",
    "exchange, grounded, objects-4",
    "exchange, novel targets, objects-4",
    "la-2017, novel targets, objects-4",
)
"""With these, no table or figure is empty."""
SPLIT = 10
"""The first split of `pairs`."""
EXACT_GAMES = ("numbers-4", "objects-4")
"""The games of the exact players."""
WARNING = "SMOKE: small runs on few games, one split and one or two seeds, to check that everything works; not results."


def shrink(config: Config, task: TaskSpec) -> Config:
    """The config of a task, much smaller if the task is marked."""
    if not task.get(MARK):
        return config
    pragmatic = config.method.method == "pragmatic"
    return config.replace(
        phases=min(config.optimiser.phases, 3),
        iterations=150 if pragmatic else 1_000,
        pretraining_iterations=min(config.grounding.pretraining_iterations, 100),
        candidate_sets=32,
        train_games=20_000,
        **({"layers": min(config.network.layers, 2)} if pragmatic else {}),
    )


def smoke_tasks(tasks: list[TaskSpec]) -> list[TaskSpec]:
    """Those of an experiment's tasks that the smoke test runs, marked. Second runs come last, when their programs are
    compiled."""
    marked = [{**task, MARK: "yes"} for task in tasks if is_smoke_task(task)]
    return sorted(marked, key=lambda task: task.get("seed", 0))


def is_smoke_task(task: TaskSpec) -> bool:
    if "setting" not in task:
        return task["game"] in EXACT_GAMES
    # A task without a seed (cross-play) uses both runs.
    first_run = task.get("seed", 1) % 100 == 0
    settings = (*TWO_RUNS, *ONE_RUN) if first_run else TWO_RUNS
    return task["setting"] in settings and task["split"] == SPLIT
