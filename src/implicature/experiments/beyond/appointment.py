"""The appointment game: exact players beside learned ones, with one message and with several turns."""

import re
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

from implicature.agents.appointment.player import LiteralPlayer
from implicature.evaluation.appointment import Figures, play_first, play_parts, player_weights
from implicature.evaluation.appointment_exact import (
    everyone,
    exact_pair,
    literal_pair,
    silent_pair,
    telling_everything,
    two_messages,
)
from implicature.experiments.results import Result, TaskSpec, command, mean, mean_and_std, version
from implicature.experiments.smoke import MARK
from implicature.experiments.table import Cell, Number, Row, Table
from implicature.games.appointment import NAME, AppointmentRules
from implicature.training.appointment.algorithm1 import AppointmentTask
from implicature.training.appointment.baseline import baseline_figures, train_baseline
from implicature.training.appointment.run import (
    AppointmentRun,
    appointment_rules,
    open_appointment,
    start_appointment,
)
from implicature.training.config import Config

KEY = ("setting", "split", "seed")
ONE, TWO = AppointmentRules(), AppointmentRules(messages=2)
EXACT = {
    "no message, best by reward": lambda: silent_pair(ONE),
    "no message, likeliest to be right": lambda: silent_pair(ONE, by_reward=False),
    "literal pair, one message": lambda: literal_pair(ONE),
    "best speaker to a literal listener, one message": lambda: exact_pair(ONE, 0),
    "exact, depth 3, one message": lambda: exact_pair(ONE, 3),
    "exact, depth 10, one message": lambda: exact_pair(ONE, 10),
    "telling every maximal run, then an answer": lambda: telling_everything(ONE),
    "literal pair, up to two messages": lambda: literal_dialogue(TWO),
    "best responses, up to two messages": lambda: two_messages(TWO),
}
"""In expectation over all 255 × 255 pairs of calendars."""
ALL = "all"


def literal_dialogue(rules: AppointmentRules) -> Figures:
    return play_first(LiteralPlayer(), LiteralPlayer(), rules, everyone(rules)[None])[0]


OURS = {
    "ours, one message": Config.of(game=NAME),
    "ours, up to two messages": Config.of(game=NAME, rounds=2, beta=40.0, phases=6, iterations=100),
}


@dataclass(frozen=True)
class BaselineSetting:
    messages: int
    learning_rate: float
    bonus: float


BASELINE = {
    "REINFORCE, one message": BaselineSetting(1, 5e-3, 0.02),
    "REINFORCE, up to two messages": BaselineSetting(2, 5e-3, 0.02),
}
"""To be the best of `appointment-search`, which has not been run."""
BASELINE_SETTINGS = {"iterations": 1_000, "width": 64}
SPLITS, SEEDS = (1, 2, 3), (0, 1)
"""Choices were made on split 0."""
SELF, CROSS = "self-play", "cross-play"
PARTS = {"all": "all", "training": "training", "held out": "held out"}


def tasks() -> list[TaskSpec]:
    exact = [{"setting": name, "split": 0, "seed": 0} for name in EXACT]
    learned = (*OURS, *BASELINE)
    return [*exact, *({"setting": n, "split": split, "seed": s} for n in learned for split in SPLITS for s in SEEDS)]


def row(task: TaskSpec, calendars: str, figures: Figures, pairing: str = SELF, exact: Figures | None = None) -> Result:
    return {
        **task, "pairing": pairing, "calendars": calendars, "success": round(100 * figures.success, 3),
        "return": round(figures.episode_return, 4), "messages": round(figures.messages, 4),
        "exact": "" if exact is None else round(100 * exact.success, 3),
        "exact_return": "" if exact is None else round(exact.episode_return, 4),
        "version": version(), "command": command(),
    }  # fmt: skip


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """The number of games has no effect: figures are expectations."""
    name = task["setting"]
    if name in EXACT:
        return [row(task, ALL, EXACT[name]())]
    split, parts = task["split"], player_weights(ONE.slots, task["split"])
    if name in BASELINE:
        found = baseline_figures_of(BASELINE[name], split, task["seed"])
        return [row(task, part, figures) for part, figures in found.items()]
    trained = {seed: train_or_load({**task, "seed": seed}, runs, seed == task["seed"]) for seed in SEEDS}
    own = trained[task["seed"]]
    assert own is not None
    rules = own.task.rules
    exact = {part: exact_pair(ONE, 10, weights=share) if rules.messages == 1 else None for part, share in parts.items()}
    figures = play_parts(*own.players(), rules, split)
    results = [row(task, part, found, exact=exact[part]) for part, found in figures.items()]
    others = [other for seed, other in trained.items() if seed != task["seed"] and other is not None]
    for other in others:
        pairs = (own.players()[0], other.players()[1]), (other.players()[0], own.players()[1])
        met = [play_parts(*pair, rules, split) for pair in pairs]
        for part in parts:
            names = Figures.__annotations__
            both = Figures(*(float(np.mean([getattr(one[part], name) for one in met])) for name in names))
            results.append(row(task, part, both, CROSS))
    return results


def baseline_figures_of(setting: BaselineSetting, split: int, seed: int) -> dict[str, Figures]:
    """A baseline trained from scratch, with all calendars, those of training and those held out."""
    rate = setting.learning_rate
    config = Config.of(game=NAME, rounds=setting.messages, learning_rate=rate, split_seed=split)
    setup, parts = AppointmentTask(config, appointment_rules(config)), player_weights(ONE.slots, split)
    pair = train_baseline(setup, jax.random.key(seed), bonus=setting.bonus, **BASELINE_SETTINGS)
    found = np.stack(baseline_figures(setup, pair, jnp.asarray(np.stack([*parts.values()]), jnp.float32)), axis=1)
    return {part: Figures(*map(float, one)) for part, one in zip(parts, found, strict=True)}


def train_or_load(task: TaskSpec, runs: Path, train: bool) -> AppointmentRun | None:
    """The run of a task, trained where asked for; None where it is not trained."""
    config = OURS[task["setting"]].replace(split_seed=task["split"], seed=task["seed"])
    if task.get(MARK):
        config = config.replace(phases=1, iterations=20)
    folder = runs / re.sub(r"[^\w.]+", "-", f"appointment-{'-'.join(str(task[name]) for name in KEY)}")
    exists = (folder / "config.json").exists()
    if not exists and not train:
        return None
    trained = open_appointment(folder) if exists else start_appointment(folder, config)
    if trained.config != config:
        raise ValueError(f"{folder} holds a run of another config: remove it, or name another folder with --runs.")
    if train:
        for _ in trained.train():
            pass
    return trained if trained.finished else None


def render(results: list[Result]) -> list[Table]:
    """Every pair with all calendars; learned ones also with those held out, and in cross-play."""
    rows, learned = [], []
    for name in dict.fromkeys(one["setting"] for one in results):
        own = [one for one in results if one["setting"] == name]
        rows.append(Row(name, [*figure_cells(select(own, ALL, SELF)), len(select(own, ALL, SELF))]))
        if name not in EXACT:
            cells = [mean_and_std(select(own, part, SELF), "success", 2) for part in PARTS]
            held_out = select(own, "held out", SELF)
            learned.append(Row(name, [
                *cells, mean_and_std([one for one in held_out if one["exact"] != ""], "exact", 2),
                mean_and_std(held_out, "return", 3), mean_and_std(select(own, ALL, CROSS), "success", 2),
                mean_and_std(select(own, ALL, CROSS), "return", 3),
            ]))  # fmt: skip
    tables = [Table("all calendars, self-play", ["success, %", "return", "messages", "pairs"], rows)]
    columns = ["all", "training", "held out", "exact, depth 10, held out", "return, held out", "cross-play, all"]
    return [*tables, *([Table("success, %", [*columns, "return in cross-play"], learned)] if learned else [])]


def select(results: list[Result], calendars: str, pairing: str) -> list[Result]:
    return [one for one in results if one["calendars"] == calendars and one["pairing"] == pairing]


def figure_cells(own: list[Result]) -> list[Cell]:
    digits = {"success": 1, "return": 3, "messages": 2}
    if len(own) == 1:
        return [Number(mean(own, column), number) for column, number in digits.items()]
    return [mean_and_std(own, column, number) for column, number in digits.items()]


def draw(results: list[Result]) -> Figure:
    """The return of each pair."""
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axis = figure.subplots()
    own = select(results, ALL, SELF)
    names = list(dict.fromkeys(one["setting"] for one in own))[::-1]
    returns = [mean([one for one in own if one["setting"] == name], "return") for name in names]
    axis.barh(names, returns, color=["#2a6f97" if value >= 0 else "#c1666b" for value in returns])
    for y, value in enumerate(returns):
        axis.text(max(value, 0) + 0.01, y, f"{value:.3f}", va="center", fontsize=8)
    axis.set(xlabel="return", xlim=(min(-0.55, *returns), 1.05))
    axis.axvline(0, color="#444", linewidth=0.8)
    axis.tick_params(labelsize=8)
    return figure
