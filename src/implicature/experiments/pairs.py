"""Every pair of the paper's tables, and some beyond: 3 splits × 2 runs of each setting, test games, after every phase,
beside the exact recursion of the same depth on the same games.

A setting is "agent, start, game": the exchange and the paper's network with our method, and the methods of Lazaridou et
al.; objects are seen in pictures, unless the setting says symbols. Hyper-parameters were chosen by validation games
(FIDELITY.md, docs/baselines.md).
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from implicature.agents.rollout import softly
from implicature.agents.rsa import greedy_accuracy, soft_recursion
from implicature.evaluation.held_out import held_out_games, played_by
from implicature.evaluation.rollouts import Played, summary
from implicature.experiments.results import Row, command, mean, mean_and_std, version
from implicature.experiments.smoke import sized
from implicature.games.sampling import GAMES, Game, Split
from implicature.training.algorithm1 import beta_of
from implicature.training.config import Config
from implicature.training.run import Run, open_run, start_run

EXCHANGE = Config(iterations=2_000)
PAPER = Config(network="paper", iterations=3_000, batch=128)
AGENTS: dict[str, Config] = {
    "exchange": EXCHANGE,
    "paper": PAPER,
    "la-2017": Config(method="la-2017", phases=1, iterations=20_000, batch=64),
    "la-2018": Config(method="la-2018", phases=1, iterations=20_000, batch=64),
}
STARTS: dict[str, dict[str, object]] = {
    "ungrounded": {"grounded": False},
    "grounded": {},
    "unseen instances": {"grounded": False, "instances": 0.7},
    "novel targets": {"instances": 0.8},
    "ungrounded, symbols": {"grounded": False, "sight": "symbols"},
    "grounded, symbols": {"sight": "symbols"},
}
NUMBERS, OBJECTS = ("numbers-4", "numbers-7"), ("objects-4", "objects-7")
TOLD: list[tuple[Sequence[str], Sequence[str], Sequence[str]]] = [
    (list(AGENTS), ("ungrounded", "grounded"), list(GAMES)),
    (("exchange", "paper"), ("unseen instances",), NUMBERS),
    (("exchange", "paper", "la-2017"), ("novel targets",), OBJECTS),
    (("exchange",), ("ungrounded, symbols", "grounded, symbols"), OBJECTS),
]
"""Which agents, from which starts, in which games."""


def tuned(agent: str, start: str, game: str) -> Config:
    config = replace(AGENTS[agent], game=game, **STARTS[start])  # type: ignore[arg-type]
    if game in OBJECTS:
        # Pictures are soon told apart, and objects need less between the lines.
        config = replace(config, pretraining=2_000 if agent == "paper" and config.grounded else 1_000)
        if agent == "exchange":
            config = replace(config, iterations=1_000)
    if agent == "paper" and start == "unseen instances":
        # Otherwise the seen ones are learned by heart (F-35).
        config = replace(config, weight_decay=0.3)
    if game in ("numbers-7", "objects-7") and agent == "exchange":
        config = replace(config, batch=128, iterations=3 * config.iterations // 2)
    if game == "numbers-7" and agent == "exchange":
        # Seven sets of numbers take many steps of the recursion, and so many rounds of exchange.
        config = replace(config, depth=5)
        if start == "grounded":
            # A run of six phases is one of three that went on: both are told.
            config = replace(config, phases=6, iterations=4_000)
    return config


SETTINGS: dict[str, Config] = {
    f"{agent}, {start}, {game}": tuned(agent, start, game)
    for agents, starts, games in TOLD
    for game in games
    for start in starts
    for agent in agents
}
SPLITS, RUNS = 3, 2
CEILING = 10
"""The depth of the exact recursion whose accuracy counts as the ceiling."""
LEVELS = ("0", "1", "2", "3", "4", "5", "6", "none")
KEY = ("setting", "split", "seed")


def repeated(settings: list[str]) -> list[Row]:
    """3 splits × 2 runs of each; the first split of every setting comes first."""
    return [
        {"setting": setting, "split": split, "seed": 100 * split + run}
        for split in range(SPLITS)
        for setting in settings
        for run in range(RUNS)
    ]


def tasks() -> list[Row]:
    return repeated(list(SETTINGS))


def trained(config: Config, task: Row, runs: Path) -> Run:
    """The task's pair: its run is made, taken up where it was left, or there already."""
    config = replace(sized(config, task), split=task["split"], seed=task["seed"])
    folder = runs / re.sub(r"[^\w.]+", "-", "-".join(str(task[name]) for name in KEY))
    run = open_run(folder) if (folder / "config.json").exists() else start_run(folder, config)
    if run.setting.config != config:
        raise ValueError(f"{folder} holds a run of other settings: remove it, or name another folder with --runs.")
    for _ in run.train():
        pass
    return run


def exact_accuracy(run: Run, games: Game, depth: int) -> Float[np.ndarray, " depths"]:
    """The exact recursion's, β = 10, in percent, for every depth up to this one."""

    @jax.jit
    @jax.vmap
    def found(truth, target):
        students = soft_recursion(truth, depth).student
        return jax.vmap(lambda belief: greedy_accuracy(truth, belief, belief)[target])(students)

    return 100 * np.asarray(jnp.mean(found(run.setting.world.truth[games.candidates], games.target), axis=0))


def made(games: int, run: Run, phase: int | None = None) -> Row:
    """What every row says of how it came about; the seconds are those until the end of the phase."""
    config = asdict(run.setting.config)
    names = ("game", "method", "network", "grounded", "depth", "iterations", "batch", "weight_decay")
    settings = {name: config[name] for name in names}
    seconds = round(run.metrics.seconds(phase))
    return {**settings, "games": games, "seconds": seconds, "version": version(), "command": command()}


def run(task: Row, games: int, runs: Path) -> list[Row]:
    return after_every_phase(SETTINGS[task["setting"]], task, games, runs)


def after_every_phase(config: Config, task: Row, games: int, runs: Path, split: Split = "test") -> list[Row]:
    """How the task's pair plays held-out games before the first phase and after each. Where it held instances out, and
    was grounded, these are the targets (table 3)."""
    run = trained(config, task, runs)
    config = run.setting.config
    novel = config.instances < 1 and config.grounded
    drawn = held_out_games(run.setting, games, seed=0, split=split, novel=novel)
    exact = exact_accuracy(run, drawn, CEILING)
    rows = []
    for phase in range(config.phases + 1):
        figures = figures_after(run, phase, drawn)
        row = {**task, "phase": phase, **figures, "exact": round(float(exact[phase]), 3)}
        row |= {"ceiling": round(float(exact[-1]), 3), "played": "novel targets" if novel else split}
        rows.append({**row, **made(games, run, phase)})
    return rows


def figures_after(run: Run, phase: int, games: Game) -> Row:
    """Percent: greedy, by level; after the last phase with a sampled speaker as well, and in equivalent games."""
    setting, pair = run.setting, run.pair(phase)
    found = summary(played_by(pair, setting, games))
    row = {name: round(100 * found[name], 3) for name in ("accuracy", "hard_accuracy", "valid")}
    more: dict[str, object] = {"sampled_accuracy": "", "equivalent_accuracy": ""}
    if phase in told_phases(setting.config):
        speak = softly(beta_of(setting.config, setting.rules))
        more["sampled_accuracy"] = found_percent(played_by(pair, setting, games, speak=speak))
        if setting.config.grounded:
            more["equivalent_accuracy"] = found_percent(played_by(pair, setting, games, equivalent=True))
    levels = found["by_level"]
    by_level = {f"level_{k}": round(100 * levels[k]["accuracy"], 3) if k in levels else "" for k in LEVELS}
    return {**row, **more, **by_level}


def found_percent(played: Played) -> float:
    return round(100 * float(played.found.mean()), 3)


def told_phases(config: Config) -> tuple[int, ...]:
    """The phases that tables tell: the third, and the last where a run went on."""
    return tuple(dict.fromkeys((min(3, config.phases), config.phases)))


def last_rows(rows: list[Row], setting: str, phase: int | None = None) -> list[Row]:
    """The rows of a setting after a phase; by default the third, or the last where there are fewer."""
    config = SETTINGS[setting]
    wanted = told_phases(config)[0] if phase is None else phase
    return [row for row in rows if row["setting"] == setting and int(row["phase"]) == wanted]


def render(rows: list[Row]) -> str:
    """Two Markdown tables: mean ± std over runs after the last phase; and phase by phase beside the exact recursion."""
    after = ["| setting | runs | accuracy | hard | valid | equivalent games | seconds a run |", "|---" * 7 + "|"]
    numbers = range(max(config.phases for config in SETTINGS.values()) + 1)
    head = " | ".join(f"phase {phase}" for phase in numbers)
    by_phase = [f"| accuracy (exact recursion of that depth) | {head} |", "|---" * (len(numbers) + 1) + "|"]
    for setting, config in SETTINGS.items():
        for phase in told_phases(config):
            if last := last_rows(rows, setting, phase):
                more = f", {phase} phases" if phase > 3 else ""
                names = ("accuracy", "hard_accuracy", "valid", "equivalent_accuracy")
                seconds = np.mean([float(row["seconds"]) for row in last])
                figures = " | ".join(mean_and_std(last, name) for name in names)
                after.append(f"| {setting}{more} | {len(last)} | {figures} | {seconds:.0f} |")
        phases = [last_rows(rows, setting, phase) for phase in numbers]
        if config.method == "pragmatic" and any(phases):
            cells = [f"{mean(at, 'accuracy'):.1f} ({mean(at, 'exact'):.1f})" if at else "" for at in phases]
            by_phase.append(f"| {setting} | {' | '.join(cells)} |")
    return "\n".join([*after, "", *by_phase])
