"""A real vocabulary: grounded pairs in the emoji games, whose candidates share words, beside the exact recursion on the
same test games; three seeds, and with a fifth of the emoji held out as targets."""

from pathlib import Path

from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import summarize
from implicature.experiments.paper.pairs import FIGURES, exact_accuracy
from implicature.experiments.paper.pairs import KEY as RUN_KEY
from implicature.experiments.results import Result, TaskSpec, mean, mean_and_std, percent
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import Number, Row, Table
from implicature.games.registry import NEAR_GAMES
from implicature.training.config import Config

DEPTHS = (0, 3, 10)
SPLIT, SEEDS = 10, 3
STARTS: dict[str, dict[str, object]] = {
    "grounded": {},
    "unseen emoji": {"train_instance_fraction": 0.8},
}
BATCHES: dict[str, dict[str, int]] = {
    "emoji-7": {"candidate_sets": 128, "pretraining_iterations": 1_500},
    "emoji-16": {"pretraining_iterations": 1_500},
    "emoji-50": {"iterations": 2_000},
}
"""Eight sets of 50 candidates are a batch that takes more iterations; 256 of 7 are more than is needed."""
SETTINGS: dict[str, Config] = {
    f"{start}, {game}": Config.of(game=game).replace(**BATCHES[game], **changes)
    for game in NEAR_GAMES
    for start, changes in STARTS.items()
}
KEY = RUN_KEY
MAX_CELLS = 2**24
"""Fewer games where each is large: candidates squared times games."""


def tasks() -> list[TaskSpec]:
    return [
        {"setting": setting, "split": SPLIT, "seed": 100 * SPLIT + run} for run in range(SEEDS) for setting in SETTINGS
    ]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    trained = train_or_load(SETTINGS[task["setting"]], task, runs)
    config = trained.config
    novel = config.data.train_instance_fraction < 1
    number = min(games, MAX_CELLS // trained.task.rules.candidates**2)
    test = held_out_games(trained.task, number, seed=0, novel=novel)
    exact = exact_accuracy(trained, test, DEPTHS[-1])
    results = []
    for phase in range(config.optimiser.phases + 1):
        figures = percent(summarize(play_pair(trained.pair(phase), trained.task, test)), FIGURES)
        by_depth = {f"exact_depth_{depth}": round(float(exact[depth]), 3) for depth in DEPTHS}
        live = {"live_words": config.data.live_words, "game_set": "novel targets" if novel else "test"}
        results.append({**task, "phase": phase, **figures, **by_depth, **live, **provenance(number, trained, phase)})
    return results


def render(results: list[Result]) -> list[Table]:
    """After the last phase, beside the exact recursion of depths 0, 3 and 10."""
    rows = []
    for setting, config in SETTINGS.items():
        last = config.optimiser.phases
        if own := [one for one in results if one["setting"] == setting and int(one["phase"]) == last]:
            exact = [Number(mean(own, f"exact_depth_{depth}")) for depth in DEPTHS]
            figures = mean_and_std(own, "accuracy"), mean_and_std(own, "valid")
            rows.append(Row(setting, [len(own), *figures, *exact, Number(mean(own, "seconds"), 0)]))
    columns = ["runs", "accuracy", "valid", *(f"exact, depth {depth}" for depth in DEPTHS), "seconds per run"]
    return [Table("setting", columns, rows)]
