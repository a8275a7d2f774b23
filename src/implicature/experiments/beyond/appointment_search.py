"""The learning rate and the entropy bonus of the appointment game's baseline, chosen on split 0, which no table uses.

`appointment` takes the best return over all calendars for each number of messages (F-73)."""

from itertools import product
from pathlib import Path

from implicature.experiments.beyond.appointment import ALL, BASELINE_SETTINGS, BaselineSetting, baseline_figures_of
from implicature.experiments.results import Result, TaskSpec, command, mean, version
from implicature.experiments.table import MISSING, Number, Row, Table

LEARNING_RATES, BONUSES = (2e-3, 5e-3, 2e-2), (0.005, 0.02, 0.1)
SETTINGS = {
    f"{messages} messages, rate {rate:g}, bonus {bonus:g}": BaselineSetting(messages, rate, bonus)
    for messages, rate, bonus in product((1, 2), LEARNING_RATES, BONUSES)
}
SPLIT = 0
KEY = ("setting", "split", "seed")


def tasks() -> list[TaskSpec]:
    return [{"setting": setting, "split": SPLIT, "seed": 0} for setting in SETTINGS]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """The number of games has no effect: figures are expectations."""
    found = baseline_figures_of(SETTINGS[task["setting"]], task["split"], task["seed"])
    figures = {
        column: round(scale * getattr(found[part], name), 4)
        for part, prefix in ((ALL, ""), ("held out", "held_out_"))
        for column, name, scale in (
            (f"{prefix}success", "success", 100), (f"{prefix}return", "episode_return", 1),
        )
    }  # fmt: skip
    return [{**task, **figures, **BASELINE_SETTINGS, "version": version(), "command": command()}]


def render(results: list[Result]) -> list[Table]:
    """The return over all calendars, and over those held out in brackets."""
    rows = []
    for rate, bonus in product(LEARNING_RATES, BONUSES):
        cells = []
        for messages in (1, 2):
            name = f"{messages} messages, rate {rate:g}, bonus {bonus:g}"
            own = [one for one in results if one["setting"] == name]
            note = f"({mean(own, 'held_out_return'):.3f})" if own else ""
            cells.append(Number(mean(own, "return"), 3, note=note) if own else MISSING)
        rows.append(Row(f"rate {rate:g}, bonus {bonus:g}", cells))
    return [Table("return, all calendars (held out)", ["one message", "up to two"], rows)]
