"""Every pair of the paper's tables, and some beyond: 3 splits × 2 runs of each setting, evaluated on test games after
every phase, beside the exact recursion of the same depth on the same games.

A setting is "agent, start, game". Agents: the exchange and the deep-sets network trained by Algorithm 1, the paper as
written, the exchange network with sampled REINFORCE, and the methods of Lazaridou et al. Objects are seen as
images. Every choice was made before the first run on these splits (FIDELITY.md).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from implicature.agents.rollout import boltzmann
from implicature.evaluation.ceiling import CEILING_DEPTH, exact_success, game_lexicon
from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import GameResults, summarize
from implicature.experiments.results import Result, TaskSpec, mean, mean_and_std, percent
from implicature.experiments.runs import KEY as RUN_KEY
from implicature.experiments.runs import provenance, train_or_load
from implicature.experiments.table import Number, Row, Table
from implicature.games.registry import GAMES
from implicature.games.sampling import Game
from implicature.games.splits import Split
from implicature.training.config import Config, preset_config
from implicature.training.runs.run import Run

EXCHANGE = Config.of(iterations=2_000)
DEEP_SETS = Config.of(network="deep-sets", iterations=3_000, candidate_sets=128)
AGENTS: dict[str, Config] = {
    "exchange": EXCHANGE,
    "deep-sets": DEEP_SETS,
    "as-written": preset_config("as-written"),
    "reinforce": EXCHANGE.replace(credit="sampled", calibration_alpha=0.0),
    "la-2017": Config.of(method="la-2017", phases=1, iterations=40_000, candidate_sets=64),
    "la-2018": Config.of(method="la-2018", phases=1, iterations=40_000, candidate_sets=64),
}
BASELINES: dict[tuple[str, str], dict[str, float]] = {
    ("la-2017", "numbers-4"): {"learning_rate": 3e-3, "entropy_bonus": 0.1},
    ("la-2017", "numbers-7"): {"learning_rate": 1e-2, "entropy_bonus": 0.03},
    ("la-2017", "objects-4"): {"learning_rate": 1e-2, "entropy_bonus": 0.1},
    ("la-2017", "objects-7"): {"learning_rate": 1e-2, "entropy_bonus": 0.1},
    ("la-2018", "numbers-4"): {"learning_rate": 1e-3, "entropy_bonus": 0.1},
    ("la-2018", "numbers-7"): {"learning_rate": 3e-3, "entropy_bonus": 0.1},
    ("la-2018", "objects-4"): {"learning_rate": 1e-2, "entropy_bonus": 0.1},
    ("la-2018", "objects-7"): {"learning_rate": 1e-2, "entropy_bonus": 0.1},
}
"""The baselines' learning rate and entropy bonus in each game: the best of `baseline-search`."""
STARTS: dict[str, dict[str, object]] = {
    "ungrounded": {"grounded": False},
    "grounded": {"grounded": True},
    "unseen instances": {"grounded": False, "train_instance_fraction": 0.7},
    "novel targets": {"grounded": True, "train_instance_fraction": 0.8},
}
NUMBERS, OBJECTS = ("numbers-4", "numbers-7"), ("objects-4", "objects-7")
GRID: list[tuple[Sequence[str], Sequence[str], Sequence[str]]] = [
    (("exchange", "deep-sets", "as-written", "la-2017", "la-2018"), ("ungrounded", "grounded"), list(GAMES)),
    (("reinforce",), ("grounded",), list(GAMES)),
    (("exchange", "deep-sets"), ("unseen instances",), NUMBERS),
    (("exchange", "deep-sets", "reinforce", "la-2017"), ("novel targets",), OBJECTS),
]
"""Which agents, from which starts, in which games."""


def tuned_config(agent: str, start: str, game: str) -> Config:
    config = AGENTS[agent].replace(game=game, **STARTS[start], **BASELINES.get((agent, game), {}))
    iterations, exchange = config.optimiser.iterations, agent in ("exchange", "reinforce")
    if game in OBJECTS:
        # Images are soon told apart, and objects take less pragmatic inference.
        grounded_deep_sets = agent == "deep-sets" and config.grounding.grounded
        config = config.replace(pretraining_iterations=2_000 if grounded_deep_sets else 1_000)
        iterations = 1_000 if exchange else iterations
    if agent == "deep-sets" and start == "unseen instances":
        # Without weight decay the network overfits the training instances (F-35).
        config = config.replace(weight_decay=0.3)
    if game in ("numbers-7", "objects-7") and exchange:
        config = config.replace(candidate_sets=128)
        iterations = 3 * iterations // 2
    if game == "numbers-7" and exchange:
        # Seven number sets take a deep recursion, and so many layers.
        config = config.replace(layers=5)
        iterations = 4_000 if start == "grounded" else iterations
        if (agent, start) == ("exchange", "grounded"):
            # A run of six phases contains a run of three: both are reported.
            config = config.replace(phases=6)
    return config.replace(iterations=iterations)


SETTINGS: dict[str, Config] = {
    f"{agent}, {start}, {game}": tuned_config(agent, start, game)
    for agents, starts, games in GRID
    for game in games
    for start in starts
    for agent in agents
}
SPLITS, RUNS = (10, 11, 12), 2
"""No hyper-parameter was chosen on these splits."""
LEVELS = ("0", "1", "2", "3", "4", "5", "6", "none")
FIGURES = ("accuracy", "hard_accuracy", "valid")
KEY = RUN_KEY


def repeat(settings: list[str]) -> list[TaskSpec]:
    """3 splits × 2 runs of each; the first split of every setting comes first."""
    return [
        {"setting": setting, "split": split, "seed": 100 * split + run}
        for split in SPLITS
        for setting in settings
        for run in range(RUNS)
    ]


def tasks() -> list[TaskSpec]:
    return repeat(list(SETTINGS))


def exact_accuracy(run: Run, games: Game, depth: int) -> Float[np.ndarray, " depths"]:
    """The exact recursion's accuracy in percent, for depths 0 to `depth`."""
    lexicon = game_lexicon(run.task.data.semantics, games.candidates)
    return 100 * exact_success(lexicon, games.target, depth).mean(axis=0, dtype=float)


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
    counts = {
        f"games_of_level_{k}": round(levels[k]["fraction"] * figures["games"]) if k in levels else 0 for k in LEVELS
    }
    return {**percent(figures, FIGURES), **more, **by_level, **counts}


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
