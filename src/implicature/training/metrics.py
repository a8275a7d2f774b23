"""RUN/metrics.csv: a line for each chunk of iterations and each pair. What is not such a table is refused, never mended
by writing over it."""

import csv
import io
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from implicature.files import parse_table, read_text, write_atomic

METRICS = (
    "reward", "accuracy", "q_loss", "obverter_loss", "student_loss", "grounding_loss", "looking_loss", "speaker_loss",
    "entropy",
)  # fmt: skip
MOST = 10**9
"""Stages, phases and iterations are numbered up to here."""


class Where(NamedTuple):
    """The place of a chunk in training."""

    stage: int
    phase: int
    agent: str
    iteration: int


class Line(NamedTuple):
    where: Where
    pair: int
    figures: dict[str, float]
    """Those that its stage has."""
    seconds: float


HEADER = (*Where._fields, "pair", *METRICS, "seconds")


def whole(cell: str) -> int:
    if not 0 <= (number := int(cell)) <= MOST:
        raise ValueError(f"{number} is not a number of this table.")
    return number


def line_of(row: dict[str, str]) -> Line:
    where = Where(whole(row["stage"]), whole(row["phase"]), row["agent"], whole(row["iteration"]))
    seconds = float(row["seconds"])
    if not (isfinite(seconds) and seconds >= 0):
        raise ValueError(f"{seconds} seconds are no time.")
    return Line(where, whole(row["pair"]), {name: float(row[name]) for name in METRICS if row.get(name)}, seconds)


def written(lines: list[Line], header: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if header:
        writer.writerow(HEADER)
    for line in lines:
        figures = [f"{line.figures[name]:.6g}" if name in line.figures else "" for name in METRICS]
        writer.writerow([*line.where, line.pair, *figures, f"{line.seconds:.1f}"])
    return text.getvalue()


@dataclass(frozen=True)
class Metrics:
    path: Path
    pairs: int

    def lines(self) -> list[Line]:
        """All that were written whole: who is killed while writing leaves half a line."""
        if not self.path.exists():
            return []
        try:
            text = read_text(self.path)
            text = text[: text.rfind("\n") + 1]
            required = (*Where._fields, "pair", "seconds")
            return [line_of(row) for row in parse_table(text, required)] if text else []
        except ValueError:
            raise ValueError(
                f"{self.path} is not the table that training writes: move it away, and go on without what it tells."
            ) from None

    def add(self, where: Where, figures: dict[str, list[float]], seconds: float) -> None:
        """One chunk of every pair."""
        each = [{name: values[pair] for name, values in figures.items()} for pair in range(self.pairs)]
        lines = [Line(where, pair, mine, seconds) for pair, mine in enumerate(each)]
        text = written(lines, header=not self.path.exists())
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)

    def seconds(self, phase: int | None = None) -> float:
        """How long training has taken so far, or until the end of a phase."""
        taken = [line.seconds for line in self.lines() if phase is None or line.where.phase <= phase]
        return taken[-1] if taken else 0.0

    def cut(self, stage: int, iteration: int) -> None:
        """Forget lines written after the checkpoint that training goes on from."""
        lines = self.lines()
        if self.path.exists():
            kept = [line for line in lines if (line.where.stage, line.where.iteration) <= (stage, iteration)]
            write_atomic(self.path, written(kept, header=True).encode())
