"""Decisions of people who agreed to be recorded, in SQLite: each is on disk before the page hears that it was taken.

A closed tab or a killed server loses at most the decision in progress. Rows are only ever added.
"""

import json
import sqlite3
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

FORMAT = 1
MAX_CANDIDATES, MAX_WORDS, MAX_MESSAGES, MAX_LETTERS = 100, 4096, 100, 200
"""Of a recorded game: more than the page ever shows."""
APPLICATION_ID = 0x494D504C
"""SQLite's mark of the application that a file belongs to: IMPL."""


@dataclass(frozen=True)
class Decision:
    """One decision of a participant. Lists are stored as JSON."""

    time: str
    participant: str
    session: str
    role: str
    """student or teacher"""
    game: str
    seed: int
    candidates: list[list[str]]
    """The attributes of each, by name: enough to reconstruct the game."""
    words: list[str]
    """The vocabulary."""
    target: int
    max_rounds: int
    agent: str
    version: str
    variant: str
    """The agent's depth or phase."""
    round: int
    messages: list[str]
    """The messages so far; the last is this round's."""
    answer: int | None
    """The candidate that the participant or the agent answered; None for waiting."""
    correct: bool | None
    reaction_time_ms: int
    belief_before: list[float]
    """What the agents of this game computed: the student's belief before and after the message,"""
    belief_after: list[float]
    teacher_estimate: list[float]
    """the teacher's estimate of the belief before it,"""
    values: list[float | None]
    """and her values of all words; None for those that she may not say."""


COLUMNS = {field.name: field.name for field in fields(Decision)} | {
    "time": "at", "max_rounds": "rounds", "variant": "step", "messages": "said", "correct": "right",
    "reaction_time_ms": "milliseconds", "belief_before": "before", "belief_after": "after",
    "teacher_estimate": "estimate",
}  # fmt: skip
"""The column of each field, as format 1 names it."""
INTEGERS = {"seed", "target", "max_rounds", "round", "answer", "correct", "reaction_time_ms"}
JSON_FIELDS = {"candidates", "words", "messages", "belief_before", "belief_after", "teacher_estimate", "values"}
QUOTED_COLUMNS = ", ".join(f'"{column}"' for column in COLUMNS.values())


def current_time() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def connect(path: Path) -> sqlite3.Connection:
    """A study file; an error where it is something else."""
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a file: choose another for the study.")
    try:
        connection = sqlite3.connect(path, check_same_thread=False, timeout=10)
        application, version = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    except sqlite3.Error as error:
        raise ValueError(f"{path} cannot be used as a study file ({error}): choose another.") from None
    if not empty and application != APPLICATION_ID:
        connection.close()
        raise ValueError(f"{path} is a database of another application: choose another file for the study.")
    if version > FORMAT:
        connection.close()
        raise ValueError(f"{path} was written by a later version of implicature: update it to read this study.")
    return connection


class Study:
    """A file that decisions are added to."""

    def __init__(self, path: Path):
        self._lock = Lock()
        self._connection = connect(path)
        columns = ", ".join(
            f'"{column}" {"INTEGER" if name in INTEGERS else "TEXT"}' for name, column in COLUMNS.items()
        )
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            with self._connection:
                self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self._connection.execute(f"PRAGMA user_version = {FORMAT}")
                self._connection.execute(f"CREATE TABLE IF NOT EXISTS decisions (id INTEGER PRIMARY KEY, {columns})")
        except sqlite3.Error as error:
            raise ValueError(f"{path} cannot be written ({error}): choose another file.") from None

    def record(self, decision: Decision) -> None:
        """On disk when this returns."""
        row = [json.dumps(value) if name in JSON_FIELDS else value for name, value in vars(decision).items()]
        insert = f"INSERT INTO decisions ({QUOTED_COLUMNS}) VALUES ({', '.join('?' * len(COLUMNS))})"
        with self._lock, self._connection:
            self._connection.execute(insert, row)

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def read_decisions(path: Path) -> list[Decision]:
    """All decisions of a study in their order; a server may still be adding some."""
    if not path.is_file():
        raise ValueError(f"{path} does not exist: `implicature play --record {path}` creates a study.")
    connection = connect(path)
    try:
        rows = connection.execute(f"SELECT {QUOTED_COLUMNS} FROM decisions ORDER BY id").fetchall()
        return [parse_decision(dict(zip(COLUMNS, row, strict=True))) for row in rows]
    except (sqlite3.Error, ValueError, TypeError, RecursionError):
        raise ValueError(f"{path} is not a valid study: `implicature play --record` did not write it.") from None
    finally:
        connection.close()


def parse_decision(row: dict[str, Any]) -> Decision:
    values = {name: json.loads(value) if name in JSON_FIELDS else value for name, value in row.items()}
    decision = Decision(**{**values, "correct": None if values["correct"] is None else bool(values["correct"])})
    if not is_consistent(decision):
        raise ValueError("This is not a decision.")
    return decision


def is_consistent(decision: Decision) -> bool:
    """Whether types, sizes and indices fit each other, so that the decision can be replayed."""
    one = decision
    texts = (one.time, one.participant, one.session, one.role, one.game, one.agent, one.version, one.variant)
    integers = (one.seed, one.target, one.max_rounds, one.round, one.reaction_time_ms)
    beliefs = (one.belief_before, one.belief_after, one.teacher_estimate)
    lists = (one.candidates, *one.candidates, one.words, one.messages, *beliefs, one.values)
    numbers = [*(p for belief in beliefs for p in belief), *(value for value in one.values if value is not None)]
    n_candidates, n_words = len(one.candidates), len(one.words)
    return (
        all(type(text) is str and text.isprintable() and len(text) <= MAX_LETTERS for text in texts)
        and all(type(number) is int and abs(number) < 2**53 for number in integers)
        and all(type(part) is list for part in lists)
        and one.role in ("student", "teacher")
        and 0 < n_candidates <= MAX_CANDIDATES
        and 0 < n_words <= MAX_WORDS
        and 0 < len(one.messages) <= MAX_MESSAGES
        and all(type(word) is str and word.isprintable() for names in (one.words, *one.candidates) for word in names)
        and set(one.messages) <= set(one.words)
        and one.target in range(n_candidates)
        and (one.answer is None or (type(one.answer) is int and one.answer in range(n_candidates)))
        and all(len(belief) == n_candidates for belief in beliefs)
        and len(one.values) == n_words
        and all(type(number) in (int, float) for number in numbers)
    )
