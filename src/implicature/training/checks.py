"""Checks of a config: types and ranges, flags that do not apply, sizes that do not fit into memory."""

from collections.abc import Callable
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from implicature.games.rules import Rules
from implicature.spaces import Space
from implicature.training.config import GROUPS, Config, Range
from implicature.training.resolve import resolve

MAX_CELLS = 200_000_000
"""Numbers in the largest array of an iteration: almost a gigabyte."""

HINTS: dict[str, Any] = {
    name: hint for kind in GROUPS.values() for name, hint in get_type_hints(kind, include_extras=True).items()
}


def parts(hint: Any) -> tuple[Any, Range | None, bool]:
    """The plain type of a hint, its range, and whether it may be None."""
    if get_origin(hint) in (Union, UnionType):
        options = [one for one in get_args(hint) if one is not type(None)]
        plain, bounds, _ = parts(options[0])
        return plain, bounds, len(options) < len(get_args(hint))
    if hasattr(hint, "__metadata__"):
        return hint.__origin__, hint.__metadata__[0], False
    return hint, None, False


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def check_value(name: str, value: Any) -> None:
    """Raise an error where a value is not of its field's type or range."""
    plain, bounds, optional = parts(HINTS[name])
    if value is None and optional:
        return
    check_type(name, value, plain)
    if bounds is not None and not bounds.contains(value):
        start = "above" if bounds.low_excluded else "from"
        low, high = format_bound(bounds.low), format_bound(bounds.high)
        raise ValueError(f"{flag(name)} is {value:,}: give a number {start} {low} to {high}.")


def format_bound(bound: int | float) -> str:
    return f"{int(bound):,}" if bound == int(bound) else f"{bound:g}"


def check_type(name: str, value: Any, kind: Any) -> None:
    options = get_args(kind)
    if get_origin(kind) is Literal:
        if value not in options:
            raise ValueError(f"{flag(name)} is {value!r:.60}: choose one of {', '.join(options)}.")
    elif get_origin(kind) is tuple:
        numbers = list(value) if isinstance(value, tuple | list) else []
        if len(numbers) != len(options) or not all(type(one) in (int, float) for one in numbers):
            raise ValueError(f"{flag(name)} is {value!r:.60}: give {len(options)} numbers.")
    elif not (type(value) is kind or (kind is float and type(value) is int and abs(value) < 2**53)):
        names = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
        raise ValueError(f"{flag(name)} is {value!r:.60}: give {names[kind]}.")


BASELINE_ONLY = ("entropy_bonus", "temperature")
PRAGMATIC_ONLY = (
    "rounds", "network", "layers", "likelihood", "lapse_rate", "freeze_semantics", "q_hidden", "q_reads_belief",
    "grounding_target", "first_learner", "beta", "epsilon", "gamma", "obverter_weight", "calibration_alpha",
    "replay_batches", "target_update",
)  # fmt: skip
IGNORED: list[tuple[Callable[[Config], bool], tuple[str, ...], str]] = [
    (lambda c: c.method.method == "pragmatic", (*BASELINE_ONLY, "filters"), "--method pragmatic"),
    (lambda c: c.method.method == "la-2018", ("filters",), "--method la-2018"),
    (lambda c: c.method.method == "la-2017", PRAGMATIC_ONLY, "--method la-2017"),
    (lambda c: c.method.method == "la-2018", PRAGMATIC_ONLY, "--method la-2018"),
    (lambda c: c.network.network == "deep-sets", ("freeze_semantics",), "--network deep-sets"),
    (lambda c: not c.grounding.grounded, ("grounding_target", "freeze_semantics"), "--no-grounded"),
    (lambda c: c.game.space is not None, ("game",), "--space"),
    (lambda c: c.encoder.encoder == "none", ("images",), "--encoder none"),
    (lambda c: c.game.rounds == 1, ("gamma", "target_update"), "--rounds 1"),
]
"""When which settings have no effect."""


def check_ignored(config: Config, space: Space, candidates: int) -> None:
    """Raise an error for a setting that was changed and has no effect with the others."""
    values, defaults = config.flat(), Config().flat()
    for when, names, because in IGNORED:
        if not when(config):
            continue
        # A resolved config has these values without anybody having asked for them.
        unset = config.replace(**{name: defaults[name] for name in names})
        resolved = resolve(unset, space, candidates).flat()
        for name in names:
            if values[name] not in (defaults[name], resolved[name]):
                raise ValueError(f"{flag(name)} has no effect with {because}: leave out one of them.")


def check_config(config: Config) -> None:
    """Raise an error for what cannot be trained."""
    for name, value in config.flat().items():
        check_value(name, value)
    if config.network.layers < 1 and config.network.network == "exchange" and config.method.method == "pragmatic":
        raise ValueError("--layers is 0: the exchange network has 1 or more.")
    if not all(1e-6 <= probability <= 1 for probability in config.method.epsilon):
        raise ValueError(
            "--epsilon takes two probabilities from 0.000001 to 1: of exploring at the start and the end, 0.95 0.05."
        )
    Rules(2 if config.game.candidates is None else config.game.candidates, config.game.rounds, config.game.message_cost)


def check_size(config: Config, candidates: int, space: Space) -> None:
    """Raise an error for what would fill the memory, before anything does."""
    messages, width = space.table.shape[1], config.network.width or 1
    optimiser = config.optimiser
    games = optimiser.candidate_sets * (candidates if optimiser.all_targets else 1)
    exchange = config.method.method == "pragmatic" and config.network.network == "exchange"
    cell_width = width if exchange else max(1, width // 4)
    arrays = [
        games * candidates * messages * cell_width,
        optimiser.seeds * config.method.replay_batches * games * config.game.rounds * candidates,
        optimiser.seeds * config.network.layers * (16 * cell_width**2 + cell_width * messages),
    ]
    if space.images is not None and config.encoder.encoder != "none":
        arrays.append(optimiser.candidate_sets * candidates * space.images[0, 0].size)
    if max(arrays) > MAX_CELLS:
        raise ValueError(
            f"Batches of {optimiser.candidate_sets:,} sets of {candidates:,} candidates with {messages:,} messages do "
            "not fit into memory: ask for a smaller --candidate-sets, --width or --replay-batches, or fewer --seeds."
        )
