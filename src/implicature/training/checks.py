"""Which configs can be trained: every field in its range, all of it small enough for memory. And the config of a run's
folder, which anybody may have edited."""

import json
from dataclasses import asdict
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from implicature.files import read_text
from implicature.games.sampling import Rules
from implicature.spaces import Space
from implicature.training.config import Config

MOST: dict[str, int] = {
    "phases": 1_000, "iterations": 10**9, "pretraining": 10**9, "batch": 2**16, "seeds": 1_000, "width": 1_024,
    "depth": 100, "replay": 10_000, "target_update": 10**9, "train_games": 10**8,
}  # fmt: skip
"""Beyond it a number is a slip of the hand."""
STRONGEST = 1e6
"""Of weights and of rationality: float32 holds its exponential differences, and nobody needs more."""
MOST_CELLS = 200_000_000
"""Numbers in the largest array of an iteration: almost a gigabyte."""
MOST_CONFIG = 100_000
"""Bytes of a config."""


def check_config(config: Config) -> None:
    """Raise a sentence for what cannot be trained."""
    for name, most in MOST.items():
        # The exchange network's first round is always there.
        least = 0 if name in ("phases", "pretraining") or (name, config.network) == ("depth", "paper") else 1
        asked = f"--{name.replace('_', '-')} {getattr(config, name)}"
        if getattr(config, name) < least:
            raise ValueError(f"{asked} is too small: ask for {least} or more.")
        if getattr(config, name) > most:
            raise ValueError(f"{asked} is too large: ask for {most:,} or fewer.")
    if not 0 < config.instances <= 1:
        raise ValueError(f"A share of {config.instances} instances is not in (0, 1]: 0.7 leaves 30 % unseen.")
    if not 0 < config.learning_rate < 1:
        raise ValueError(f"A learning rate of {config.learning_rate} is not in (0, 1): 0.003 is usual here.")
    if not 0 <= config.weight_decay <= 10:
        raise ValueError(f"A weight decay of {config.weight_decay} is not in [0, 10]: 0 leaves weights alone.")
    if not 0 <= config.lapse < 1:
        raise ValueError(f"A lapse of {config.lapse} is not in [0, 1): it is the chance of a message that is anything.")
    if not 0 <= config.gamma <= 1:
        raise ValueError(f"A discount of {config.gamma} is not in [0, 1]: 1 counts later rewards in full.")
    if len(config.epsilon) != 2 or not all(1e-6 <= chance <= 1 for chance in config.epsilon):
        raise ValueError(
            "--epsilon takes two chances from 0.000001 to 1: of exploring at the start and at the end, 0.95 0.05."
        )
    if not 1 / STRONGEST <= config.temperature <= STRONGEST:
        raise ValueError(
            f"A temperature of {config.temperature} is not from {1 / STRONGEST:g} to {STRONGEST:g}: "
            "1 leaves scores as they are."
        )
    if config.pictures is not None and config.sight == "symbols":
        raise ValueError("With --sight symbols nobody sees --pictures: leave out one of them.")
    if config.method != "pragmatic" and config.rounds != 1:
        raise ValueError(f"The agents of {config.method} have one message a game: leave --rounds at 1.")
    for name in ("beta", "obverter", "calibration", "entropy"):
        if (value := getattr(config, name)) is not None and not 0 <= value <= STRONGEST:
            raise ValueError(f"--{name} {value} is not a number from 0 to {STRONGEST:,.0f}: choose one that is.")
    for name in ("seed", "split"):
        if not 0 <= getattr(config, name) < 2**31 - config.seeds:
            raise ValueError(f"--{name} {getattr(config, name)} is not a seed: take one from 0 to 2 billion.")
    Rules(2 if config.candidates is None else config.candidates, config.rounds, config.message_cost)


def check_size(config: Config, candidates: int, space: Space) -> None:
    """Raise a sentence for what would fill the memory, before anything does."""
    messages = space.table.shape[1]
    games = config.batch * (candidates if config.every_target else 1)
    arrays = [games * candidates * messages * config.width]
    arrays.append(config.seeds * config.replay * games * config.rounds * candidates)
    arrays.append(config.seeds * config.depth * (16 * config.width**2 + config.width * messages))
    if space.pictures is not None and config.sight != "symbols":
        arrays.append(config.batch * candidates * space.pictures[0, 0].size)
    if max(arrays) > MOST_CELLS:
        raise ValueError(
            f"Batches of {config.batch:,} sets of {candidates:,} candidates with {messages:,} messages do not fit into "
            "memory as they are to be trained: ask for a smaller --batch, --width or --replay, or fewer --seeds."
        )


def of_kind(value: Any, hint: Any) -> bool:
    """Whether what JSON holds is of a field's type; a whole number will do for any number."""
    if get_origin(hint) is UnionType:
        return any(of_kind(value, one) for one in get_args(hint))
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if get_origin(hint) is tuple:
        kinds = get_args(hint)
        return isinstance(value, list) and len(value) == len(kinds) and all(map(of_kind, value, kinds))
    return type(value) is hint or (hint is float and type(value) is int and abs(value) < 2**53)


def in_kind(value: Any, hint: Any) -> Any:
    """The same value in the type that its field has."""
    if get_origin(hint) is tuple:
        return tuple(map(in_kind, value, get_args(hint)))
    return float(value) if type(value) is int and float in (hint, *get_args(hint)) else value


def read_config(folder: Path) -> Config:
    """The config of a run folder; a sentence where it is none."""
    path = folder / "config.json"
    if not path.exists():
        raise ValueError(f"{folder} is not a run: it has no config.json. `implicature train` makes one.")
    try:
        values: dict[str, Any] = json.loads(read_text(path, MOST_CONFIG))["config"]
        if not isinstance(values, dict):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(f"{path} cannot be read as the config of a run.") from None
    if unknown := values.keys() - asdict(Config()).keys():
        raise ValueError(f"{path} has settings that this version does not know: {', '.join(sorted(unknown))[:200]}.")
    for name, hint in get_type_hints(Config).items():
        if name not in values or of_kind(values[name], hint):
            continue
        kind = f"none of {', '.join(get_args(hint))}" if get_origin(hint) is Literal else "not of its kind"
        raise ValueError(f"{path} has {repr(values[name])[:60]} for {name}, which is {kind}.")
    kinds = get_type_hints(Config)
    config = Config(**{name: in_kind(value, kinds[name]) for name, value in values.items()})
    try:
        check_config(config)
    except ValueError as problem:
        raise ValueError(f"{path}: {problem}") from None
    return config
