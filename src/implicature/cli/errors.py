"""A mistake in what a command was given, as one sentence on one line, whatever stands in it."""

import re
from io import StringIO

LONGEST = 600
KINDS = {"INT": "a whole number", "FLOAT": "a number", "FLOAT FLOAT": "two numbers", "N": "a whole number"}
"""How tyro's help calls what an option takes, and how a person would."""

TIDIER = (
    (r" \(applied to [^)]*\)", ""),
    (r" Arguments are applied to .*", ""),
    (r"^Unrecognized (or misplaced )?options:", "Options that are not known or stand in the wrong place:"),
    (r"^Missing from implicature (\S+):", r"\1 lacks"),
    (r"\.? \(required\)", ""),
    (r"\. Expected ", ", expected "),
    (r"\.$", ""),
)


def one_line(text: str) -> str:
    """Spaces for line breaks, escapes for what is not to be printed: a name may hold what redraws a terminal."""
    text = " ".join(text.split())
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def of_system(problem: OSError) -> str:
    """What the system refused, and of which file."""
    which = f"{problem.filename} cannot be used" if problem.filename else "A file cannot be used"
    return f"{which} ({problem.strerror or problem}): check its name, who may use it and whether there is room."


def box_parts(text: str) -> list[list[str]]:
    """The parts of a box between its rules, without its title: it is drawn with lines where the terminal has them."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    parts: list[list[str]] = [[]]
    for line in lines:
        row = line.strip("│ ")
        if row and not row.strip("─-"):
            parts.append([])
        elif row and row[0] not in "╭╰":
            parts[-1].append(row)
    return parts if text.startswith("╭") else parts[1:] or [[]]


def of_options(said: StringIO, arguments: list[str], commands: list[str]) -> str:
    """What tyro says of options in a box of several lines. Its first part says what is wrong."""
    parts = box_parts(said.getvalue())
    text = " ".join(" ".join(parts[0]).split())
    for pattern, instead in TIDIER:
        text = re.sub(pattern, instead, text)
    wrong = re.match(r"Error parsing (\S+): ", text)
    if wrong and len(parts) > 1 and len(parts[1]) > 1:
        name, _, kind = parts[1][1].partition(" ")
        text = f"What is given as {name} is not {KINDS.get(kind, 'what it takes')}"
    command = f"{arguments[0]} " if arguments[:1] and arguments[0] in commands else ""
    return f"{text or 'These options are not understood'}: see `implicature {command}--help`."
