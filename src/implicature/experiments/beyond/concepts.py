"""Concepts taught by labelled examples: how many it takes, beside the teaching dimension (TD), which takes the student
to know nothing of the teacher, and the recursive one (RTD), which takes both to know a teaching plan.

Candidates are concepts and words are labelled examples (spaces/concepts.py). In each round she gives one example, at a
cost, and he answers when he is sure. Whole classes are taught and tested as they are (F-78); of larger classes, K
concepts at random make a class, and those of the test split were never trained with. TD and RTD are the means over the
same targets, with at least one example, since a game has at least one message.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool
from matplotlib.figure import Figure

from implicature.agents.contracts import Pair
from implicature.agents.exact import ExactModel, ExactStudent, ExactTeacher
from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import summarize
from implicature.evaluation.teaching_dimension import teaching_dimensions
from implicature.experiments.results import Result, TaskSpec, mean, mean_and_std, percent
from implicature.experiments.runs import KEY as RUN_KEY
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import Number, Row, Table
from implicature.games.sampling import Game
from implicature.spaces.concepts import concepts_of
from implicature.training.config import Config
from implicature.training.task import Task

__all__ = ["KEY", "draw", "render", "run", "tasks"]

COST, ROUNDS, PHASES = 0.1, 5, 8
PAIR = Config.of(
    message_cost=COST, rounds=ROUNDS, phases=PHASES, iterations=250, pretraining_iterations=500, candidate_sets=16,
    lapse_rate=0.002,
)  # fmt: skip
"""At the default lapse rate an example that only one of eight concepts agrees with leaves him with a belief of 0.85,
less sure than a further example is worth: he would ask for two where one is enough."""
WHOLE = ("powerset-3", "singletons-5", "intervals-4", "monomials-2", "warmuth")
SAMPLED = {
    "8 of powerset-5 (random classes)": "powerset-5",
    "8 of intervals-7": "intervals-7",
    "8 of monomials-3": "monomials-3",
}
SETTINGS: dict[str, Config] = {
    **{name: PAIR.replace(space=name, whole_class=True, train_games=1_000) for name in WHOLE},
    **{
        title: PAIR.replace(space=name, candidates=8, train_games=100_000, candidate_sets=32)
        for title, name in SAMPLED.items()
    },
}
SPLITS = (11, 12)
"""Settings were changed after a test row of split 10."""
DEPTHS = (0, 3, 10)
"""Of the exact players: literal, and with three and ten steps of the recursion."""
REPEATS = 10
"""Games with each concept of a whole class as the target, each in other orders of the candidates."""
MAX_GAMES = 500
"""Sampled classes whose teaching dimensions are computed."""
WITHIN = 1.05
"""A pair takes at most this many times the RTD's examples."""
KEY = RUN_KEY


def tasks() -> list[TaskSpec]:
    return [{"setting": setting, "split": split, "seed": 100 * split} for split in SPLITS for setting in SETTINGS]


def test_games(task: Task, games: int) -> Game:
    """Held-out classes, or each concept of a whole class equally often."""
    if not task.config.data.whole_class:
        return held_out_games(task, min(games, MAX_GAMES), seed=0)
    number = task.space.instances
    drawn = held_out_games(task, REPEATS * number, seed=0)
    concept = jnp.arange(REPEATS * number) % number
    return eqx.tree_at(lambda game: game.target, drawn, jnp.argmax(drawn.candidates == concept[:, None], axis=1))


def mean_dimensions(concepts: Bool[np.ndarray, "concepts points"], games: Game) -> dict[str, Any]:
    """The targets' mean TD and RTD in the class that their candidates are, and whether all are exact."""
    known: dict[tuple[int, ...], tuple[dict[int, tuple[int, int]], bool]] = {}
    found: list[tuple[int, int]] = []
    for candidates, target in zip(np.asarray(games.candidates), np.asarray(games.target), strict=True):
        members = tuple(sorted(candidates.tolist()))
        if members not in known:
            dimensions = teaching_dimensions(concepts[list(members)], min_size=1)
            each = zip(members, dimensions.td, dimensions.rtd, strict=True)
            known[members] = {c: (int(td or 0), int(rtd or 0)) for c, td, rtd in each}, dimensions.exact
        found.append(known[members][0][int(candidates[target])])
    td, rtd = np.mean(found, axis=0)
    return {"td": round(float(td), 4), "rtd": round(float(rtd), 4), "exact": all(exact for _, exact in known.values())}


def exact_pair(depth: int) -> Pair:
    model = ExactModel(jnp.asarray(depth))
    return Pair(ExactTeacher(model), ExactStudent(model, COST))


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    trained = train_or_load(SETTINGS[task["setting"]], task, runs)
    test = test_games(trained.task, games)
    figures = mean_dimensions(concepts_of(trained.task.space), test)
    learned = summarize(play_pair(trained.pair(), trained.task, test))
    figures |= {"examples": round(learned["messages"], 4), **percent(learned, ("accuracy", "valid"))}
    for depth in DEPTHS:
        exact = summarize(play_pair(exact_pair(depth), trained.task, test))
        figures[f"examples_depth_{depth}"] = round(exact["messages"], 4)
        figures[f"accuracy_depth_{depth}"] = percent(exact, ("accuracy",))["accuracy"]
    jax.clear_caches()  # every class has programs of its own
    return [{**task, "candidates": trained.task.rules.candidates, **figures, **provenance(len(test.target), trained)}]


def own_results(results: list[Result]) -> Iterable[tuple[str, list[Result]]]:
    for setting in SETTINGS:
        if own := [one for one in results if one["setting"] == setting]:
            yield setting, own


def render(results: list[Result]) -> list[Table]:
    rows = []
    for setting, own in own_results(results):
        td, rtd, learned = (mean(own, name) for name in ("td", "rtd", "examples"))
        exact = [Number(mean(own, f"examples_depth_{depth}")) for depth in DEPTHS]
        within = "yes" if learned <= WITHIN * rtd else "no"
        bound = Number(rtd) if all(str(one["exact"]) == "True" for one in own) else f"≤ {rtd:.2f}"
        pair = mean_and_std(own, "examples"), mean_and_std(own, "accuracy"), mean_and_std(own, "valid")
        rows.append(
            Row(setting, [Number(td), bound, *exact, *pair, within, "yes" if learned <= td else "no", len(own)])
        )
    players = [f"exact, depth {depth}" if depth else "literal" for depth in DEPTHS]
    columns = ["TD", "RTD", *players, "learned", "accuracy", "valid", "within 5 % of RTD", "at most TD", "runs"]
    return [Table("mean number of examples", columns, rows)]


def draw(results: list[Result]) -> Figure:
    """The mean number of examples in each class: TD and RTD as marks, exact and learned pairs as dots."""
    found = list(own_results(results))
    figure = Figure(figsize=(7.2, 0.5 * len(found) + 1.4), layout="constrained")
    axis = figure.subplots()
    marks = {
        "td": ("TD", "|", "#555555", 260), "rtd": ("RTD", "|", "#d1495b", 260),
        "examples_depth_0": ("literal pair", "o", "#bbbbbb", 45),
        f"examples_depth_{DEPTHS[-1]}": (f"exact pair, depth {DEPTHS[-1]}", "o", "#66a182", 45),
        "examples": ("learned pair", "D", "#2e4057", 28),
    }  # fmt: skip
    for column, (label, marker, colour, size) in marks.items():
        x = [mean(own, column) for _, own in found]
        axis.scatter(x, range(len(found)), marker=marker, s=size, color=colour, label=label, linewidths=2, zorder=3)
    axis.set_yticks(range(len(found)), [setting for setting, _ in found])
    axis.invert_yaxis()
    axis.set(xlabel="mean number of examples", xlim=(0.5, None))
    axis.grid(alpha=0.25)
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
