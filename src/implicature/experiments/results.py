"""Rows of results: a CSV with one line a measurement, each with what made it."""

import csv
import io
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from implicature import __version__
from implicature.files import read_table, write_atomic

Row = dict[str, Any]


def version() -> str:
    """The package's version and, in a checkout, the commit; a + at the end says that files had changed since."""
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


def read_rows(path: Path, key: Sequence[str] = ()) -> list[Row]:
    """The rows of a file, each with what tells tasks apart; none where there is no file."""
    return [*read_table(path, key)] if path.exists() else []


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Replace the file by these rows, at once or not at all. Rows of an earlier version may have other columns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomic(path, text.getvalue().encode())


def mean(rows: Sequence[Row], name: str) -> float:
    return float(np.mean([float(row[name]) for row in rows]))


def mean_and_std(rows: Sequence[Row], name: str, digits: int = 2) -> str:
    values = [float(row[name]) for row in rows if row[name] != ""]
    if not values:
        return "–"
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"
