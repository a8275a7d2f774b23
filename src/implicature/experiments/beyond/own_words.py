"""Grounded pairs in games whose words cost, are graded, or may be misheard, whose candidates differ in salience, or
whose messages have two words: after the last phase, beside the exact players on the same games.

The exact players know costs, prior and noise, too, and reason as deep as the pair has phases. Those beside two-word
messages have all sets of one or two words as their messages. They treat candidates alike of which the same words are
true; a pair sees more of them, and may agree on a word for each. The bound for both is the best protocol of true words.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from implicature.agents.contracts import Pair
from implicature.agents.exact import ExactModel, ExactStudent, ExactTeacher
from implicature.evaluation.ceiling import best_return
from implicature.evaluation.held_out import feature_table, held_out_games, play_pair
from implicature.evaluation.rollouts import GameResults, play_games, summarize
from implicature.experiments.results import Result, TaskSpec, mean, mean_and_std, percent
from implicature.experiments.runs import KEY as RUN_KEY
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import MISSING, Number, Row, Table
from implicature.games.sampling import Game
from implicature.games.semantics import space_semantics
from implicature.spaces import Space
from implicature.spaces.utterances import utterances
from implicature.training.config import Config
from implicature.training.task import Task

PAIR = Config.of(iterations=500, pretraining_iterations=1_500, train_games=100_000, candidate_sets=128)
LONGER = PAIR.replace(iterations=1_000, pretraining_iterations=3_000, train_games=300_000)
SETTINGS: dict[str, Config] = {
    "word costs: colours and shapes": PAIR.replace(space="shapes-costs", candidates=3),
    "word costs: some and all": PAIR.replace(space="quantifiers", candidates=3),
    "graded words: sizes": PAIR.replace(space="sizes", candidates=3),
    "prior 70/20/10: colours alone": PAIR.replace(space="shapes-salience", candidates=3),
    "10 % noise: numbers-4": LONGER.replace(game="numbers-4", noise=0.1),
    "two words: numbers-7": LONGER.replace(game="numbers-7", words=2, phases=2),
}
SPLITS = (10, 11)
GOAL = 0.5
"""Points below the exact players that a pair may be, in accuracy and in return."""
KEY = RUN_KEY


def tasks() -> list[TaskSpec]:
    return [{"setting": setting, "split": split, "seed": 100 * split} for split in SPLITS for setting in SETTINGS]


def game_space(task: Task) -> Space:
    """The space of the game, whose words are whole messages."""
    if task.rules.words == 1:
        return task.space
    return replace(task.space, lexicon=utterances(task.space.lexicon, task.rules.words))


def best_protocol(task: Task, games: Game) -> float | None:
    """The mean return of the best protocol in these games; None where words may be misheard."""
    if task.rules.noise:
        return None
    space = game_space(task)
    sets, times = np.unique(np.sort(np.asarray(games.candidates), axis=1), axis=0, return_counts=True)
    weights = np.ones(space.instances) if space.prior is None else space.prior
    costs = np.zeros(len(space.words)) if space.lexicon.costs is None else space.lexicon.costs
    values = [best_return(space.lexicon.meaning[one], costs, weights[one] / weights[one].sum()) for one in sets]
    return float(np.average(values, weights=times))


def exact_results(task: Task, games: Game, depth: int) -> GameResults:
    """Exact players of this depth on the same games, with the same costs, prior and noise."""
    model = ExactModel(depth, noise=task.rules.noise)
    pair = Pair(ExactTeacher(model), ExactStudent(model))
    if task.rules.words == 1:
        return play_pair(pair, task, games)
    space = game_space(task)
    rules = replace(task.rules, rounds=task.rules.rounds // task.rules.words, words=1)
    return play_games(pair, feature_table(pair, space), space_semantics(space), games, rules)


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    trained = train_or_load(SETTINGS[task["setting"]], task, runs)
    phases = trained.config.optimiser.phases
    test = held_out_games(trained.task, games, seed=0)
    learned = summarize(play_pair(trained.pair(), trained.task, test))
    exact = summarize(exact_results(trained.task, test, phases))
    best = best_protocol(trained.task, test)
    figures = {
        **percent(learned, ("accuracy", "valid")),
        "return": round(learned["return"], 4),
        "exact_accuracy": percent(exact, ("accuracy",))["accuracy"],
        "exact_return": round(exact["return"], 4),
        "best_return": "" if best is None else round(best, 4),
    }
    return [{**task, **figures, **provenance(games, trained)}]


def render(results: list[Result]) -> list[Table]:
    rows = []
    for setting in SETTINGS:
        if own := [one for one in results if one["setting"] == setting]:
            learned = mean_and_std(own, "accuracy"), mean_and_std(own, "return", 3), mean_and_std(own, "valid")
            exact = Number(mean(own, "exact_accuracy")), Number(mean(own, "exact_return"), 3)
            found = mean(own, "exact_accuracy") - mean(own, "accuracy")
            earned = 100 * (mean(own, "exact_return") - mean(own, "return"))
            near = max(found, earned) <= GOAL
            known = all(one.get("best_return") for one in own)
            best = Number(mean(own, "best_return"), 3) if known else MISSING
            rows.append(Row(setting, [len(own), *learned, *exact, best, "yes" if near else "no"]))
    columns = [
        "runs", "accuracy", "return", "valid", "exact, accuracy", "exact, return", "best protocol, return",
        f"within {GOAL} points of exact",
    ]  # fmt: skip
    return [Table("game", columns, rows)]
