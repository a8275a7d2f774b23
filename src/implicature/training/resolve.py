"""A config becomes concrete: every default that depends on another setting or on the space is filled in."""

from implicature.spaces import Space
from implicature.training.config import Config

PRETRAINING_RATE_DEEP_SETS = 0.25
"""The deep-sets network does not survive Bayesian pretraining at the full learning rate (F-11)."""


def resolve(config: Config, space: Space, candidates: int) -> Config:
    """The config without None where a default depends on something else. Resolving twice changes nothing."""
    pragmatic, grounded = config.method.method == "pragmatic", config.grounding.grounded
    deep_sets = pragmatic and config.network.network == "deep-sets"
    encoder = config.encoder.encoder or ("none" if space.images is None else "frozen")
    rate = config.optimiser.learning_rate
    defaults = {
        "candidates": candidates,
        "encoder": encoder,
        "width": 16 if pragmatic and not deep_sets else 64,
        "freeze_semantics": grounded and pragmatic and not deep_sets and encoder != "finetuned",
        "pretraining_learning_rate": PRETRAINING_RATE_DEEP_SETS * rate if deep_sets and grounded else rate,
        "first_learner": "student" if grounded else "teacher",
        "beta": default_beta(candidates, config.game.rounds) if pragmatic else 1.0,
        "calibration_alpha": 1.0 if grounded else 0.0,
    }
    values = config.flat()
    return config.replace(**{name: value for name, value in defaults.items() if values[name] is None})


def default_beta(candidates: int, rounds: int) -> float:
    """With few candidates a soft teacher comes to send untrue messages; with many a hard one does not break ties. Where
    another message may follow, a worse one costs only that message, so β is larger (F-16)."""
    return (20.0 if candidates <= 4 else 10.0) * (4.0 if rounds > 1 else 1.0)
