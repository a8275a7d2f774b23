"""Who takes part in a study, how far each has come, and what else happened: tables beside the decisions.

A participant's progress is on disk before the page shows the next screen, so that who comes back goes on there.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from implicature.files import printable
from implicature.web.decisions import current_time
from implicature.web.storage import Study, open_for_reading

TABLES = (
    "CREATE TABLE IF NOT EXISTS participants (participant TEXT PRIMARY KEY, plan TEXT, number INTEGER UNIQUE, "
    "session TEXT, prolific_pid TEXT, study_id TEXT, session_id TEXT, consented_at TEXT, finished_at TEXT, "
    "status TEXT, position INTEGER, attempts INTEGER)",
    "CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, at TEXT, participant TEXT, position INTEGER, "
    "kind TEXT, attempt INTEGER, passed INTEGER, detail TEXT, UNIQUE (participant, position, kind, attempt))",
)
COLUMNS = (
    "participant", "plan", "number", "session", "prolific_pid", "study_id", "session_id", "consented_at",
    "finished_at", "status", "position", "attempts",
)  # fmt: skip
EVENT_COLUMNS = ("at", "participant", "position", "kind", "attempt", "passed", "detail")
ACTIVE, COMPLETE, FAILED = "active", "complete", "failed"


@dataclass(frozen=True)
class ParticipantState:
    """A row of the table."""

    participant: str
    plan: str
    number: int
    """In the order of consent, from 0: what orders and lists go by."""
    session: str
    prolific_pid: str | None
    study_id: str | None
    session_id: str | None
    consented_at: str
    finished_at: str | None
    status: str
    """active, complete, or failed (the comprehension check)"""
    position: int
    """Screens done."""
    attempts: int
    """At the comprehension check."""


class Participants:
    """The participants of one plan in a study's file."""

    def __init__(self, study: Study, plan: str):
        self.study, self.plan = study, plan
        with study.transaction() as connection:
            for table in TABLES:
                connection.execute(table)
            other = connection.execute("SELECT count(*) FROM participants WHERE plan != ?", [plan]).fetchone()[0]
        if other:
            raise ValueError(
                f"The file to record in holds {other} participants of another plan, or of this one before it was "
                "changed: name another with --record."
            )

    def find(self, code: str) -> ParticipantState | None:
        with self.study.transaction() as connection:
            return find(connection, code)

    def add(self, code: str, session: str, ids: dict[str, str | None]) -> ParticipantState:
        """Who has agreed; who had before, as they are."""
        with self.study.transaction() as connection:
            if (known := find(connection, code)) is not None:
                return known
            number = connection.execute("SELECT coalesce(max(number), -1) + 1 FROM participants").fetchone()[0]
            new = ParticipantState(
                code, self.plan, number, session, ids.get("prolific_pid"), ids.get("study_id"), ids.get("session_id"),
                current_time(), None, ACTIVE, 0, 0,
            )  # fmt: skip
            connection.execute(
                f"INSERT INTO participants ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})",
                [getattr(new, name) for name in COLUMNS],
            )
            return new

    def advance(self, code: str, position: int, to: int, status: str = ACTIVE, attempts: int | None = None) -> bool:
        """Whether the participant was at this position and now is at the other."""
        finished = None if status == ACTIVE else current_time()
        with self.study.transaction() as connection:
            changed = connection.execute(
                "UPDATE participants SET position = ?, status = ?, finished_at = coalesce(finished_at, ?), "
                "attempts = coalesce(?, attempts) WHERE participant = ? AND position = ? AND status = ?",
                [to, status, finished, attempts, code, position, ACTIVE],
            )
            return changed.rowcount == 1

    def add_event(self, code: str, position: int, kind: str, attempt: int, passed: bool, detail: Any) -> bool:
        """Whether the participant passed: a check that was answered before keeps its first answer."""
        with self.study.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO events (at, participant, position, kind, attempt, passed, detail) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                [current_time(), code, position, kind, attempt, int(passed), json.dumps(detail)],
            )
            query = "SELECT passed FROM events WHERE participant = ? AND position = ? AND kind = ? AND attempt = ?"
            return bool(connection.execute(query, [code, position, kind, attempt]).fetchone()[0])


def find(connection: sqlite3.Connection, code: str) -> ParticipantState | None:
    query = f"SELECT {', '.join(COLUMNS)} FROM participants WHERE participant = ?"
    row = connection.execute(query, [code]).fetchone()
    return None if row is None else ParticipantState(*row)


def is_readable(row: Sequence[Any]) -> bool:
    """Whether a row holds numbers and printable text alone."""
    return all(cell is None or type(cell) is int or (type(cell) is str and printable(cell)) for cell in row)


def read_participants(path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of both tables; none where a study had no plan."""
    try:
        with open_for_reading(path) as connection:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not {"participants", "events"} <= tables:
                return [], []
            people = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM participants ORDER BY number").fetchall()
            events = connection.execute(f"SELECT {', '.join(EVENT_COLUMNS)} FROM events ORDER BY id").fetchall()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged ({str(error)!r}): sqlite3's .recover may help.") from None
    people, events = ([row for row in rows if is_readable(row)] for rows in (people, events))
    checks: list[dict[str, Any]] = [dict(zip(EVENT_COLUMNS, row, strict=True)) for row in events]
    rows: list[dict[str, Any]] = []
    for row in people:
        one = dict(zip(COLUMNS, row, strict=True))
        own = [event["passed"] for event in checks if event["participant"] == row[0] and event["kind"] == "check"]
        rows.append({**one, "checks": len(own), "checks_passed": sum(map(bool, own))})
    return rows, checks
