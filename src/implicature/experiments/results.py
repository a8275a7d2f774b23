"""Results: CSV files with one row for each measurement, each row with its provenance."""

import csv
import io
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np

from implicature import __version__
from implicature.experiments.table import MISSING, MeanStd, Missing
from implicature.files import exclusive_lock, read_table, write_atomic

Result = dict[str, Any]
"""One row: the task it belongs to, its figures (percent), and its provenance."""
TaskSpec = dict[str, Any]
"""One task of an experiment: a value for each column that identifies it, such as setting, split and seed."""
REPEATS = ("split", "seed")
"""The columns that tell apart repetitions of one setting."""


def version() -> str:
    """The version of the package and, in a checkout, the commit; with a + if files have changed since."""
    source = Path(__file__).parent
    git = ["git", "-C", str(source)]
    try:
        tracked = subprocess.run([*git, "ls-files", "--error-unmatch", __file__], capture_output=True, check=False)
        if tracked.returncode != 0:
            return __version__
        commit = subprocess.run([*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run(
            [*git, "status", "--porcelain", "--untracked-files=no", "."], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return __version__
    return f"{__version__}-{commit.stdout.strip()}{'+' if changed.stdout.strip() else ''}"


def command() -> str:
    """The command that is running, as one would type it."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def read_results(path: Path, key: Sequence[str] = ()) -> list[Result]:
    """The rows of a file that has at least the columns of the key; none where there is no file."""
    return [*read_table(path, key)] if path.exists() else []


def write_results(path: Path, results: Sequence[Result]) -> None:
    """Replace the file atomically. Rows of an earlier version may have other columns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    columns = list(dict.fromkeys(name for result in results for name in result))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(results)
    write_atomic(path, text.getvalue().encode())


def merge_results(path: Path, new: Sequence[Result], key: Sequence[str]) -> list[Result]:
    """Add results under a lock: what another process has written meanwhile stays, and results of the same task are
    replaced. All results of the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replaced = {task_id(result, key) for result in new}
    with exclusive_lock(path.with_name(f".{path.name}.lock"), f"{path} is locked.", wait=True):
        others = [one for one in read_results(path, key) if task_id(one, key) not in replaced]
        write_results(path, results := [*others, *new])
    return results


def percent(figures: dict[str, Any], names: Iterable[str]) -> Result:
    """These figures, fractions, as percentages with three decimals."""
    return {name: round(100 * float(figures[name]), 3) for name in names}


def mean(results: Sequence[Result], column: str) -> float:
    return float(np.mean([float(result[column]) for result in results]))


def mean_and_std(results: Sequence[Result], column: str, digits: int = 2) -> MeanStd | Missing:
    """Over the results that have the figure."""
    values = [float(result[column]) for result in results if result[column] != ""]
    return MeanStd(float(np.mean(values)), float(np.std(values)), digits) if values else MISSING


# Which task a result belongs to, and how long the task took


def task_id(result: Result | TaskSpec, key: Sequence[str]) -> tuple[str, ...]:
    """What identifies a task, from the task or from any of its results."""
    return tuple(str(result[name]) for name in key)


def setting_name(result: Result | TaskSpec, key: Sequence[str]) -> str:
    """What the repetitions of a task have in common."""
    return ", ".join(str(result[name]) for name in key if name not in REPEATS)


def parse_seconds(cell: object) -> float:
    try:
        seconds = float(str(cell))
    except ValueError:
        seconds = nan
    if not 0 <= seconds < inf:
        raise ValueError(f"A result has {str(cell)[:40]!r} seconds: correct it, or name other results with --out.")
    return seconds


def task_seconds(results: Iterable[Result], key: Sequence[str]) -> dict[tuple[str, ...], float]:
    """How long each task took. Its results count seconds from its start, so the largest is the whole."""
    seconds: dict[tuple[str, ...], float] = {}
    for result in results:
        if result.get("seconds"):
            task = task_id(result, key)
            seconds[task] = max(parse_seconds(result["seconds"]), seconds.get(task, 0.0))
    return seconds


def format_duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
