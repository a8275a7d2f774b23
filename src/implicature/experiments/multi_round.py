"""Games of up to four rounds, each message at a cost, beside their one-round twins: by how many messages teaching the
target takes (its positive recursive teaching dimension)."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from implicature.evaluation.held_out import held_out_games, played_by
from implicature.evaluation.rollouts import by_rtd, part, summary
from implicature.experiments.pairs import KEY as RUN
from implicature.experiments.pairs import SETTINGS as LEARNED
from implicature.experiments.pairs import made, repeated, trained
from implicature.experiments.results import Row, mean_and_std
from implicature.games.sampling import Rules

COST, ROUNDS, PHASE = 0.1, 4, 3
ONE, FOUR = "exchange, grounded, numbers-7", "exchange, grounded, numbers-7, four rounds"
SETTINGS = {
    # With one round the cost is paid whatever is said, so the pair is that of `pairs`.
    ONE: LEARNED[ONE],
    FOUR: replace(LEARNED[ONE], rounds=ROUNDS, message_cost=COST, phases=PHASE),
}
KEY = RUN


def tasks() -> list[Row]:
    return repeated(list(SETTINGS))


def run(task: Row, games: int, runs: Path) -> list[Row]:
    pair = trained(SETTINGS[task["setting"]], task, runs)
    rules = pair.setting.rules
    setting = replace(pair.setting, rules=Rules(rules.candidates, rules.rounds, COST))
    phase = min(PHASE, setting.config.phases)
    played = played_by(pair.pair(phase), setting, held_out_games(setting, games, seed=0))
    whole = summary(played)
    parts = {f"RTD {number}": figures for number, figures in by_rtd(played).items()}
    parts |= {f"level {level}": figures for level, figures in whole["by_level"].items()}
    parts["all"] = part(played, played.messages > 0)
    return [
        {
            **task,
            "targets": name,
            "share": round(100 * figures["share"], 3),
            "messages": round(figures["rounds"], 4),
            "several": round(100 * figures["several"], 3),
            "accuracy": round(100 * figures["accuracy"], 3),
            "gain": round(figures["gain"], 4),
            "valid": round(100 * whole["valid"], 3),
            **made(games, pair, phase),
        }
        for name, figures in parts.items()
    ]


def render(rows: list[Row]) -> str:
    """A Markdown table: one round and four, side by side."""
    lines = [
        "| targets | share, % | messages, four rounds | several, % | accuracy, one round | four | gain, one | four |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in sorted({row["targets"] for row in rows}):
        one, four = ([row for row in rows if (row["setting"], row["targets"]) == (s, name)] for s in (ONE, FOUR))
        if one and four:
            share = np.mean([float(row["share"]) for row in four])
            gains = [mean_and_std(mine, "gain", 3) for mine in (one, four)]
            shares = [mean_and_std(mine, "accuracy") for mine in (one, four)]
            messages = f"{mean_and_std(four, 'messages')} | {mean_and_std(four, 'several', 1)}"
            lines.append(f"| {name} | {share:.1f} | {messages} | {' | '.join([*shares, *gains])} |")
    return "\n".join(lines)
