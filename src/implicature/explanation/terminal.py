"""What each message means literally, and between a teacher and a student who reason about each other, on a terminal.

First whom a message fits and how beliefs sharpen with depth, then how hard each candidate is to name, then the story.
Names are printed as Text, never as rich's markup: "[red]" is a fine attribute.
"""

import sys
from dataclasses import asdict
from io import TextIOWrapper
from json import dumps

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from implicature.explanation.model import Explanation
from implicature.explanation.text import (
    belief,
    best_messages,
    explain_in_words,
    join_names,
    percent,
    tied_best,
    true_of,
    used_messages,
)
from implicature.games.parsing import ordinal

WIDE = 8
"""Up to this many candidates have a column each; more are summarised by message."""
ROWS = 24
"""Up to this many messages have a row each; of more, only those the teacher uses."""
TERMS = """\
level     how often all with a message of their own are removed before it has one
TD        true messages that together rule out all other candidates
RTD       the same, once candidates that are easier to teach are removed
no-clash  a true message each, such that no two candidates share one
found     the probability: she says her best message, he picks his best candidate"""


def print_explanation(explanation: Explanation, target: int | None, how: str, json: bool) -> None:
    """The target is numbered from 1; `how` says what it was computed with."""
    given = explanation.candidates
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # where ● cannot be printed, ? will do
    if json:
        print(dumps(asdict(explanation)))
        return
    console = Console(highlight=False)
    marked = None if target is None else target - 1
    view = by_message if len(given) > WIDE else by_candidate
    console.print()
    console.print(heading(f"{len(given)} candidates"), listing(explanation, marked))
    console.print(heading(f"What he believes after each message ({how})"), *view(explanation))
    console.print(heading("How hard each is to name"), *teaching_table(explanation, marked))
    console.print(heading("Between the lines"))
    for sentence in explain_in_words(explanation, marked, most=WIDE if len(given) <= WIDE else WIDE // 2):
        text = Text(sentence)
        text.highlight_regex(r"“.*?”", "bold cyan")
        console.print(Padding(text, (0, 0, 1, 1), expand=False))


def heading(text: str) -> Padding:
    return Padding(Text(text, "bold"), (0, 0, 0, 1), expand=False)


def legend(text: str) -> Padding:
    return Padding(Text(text, "dim"), (0, 0, 1, 2), expand=False)


def shade(chance: float) -> str:
    return "bold green" if chance >= 0.9 else "green" if chance >= 0.5 else "yellow" if chance >= 0.1 else "dim"


def listing(explanation: Explanation, target: int | None) -> Padding:
    table = Table(box=None, show_header=False)
    for i, names in enumerate(explanation.candidates):
        text = Text(", ".join(names), "bold" if i == target else "")
        if explanation.names and explanation.names[i] != ",".join(names):
            text = Text.assemble((explanation.names[i], "bold"), f": {', '.join(names)}")
        if len(explanation.candidates) > WIDE:
            text.truncate(56, overflow="ellipsis")
        mark = Text("← target", "bold magenta") if i == target else Text()
        table.add_row(Text(ordinal(i + 1), "dim"), text, mark)
    return Padding(table, (0, 0, 1, 1), expand=False)


def message_table(explanation: Explanation, columns: list[str]) -> tuple[Table, list[str], str]:
    """An empty table, the messages for its rows, and a word about those left out."""
    few = len(explanation.messages) <= ROWS and len(explanation.candidates) <= WIDE
    shown = explanation.messages if few else used_messages(explanation)[:ROWS]
    close = len(columns) > 4
    table = Table(box=SIMPLE_HEAD, padding=(0, 0 if close else 1))
    table.add_column("message", overflow="fold", style="cyan", max_width=12 if close else 16)
    for column in columns:
        table.add_column(column)
    hidden = len(explanation.messages) - len(shown)
    return table, shown, f" {hidden} more messages are not shown." if hidden else ""


def by_candidate(explanation: Explanation) -> tuple[Table, Padding]:
    """A row for each message, a column for each candidate, beliefs from depth to depth in its cells."""
    number, last = len(explanation.candidates), len(explanation.depths) - 1
    early = [0, 1, 2] if number <= 3 else [0, 1] if number <= 5 else [0]  # what fits into 80 columns
    depths = [t for t in early if t < last] + [last]
    table, shown, hidden = message_table(explanation, [ordinal(i + 1) for i in range(number)])
    for message in shown:
        paths = zip(*(belief(explanation, message, t) for t in depths), strict=True)
        marks = [truth_mark(explanation, message, i) for i in range(number)]
        cells = (path(p, mark) if mark else Text("·", "dim") for p, mark in zip(paths, marks, strict=True))
        table.add_row(Text(message), *cells)
    when = "at depth " + " → ".join(f"{t}" if t else "0 (literal)" for t in depths)
    if explanation.player is not None:
        when = f"literally, and then this player's ({explanation.player})"
    key = "● true of it, ○ less than half true" if explanation.meaning else "● true of it"
    return table, legend(f"{key}, and his belief in percent {when}.{hidden}")


def truth_mark(explanation: Explanation, message: str, candidate: int) -> str:
    """Of what may be said at all, whether it counts as true."""
    if candidate in true_of(explanation, message):
        return "●"
    graded = explanation.meaning
    return "○" if graded and graded[candidate][explanation.messages.index(message)] > 0 else ""


def path(beliefs: tuple[float, ...], mark: str) -> Text:
    """●50→88→100; a belief that does not change is shown once."""
    steps = [(f"{100 * chance:.0f}", shade(chance)) for chance in beliefs]
    first, *later = steps[:1] if len({step for step, _ in steps}) == 1 else steps
    return Text.assemble((mark, "cyan"), first, *(part for step in later for part in (("→", "dim"), step)))


def by_message(explanation: Explanation) -> tuple[Table, Padding]:
    """For many candidates: whom each message fits and whom he picks, at first and in the end."""
    last = len(explanation.depths) - 1
    depths = [0, last] if last else [0]
    table, shown, hidden = message_table(
        explanation, ["true of", *(f"depth {t}" if t else "literally" for t in depths)]
    )
    for message in shown:
        table.add_row(
            Text(message), str(len(true_of(explanation, message))), *(pick(explanation, message, t) for t in depths)
        )
    return table, legend(f"Of how many each message is true, and in whom he then believes most.{hidden}")


def pick(explanation: Explanation, message: str, depth: int) -> Text:
    beliefs = belief(explanation, message, depth)
    top = tied_best(beliefs)
    who = join_names([ordinal(i + 1) for i in top], "or", most=3)
    return Text(f"{who} {percent(beliefs[top[0]])}{' each' if len(top) > 1 else ''}", shade(beliefs[top[0]]))


def teaching_table(explanation: Explanation, target: int | None) -> tuple[Table, Padding]:
    table = Table(box=SIMPLE_HEAD)
    for name in ("candidate", "level", "TD", "RTD", "no-clash", "she says", "found"):
        justify = "right" if name in ("level", "TD", "RTD", "found") else "left"
        width = {"no-clash": 12, "she says": 18}.get(name)
        table.add_column(name, justify=justify, overflow="fold", max_width=width)
    for i in range(len(explanation.candidates)):
        bound = "" if explanation.exact else "≤"
        sizes = ["–" if size is None else f"{bound}{size}" for size in (explanation.td[i], explanation.rtd[i])]
        level, own = explanation.level[i], explanation.no_clash[i]
        table.add_row(
            ordinal(i + 1) + (" ←" if i == target else ""),
            "–" if level is None else str(level),
            *sizes,
            Text("–" if own is None else own),
            Text(join_names(best_messages(explanation, i)[0], "or", most=3), "cyan"),
            Text(percent(explanation.accuracy[i]), shade(explanation.accuracy[i])),
            style="bold" if i == target else "",
        )
    return table, legend(
        TERMS if explanation.exact else f"{TERMS}\n≤         too long to compute exactly: at most this many"
    )
