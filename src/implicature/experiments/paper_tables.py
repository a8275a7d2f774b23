"""What the paper's three tables have in common: methods beside each other, game by game, each cell with the paper's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import isnan, nan

import numpy as np
from scipy.stats import ttest_rel

from implicature.experiments.pairs import RUNS, SETTINGS, SPLITS, last_rows, repeated
from implicature.experiments.paper import METHODS, paper_results
from implicature.experiments.results import Row, mean, mean_and_std
from implicature.experiments.smoke import MARK

OURS = ("exchange", "paper")
NAMES = {
    "exchange": "ours, exchange network",
    "paper": "ours, paper's network",
    "la-2017": "Lazaridou et al. 2017",
    "la-2018": "Lazaridou et al. 2018",
}

EXACT = {
    "literal, exact recursion of depth 0": ("share β=10", "0"),
    "exact recursion of depth 3": ("share β=10", "3"),
    "exact recursion of depth 10": ("share β=10", "10"),
    "hard iterated best response": ("best response", "10"),
    "no-clash, the ceiling of true words": ("no-clash", ""),
}
"""Exact players: who it is in the ceilings' rows, and the depth."""
NONE = "–"


def paper_cell(table: str, part: str, agent: str, game: str) -> float | None:
    """The paper's mean in percent, if it has one."""
    there = paper_results()[table]
    found = there.get(part, {}).get(METHODS["pragmatic" if agent in OURS else agent])
    if isinstance(found, dict):
        return found[game][0] if game in found else None
    return found[there["columns"].index(game)][0] if found and game in there["columns"] else None


@dataclass(frozen=True)
class Part:
    """Some rows of a table: one figure of pairs from one start."""

    title: str
    name: str
    """The rows' column."""
    start: str
    paper: str
    """What the paper's results call it."""


@dataclass(frozen=True)
class PaperTable:
    number: str
    """table-1, table-2, table-3: its name in the paper's results."""
    agents: Sequence[str]
    games: Sequence[str]
    parts: Sequence[Part]

    def settings(self) -> list[str]:
        """The pairs it tells of."""
        starts = dict.fromkeys(part.start for part in self.parts)
        names = [f"{agent}, {start}, {game}" for game in self.games for start in starts for agent in self.agents]
        return [name for name in names if name in SETTINGS]

    def tasks(self) -> list[Row]:
        return repeated(self.settings())

    def render(self, rows: list[Row], ceilings: Sequence[Row] = ()) -> str:
        """Markdown: mean ± std over runs, ▲ where it is at least the paper's mean, ▽ where it is not, the paper's in
        brackets; – where there are no rows so far. With the ceilings' rows, exact players in the same games."""
        if not any(self.found(rows, *cell) for cell in product(self.agents, self.parts, self.games)):
            return ""
        head = [f"| {self.number} | {' | '.join(self.games)} | runs |", "|---" * (len(self.games) + 2) + "|"]
        lines = [line for part in self.parts for line in self.part(part, rows, ceilings)]
        return "\n".join([*head, *lines])

    def part(self, part: Part, rows: list[Row], ceilings: Sequence[Row]) -> list[str]:
        lines = []
        for agent in self.agents:
            games = [game for game in self.games if f"{agent}, {part.start}, {game}" in SETTINGS]
            found = {game: self.found(rows, agent, part, game) for game in games}
            if games:
                cells = [self.cell(found[game], part, agent, game) if game in found else "" for game in self.games]
                lines.append(f"| {part.title}: {NAMES[agent]} | {' | '.join(cells)} | {runs_of(found.values())} |")
        if part.start == "ungrounded" and any(row[part.name] for row in ceilings if part.name in row):
            return lines + exact_lines(part, self.games, ceilings)
        ceiling = [
            next(
                (mean(mine, "ceiling") for agent in self.agents if (mine := self.found(rows, agent, part, game))), None
            )
            for game in self.games
        ]
        if part.name == "accuracy" and any(value is not None for value in ceiling):
            cells = [f"{value:.2f}" if value is not None else "" for value in ceiling]
            lines.append(f"| {part.title}: exact recursion of depth 10 | {' | '.join(cells)} | |")
        return lines

    def found(self, rows: list[Row], agent: str, part: Part, game: str) -> list[Row]:
        setting = f"{agent}, {part.start}, {game}"
        return last_rows(rows, setting) if setting in SETTINGS else []

    def cell(self, mine: list[Row], part: Part, agent: str, game: str) -> str:
        if not mine:
            return NONE
        theirs, shown = paper_cell(self.number, part.paper, agent, game), mean_and_std(mine, part.name)
        if theirs is None:
            return shown
        mark = "▲" if round(mean(mine, part.name), 1) >= theirs else "▽"
        return f"{shown} {mark} ({theirs:.1f})"


def runs_of(found: Iterable[list[Row]]) -> str:
    """How many runs the cells of a line tell, of how many that are to be."""
    numbers = sorted({len(mine) for mine in found})
    told = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    quick = any(row.get(MARK) for mine in found for row in mine)
    return told if quick or numbers == [SPLITS * RUNS] else f"{told} of {SPLITS * RUNS}"


def exact_lines(part: Part, games: Sequence[str], ceilings: Sequence[Row]) -> list[str]:
    """Players that compute what pairs learn, no runs."""
    lines = []
    for name, (player, depth) in EXACT.items():
        found = {row["game"]: row for row in ceilings if (row["player"], str(row["depth"] or "")) == (player, depth)}
        cells = [f"{float(found[game][part.name]):.2f}" if game in found else NONE for game in games]
        lines.append(f"| {part.title}: {name} | {' | '.join(cells)} | |")
    return lines


@dataclass(frozen=True)
class Compared:
    """A one-tailed paired t-test."""

    p: float
    """The chance of differences as large as these if the first were no better."""
    runs: int

    def __str__(self) -> str:
        shown = "–" if isnan(self.p) else "< 0.001" if self.p < 0.001 else f"{self.p:.3f}"
        return f"{shown} (n = {self.runs})"


def better(rows: list[Row], setting: str, other: str, name: str = "accuracy") -> Compared | None:
    """Whether the first finds more, over runs of the same split and number; none with fewer than two of them."""
    pairs = [
        {(str(row["split"]), str(row["seed"])): float(row[name]) for row in last_rows(rows, s)}
        for s in (setting, other)
    ]
    both = sorted(pairs[0].keys() & pairs[1].keys())
    if len(both) < 2:
        return None
    ours, theirs = (np.array([found[run] for run in both]) for found in pairs)
    # Differences that are all the same have no spread to compare them with.
    spread = np.ptp(ours - theirs) > 0
    return Compared(float(ttest_rel(ours, theirs, alternative="greater").pvalue) if spread else nan, len(both))
