"""What pairs learn on number sets: 3 splits × 2 runs of each setting, test games, greedy, after every phase, beside the
exact recursion of the same depth on the same games."""

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from implicature.agents.exact import greedy_accuracy, soft_recursion
from implicature.evaluation.play import summary
from implicature.evaluation.runs import held_out_games, played_by
from implicature.experiments.rows import Row, command, mean_and_std, version
from implicature.games import Game, Split
from implicature.training.config import Config
from implicature.training.run import Run, open_run, start_run

EXCHANGE = Config(iterations=2_000)
EXCHANGE_7 = replace(EXCHANGE, game="numbers-7", iterations=3_000, batch=128)
PAPER = Config(network="paper", iterations=3_000, batch=128)

SETTINGS: dict[str, Config] = {
    "exchange, grounded, numbers-4": EXCHANGE,
    "exchange, grounded, numbers-7": replace(EXCHANGE_7, phases=6),
    "exchange, ungrounded, numbers-4": replace(EXCHANGE, grounded=False),
    "exchange, ungrounded, numbers-7": replace(EXCHANGE_7, grounded=False),
    "exchange, unseen instances, numbers-4": replace(EXCHANGE, grounded=False, instances=0.7),
    "exchange, unseen instances, numbers-7": replace(EXCHANGE_7, grounded=False, instances=0.7),
    "paper, ungrounded, numbers-4": replace(PAPER, grounded=False),
    "paper, ungrounded, numbers-7": replace(PAPER, grounded=False, game="numbers-7"),
    "paper, grounded, numbers-4": PAPER,
    "paper, grounded, numbers-7": replace(PAPER, game="numbers-7"),
}
"""A run of six phases is one of three that went on: both are told."""
SPLITS, RUNS = 3, 2
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
    config = replace(config, split=task["split"], seed=task["seed"])
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
    settings = {name: config[name] for name in ("game", "network", "grounded", "iterations", "batch")}
    seconds = round(run.seconds(phase))
    return {**settings, "games": games, "seconds": seconds, "version": version(), "command": command()}


def run(task: Row, games: int, runs: Path) -> list[Row]:
    return after_every_phase(SETTINGS[task["setting"]], task, games, runs)


def after_every_phase(
    config: Config, task: Row, games: int, runs: Path, split: Split = "test", novel: bool = False
) -> list[Row]:
    """How the task's pair plays held-out games before the first phase and after each."""
    pair = trained(config, task, runs)
    drawn = held_out_games(pair.setting, games, seed=0, split=split, novel=novel)
    phases = pair.setting.config.phases
    exact = exact_accuracy(pair, drawn, phases)
    rows = []
    for phase in range(phases + 1):
        figures = summary(played_by(pair.pair(phase), pair.setting, drawn))
        levels = figures["by_level"]
        shares = {name: round(100 * figures[name], 3) for name in ("accuracy", "hard_accuracy", "valid")}
        by_level = {f"level_{k}": round(100 * levels[k]["accuracy"], 3) if k in levels else "" for k in LEVELS}
        row = {**task, "phase": phase, **shares, "exact": round(float(exact[phase]), 3), **by_level}
        rows.append({**row, "played": split, **made(games, pair, phase)})
    return rows


def render(rows: list[Row], settings: Mapping[str, Config] = SETTINGS) -> str:
    """Two Markdown tables: mean ± std over runs after the last phase; and phase by phase beside the exact recursion."""
    after = ["| setting | runs | accuracy | hard | valid | seconds a run |", "|---|---|---|---|---|---|"]
    deepest = max(config.phases for config in settings.values())
    numbers = range(deepest + 1)
    head = " | ".join(f"phase {phase}" for phase in numbers)
    by_phase = [f"| accuracy (exact recursion of that depth) | {head} |", "|---" * (deepest + 2) + "|"]
    for setting, config in settings.items():
        mine = [row for row in rows if row["setting"] == setting]
        if not mine:
            continue
        phases = [[row for row in mine if int(row["phase"]) == phase] for phase in numbers]
        for phase in dict.fromkeys((min(3, config.phases), config.phases)):
            last, more = phases[phase], f", {phase} phases" if phase > 3 else ""
            figures = " | ".join(mean_and_std(last, name) for name in ("accuracy", "hard_accuracy", "valid"))
            seconds = np.mean([float(row["seconds"]) for row in last])
            after.append(f"| {setting}{more} | {len(last)} | {figures} | {seconds:.0f} |")
        cells = [
            f"{np.mean([float(r['accuracy']) for r in at]):.1f} ({np.mean([float(r['exact']) for r in at]):.1f})"
            if at
            else ""
            for at in phases
        ]
        by_phase.append(f"| {setting} | {' | '.join(cells)} |")
    return "\n".join([*after, "", *by_phase])
