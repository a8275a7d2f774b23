"""Ablations: what each choice that the paper leaves open is worth (FIDELITY.md), one change at a time, on validation
games."""

from pathlib import Path

from implicature.experiments.paper.pairs import DEEP_SETS, EXCHANGE, FIGURES, evaluate_phases
from implicature.experiments.paper.pairs import KEY as RUN_KEY
from implicature.experiments.paper.pairs import SETTINGS as PAIRS
from implicature.experiments.results import Result, TaskSpec, mean_and_std
from implicature.experiments.table import Row, Table
from implicature.training.config import Config

DEFAULTS = {
    "exchange, grounded": EXCHANGE,
    "exchange, ungrounded": EXCHANGE.replace(grounded=False),
    "deep-sets, ungrounded": DEEP_SETS.replace(grounded=False),
}
CHANGES: dict[str, dict[str, object]] = {
    "default": {},
    "F-06 sigmoid": {"likelihood": "sigmoid"},
    "F-08 Q head without the belief": {"q_reads_belief": False},
    "F-10 one target per candidate set": {"all_targets": False},
    "F-11 a third of the learning rate": {"learning_rate": EXCHANGE.optimiser.learning_rate / 3},
    "F-15 no lapses": {"lapse_rate": 0.0},
    "F-16 β 10": {"beta": 10.0},
    "F-17 teacher learns first": {"first_learner": "teacher"},
    "F-18 α 0.5": {"calibration_alpha": 0.5},
    "F-19 sampled credit": {"credit": "sampled"},
    "F-20 semantics not frozen": {"freeze_semantics": False},
    "F-36 belief target alone": {"grounding_target": "belief"},
}
GROUNDED_ONLY = ("F-17", "F-20", "F-36")
"""Changes that make sense in a grounded pair alone."""
IMAGE_CHANGES: dict[str, dict[str, dict[str, object]]] = {
    "exchange, grounded, objects-4": {
        "default": {},
        "F-23 finetuned encoder": {"encoder": "finetuned"},
        "F-24 frozen encoder, semantics not frozen": {"freeze_semantics": False},
    },
    "exchange, ungrounded, objects-4": {
        "default": {},
        "F-23 finetuned encoder": {"encoder": "finetuned"},
        "F-23 finetuned encoder without pretraining": {"encoder": "finetuned", "pretraining_iterations": 0},
    },
    "deep-sets, grounded, objects-4": {
        "default": {},
        "F-36 belief target alone": {"grounding_target": "belief"},
    },
}
"""Changes that concern pairs that see images, or matter most to them."""
SETTINGS: dict[str, Config] = {
    f"{name}: {change}": default.replace(**values)
    for name, default in DEFAULTS.items()
    for change, values in CHANGES.items()
    if default.grounding.grounded or not change.startswith(GROUNDED_ONLY)
} | {
    f"{name}: {change}": PAIRS[name].replace(**values)
    for name, changes in IMAGE_CHANGES.items()
    for change, values in changes.items()
}
RUNS = 2
KEY = RUN_KEY


def tasks() -> list[TaskSpec]:
    return [{"setting": setting, "split": 0, "seed": seed} for seed in range(RUNS) for setting in SETTINGS]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    return evaluate_phases(SETTINGS[task["setting"]], task, games, runs, split="validation")


def render(results: list[Result]) -> list[Table]:
    """Mean ± std over runs after phase 1, then after the last phase."""
    rows = []
    for setting, config in SETTINGS.items():
        first, last = (
            [one for one in results if one["setting"] == setting and int(one["phase"]) == phase]
            for phase in (1, config.optimiser.phases)
        )
        if last:
            group, _, change = setting.partition(": ")
            figures = [mean_and_std(last, name) for name in (*FIGURES, "equivalent_accuracy")]
            rows.append(Row(change, [len(last), mean_and_std(first, "accuracy"), *figures], group))
    return [Table("setting", ["runs", "after phase 1", "accuracy", "hard", "valid", "equivalent games"], rows)]
