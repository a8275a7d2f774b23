"""Tables as data, written as Markdown, as HTML or for the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from rich.table import Table as RichTable
from rich.text import Text

MAX_LINE = 120
"""Longer cells are wrapped as prose in HTML."""
TEXT_CLASS = ' class="text"'


@dataclass(frozen=True)
class Number:
    value: float
    digits: int = 2
    signed: bool = False
    note: str = ""
    """Text after the number, such as a reference value in brackets."""

    def __str__(self) -> str:
        sign = "+" if self.signed else ""
        return f"{self.value:{sign}.{self.digits}f} {self.note}".rstrip()


@dataclass(frozen=True)
class MeanStd:
    """Mean ± standard deviation over runs."""

    mean: float
    std: float
    digits: int = 2

    def __str__(self) -> str:
        return f"{self.mean:.{self.digits}f} ± {self.std:.{self.digits}f}"


@dataclass(frozen=True)
class Comparison:
    """Mean ± standard deviation over runs beside the paper's mean: ▲ at least the paper's, ▽ below it."""

    ours: MeanStd
    paper: float

    @property
    def at_least(self) -> bool:
        """To one decimal, as the paper prints its figures."""
        return round(self.ours.mean, 1) >= self.paper

    @property
    def mark(self) -> str:
        return "▲" if self.at_least else "▽"

    def __str__(self) -> str:
        return f"{self.ours} {self.mark} ({self.paper:.1f})"


@dataclass(frozen=True)
class Missing:
    """A figure without results so far."""

    def __str__(self) -> str:
        return "–"


MISSING = Missing()
Cell = str | int | Number | MeanStd | Comparison | Missing


@dataclass(frozen=True)
class Row:
    label: str
    cells: Sequence[Cell]
    group: str = ""
    """Rows of one group stand together: in HTML under a heading, elsewhere with the group before the label."""
    kind: Literal["", "ours", "baseline", "exact"] = ""

    @property
    def full_label(self) -> str:
        return f"{self.group}: {self.label}" if self.group else self.label


@dataclass(frozen=True)
class Table:
    title: str
    """Heading of the first column, which holds the rows' labels."""
    columns: Sequence[str]
    rows: Sequence[Row]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"{row.full_label!r} has {len(row.cells)} cells for {len(self.columns)} columns.")

    def is_text(self, column: int) -> bool:
        """Whether no cell of the column is a number."""
        return all(isinstance(row.cells[column], str | Missing) for row in self.rows)

    def to_markdown(self) -> str:
        lines = [[self.title, *self.columns], *([row.full_label, *map(str, row.cells)] for row in self.rows)]
        head, *body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
        return "\n".join([head, "|---" * (len(self.columns) + 1) + "|", *body])

    def to_rich(self) -> RichTable:
        table = RichTable(self.title)
        for i, column in enumerate(self.columns):
            table.add_column(Text(column), justify="left" if self.is_text(i) else "right")
        for row in self.rows:
            table.add_row(Text(row.full_label), *(Text(str(cell), _style(cell)) for cell in row.cells))
        return table

    def to_html(self) -> str:
        text = [self.is_text(i) for i in range(len(self.columns))]
        columns = zip(self.columns, text, strict=True)
        head = f'<th scope="col">{escape(self.title)}</th>'
        head += "".join(f'<th scope="col"{TEXT_CLASS * is_text}>{escape(name)}</th>' for name, is_text in columns)
        body, group = [], ""
        for row in self.rows:
            if row.group != group:
                group = row.group
                body.append(
                    f'<tr class="group"><th colspan="{len(text) + 1}" scope="rowgroup">{escape(group)}</th></tr>'
                )
            cells = "".join(_html(cell, is_text) for cell, is_text in zip(row.cells, text, strict=True))
            body.append(f'<tr class="{row.kind}"><th scope="row">{escape(row.label)}</th>{cells}</tr>')
        long = any(len(str(cell)) > MAX_LINE for row in self.rows for cell in (row.label, *row.cells))
        return (
            f'<div class="wide{" prose" * long}" tabindex="0"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table></div>"
        )


def _style(cell: Cell) -> str:
    return ("green" if cell.at_least else "red") if isinstance(cell, Comparison) else ""


def _html(cell: Cell, is_text: bool) -> str:
    if isinstance(cell, Comparison):
        kind, label = ("win", "at least the paper's") if cell.at_least else ("miss", "below the paper's")
        return (
            f'<td class="{kind}">{_html_mean(cell.ours)}<br><span class="mark" role="img" aria-label="{label}">'
            f"{cell.mark}</span> <small>paper {cell.paper:.1f}</small></td>"
        )
    if isinstance(cell, MeanStd):
        return f"<td>{_html_mean(cell)}</td>"
    if isinstance(cell, Missing):
        return f'<td class="none" title="no results so far">{cell}</td>'
    return f"<td{TEXT_CLASS * is_text}>{escape(str(cell))}</td>"


def _html_mean(cell: MeanStd) -> str:
    mean, _, std = str(cell).partition(" ")
    return f"<b>{mean}</b> <small>{std}</small>"
