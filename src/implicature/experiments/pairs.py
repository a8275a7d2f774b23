"""Every pair of the paper's tables, and some beyond: 3 splits × 2 runs of each setting, evaluated on test games after
every phase, beside the exact recursion of the same depth on the same games.

A setting is "agent, start, game". Agents: the exchange and the deep-sets network trained by Algorithm 1, and the
methods of Lazaridou et al. Objects are seen as images unless the setting says symbols. Hyper-parameters were chosen on
validation games (FIDELITY.md, docs/baselines.md).
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from implicature.agents.rollout import boltzmann
from implicature.evaluation.ceiling import CEILING_DEPTH, exact_success
from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import GameResults, summarize
from implicature.experiments.results import Result, TaskSpec, command, mean, mean_and_std, percent, version
from implicature.experiments.smoke import shrink
from implicature.experiments.table import Number, Row, Table
from implicature.games.registry import GAMES
from implicature.games.sampling import Game
from implicature.games.splits import Split
from implicature.training.config import Config
from implicature.training.resolve import resolve
from implicature.training.run import Run, open_run, start_run

EXCHANGE = Config.of(iterations=2_000)
DEEP_SETS = Config.of(network="deep-sets", iterations=3_000, candidate_sets=128)
AGENTS: dict[str, Config] = {
    "exchange": EXCHANGE,
    "deep-sets": DEEP_SETS,
    "la-2017": Config.of(method="la-2017", phases=1, iterations=20_000, candidate_sets=64),
    "la-2018": Config.of(method="la-2018", phases=1, iterations=20_000, candidate_sets=64),
}
STARTS: dict[str, dict[str, object]] = {
    "ungrounded": {"grounded": False},
    "grounded": {},
    "unseen instances": {"grounded": False, "train_instance_fraction": 0.7},
    "novel targets": {"train_instance_fraction": 0.8},
    "ungrounded, symbols": {"grounded": False, "encoder": "none"},
    "grounded, symbols": {"encoder": "none"},
}
NUMBERS, OBJECTS = ("numbers-4", "numbers-7"), ("objects-4", "objects-7")
GRID: list[tuple[Sequence[str], Sequence[str], Sequence[str]]] = [
    (list(AGENTS), ("ungrounded", "grounded"), list(GAMES)),
    (("exchange", "deep-sets"), ("unseen instances",), NUMBERS),
    (("exchange", "deep-sets", "la-2017"), ("novel targets",), OBJECTS),
    (("exchange",), ("ungrounded, symbols", "grounded, symbols"), OBJECTS),
]
"""Which agents, from which starts, in which games."""


def tuned_config(agent: str, start: str, game: str) -> Config:
    config = AGENTS[agent].replace(game=game, **STARTS[start])
    iterations = config.optimiser.iterations
    if game in OBJECTS:
        # Images are soon told apart, and objects take less pragmatic inference.
        grounded_deep_sets = agent == "deep-sets" and config.grounding.grounded
        config = config.replace(pretraining_iterations=2_000 if grounded_deep_sets else 1_000)
        iterations = 1_000 if agent == "exchange" else iterations
    if agent == "deep-sets" and start == "unseen instances":
        # Without weight decay the network overfits the training instances (F-35).
        config = config.replace(weight_decay=0.3)
    if game in ("numbers-7", "objects-7") and agent == "exchange":
        config = config.replace(candidate_sets=128)
        iterations = 3 * iterations // 2
    if game == "numbers-7" and agent == "exchange":
        # Seven number sets take a deep recursion, and so many layers.
        config = config.replace(layers=5)
        if start == "grounded":
            # A run of six phases contains a run of three: both are reported.
            config, iterations = config.replace(phases=6), 4_000
    return config.replace(iterations=iterations)


SETTINGS: dict[str, Config] = {
    f"{agent}, {start}, {game}": tuned_config(agent, start, game)
    for agents, starts, games in GRID
    for game in games
    for start in starts
    for agent in agents
}
SPLITS, RUNS = 3, 2
LEVELS = ("0", "1", "2", "3", "4", "5", "6", "none")
FIGURES = ("accuracy", "hard_accuracy", "valid")
KEY = ("setting", "split", "seed")


def repeat(settings: list[str]) -> list[TaskSpec]:
    """3 splits × 2 runs of each; the first split of every setting comes first."""
    return [
        {"setting": setting, "split": split, "seed": 100 * split + run}
        for split in range(SPLITS)
        for setting in settings
        for run in range(RUNS)
    ]


def tasks() -> list[TaskSpec]:
    return repeat(list(SETTINGS))


def train_or_load(config: Config, task: TaskSpec, runs: Path) -> Run:
    """The trained pair of a task: its run is started, resumed or loaded."""
    config = shrink(config, task).replace(split_seed=task["split"], seed=task["seed"])
    folder = runs / re.sub(r"[^\w.]+", "-", "-".join(str(task[name]) for name in KEY))
    run = open_run(folder) if (folder / "config.json").exists() else start_run(folder, config)
    if run.config != resolve(config, run.task.space, run.task.rules.candidates):
        raise ValueError(f"{folder} holds a run of another config: remove it, or name another folder with --runs.")
    for _ in run.train():
        pass
    return run


def exact_accuracy(run: Run, games: Game, depth: int) -> Float[np.ndarray, " depths"]:
    """The exact recursion's accuracy in percent, for depths 0 to `depth`."""
    lexicon = run.task.data.lexicon[games.candidates]
    return 100 * exact_success(lexicon, games.target, depth).mean(axis=0, dtype=float)


def provenance(games: int, run: Run, phase: int | None = None) -> Result:
    """How a result came about; the seconds are those until the end of the phase."""
    names = ("game", "method", "network", "grounded", "layers", "iterations", "candidate_sets", "weight_decay")
    config = run.config.flat()
    seconds = round(run.metrics.seconds(phase))
    return {name: config[name] for name in names} | {
        "games": games, "seconds": seconds, "version": version(), "command": command()
    }  # fmt: skip


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    return evaluate_phases(SETTINGS[task["setting"]], task, games, runs)


def evaluate_phases(config: Config, task: TaskSpec, games: int, runs: Path, split: Split = "test") -> list[Result]:
    """How the task's pair plays held-out games before the first phase and after each. If it is grounded and was trained
    with some of the instances, the targets are the others (table 3)."""
    trained = train_or_load(config, task, runs)
    config = trained.config
    novel = config.data.train_instance_fraction < 1 and config.grounding.grounded
    held_out = held_out_games(trained.task, games, seed=0, split=split, novel=novel)
    exact = exact_accuracy(trained, held_out, CEILING_DEPTH)
    results = []
    for phase in range(config.optimiser.phases + 1):
        figures = evaluate_phase(trained, phase, held_out)
        ceilings = {"exact_same_depth": round(float(exact[phase]), 3), "exact_depth_10": round(float(exact[-1]), 3)}
        game_set = {"game_set": "novel targets" if novel else split}
        results.append({**task, "phase": phase, **figures, **ceilings, **game_set, **provenance(games, trained, phase)})
    return results


def evaluate_phase(run: Run, phase: int, games: Game) -> Result:
    """Percent: greedy, also by level; after a reported phase also with a sampled speaker and in equivalent games."""
    task, pair, config = run.task, run.pair(phase), run.config
    figures = summarize(play_pair(pair, task, games))
    more: Result = {"sampled_accuracy": "", "equivalent_accuracy": ""}
    if phase in reported_phases(config):
        beta = config.method.beta
        assert beta is not None  # the config of a run is resolved
        more["sampled_accuracy"] = success_percent(play_pair(pair, task, games, speak=boltzmann(beta)))
        if config.grounding.grounded:
            more["equivalent_accuracy"] = success_percent(play_pair(pair, task, games, equivalent=True))
    levels = figures["by_level"]
    by_level = {f"level_{k}": round(100 * levels[k]["accuracy"], 3) if k in levels else "" for k in LEVELS}
    return {**percent(figures, FIGURES), **more, **by_level}


def success_percent(results: GameResults) -> float:
    return round(100 * float(results.success.mean()), 3)


def reported_phases(config: Config) -> tuple[int, ...]:
    """The third phase, and the last where there are more."""
    phases = config.optimiser.phases
    return tuple(dict.fromkeys((min(3, phases), phases)))


def select_phase(results: list[Result], setting: str, phase: int | None = None) -> list[Result]:
    """The results of a setting after a phase; by default the third, or the last where there are fewer."""
    wanted = reported_phases(SETTINGS[setting])[0] if phase is None else phase
    return [result for result in results if result["setting"] == setting and int(result["phase"]) == wanted]


def render(results: list[Result]) -> list[Table]:
    """Mean ± std over runs after the last phase; and phase by phase beside the exact recursion."""
    phases = range(max(config.optimiser.phases for config in SETTINGS.values()) + 1)
    last_rows, phase_rows = [], []
    for setting, config in SETTINGS.items():
        for phase in reported_phases(config):
            if last := select_phase(results, setting, phase):
                more = f", {phase} phases" if phase > 3 else ""
                cells = [mean_and_std(last, name) for name in (*FIGURES, "equivalent_accuracy")]
                last_rows.append(Row(setting + more, [len(last), *cells, Number(mean(last, "seconds"), 0)]))
        by_phase = [select_phase(results, setting, phase) for phase in phases]
        if config.method.method == "pragmatic" and any(by_phase):
            phase_rows.append(Row(setting, [phase_cell(after) for after in by_phase]))
    return [
        Table("setting", ["runs", "accuracy", "hard", "valid", "equivalent games", "seconds per run"], last_rows),
        Table("accuracy (exact recursion of that depth)", [f"phase {phase}" for phase in phases], phase_rows),
    ]


def phase_cell(results: list[Result]) -> Number | str:
    if not results:
        return ""
    return Number(mean(results, "accuracy"), 1, note=f"({mean(results, 'exact_same_depth'):.1f})")
