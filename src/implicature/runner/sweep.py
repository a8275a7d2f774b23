"""An experiment as a sweep: run its unfinished tasks, write their results as they come, show the progress."""

import json
import sys
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from implicature.experiments.registry import EXPERIMENTS, Folders, experiment_tasks, load_experiment
from implicature.experiments.results import Result, TaskSpec, merge_results, task_id
from implicature.runner import ENGINES, Event, Job, Options
from implicature.runner.progress import LiveView, Progress
from implicature.runner.schedule import Durations, plan


def filter_tasks(tasks: list[TaskSpec], key: Sequence[str], only: str) -> list[TaskSpec]:
    """The tasks whose description contains a text."""
    return [task for task in tasks if only in " ".join(task_id(task, key))]


def unfinished(tasks: list[TaskSpec], key: Sequence[str], results: list[Result]) -> list[TaskSpec]:
    """The tasks without results."""
    finished = {task_id(result, key) for result in results}
    return [task for task in tasks if task_id(task, key) not in finished]


def plan_experiments(names: Sequence[str], only: str, folders: Folders, workers: int) -> dict[str, Any]:
    """A plan for all tasks of these experiments. A pair that several of them train counts once."""
    key = load_experiment(names[0]).KEY
    tasks: dict[tuple[str, ...], TaskSpec] = {}
    results: list[Result] = []
    for name in names:
        selected = filter_tasks(experiment_tasks(name, folders.smoke), key, only)
        tasks |= {task_id(task, key): task for task in selected}
        results += folders.read(name)
    return plan(list(tasks.values()), results, key, workers)


def run_experiment(
    name: str, games: int, folders: Folders, options: Options, *, only: str, engine: str, title: str, as_json: bool
) -> int:
    """Run the unfinished tasks of one experiment; how many failed."""
    path, key = folders.results_file(name), load_experiment(name).KEY
    results = folders.read(name)
    folders.render(name)  # results of another experiment are refused before more are added to them
    tasks = filter_tasks(experiment_tasks(name, folders.smoke), key, only)
    durations = Durations(results, key)
    todo = order_tasks(unfinished(tasks, key, results), engine, durations)
    progress = Progress(title, tasks, todo, durations)
    if todo:
        jobs = [Job(EXPERIMENTS[name], task, games, folders.runs_folder(), sys.argv) for task in todo]
        collect_results(ENGINES[engine](jobs, options), progress, results, path, key, as_json)
    if as_json:
        counts = {"results": len(results), "path": str(path), "failed": progress.n_failed()}
        print(json.dumps(counts, ensure_ascii=False))
    return progress.n_failed()


def order_tasks(tasks: list[TaskSpec], engine: str, durations: Durations) -> list[TaskSpec]:
    """With many workers the end waits for the longest task, so it starts first; else tasks stay as listed."""
    if engine != "ray":
        return tasks
    return sorted(tasks, key=lambda task: durations.expected(task) or 0.0, reverse=True)


def collect_results(
    events: Generator[Event, None, None],
    progress: Progress,
    results: list[Result],
    path: Path,
    key: Sequence[str],
    as_json: bool,
) -> None:
    """Write the results of each task when it finishes, and show the progress."""
    try:
        with closing(events), LiveView(progress, as_json) as view:
            for event in events:
                if event.results:
                    results[:] = merge_results(path, event.results, key)
                view.update(event)
    except KeyboardInterrupt:
        message = f"{progress.heading()}. Results so far are in {path}: the same command continues."
        print(f"\n{message}", file=sys.stderr)
        raise
