"""What the paper's three tables have in common: methods beside each other, game by game, each cell with the paper's."""

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import ttest_rel

from implicature.experiments.pairs import SETTINGS, last_rows, repeated
from implicature.experiments.paper import METHODS, paper_results
from implicature.experiments.rows import Row, mean, mean_and_std

OURS = ("exchange", "paper")
NAMES = {
    "exchange": "ours, exchange network",
    "paper": "ours, paper's network",
    "la-2017": "Lazaridou et al. 2017",
    "la-2018": "Lazaridou et al. 2018",
}


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

    def render(self, rows: list[Row]) -> str:
        """Markdown: ours ± std, the paper's in brackets, ▲ where ours is at least as high, ▽ where it is not."""
        head = [f"| {self.number} | {' | '.join(self.games)} | runs |", "|---" * (len(self.games) + 2) + "|"]
        lines = [line for part in self.parts for line in self.part(part, rows)]
        return "\n".join([*head, *lines]) if lines else ""

    def part(self, part: Part, rows: list[Row]) -> list[str]:
        lines = []
        for agent in self.agents:
            found = [self.found(rows, agent, part, game) for game in self.games]
            if any(found):
                cells = [self.cell(mine, part, agent, game) for mine, game in zip(found, self.games, strict=True)]
                runs = sorted({len(mine) for mine in found if mine})
                number = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
                lines.append(f"| {part.title}: {NAMES[agent]} | {' | '.join(cells)} | {number} |")
        ceiling = [
            next(
                (mean(mine, "ceiling") for agent in self.agents if (mine := self.found(rows, agent, part, game))), None
            )
            for game in self.games
        ]
        if lines and part.name == "accuracy":
            cells = [f"{value:.2f}" if value is not None else "" for value in ceiling]
            lines.append(f"| {part.title}: exact recursion of depth 10 | {' | '.join(cells)} | |")
        return lines

    def found(self, rows: list[Row], agent: str, part: Part, game: str) -> list[Row]:
        setting = f"{agent}, {part.start}, {game}"
        return last_rows(rows, setting) if setting in SETTINGS else []

    def cell(self, mine: list[Row], part: Part, agent: str, game: str) -> str:
        if not mine:
            return ""
        theirs, shown = paper_cell(self.number, part.paper, agent, game), mean_and_std(mine, part.name)
        if theirs is None:
            return shown
        mark = "▲" if round(mean(mine, part.name), 1) >= theirs else "▽"
        return f"{shown} {mark} ({theirs:.1f})"


def better(rows: list[Row], setting: str, other: str, name: str = "accuracy") -> float | None:
    """The one-tailed paired t-test's p that the first finds more, over runs of the same split and number."""
    pairs = [{(row["split"], row["seed"]): float(row[name]) for row in last_rows(rows, s)} for s in (setting, other)]
    both = sorted(pairs[0].keys() & pairs[1].keys())
    if len(both) < 2:
        return None
    return float(ttest_rel([pairs[0][k] for k in both], [pairs[1][k] for k in both], alternative="greater").pvalue)
