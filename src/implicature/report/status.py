"""The status of the results: what is done and what is missing, what is below the paper's, where it all comes from."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from implicature.experiments.paper.pairs import KEY
from implicature.experiments.registry import ALL, SMOKE, Folders, experiment_tasks, load_experiment
from implicature.experiments.results import (
    Result,
    TaskSpec,
    format_duration,
    setting_name,
    task_id,
    task_seconds,
)
from implicature.experiments.table import Comparison, Row, Table
from implicature.report.section import Section

TABLES = ("table-1", "table-2", "table-3")


def experiments(folders: Folders) -> Sequence[str]:
    """Those whose results the report expects."""
    return SMOKE if folders.smoke else ALL


def tasks_left(folders: Folders) -> dict[str, tuple[int, list[TaskSpec]]]:
    """For each experiment how many tasks it has, and those without results."""
    found = {}
    for name in experiments(folders):
        key, tasks = load_experiment(name).KEY, experiment_tasks(name, folders.smoke)
        done = {task_id(result, key) for result in folders.read(name)}
        found[name] = len(tasks), [task for task in tasks if task_id(task, key) not in done]
    return found


@dataclass(frozen=True)
class ComparedCell:
    """A cell of the paper's tables that has a mean of the paper's."""

    table: str
    row: Row
    game: str
    comparison: Comparison


def compared_cells(folders: Folders) -> list[ComparedCell]:
    return [
        ComparedCell(name, row, game, cell)
        for name in TABLES
        for table in folders.render(name)
        for row in table.rows
        for game, cell in zip(table.columns, row.cells, strict=True)
        if isinstance(cell, Comparison)
    ]


def summary(folders: Folders) -> Section:
    left, cells = tasks_left(folders), compared_cells(folders)
    n_runs, missing = left["pairs"]
    seconds = sum(task_seconds(folders.read("pairs"), KEY).values(), 0.0)
    counts = []
    for kind, whose in (("ours", "of ours"), ("baseline", "of the baselines'")):
        own = [cell.comparison.at_least for cell in cells if cell.row.kind == kind]
        counts.append(f"{sum(own)} of {len(own)} {whose}")
    so_far = " so far" if missing else ""
    blocks: list[str | Table] = [
        f"{n_runs - len(missing)} of {n_runs} runs are done ({format_duration(seconds)} of training, one core each). "
        f"Cells of tables 1 to 3{so_far} at or above the paper's mean: {', '.join(counts)}."
    ]
    below = [
        Row(f"{cell.row.label}, {cell.game}", [cell.comparison], f"{cell.table}, {cell.row.group}")
        for cell in cells
        if not cell.comparison.at_least
    ]
    if below:
        blocks.append(Table("below the paper's mean", ["here (paper)"], below))
    if incomplete := [f"{name} {n - len(tasks)} of {n}" for name, (n, tasks) in left.items() if tasks]:
        blocks.append(f"Incomplete; tasks done: {', '.join(incomplete)}.")
    return Section("Summary", blocks)


def missing_results(folders: Folders) -> Section:
    rows = []
    for name, (_, tasks) in tasks_left(folders).items():
        settings = Counter(setting_name(task, load_experiment(name).KEY) for task in tasks)
        rows += [Row(name, [setting, count]) for setting, count in settings.items()]
    table = Table("experiment", ["setting", "missing runs"], rows)
    return Section("Missing results", [table if rows else "None: all results are there."])


def provenance(folders: Folders) -> Section:
    """Versions, seeds, commands and training time."""
    results = {name: found for name in experiments(folders) if (found := folders.read(name))}
    commands = distinct([one for found in results.values() for one in found], "command")
    text = (
        f"The results come from `{'`; `'.join(commands)}` and name their version. Times are those of training, one "
        "core per run."
    )
    files = [
        Row(
            folders.results_file(name).name,
            [len(found), *("; ".join(distinct(found, column)) for column in ("split", "seed", "games", "version"))],
        )
        for name, found in results.items()
    ]
    columns = ["rows", "splits", "seeds", "test games", "version of implicature"]
    return Section("Provenance and cost", [text, Table("results", columns, files), cost(results.get("pairs", []))])


def cost(pairs: Sequence[Result]) -> Table:
    """Training time by setting."""
    settings = {task_id(result, KEY): result["setting"] for result in pairs}
    by_setting: dict[str, list[float]] = {}
    for run, seconds in task_seconds(pairs, KEY).items():
        by_setting.setdefault(settings[run], []).append(seconds)
    rows = [
        Row(name, [len(each), format_duration(sum(each) / len(each)), format_duration(sum(each))])
        for name, each in by_setting.items()
    ]
    total = [seconds for each in by_setting.values() for seconds in each]
    rows.append(Row("all", [len(total), "", format_duration(sum(total, 0.0))]))
    return Table("setting", ["runs", "per run", "total"], rows)


def distinct(results: Sequence[Result], column: str) -> list[str]:
    """The values of a column, in order of appearance."""
    return list(dict.fromkeys(one[column] for one in results if one.get(column))) or ["–"]
