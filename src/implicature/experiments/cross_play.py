"""Cross-play: the teacher of one run with the student of another run of the same setting and split, beside self-play.
Who kept the meanings that words were taught understands strangers; a code of one's own does not."""

from pathlib import Path

from implicature.evaluation.held_out import held_out_games, played_by
from implicature.evaluation.rollouts import summary
from implicature.experiments.pairs import AGENTS, RUNS, SETTINGS, SPLITS, made, trained
from implicature.experiments.paper_tables import NAMES
from implicature.experiments.results import Row, mean_and_std
from implicature.games.sampling import GAMES
from implicature.training.algorithm1 import Pair

STARTS = ("grounded", "ungrounded")
KEY = ("setting", "split")


def tasks() -> list[Row]:
    settings = [f"{agent}, {start}, {game}" for game in GAMES for start in STARTS for agent in AGENTS]
    return [{"setting": setting, "split": split} for split in range(SPLITS) for setting in settings]


def run(task: Row, games: int, runs: Path) -> list[Row]:
    """A row for each teacher with each student, the same test games for all."""
    seeds = [100 * task["split"] + number for number in range(RUNS)]
    trainings = {seed: trained(SETTINGS[task["setting"]], {**task, "seed": seed}, runs) for seed in seeds}
    pairs = {seed: each.pair() for seed, each in trainings.items()}
    setting = trainings[seeds[0]].setting
    drawn = held_out_games(setting, games, seed=0)
    rows = []
    for hers in seeds:
        for his in seeds:
            met = Pair(pairs[hers].teacher, pairs[his].student)
            figures = summary(played_by(met, setting, drawn))
            shares = {name: round(100 * figures[name], 3) for name in ("accuracy", "hard_accuracy", "valid")}
            rows.append({**task, "teacher": hers, "student": his, **shares, **made(games, trainings[hers])})
    return rows


def render(rows: list[Row]) -> str:
    """A Markdown table: mean ± std over pairs, for each method, start and game."""
    lines = ["| | self-play | cross-play | by chance | pairs |", "|---" * 5 + "|"]
    for game in GAMES:
        for start in STARTS:
            for agent in AGENTS:
                mine = [row for row in rows if row["setting"] == f"{agent}, {start}, {game}"]
                if mine:
                    own = [row for row in mine if str(row["teacher"]) == str(row["student"])]
                    others = [row for row in mine if str(row["teacher"]) != str(row["student"])]
                    cells = f"{mean_and_std(own, 'accuracy')} | {mean_and_std(others, 'accuracy')}"
                    chance = 100 / int(game.rsplit("-", 1)[1])
                    numbers = f"{chance:.1f} | {len(own)} + {len(others)}"
                    lines.append(f"| {game}, {start}: {NAMES[agent]} | {cells} | {numbers} |")
    return "\n".join(lines)
