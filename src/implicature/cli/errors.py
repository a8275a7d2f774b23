"""Errors of the command line: one sentence on one line, whatever the input contains."""

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


def raise_usage_error(event: Any) -> None:
    """For tyro's hook `_errors.on_parse_error`: one sentence in place of tyro's box. The hook and its events are still
    private; an event that has changed is described in general terms."""
    try:
        text = describe(event)
    except AttributeError:
        text = "These arguments are not understood"
    raise UsageError(text)


def describe(event: Any) -> str:
    """What is wrong with the arguments."""
    match type(event).__name__:
        case "UnrecognizedArgs":
            return f"This command does not take {' '.join(event.tokens)}"
        case "MissingArgs":
            names = " and ".join(argument_name(one.arg) for one in event.missing_arguments)
            unknown = f", and it does not take {' '.join(event.unrecognized_tokens)}"
            return f"This command needs {names}{unknown if event.unrecognized_tokens else ''}"
        case "InvalidChoice":
            choices = ", ".join(sorted(choice for choice in event.choices if choice != "None"))
            return f"{argument_name(event.argument)} is {event.value!r}, not one of {choices}"
        case "InstantiationFailure" if event.argument is None:
            raise ValueError(event.message)  # a config's own sentence
        case "BadValue" | "InstantiationFailure":
            kind = str(event.argument.lowered.metavar).removeprefix("{None}|")
            return f"{argument_name(event.argument)} takes {KINDS.get(kind, 'a value')}"
        case _:
            return "These arguments are not understood"


def argument_name(argument: Any) -> str:
    """An option as it is typed, or a positional argument in capitals, as in its help."""
    name = max(argument.lowered.name_or_flags, key=len)
    return name if name.startswith("-") else name.rpartition(".")[2].upper()
