"""What each choice that the paper leaves open is worth (FIDELITY.md): one thing changed at a time, validation games."""

from dataclasses import replace
from pathlib import Path

from implicature.experiments.pairs import EXCHANGE, PAPER, after_every_phase
from implicature.experiments.pairs import KEY as RUN
from implicature.experiments.pairs import SETTINGS as LEARNED
from implicature.experiments.results import Row, mean_and_std
from implicature.training.config import Config

USUAL = {
    "exchange, grounded": EXCHANGE,
    "exchange, ungrounded": replace(EXCHANGE, grounded=False),
    "paper, ungrounded": replace(PAPER, grounded=False),
}
CHANGES: dict[str, dict[str, object]] = {
    "as usual": {},
    "F-06 sigmoid": {"likelihood": "sigmoid"},
    "F-08 value head without the belief": {"reads_belief": False},
    "F-10 one target for each set": {"every_target": False},
    "F-11 a third of the learning rate": {"learning_rate": 1 / 3},
    "F-15 no lapse": {"lapse": 0.0},
    "F-16 β 10": {"beta": 10.0},
    "F-17 teacher first": {"first": "teacher"},
    "F-18 α 0.5": {"calibration": 0.5},
    "F-19 from the answer he gave": {"answers": "one"},
    "F-20 meanings may change": {"lexicon": False},
    "F-36 beliefs alone": {"lessons": "beliefs"},
}
SEEING: dict[str, dict[str, dict[str, object]]] = {
    "exchange, grounded, objects-4": {
        "as usual": {},
        "F-23 eyes learn from the game": {"sight": "end-to-end"},
        "F-24 eyes stay, but meanings may change": {"lexicon": False},
    },
    "exchange, ungrounded, objects-4": {
        "as usual": {},
        "F-23 eyes learn from the game": {"sight": "end-to-end"},
        "F-23 eyes learn from the game alone": {"sight": "end-to-end", "pretraining": 0},
    },
    "paper, grounded, objects-4": {
        "as usual": {},
        "F-36 beliefs alone": {"lessons": "beliefs"},
    },
}
"""Choices that only those who see have, or that matter most to them."""
GROUNDED = ("F-17", "F-20", "F-36")
"""Choices that only a grounded pair has."""
RUNS = 2
KEY = RUN


def changed(config: Config, changes: dict[str, object]) -> Config:
    """A learning rate is changed by a factor, the rest is put in place."""
    if "learning_rate" in changes:
        return replace(config, learning_rate=config.learning_rate * float(str(changes["learning_rate"])))
    return replace(config, **changes)  # type: ignore[arg-type]


SETTINGS: dict[str, Config] = {
    f"{name}: {change}": config
    for name, usual in USUAL.items()
    for change, changes in CHANGES.items()
    if ((config := changed(usual, changes)) != usual or not changes)
    and (usual.grounded or not change.startswith(GROUNDED))
}
SETTINGS |= {
    f"{name}: {change}": changed(LEARNED[name], changes)
    for name, all_changes in SEEING.items()
    for change, changes in all_changes.items()
}


def tasks() -> list[Row]:
    return [{"setting": setting, "split": 0, "seed": seed} for seed in range(RUNS) for setting in SETTINGS]


def run(task: Row, games: int, runs: Path) -> list[Row]:
    return after_every_phase(SETTINGS[task["setting"]], task, games, runs, split="validation")


def render(rows: list[Row]) -> str:
    """A Markdown table: mean ± std after the last phase."""
    lines = ["| setting | runs | after phase 1 | accuracy | hard | valid | equivalent games |", "|---" * 7 + "|"]
    for setting, config in SETTINGS.items():
        first, last = (
            [row for row in rows if row["setting"] == setting and int(row["phase"]) == phase]
            for phase in (1, config.phases)
        )
        if last:
            cells = [mean_and_std(first, "accuracy")]
            cells += [
                mean_and_std(last, name) for name in ("accuracy", "hard_accuracy", "valid", "equivalent_accuracy")
            ]
            lines.append(f"| {setting} | {len(last)} | {' | '.join(cells)} |")
    return "\n".join(lines)
