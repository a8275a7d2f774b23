"""Less than a belief: what the student returns in training, from his whole belief to nothing, and how well the teacher
then predicts him. The paper names "discrete feedback requiring smaller channel bandwidth" as future work.

    divergence = mean over test games of  KL( b_B ‖ f_A ),   his belief after the message and her prediction of it

The reward of the game, which both receive, is not counted as feedback.
"""

from collections.abc import Callable
from math import log2
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from implicature.agents.contracts import Pair
from implicature.agents.perspectives import Perspectives
from implicature.agents.rollout import rollout
from implicature.evaluation.held_out import feature_table, held_out_games, play_pair
from implicature.evaluation.rollouts import identical_games, summarize
from implicature.experiments.paper.pairs import FIGURES, SPLITS
from implicature.experiments.paper.pairs import SETTINGS as PAIRS
from implicature.experiments.results import Result, TaskSpec, mean, mean_and_std, percent
from implicature.experiments.runs import KEY as RUN_KEY
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import Number, Row, Table
from implicature.games.registry import GAMES
from implicature.games.sampling import Game
from implicature.training.config import Config
from implicature.training.task import Task

__all__ = ["KEY", "draw", "render", "run", "tasks"]

BITS: dict[str, Callable[[int], float]] = {
    "belief": lambda candidates: 32.0 * (candidates - 1),
    "answer": log2,
    "correct": lambda candidates: 1.0,
    "none": lambda candidates: 0.0,
}
"""Bits a game from student to teacher, by the number of candidates; a belief is so many floats."""
STARTS = ("ungrounded", "grounded")
MORE_ITERATIONS = 2
"""With less than a belief, a half phase has so many times the iterations."""
PHASE = 3
MAX_GAMES = 8_192
"""Test games in which beliefs and predictions are compared."""


def feedback_config(feedback: str, start: str, game: str) -> Config:
    config = PAIRS[f"exchange, {start}, {game}"]
    if feedback == "belief":
        return config
    return config.replace(feedback=feedback, phases=PHASE, iterations=MORE_ITERATIONS * config.optimiser.iterations)


def setting_of(feedback: str, start: str, game: str) -> str:
    """Pairs that return the belief are those of `pairs`."""
    return f"exchange, {start}, {game}" if feedback == "belief" else f"feedback {feedback}, {start}, {game}"


SETTINGS = {
    setting_of(feedback, start, game): feedback_config(feedback, start, game)
    for game in GAMES
    for start in STARTS
    for feedback in BITS
}
KEY = RUN_KEY


def tasks() -> list[TaskSpec]:
    """One run of each on each split."""
    return [{"setting": setting, "split": split, "seed": 100 * split} for split in SPLITS for setting in SETTINGS]


def divergence(pair: Pair, task: Task, games: Game) -> float:
    """Mean KL of the student's belief and the teacher's prediction of it after the first message, in bits."""
    features, lexicon = feature_table(pair, task.space), task.data.lexicon
    some = jax.tree.map(lambda leaf: leaf[:MAX_GAMES], games)

    @eqx.filter_jit
    def one(key: Array, seen: Perspectives) -> Array:
        played = rollout(key, pair.teacher, pair.student, seen, task.rules)
        ratio = jnp.log2(played.after[0] + 1e-9) - jnp.log2(played.predicted[0] + 1e-9)
        return jnp.sum(played.after[0] * ratio)

    seen = identical_games(jax.random.key(0), features, lexicon, some)
    keys = jax.random.split(jax.random.key(1), len(some.target))
    return float(np.mean(jax.vmap(one)(keys, seen)))


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    trained = train_or_load(SETTINGS[task["setting"]], task, runs)
    config, pair = trained.config, trained.pair(PHASE if trained.config.optimiser.phases >= PHASE else None)
    test = held_out_games(trained.task, games, seed=0)
    figures = percent(summarize(play_pair(pair, trained.task, test)), FIGURES)
    feedback, candidates = config.method.feedback, trained.task.rules.candidates
    more = {
        "feedback": feedback,
        "bits": round(BITS[feedback](candidates), 3),
        "divergence": round(divergence(pair, trained.task, test), 5),
    }
    phase = min(PHASE, config.optimiser.phases)
    return [{**task, "phase": phase, **figures, **more, **provenance(games, trained, phase)}]


def select(results: list[Result], feedback: str, start: str, game: str) -> list[Result]:
    return [one for one in results if one["setting"] == setting_of(feedback, start, game)]


def render(results: list[Result]) -> list[Table]:
    """Mean ± std over runs; the difference is to the pair whose student returns his belief."""
    rows = []
    for game in GAMES:
        for start in STARTS:
            whole = select(results, "belief", start, game)
            for feedback, bits in BITS.items():
                if own := select(results, feedback, start, game):
                    difference = (
                        Number(mean(own, "accuracy") - mean(whole, "accuracy"), 2, signed=True) if whole else ""
                    )
                    cells = [mean_and_std(own, "accuracy"), difference, mean_and_std(own, "divergence", 3)]
                    channel = Number(bits(GAMES[game][1]), 1)
                    rows.append(Row(feedback, [channel, *cells, len(own)], f"{game}, {start}"))
    columns = ["bits a game", "accuracy, %", "difference", "divergence of her prediction, bits", "runs"]
    return [Table("the student returns", columns, rows)]


def draw(results: list[Result]) -> Figure:
    """Error and divergence against bits, a line for each game; grounded pairs dashed."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    error, prediction = figure.subplots(1, 2)
    draw_lines(error, results, lambda own: 100 - mean(own, "accuracy"))
    draw_lines(prediction, results, lambda own: mean(own, "divergence"))
    error.set(ylabel="errors, %", yscale="log")
    prediction.set(ylabel="divergence, bits", yscale="log")
    handles, labels = error.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside right center", fontsize=8)
    return figure


def draw_lines(axis: Axes, results: list[Result], value: Callable[[list[Result]], float]) -> None:
    for colour, game in enumerate(GAMES):
        for start, style in zip(STARTS, ("-", "--"), strict=True):
            found = {i: own for i, one in enumerate(BITS) if (own := select(results, one, start, game))}
            values = [max(1e-3, value(own)) for own in found.values()]
            if found:
                axis.plot(list(found), values, style, marker="o", color=f"C{colour}", label=f"{game}, {start}")
    axis.set_xticks(range(len(BITS)), list(BITS))
    axis.set_xlabel("the student returns")
    axis.grid(alpha=0.25)
