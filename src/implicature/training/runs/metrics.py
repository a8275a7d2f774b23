"""RUN/metrics.csv: a line for each chunk of iterations and each pair. A file that is not such a table is never
overwritten."""

import csv
import io
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from implicature.files import name_in_errors, parse_table, read_text, write_atomic

METRICS = (
    "reward", "accuracy", "q_loss", "obverter_loss", "student_loss", "grounding_loss", "contrastive_loss",
    "speaker_loss", "entropy",
)  # fmt: skip
MAX_NUMBER = 10**9
"""Stages, phases and iterations are numbered up to here."""


class Position(NamedTuple):
    """A chunk's position in training."""

    stage: int
    phase: int
    agent: str
    iteration: int


class Line(NamedTuple):
    position: Position
    pair: int
    metrics: dict[str, float]
    """Those that its stage measures."""
    seconds: float


HEADER = (*Position._fields, "pair", *METRICS, "seconds")


def parse_number(cell: str) -> int:
    if not 0 <= (number := int(cell)) <= MAX_NUMBER:
        raise ValueError(f"{number} is not a number of this table.")
    return number


def parse_line(row: dict[str, str]) -> Line:
    position = Position(
        parse_number(row["stage"]), parse_number(row["phase"]), row["agent"], parse_number(row["iteration"])
    )
    seconds = float(row["seconds"])
    if not (isfinite(seconds) and seconds >= 0):
        raise ValueError(f"{seconds} seconds are no time.")
    return Line(
        position, parse_number(row["pair"]), {name: float(row[name]) for name in METRICS if row.get(name)}, seconds
    )


def format_lines(lines: list[Line], header: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if header:
        writer.writerow(HEADER)
    for line in lines:
        cells = [f"{line.metrics[name]:.6g}" if name in line.metrics else "" for name in METRICS]
        writer.writerow([*line.position, line.pair, *cells, f"{line.seconds:.1f}"])
    return text.getvalue()


@dataclass(frozen=True)
class MetricsFile:
    path: Path
    pairs: int

    def lines(self) -> list[Line]:
        """All complete lines: a kill while writing leaves half a line."""
        if not self.path.exists():
            return []
        try:
            text = read_text(self.path)
            text = text[: text.rfind("\n") + 1]
            required = (*Position._fields, "pair", "seconds")
            return [parse_line(row) for row in parse_table(text, required)] if text else []
        except ValueError:
            raise ValueError(
                f"{self.path} is not the table that training writes: move it away and resume without it."
            ) from None

    def append(self, position: Position, metrics: dict[str, list[float]], seconds: float) -> None:
        """One chunk of every pair."""
        each = [{name: values[pair] for name, values in metrics.items()} for pair in range(self.pairs)]
        lines = [Line(position, pair, own, seconds) for pair, own in enumerate(each)]
        text = format_lines(lines, header=not self.path.exists())
        with name_in_errors(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(text)

    def seconds(self, phase: int | None = None) -> float:
        """How long training has taken so far, or until the end of a phase."""
        taken = [line.seconds for line in self.lines() if phase is None or line.position.phase <= phase]
        return taken[-1] if taken else 0.0

    def truncate(self, stage: int, iteration: int) -> None:
        """Drop lines written after the checkpoint that training resumes from."""
        lines = self.lines()
        if self.path.exists():
            kept = [line for line in lines if (line.position.stage, line.position.iteration) <= (stage, iteration)]
            write_atomic(self.path, format_lines(kept, header=True).encode())
