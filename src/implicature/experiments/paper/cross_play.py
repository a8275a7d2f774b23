"""Cross-play: the teacher of one run with the student of another run of the same setting and split, beside self-play.
Pairs that keep the grounded word meanings should understand each other; ungrounded protocols should not transfer."""

from pathlib import Path

from implicature.agents.contracts import Pair
from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import summarize
from implicature.experiments.paper.pairs import FIGURES, RUNS, SETTINGS, SPLITS
from implicature.experiments.paper.tables import NAMES, OURS
from implicature.experiments.results import Result, TaskSpec, mean_and_std, percent
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import Number, Row, Table
from implicature.games.registry import GAMES

AGENTS = ("exchange", "deep-sets", "la-2017", "la-2018")
STARTS = ("grounded", "ungrounded")
KEY = ("setting", "split")


def tasks() -> list[TaskSpec]:
    settings = [f"{agent}, {start}, {game}" for game in GAMES for start in STARTS for agent in AGENTS]
    return [{"setting": setting, "split": split} for split in SPLITS for setting in settings]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """A result for each teacher with each student, on the same test games."""
    seeds = [100 * task["split"] + number for number in range(RUNS)]
    trained = {seed: train_or_load(SETTINGS[task["setting"]], {**task, "seed": seed}, runs) for seed in seeds}
    pairs = {seed: run.pair() for seed, run in trained.items()}
    test = held_out_games(trained[seeds[0]].task, games, seed=0)
    results = []
    for teacher_seed in seeds:
        for student_seed in seeds:
            one, other = pairs[teacher_seed], pairs[student_seed]
            pair = Pair(one.teacher, other.student, one.teacher_encoder, other.student_encoder)
            figures = percent(summarize(play_pair(pair, trained[seeds[0]].task, test)), FIGURES)
            names = {"teacher": teacher_seed, "student": student_seed}
            results.append({**task, **names, **figures, **provenance(games, trained[teacher_seed])})
    return results


def render(results: list[Result]) -> list[Table]:
    """Mean ± std over pairs, for each game, start and method."""
    rows = []
    for game in GAMES:
        for start in STARTS:
            for agent in AGENTS:
                own = [one for one in results if one["setting"] == f"{agent}, {start}, {game}"]
                if own:
                    same = [one for one in own if str(one["teacher"]) == str(one["student"])]
                    cross = [one for one in own if str(one["teacher"]) != str(one["student"])]
                    figures = mean_and_std(same, "accuracy"), mean_and_std(cross, "accuracy")
                    chance, count = Number(100 / GAMES[game][1], 1), f"{len(same)} + {len(cross)}"
                    kind = "ours" if agent in OURS else "baseline"
                    rows.append(Row(NAMES[agent], [*figures, chance, count], f"{game}, {start}", kind))
    return [Table("accuracy, %", ["self-play", "cross-play", "chance", "pairs"], rows)]
