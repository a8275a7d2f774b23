"""What pairs learn on number sets: 3 splits × 2 runs of each setting, test games, greedy, after every phase."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from implicature.evaluation.play import summary
from implicature.evaluation.runs import games_to_test, played_by
from implicature.experiments.rows import Row, command, version
from implicature.training.config import Config
from implicature.training.run import open_run, start_run

EXCHANGE = Config(iterations=3_000)
PAPER = Config(network="paper", iterations=10_000, batch=128, learning_rate=1e-3)

SETTINGS: dict[str, Config] = {
    "exchange, grounded, numbers-4": EXCHANGE,
    "exchange, grounded, numbers-7": replace(EXCHANGE, game="numbers-7"),
    "exchange, ungrounded, numbers-4": replace(EXCHANGE, grounded=False),
    "exchange, ungrounded, numbers-7": replace(EXCHANGE, grounded=False, game="numbers-7"),
    "exchange, grounded, numbers-7, 6 phases": replace(EXCHANGE, game="numbers-7", phases=6),
    "exchange, unseen instances, numbers-4": replace(EXCHANGE, grounded=False, instances=0.7),
    "exchange, unseen instances, numbers-7": replace(EXCHANGE, grounded=False, instances=0.7, game="numbers-7"),
    "paper, ungrounded, numbers-4": replace(PAPER, grounded=False),
    "paper, ungrounded, numbers-7": replace(PAPER, grounded=False, game="numbers-7"),
    "paper, grounded, numbers-4": PAPER,
    "paper, grounded, numbers-7": replace(PAPER, game="numbers-7"),
}
SPLITS, RUNS = 3, 2


LEVELS = ("0", "1", "2", "3", "4", "5", "6", "none")
KEY = ("setting", "split", "seed")


def tasks() -> list[Row]:
    """All runs; the first split of every setting comes first."""
    splits = range(SPLITS)
    return [
        {"setting": setting, "split": split, "seed": 100 * split + run}
        for split in splits
        for setting in SETTINGS
        for run in range(RUNS)
    ]


def run(task: Row, games: int, runs: Path) -> list[Row]:
    """Train the pair, or take up its run where it was left, and play test games with it after every phase."""
    config = replace(SETTINGS[task["setting"]], split=task["split"], seed=task["seed"])
    folder = runs / "-".join(str(part).replace(", ", "-").replace(" ", "-") for part in task.values())
    trained = open_run(folder) if (folder / "config.json").exists() else start_run(folder, config)
    for _ in trained.train():
        pass
    drawn = games_to_test(trained.setting, games, seed=0)
    settings = {name: asdict(config)[name] for name in ("game", "network", "grounded", "iterations", "batch")}
    made = {"games": games, "seconds": round(trained.seconds()), "version": version(), "command": command()}
    rows = []
    for phase in range(config.phases + 1):
        figures = summary(played_by(trained.pair(phase), trained.setting, drawn))
        levels = figures["by_level"]
        shares = {name: round(100 * figures[name], 3) for name in ("accuracy", "hard_accuracy", "valid")}
        by_level = {f"level_{k}": round(100 * levels[k]["accuracy"], 3) if k in levels else "" for k in LEVELS}
        rows.append({**task, "phase": phase, **shares, **by_level, **settings, **made})
    return rows


def render(rows: list[Row]) -> str:
    """A Markdown table: mean ± std over runs after the last phase."""
    lines = ["| setting | runs | accuracy | hard | valid | seconds a run |", "|---|---|---|---|---|---|"]
    for setting, config in SETTINGS.items():
        mine = [row for row in rows if row["setting"] == setting and int(row["phase"]) == config.phases]
        if mine:

            def cell(name: str, mine: list[Row] = mine) -> str:
                values = [float(row[name]) for row in mine]
                return f"{np.mean(values):.2f} ± {np.std(values):.2f}"

            seconds = np.mean([float(row["seconds"]) for row in mine])
            figures = " | ".join(cell(name) for name in ("accuracy", "hard_accuracy", "valid"))
            lines.append(f"| {setting} | {len(mine)} | {figures} | {seconds:.0f} |")
    return "\n".join(lines)
