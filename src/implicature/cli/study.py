"""`implicature study`: participants' decisions as tidy tables, and their rationality and depth."""

from pathlib import Path
from typing import Any

import tyro

from implicature.files import format_csv, write_atomic
from implicature.web.decisions import Decision
from implicature.web.storage import read_decisions

COLUMNS = (
    "time", "participant", "session", "role", "game", "seed", "target", "max_rounds", "agent", "version", "variant",
    "round", "answer", "correct", "reaction_time_ms",
)  # fmt: skip


def study(file: tyro.conf.Positional[Path], csv: Path | None = None, json: bool = False) -> None:
    """Fit each participant's rationality and depth to what `implicature play --record` kept, and export it all.

    Args:
        file: The SQLite file.
        csv: A folder for tidy tables: decisions, beliefs, values, participants.
        json: Print the fits as one JSON object instead.
    """
    from json import dumps

    from implicature.web.analysis import fit_participants

    decisions, skipped = read_decisions(file)
    fits = fit_participants(decisions, quiet=json)
    if csv is not None:
        write_tables(decisions, fits, csv)
    if json:
        print(dumps({"decisions": len(decisions), "skipped_rows": skipped, "participants": fits}))
    else:
        print_fits(len(decisions), skipped, fits, csv)


def write_tables(decisions: list[Decision], fits: list[dict[str, Any]], folder: Path) -> None:
    """decisions.csv, beliefs.csv (a row for each candidate), values.csv (a row for each word), participants.csv."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{folder} cannot be made into a folder ({error.strerror}): choose another --csv.") from None
    numbered = list(enumerate(decisions, 1))
    decision_rows = (
        [
            i, *(getattr(one, name) for name in COLUMNS), one.messages[-1], " ".join(one.messages),
            " | ".join(" ".join(names) for names in one.candidates),
        ]
        for i, one in numbered
    )  # fmt: skip
    belief_rows = (
        [i, c, " ".join(names), c == one.target, one.belief_before[c], one.belief_after[c], one.teacher_estimate[c]]
        for i, one in numbered
        for c, names in enumerate(one.candidates)
    )
    value_rows = (
        [i, word, value, word == one.messages[-1]]
        for i, one in numbered
        for word, value in zip(one.words, one.values, strict=True)
    )
    beliefs = ("belief_before", "belief_after", "teacher_estimate")
    tables = {
        "decisions": format_csv(["decision", *COLUMNS, "message", "messages", "candidates"], decision_rows),
        "beliefs": format_csv(["decision", "candidate", "attributes", "is_target", *beliefs], belief_rows),
        "values": format_csv(["decision", "message", "value", "sent"], value_rows),
    }
    if fits:
        tables["participants"] = format_csv(fits[0], (row.values() for row in fits))
    for name, content in tables.items():
        write_atomic(folder / f"{name}.csv", content)


def format_interval(low: float | int | None, high: float | int | None, form: str) -> str:
    """Open where the data do not bound it."""
    return f"{'…' if low is None else format(low, form)} to {'…' if high is None else format(high, form)}"


def print_fits(n_decisions: int, n_skipped: int, fits: list[dict[str, Any]], folder: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(title=f"{n_decisions} decisions")
    for name in ("participant", "role", "n", "correct", "β", "95 %", "depth", "95 %", "ms"):
        table.add_column(name, justify="left" if name in ("participant", "role") else "right")
    for fit in fits:
        table.add_row(
            Text(fit["participant"]), fit["role"], str(fit["decisions"]),
            "–" if fit["accuracy"] is None else f"{100 * fit['accuracy']:.0f} %",
            "–" if fit["beta"] is None else f"{fit['beta']:.1f}",
            format_interval(fit["beta_low"], fit["beta_high"], ".1f"), str(fit["depth"]),
            format_interval(fit["depth_low"], fit["depth_high"], "d"), f"{fit['median_reaction_time_ms']:.0f}",
        )  # fmt: skip
    console.print(table)
    if n_skipped:
        rows = "1 row" if n_skipped == 1 else f"{n_skipped} rows"
        verb, what = ("was", "it holds no decision") if n_skipped == 1 else ("were", "they hold no decisions")
        console.print(Text(f"{rows} of {n_decisions + n_skipped} {verb} skipped: {what} that `play` would record."))
    if folder is not None:
        console.print(Text(f"Tables are in {folder}"))
