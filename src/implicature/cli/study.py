"""`implicature study`: what people decided as tidy tables, and each participant's rationality and depth."""

import csv as csv_format
import json as json_format
from collections.abc import Iterable
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from implicature.evaluation.people import Choices, Fit, fit
from implicature.files import write_atomic
from implicature.web.storage import Decision, decisions

ROLES = ("student", "teacher", "both")


def explained_by_fit(decision: Decision) -> bool:
    """A word or an answer; waiting for another word is neither."""
    return decision.role == "teacher" or decision.answer is not None


def choices_of(made: list[Decision]) -> Choices:
    """Decisions as arrays, padded to the largest game among them."""
    room = max(len(one.candidates) for one in made)
    words = max(len(one.words) for one in made)
    rounds = max(len(one.said) for one in made)
    truth = np.zeros((len(made), room, words), bool)
    said = np.full((len(made), rounds), -1)
    for row, one in enumerate(made):
        truth[row, : len(one.candidates), : len(one.words)] = [[w in has for w in one.words] for has in one.candidates]
        said[row, : len(one.said)] = [one.words.index(word) for word in one.said]
    return Choices(
        truth,
        np.array([len(one.candidates) for one in made]),
        np.array([len(one.words) for one in made]),
        said,
        np.array([one.role == "teacher" for one in made]),
        np.array([one.target for one in made]),
        np.array([-1 if one.answer is None else one.answer for one in made]),
    )


def fits(made: list[Decision], quiet: bool = False) -> list[dict[str, Any]]:
    """A row for each participant and role, and one for both roles where they took both."""
    found: list[dict[str, Any]] = []
    useful = [one for one in made if explained_by_fit(one)]
    people = list(dict.fromkeys(one.participant for one in made))
    for person in track(people, "Fitting …", console=Console(stderr=True), transient=True, disable=quiet):
        mine = [one for one in useful if one.participant == person]
        roles = [role for role in ROLES[:2] if any(one.role == role for one in mine)]
        for role in [*roles, *(["both"] if len(roles) == 2 else [])]:
            these = [one for one in mine if role in ("both", one.role)]
            fitted: Fit = fit(choices_of(these))
            ended = [one.right for one in these if one.right is not None]
            found.append(
                {
                    "participant": person, "role": role, **asdict(fitted),
                    "right": float(np.mean(ended)) if ended else None,
                    "median_milliseconds": float(np.median([one.milliseconds for one in these])),
                }
            )  # fmt: skip
    return found


def write_table(path: Path, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    text = StringIO()
    writer = csv_format.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    write_atomic(path, text.getvalue().encode())


def export(made: list[Decision], fitted: list[dict[str, Any]], folder: Path) -> None:
    """decisions, beliefs (a row for each candidate), values (a row for each word) and participants."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ValueError(f"{folder} cannot be made into a folder ({problem.strerror}): choose another --csv.") from None
    plain = [
        "at", "participant", "session", "role", "game", "seed", "target", "rounds", "agent", "version", "step", "round",
        "answer", "right", "milliseconds",
    ]  # fmt: skip
    write_table(
        folder / "decisions.csv",
        ["decision", *plain, "word", "said", "candidates"],
        (
            [i, *(getattr(one, name) for name in plain), one.said[-1], " ".join(one.said),
             " | ".join(" ".join(names) for names in one.candidates)]
            for i, one in enumerate(made, 1)
        ),
    )  # fmt: skip
    write_table(
        folder / "beliefs.csv",
        ["decision", "candidate", "attributes", "target", "before", "after", "estimate"],
        (
            [i, c, " ".join(names), c == one.target, one.before[c], one.after[c], one.estimate[c]]
            for i, one in enumerate(made, 1)
            for c, names in enumerate(one.candidates)
        ),
    )
    write_table(
        folder / "values.csv",
        ["decision", "word", "value", "said"],
        (
            [i, word, value, word == one.said[-1]]
            for i, one in enumerate(made, 1)
            for word, value in zip(one.words, one.values, strict=True)
        ),
    )
    if fitted:
        write_table(folder / "participants.csv", fitted[0], (row.values() for row in fitted))


def interval(low: float | int | None, high: float | int | None, form: str) -> str:
    """Open where the data do not bound it."""
    return f"{'…' if low is None else format(low, form)} to {'…' if high is None else format(high, form)}"


def study(file: Path, csv: Path | None, json: bool) -> None:
    made = decisions(file)
    fitted = fits(made, quiet=json)
    if csv is not None:
        export(made, fitted, csv)
    if json:
        print(json_format.dumps({"decisions": len(made), "participants": fitted}))
        return
    console = Console(highlight=False)
    table = Table(title=f"{len(made)} decisions")
    for name in ("participant", "role", "n", "right", "β", "95 %", "depth", "95 %", "ms"):
        table.add_column(name, justify="left" if name in ("participant", "role") else "right")
    for row in fitted:
        table.add_row(
            Text(row["participant"]), row["role"], str(row["decisions"]),
            "–" if row["right"] is None else f"{100 * row['right']:.0f} %",
            "–" if row["beta"] is None else f"{row['beta']:.1f}",
            interval(row["beta_low"], row["beta_high"], ".1f"), str(row["depth"]),
            interval(row["depth_low"], row["depth_high"], "d"), f"{row['median_milliseconds']:.0f}",
        )  # fmt: skip
    console.print(table)
    if csv is not None:
        console.print(Text(f"Tables are in {csv}"))
