"""Runs of earlier versions: their configs and the names of their weights, as this version has them."""

import re
from typing import Any

from implicature.training.checks import PRAGMATIC_ONLY

FORMAT = 2
RENAMED = {
    "instances": "train_instance_fraction", "split": "split_seed", "pictures": "images", "depth": "layers",
    "lapse": "lapse_rate", "reads_belief": "q_reads_belief", "pretraining": "pretraining_iterations",
    "batch": "candidate_sets", "every_target": "all_targets", "obverter": "obverter_weight",
    "calibration": "calibration_alpha", "replay": "replay_batches", "entropy": "entropy_bonus", "sight": "encoder",
    "first": "first_learner", "lessons": "grounding_target", "answers": "credit", "lexicon": "freeze_semantics",
}  # fmt: skip
VALUES: dict[str, dict[Any, Any]] = {
    "network": {"paper": "deep-sets"},
    "encoder": {"auto": None, "symbols": "none", "cached": "frozen", "end-to-end": "finetuned"},
    "first_learner": {"auto": None},
    "grounding_target": {"words": "speaker", "beliefs": "belief"},
    "credit": {"every": "expected", "one": "sampled"},
}
WEIGHTS = (
    (r"^(.*)\.(teacher|student)\.eyes\b", r"\1.\2_encoder"),
    (r"\.belief\.shades\b", ".net.aux_embeddings"),
    (r"\.belief\.spread\b", ".net.expand"),
    (r"\.belief\.rounds\b", ".net.layers"),
    (r"\.belief\.gather\b", ".net.readout"),
    (r"\.belief\b", ".net"),
    (r"\.teacher\.about\b", ".teacher.q_hidden"),
    (r"\.teacher\.expected\b", ".teacher.q_belief"),
    (r"\.teacher\.out\b", ".teacher.q_out"),
    (r"\.slope\b", ".wait_slope"),
    (r"\.offset\b", ".wait_offset"),
)


def upgrade_config(values: dict[str, Any]) -> dict[str, Any]:
    """The flat settings of a run of version 0.1, by this version's names."""
    new = {RENAMED.get(name, name): value for name, value in values.items()}
    new = {name: VALUES[name].get(value, value) if name in VALUES else value for name, value in new.items()}
    # One width meant several things.
    width, method = new.get("width", 16), new.get("method", "pragmatic")
    new["q_hidden"] = 2 * width
    if method != "pragmatic" or new.get("network") == "deep-sets":
        new["width"] = 4 * width
    if method == "la-2017":
        new["filters"] = width
    # What had no effect was kept all the same.
    if new.get("freeze_semantics", True):
        new["freeze_semantics"] = None
    if method != "pragmatic":
        new = {name: value for name, value in new.items() if name not in PRAGMATIC_ONLY}
    return new


def upgrade_weight_name(name: str) -> str:
    """The name of a weight of version 0.1, as this version has it."""
    for pattern, replacement in WEIGHTS:
        name = re.sub(pattern, replacement, name)
    return name
