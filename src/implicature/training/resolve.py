"""A config becomes concrete: every default that depends on another setting or on the space is filled in."""

from implicature.games.contexts import near_scores
from implicature.games.live import LIVE_FROM, SAMPLE, live_bucket
from implicature.games.registry import default_contexts
from implicature.games.rules import NEAR_TEMPERATURE, Contexts
from implicature.spaces import Space
from implicature.training.config import BASELINES, Config

TRAIN_GAMES, NEAR_TRAIN_GAMES = 600_000, 100_000
CANDIDATE_SETS, MAX_CELLS = 256, 2**17
PRETRAINING_RATE_DEEP_SETS = 0.25
"""The deep-sets network does not survive Bayesian pretraining at the full learning rate (F-11)."""


def resolve(config: Config, space: Space, candidates: int) -> Config:
    """The config without None where a default depends on something else. Resolving twice changes nothing."""
    pragmatic, grounded = config.method.method not in BASELINES, config.grounding.grounded
    deep_sets, exchange = (pragmatic and config.network.network == name for name in ("deep-sets", "exchange"))
    encoder = config.encoder.encoder or ("none" if space.images is None else "frozen")
    rate = config.optimiser.learning_rate
    near = contexts_of(config) == "near"
    live = config.data.live_words
    if live is None:
        live = default_live_words(config, space, candidates) if pragmatic and exchange else 0
    defaults = {
        "candidates": candidates,
        "min_candidates": candidates,
        "contexts": "near" if near else "random",
        "context_temperature": NEAR_TEMPERATURE,
        "live_words": live,
        "candidate_sets": batch_size(candidates * (live or len(space.words))),
        "train_games": NEAR_TRAIN_GAMES if near else TRAIN_GAMES,
        "encoder": encoder,
        "width": 16 if pragmatic and not deep_sets else 64,
        "freeze_semantics": grounded and pragmatic and exchange and encoder != "finetuned",
        "pretraining_learning_rate": PRETRAINING_RATE_DEEP_SETS * rate if deep_sets and grounded else rate,
        "first_learner": "student" if grounded else "teacher",
        "listener_entropy_bonus": config.method.entropy_bonus,
        "beta": default_beta(candidates, config.game.rounds * config.game.words) if pragmatic else 1.0,
        "gamma": 1.0 if config.game.words == 1 else 0.5,
        "calibration_alpha": 1.0 if grounded else 0.0,
    }
    values = config.flat()
    return config.replace(**{name: value for name, value in defaults.items() if values[name] is None})


def contexts_of(config: Config) -> Contexts:
    """How candidates are drawn, also before the config is resolved."""
    return config.game.contexts or default_contexts(config.game.game, config.game.space)


def default_live_words(config: Config, space: Space, candidates: int) -> int:
    """As many words as sampled games need; all words where the channel confuses them."""
    if config.game.noise or candidates > space.instances or len(space.words) <= LIVE_FROM:
        return 0
    near = contexts_of(config) == "near"
    temperature = config.game.context_temperature
    scores = near_scores(space, NEAR_TEMPERATURE if temperature is None else temperature, SAMPLE) if near else None
    return live_bucket(space, candidates, scores)


def batch_size(cells: int) -> int:
    """Fewer candidate sets where each has many cells, candidates × words; a multiple of 8, for the devices."""
    return CANDIDATE_SETS if cells * CANDIDATE_SETS <= MAX_CELLS else max(8, MAX_CELLS // cells // 8 * 8)


def default_beta(candidates: int, rounds: int) -> float:
    """With few candidates a soft teacher comes to send untrue messages; with many a hard one does not break ties. Where
    another message may follow, a worse one costs only that message, so β is larger (F-16)."""
    return (20.0 if candidates <= 4 else 10.0) * (4.0 if rounds > 1 else 1.0)
