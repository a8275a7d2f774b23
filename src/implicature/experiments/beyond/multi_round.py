"""Games of up to four rounds, where each message costs 0.1, beside the same games of one round: by how many messages it
takes to teach the target (its positive recursive teaching dimension)."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import summarize, summarize_by_rtd, summarize_part
from implicature.experiments.paper.pairs import KEY as RUN_KEY
from implicature.experiments.paper.pairs import SETTINGS as PAIRS
from implicature.experiments.paper.pairs import repeat
from implicature.experiments.results import Result, TaskSpec, mean, mean_and_std, percent
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import Number, Row, Table

COST, ROUNDS, PHASE = 0.1, 4, 3
ONE, FOUR = "exchange, grounded, numbers-7", "exchange, grounded, numbers-7, four rounds"
SETTINGS = {
    # In one round the cost is the same whatever is said, so this is the pair of `pairs`.
    ONE: PAIRS[ONE],
    FOUR: PAIRS[ONE].replace(rounds=ROUNDS, message_cost=COST, phases=PHASE),
}
KEY = RUN_KEY


def tasks() -> list[TaskSpec]:
    return repeat(list(SETTINGS))


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    trained = train_or_load(SETTINGS[task["setting"]], task, runs)
    priced = replace(trained.task, rules=replace(trained.task.rules, message_cost=COST))
    phase = min(PHASE, trained.config.optimiser.phases)
    outcome = play_pair(trained.pair(phase), priced, held_out_games(priced, games, seed=0))
    figures = summarize(outcome)
    parts = {f"RTD {number}": part for number, part in summarize_by_rtd(outcome).items()}
    parts |= {f"level {level}": part for level, part in figures["by_level"].items()}
    parts["all"] = summarize_part(outcome, np.ones(games, bool))
    return [
        {
            **task,
            "targets": name,
            **percent(part, ("fraction", "multi_message", "accuracy")),
            "messages": round(part["messages"], 4),
            "return": round(part["return"], 4),
            **percent(figures, ("valid",)),
            **provenance(games, trained, phase),
        }
        for name, part in parts.items()
    ]


def render(results: list[Result]) -> list[Table]:
    """One round and four, side by side."""
    rows = []
    for name in sorted({one["targets"] for one in results}):
        one, four = ([r for r in results if (r["setting"], r["targets"]) == (s, name)] for s in (ONE, FOUR))
        if one and four:
            messages = mean_and_std(four, "messages"), mean_and_std(four, "multi_message", 1)
            accuracies = [mean_and_std(each, "accuracy") for each in (one, four)]
            returns = [mean_and_std(each, "return", 3) for each in (one, four)]
            rows.append(Row(name, [Number(mean(four, "fraction"), 1), *messages, *accuracies, *returns]))
    columns = ["fraction, %", "messages, four rounds", "more than one message, %"]
    columns += ["accuracy, one round", "accuracy, four rounds", "return, one round", "return, four rounds"]
    return [Table("targets", columns, rows)]
