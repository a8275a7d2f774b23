"""Games of up to four rounds, each message at a cost, beside their one-round twins: by how many messages teaching the
target takes (its positive recursive teaching dimension)."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from implicature.evaluation.play import by_rtd, summary
from implicature.evaluation.runs import held_out_games, played_by
from implicature.experiments.learning import EXCHANGE, made, repeated, trained
from implicature.experiments.learning import KEY as RUN
from implicature.experiments.rows import Row, mean_and_std

SETTINGS = {
    "one round": replace(EXCHANGE, game="numbers-7", message_cost=0.1),
    "four rounds": replace(EXCHANGE, game="numbers-7", message_cost=0.1, rounds=4),
}
KEY = RUN


def tasks() -> list[Row]:
    return repeated(list(SETTINGS))


def run(task: Row, games: int, runs: Path) -> list[Row]:
    pair = trained(SETTINGS[task["setting"]], task, runs)
    played = played_by(pair.pair(), pair.setting, held_out_games(pair.setting, games, seed=0))
    whole = summary(played)
    parts = {f"RTD {number}": figures for number, figures in by_rtd(played).items()}
    parts |= {f"level {level}": figures for level, figures in whole["by_level"].items()}
    parts["all"] = {"share": 1.0, **{name: whole[name] for name in ("rounds", "accuracy", "gain")}}
    return [
        {
            **task,
            "targets": name,
            "share": round(100 * figures["share"], 3),
            "messages": round(figures["rounds"], 4),
            "accuracy": round(100 * figures["accuracy"], 3),
            "gain": round(figures["gain"], 4) if "gain" in figures else "",
            "valid": round(100 * whole["valid"], 3),
            **made(games, pair),
        }
        for name, figures in parts.items()
    ]


def render(rows: list[Row]) -> str:
    """A Markdown table: one round and four, side by side."""
    lines = [
        "| targets | share, % | messages, up to four rounds | accuracy, one round | four rounds | gain, one | four |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in sorted({row["targets"] for row in rows}):
        one, four = ([row for row in rows if (row["setting"], row["targets"]) == (s, name)] for s in SETTINGS)
        if one and four:
            share = np.mean([float(row["share"]) for row in four])
            gains = [mean_and_std(mine, "gain", 3) if mine[0]["gain"] != "" else "" for mine in (one, four)]
            shares = [mean_and_std(mine, "accuracy") for mine in (one, four)]
            messages = mean_and_std(four, "messages")
            lines.append(f"| {name} | {share:.1f} | {messages} | {' | '.join([*shares, *gains])} |")
    return "\n".join(lines)
