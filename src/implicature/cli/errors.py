"""Errors of the command line, as one sentence on one line, whatever stands in it."""

from typing import Any

MAX_LETTERS = 600
KINDS = {"INT": "a whole number", "FLOAT": "a number", "FLOAT FLOAT": "two numbers", "N": "a whole number"}
"""tyro's metavars, as a person would say them."""


class UsageError(Exception):
    """The arguments are not understood."""


def one_line(text: str) -> str:
    """Spaces for line breaks, escapes for what is not printable: a name may hold what redraws a terminal."""
    text = " ".join(text.split())
    if len(text) > MAX_LETTERS:
        text = f"{text[: MAX_LETTERS // 2]} … {text[-MAX_LETTERS // 2 :]}"
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def system_error(error: OSError) -> str:
    """What the system refused, and of which file."""
    which = f"{error.filename} cannot be used" if error.filename else "A file cannot be used"
    return f"{which} ({error.strerror or error}): check its name, its permissions and whether there is room."


def flag(argument: Any) -> str:
    """An argument as it is typed."""
    names = argument.lowered.name_or_flags
    return max(names, key=len) if names else str(argument.lowered.metavar or "an argument")


def raise_usage_error(event: Any) -> None:
    """For `tyro._errors.on_parse_error`: one sentence instead of a box. Events that are not known here fall through to
    tyro's own message."""
    kind = type(event).__name__
    if kind == "UnrecognizedArgs":
        raise UsageError(f"Options that are not known or stand in the wrong place: {' '.join(map(str, event.tokens))}")
    if kind == "MissingArgs":
        missing = ", ".join(flag(one.arg) for one in event.missing_arguments)
        unknown = (
            f" ({' '.join(map(str, event.unrecognized_tokens))} is not known)" if event.unrecognized_tokens else ""
        )
        raise UsageError(f"Missing: {missing}{unknown}")
    if kind == "InvalidChoice":
        choices = ", ".join(event.choices)
        raise UsageError(f"{flag(event.argument)} {event.value} is not one of its choices: choose among {choices}")
    if kind in ("BadValue", "InstantiationFailure"):
        argument = getattr(event, "argument", None)
        if argument is None:
            raise UsageError(str(event.message).rstrip("."))
        takes = KINDS.get(str(argument.lowered.metavar), "what it takes")
        raise UsageError(f"What is given as {flag(argument)} is not {takes}")
    return None
