"""The methods that ours is compared with, in the paper's four games (tables 1 and 2): 3 splits × 2 runs of each
setting, test games, greedy and with a sampled speaker; and equivalent games, where teacher and student see other names.

What was chosen, by validation games, and among what: docs/baselines.md.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from implicature.agents.dialogue import softly
from implicature.evaluation.runs import held_out_games, played_by
from implicature.experiments.learning import KEY as RUN
from implicature.experiments.learning import after_every_phase, repeated, trained
from implicature.experiments.paper import paper_figures
from implicature.experiments.rows import Row, mean_and_std
from implicature.games import GAMES
from implicature.training.adaptation import beta_of
from implicature.training.config import Config

USUAL = Config(phases=1, iterations=20_000, batch=64)
METHODS = {"la-2018": replace(USUAL, method="la-2018"), "la-2017": replace(USUAL, method="la-2017")}
SETTINGS: dict[str, Config] = {
    f"{method}, {'grounded' if grounded else 'ungrounded'}, {game}": replace(config, grounded=grounded, game=game)
    for grounded in (False, True)
    for game in GAMES
    for method, config in METHODS.items()
}
KEY = RUN


def tasks() -> list[Row]:
    return repeated(list(SETTINGS))


def run(task: Row, games: int, runs: Path) -> list[Row]:
    """Rows as those of `learning`, and how the pair does otherwise than greedily or with the same candidates."""
    config = SETTINGS[task["setting"]]
    rows = after_every_phase(config, task, games, runs)
    pair = trained(config, task, runs)
    drawn = held_out_games(pair.setting, games, seed=0)
    speak = softly(beta_of(config, pair.setting.rules))
    for row in rows:
        now = pair.pair(row["phase"])
        sampled = played_by(now, pair.setting, drawn, speak=speak)
        equivalent = played_by(now, pair.setting, drawn, equivalent=True)
        for name, played in (("sampled_accuracy", sampled), ("equivalent_accuracy", equivalent)):
            row[name] = round(100 * float(played.found.mean()), 3)
        row["network"] = config.method
    return rows


def render(rows: list[Row]) -> str:
    """A Markdown table: mean ± std over runs after the last phase, the paper's in brackets."""
    names = ("accuracy", "hard_accuracy", "sampled_accuracy", "equivalent_accuracy", "valid")
    head = ("accuracy", "hard", "sampled speaker", "equivalent games", "valid", "seconds a run")
    lines = [f"| setting (the paper's) | runs | {' | '.join(head)} |", "|---" * (len(head) + 2) + "|"]
    for setting, config in SETTINGS.items():
        mine = [row for row in rows if row["setting"] == setting and int(row["phase"]) == config.phases]
        if mine:
            paper = paper_figures(config)
            theirs = [f" ({100 * paper[name]:.1f})" if name in paper else "" for name in names]
            cells = [f"{mean_and_std(mine, name)}{more}" for name, more in zip(names, theirs, strict=True)]
            seconds = np.mean([float(row["seconds"]) for row in mine])
            lines.append(f"| {setting} | {len(mine)} | {' | '.join(cells)} | {seconds:.0f} |")
    return "\n".join(lines)
