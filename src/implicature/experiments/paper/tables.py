"""What the paper's three tables have in common: a row for each method, a column for each game, the paper's mean in each
cell."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product
from math import isnan, nan

import numpy as np
from scipy.stats import ttest_rel

from implicature.experiments.paper.pairs import RUNS, SETTINGS, SPLITS, repeat, select_phase
from implicature.experiments.paper.published import METHODS, paper_results
from implicature.experiments.results import Result, TaskSpec, mean, mean_and_std
from implicature.experiments.smoke import MARK
from implicature.experiments.table import MISSING, Cell, Comparison, MeanStd, Number, Row, Table

OURS = ("exchange", "deep-sets")
NAMES = {
    "exchange": "ours, exchange network",
    "deep-sets": "ours, deep-sets network",
    "as-written": "the paper as written",
    "reinforce": "ours, sampled REINFORCE, α = 0",
    "la-2017": "Lazaridou et al. 2017",
    "la-2018": "Lazaridou et al. 2018",
}
DEPTH_10 = "exact recursion of depth 10"
EXACT = {
    "literal, exact recursion of depth 0": ("share β=10", "0"),
    "exact recursion of depth 3": ("share β=10", "3"),
    DEPTH_10: ("share β=10", "10"),
    "hard iterated best response": ("best response", "10"),
    "no-clash, the ceiling of true words": ("no-clash", ""),
}
"""Exact players: player and depth in the results of `ceilings`."""


def paper_mean(table: str, part: str, agent: str, game: str) -> float | None:
    """The paper's mean in percent, if it reports one."""
    reported = paper_results()[table]
    values = reported.get(part, {}).get(METHODS.get(agent, METHODS["pragmatic"]))
    if isinstance(values, dict):
        return values[game][0] if game in values else None
    return values[reported["columns"].index(game)][0] if values and game in reported["columns"] else None


@dataclass(frozen=True)
class Part:
    """One group of rows: one figure of the pairs from one start."""

    title: str
    column: str
    """Of the results."""
    start: str
    paper: str
    """The part's name in paper-results.json, if the paper reports it."""


@dataclass(frozen=True)
class PaperTable:
    name: str
    """table-1, table-2 or table-3, as in paper-results.json."""
    agents: Sequence[str]
    games: Sequence[str]
    parts: Sequence[Part]

    def settings(self) -> list[str]:
        """The settings of the pairs in this table."""
        starts = dict.fromkeys(part.start for part in self.parts)
        names = [f"{agent}, {start}, {game}" for game in self.games for start in starts for agent in self.agents]
        return [name for name in names if name in SETTINGS]

    def tasks(self) -> list[TaskSpec]:
        return repeat(self.settings())

    def render(self, results: list[Result], ceilings: Sequence[Result] = ()) -> list[Table]:
        """Mean ± std over runs beside the paper's mean; with the results of `ceilings` also exact players in the same
        games."""
        if not any(self.select(results, *cell) for cell in product(self.agents, self.parts, self.games)):
            return []
        rows = [row for part in self.parts for row in self.part_rows(part, results, ceilings)]
        return [Table(self.name, [*self.games, "runs"], rows)]

    def part_rows(self, part: Part, results: list[Result], ceilings: Sequence[Result]) -> list[Row]:
        rows = []
        for agent in self.agents:
            games = [game for game in self.games if f"{agent}, {part.start}, {game}" in SETTINGS]
            selected = {game: self.select(results, agent, part, game) for game in games}
            if games:
                cells = [self.cell(selected[game], part, agent, game) if game in games else "" for game in self.games]
                kind = "ours" if agent in OURS else "baseline"
                rows.append(Row(NAMES[agent], [*cells, count_runs(selected.values())], part.title, kind))
        if part.start == "ungrounded" and any(result[part.column] for result in ceilings if part.column in result):
            return rows + exact_rows(part, self.games, ceilings)
        if part.column != "accuracy":
            return rows
        cells = [self.ceiling_cell(results, part, game) for game in self.games]
        return rows + ([Row(DEPTH_10, [*cells, ""], part.title, "exact")] if any(cells) else [])

    def select(self, results: list[Result], agent: str, part: Part, game: str) -> list[Result]:
        setting = f"{agent}, {part.start}, {game}"
        return select_phase(results, setting) if setting in SETTINGS else []

    def cell(self, results: list[Result], part: Part, agent: str, game: str) -> Cell:
        paper = paper_mean(self.name, part.paper, agent, game)
        ours = mean_and_std(results, part.column)
        return Comparison(ours, paper) if paper is not None and isinstance(ours, MeanStd) else ours

    def ceiling_cell(self, results: list[Result], part: Part, game: str) -> Cell:
        """The exact recursion on the test games of the first agent that has results."""
        selected = (self.select(results, agent, part, game) for agent in self.agents)
        return next((Number(mean(one, "exact_depth_10")) for one in selected if one), "")


def count_runs(cells: Collection[list[Result]]) -> Cell:
    """How many runs the cells of a row have, of how many that are planned."""
    counts = sorted({len(results) for results in cells})
    is_smoke = any(result.get(MARK) for results in cells for result in results)
    planned = "" if is_smoke or counts == [len(SPLITS) * RUNS] else f"of {len(SPLITS) * RUNS}"
    return Number(float(counts[0]), 0, note=planned if len(counts) == 1 else f"to {counts[-1]} {planned}")


def exact_rows(part: Part, games: Sequence[str], ceilings: Sequence[Result]) -> list[Row]:
    """Players that compute what pairs learn."""
    rows = []
    for name, player in EXACT.items():
        found = {one["game"]: one for one in ceilings if (one["player"], str(one["depth"] or "")) == player}
        cells = [Number(float(found[game][part.column])) if game in found else MISSING for game in games]
        rows.append(Row(name, [*cells, ""], part.title, "exact"))
    return rows


@dataclass(frozen=True)
class TTest:
    """A one-tailed paired t-test."""

    p: float
    """The probability of differences at least as large if the first were no better."""
    runs: int

    def cell(self) -> Cell:
        count = f"(n = {self.runs})"
        if isnan(self.p):
            return f"{MISSING} {count}"
        return f"< 0.001 {count}" if self.p < 0.001 else Number(self.p, 3, note=count)


def paired_t_test(results: list[Result], setting: str, other: str, column: str = "accuracy") -> TTest | None:
    """Whether the first setting is better, over runs of the same split and seed; None with fewer than two of them."""
    by_run = [
        {(str(one["split"]), str(one["seed"])): float(one[column]) for one in select_phase(results, name)}
        for name in (setting, other)
    ]
    shared = sorted(by_run[0].keys() & by_run[1].keys())
    if len(shared) < 2:
        return None
    first, second = (np.array([values[run] for run in shared]) for values in by_run)
    # Without any spread of the differences there is nothing to test.
    spread = np.ptp(first - second) > 0
    return TTest(float(ttest_rel(first, second, alternative="greater").pvalue) if spread else nan, len(shared))
