"""What the fields of a config may hold: types, ranges, choices, names in a registry. Each error is one sentence."""

from pathlib import Path
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from implicature.extensions import is_own_object


class Range(NamedTuple):
    """The values a number may have."""

    low: float
    high: float
    low_excluded: bool = False

    def contains(self, value: Any) -> bool:
        return self.low <= value <= self.high and not (self.low_excluded and value == self.low)


class Registered(NamedTuple):
    """The names in a registry; besides them, a field takes module:object, an object of one's own."""

    names: tuple[str, ...]


def parts(hint: Any) -> tuple[Any, Range | Registered | None, bool]:
    """The plain type of a hint, its range or its names, and whether it may be None."""
    if get_origin(hint) in (Union, UnionType):
        options = [one for one in get_args(hint) if one is not type(None)]
        plain, bounds, _ = parts(options[0])
        return plain, bounds, len(options) < len(get_args(hint))
    if hasattr(hint, "__metadata__"):
        return hint.__origin__, hint.__metadata__[0], False
    return hint, None, False


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def check_field(name: str, hint: Any, value: Any) -> None:
    """Raise an error where a value is not of its field's type or range."""
    plain, bounds, optional = parts(hint)
    if value is None and optional:
        return
    if isinstance(bounds, Registered):
        if value not in bounds.names and not is_own_object(value):
            names = ", ".join(bounds.names)
            raise ValueError(
                f"{flag(name)} is {value!r:.60}: choose one of {names}, or name an object of your own as module:object."
            )
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


def declared(name: str, hint: Any, value: Any) -> Any:
    """A value of its field's type, or an error. JSON has no tuples, people write 1.0 as 1, and programs name files by
    paths."""
    if isinstance(value, Path):
        value = str(value)
    check_field(name, hint, value)
    plain, _, _ = parts(hint)
    if isinstance(value, list):
        return tuple(float(one) for one in value)
    return float(value) if type(value) is int and plain is float else value
