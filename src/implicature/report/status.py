"""How the rows stand: what is done and what is missing, what is below the paper's, what it took."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from implicature.cli.reproduce import ALL, QUICK, Folders, module_of, tasks_of
from implicature.experiments.pairs import KEY
from implicature.experiments.results import Row, version
from implicature.runner.schedule import identity, setting, span, task_seconds

TABLES = ("table-1", "table-2", "table-3")


@dataclass(frozen=True)
class Section:
    title: str
    text: str
    """Markdown: paragraphs and tables."""
    picture: Figure | None = None

    def markdown(self) -> str:
        return f"## {self.title}\n\n{self.text}"


def progress(folders: Folders) -> list[tuple[str, int, int]]:
    """Of each experiment how many tasks have rows, and how many there are."""
    found = []
    for name in QUICK if folders.quick else ALL:
        key = module_of(name).KEY
        tasks = {identity(task, key) for task in tasks_of(name, folders.quick)}
        found.append((name, len(tasks & {identity(row, key) for row in folders.read(name)}), len(tasks)))
    return found


@dataclass(frozen=True)
class Cell:
    """One that has a figure of the paper's."""

    table: str
    line: str
    game: str
    told: str

    @property
    def reached(self) -> bool:
        return "▲" in self.told

    @property
    def ours(self) -> bool:
        return ": ours" in self.line


def compared(folders: Folders) -> list[Cell]:
    """The cells of the three tables that stand beside the paper's."""
    cells = []
    for name in TABLES:
        head, *lines = [line.strip("| ").split(" | ") for line in folders.rendered(name).splitlines()] or [[]]
        for line, *told in lines:
            cells += [Cell(name, line, *pair) for pair in zip(head[1:], told, strict=False) if set(pair[1]) & set("▲▽")]
    return cells


def glance(folders: Folders) -> Section:
    done = {name: (some, every) for name, some, every in progress(folders)}
    some, every = done["pairs"]
    cells = compared(folders)
    seconds = sum(task_seconds(folders.read("pairs"), KEY).values())
    counts = [
        f"{sum(cell.reached for cell in mine)} of {len(mine)} {whose}"
        for whose, mine in (
            ("of ours", [cell for cell in cells if cell.ours]),
            ("of the baselines'", [cell for cell in cells if not cell.ours]),
        )
    ]
    so_far = " so far" if some < every else ""
    lines = [
        f"{some} of {every} runs are done ({span(seconds)} of training, a core each). Cells of tables 1 to 3{so_far} "
        f"that are at or above the paper's: {', '.join(counts)}."
    ]
    below = [f"| {cell.table}, {cell.line}, {cell.game} | {cell.told} |" for cell in cells if not cell.reached]
    if below:
        lines.append("\n".join(["| below the paper's | here (paper) |", "|---|---|", *below]))
    if incomplete := [f"{name} {some} of {every}" for name, (some, every) in done.items() if some < every]:
        lines.append(f"Not complete; tasks done: {', '.join(incomplete)}.")
    return Section("At a glance", "\n\n".join(lines))


def missing(folders: Folders) -> Section:
    """Said plainly, setting by setting."""
    lines = ["| experiment | setting | runs still to make |", "|---|---|---|"]
    for name, some, every in progress(folders):
        if some == every:
            continue
        key = module_of(name).KEY
        done = {identity(row, key) for row in folders.read(name)}
        left = Counter(setting(task, key) for task in tasks_of(name, folders.quick) if identity(task, key) not in done)
        lines += [f"| {name} | {where} | {number} |" for where, number in left.items()]
    text = "\n".join(lines) if len(lines) > 2 else "Nothing: every row is there."
    return Section("What is missing", text)


def making(folders: Folders) -> Section:
    """Versions, seeds, games, time."""
    by_file = ["| rows | number | splits | seeds | test games | version of implicature |", "|---|---|---|---|---|---|"]
    for name in QUICK if folders.quick else ALL:
        if rows := folders.read(name):
            columns = [values(rows, column) for column in ("split", "seed", "games", "version")]
            by_file.append(f"| {folders.rows(name).name} | {len(rows)} | {' | '.join(columns)} |")
    rows = folders.read("pairs")
    names = {identity(row, KEY): row["setting"] for row in rows}
    taken: dict[str, list[float]] = {}
    for run, seconds in task_seconds(rows, KEY).items():
        taken.setdefault(names[run], []).append(seconds)
    times = ["| setting | runs | a run takes | in all |", "|---|---|---|---|"]
    for name, each in taken.items():
        times.append(f"| {name} | {len(each)} | {span(sum(each) / len(each))} | {span(sum(each))} |")
    whole = [each for mine in taken.values() for each in mine]
    times.append(f"| all | {len(whole)} | | {span(sum(whole))} |")
    commands = values([row for name in ALL for row in folders.read(name)], "command").replace("; ", "`; `")
    about = (
        f"Told by implicature {version()}. Rows were made by `{commands}`. The time is that of training, a core a run."
    )
    return Section("How it was made", "\n\n".join([about, "\n".join(by_file), "\n".join(times)]))


def values(rows: Sequence[Row], column: str) -> str:
    """Which there are, in the order of their coming."""
    return "; ".join(dict.fromkeys(row[column] for row in rows if row.get(column))) or "–"
