"""Decisions of people who agreed to it, in SQLite: each is on the disk before the page hears that it was taken.

A closed tab or a killed server loses at most the decision under way. The table is only ever added to.
"""

import json
import sqlite3
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

FORMAT = 1
MOST_CANDIDATES, MOST_WORDS, MOST_ROUNDS, MOST_LETTERS = 100, 4096, 100, 200
"""Of a recorded game: more than the page ever shows."""
APPLICATION = 0x494D504C
"""SQLite's mark of whose file it is: IMPL."""


@dataclass(frozen=True)
class Decision:
    """One thing that a person decided. What is not a number or text is kept as JSON."""

    at: str
    participant: str
    session: str
    role: str
    """student or teacher"""
    game: str
    seed: int
    candidates: list[list[str]]
    """What is true of each, by name: enough to work out the game again."""
    words: list[str]
    """All that could be said."""
    target: int
    rounds: int
    agent: str
    version: str
    step: str
    """The agent's depth or phase."""
    round: int
    said: list[str]
    """The words so far, the last of them this round's."""
    answer: int | None
    """The candidate that was guessed, by person or agent; None for waiting."""
    right: bool | None
    milliseconds: int
    before: list[float]
    """What the agent of this game thought: the student's belief before and after the word,"""
    after: list[float]
    estimate: list[float]
    """the teacher's estimate of it before,"""
    values: list[float | None]
    """and her values for all words."""


COLUMNS = [field.name for field in fields(Decision)]
KINDS = {"seed": "INTEGER", "target": "INTEGER", "rounds": "INTEGER", "round": "INTEGER", "answer": "INTEGER"}
KINDS |= {"right": "INTEGER", "milliseconds": "INTEGER"}
AS_JSON = {"candidates", "words", "said", "before", "after", "estimate", "values"}


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def connected(path: Path) -> sqlite3.Connection:
    """A study's file; a sentence where it is something else."""
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a file: choose another for the study.")
    try:
        connection = sqlite3.connect(path, check_same_thread=False, timeout=10)
        mark, version = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    except sqlite3.Error as problem:
        raise ValueError(f"{path} cannot be used as a study's file ({problem}): choose another.") from None
    if not empty and mark != APPLICATION:
        connection.close()
        raise ValueError(f"{path} is a database of something else: choose another file for the study.")
    if version > FORMAT:
        connection.close()
        raise ValueError(f"{path} was written by a later version of implicature: update it to read this study.")
    return connection


class Study:
    """A file that decisions are added to."""

    def __init__(self, path: Path):
        self._lock = Lock()
        self._file = connected(path)
        columns = ", ".join(f'"{name}" {KINDS.get(name, "TEXT")}' for name in COLUMNS)
        try:
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = FULL")
            with self._file:
                self._file.execute(f"PRAGMA application_id = {APPLICATION}")
                self._file.execute(f"PRAGMA user_version = {FORMAT}")
                self._file.execute(f"CREATE TABLE IF NOT EXISTS decisions (id INTEGER PRIMARY KEY, {columns})")
        except sqlite3.Error as problem:
            raise ValueError(f"{path} cannot be written ({problem}): choose another file.") from None
        names = ", ".join(f'"{name}"' for name in COLUMNS)
        self._insert = f"INSERT INTO decisions ({names}) VALUES ({', '.join('?' * len(COLUMNS))})"

    def keep(self, decision: Decision) -> None:
        """On the disk when this returns."""
        row = [json.dumps(value) if name in AS_JSON else value for name, value in vars(decision).items()]
        with self._lock, self._file:
            self._file.execute(self._insert, row)

    def close(self) -> None:
        with self._lock:
            self._file.close()


def decisions(path: Path) -> list[Decision]:
    """All decisions of a study, in the order they were taken; those of a server that is running, too."""
    if not path.is_file():
        raise ValueError(f"{path} does not exist: `implicature play --record {path}` makes such a file.")
    file = connected(path)
    try:
        names = ", ".join(f'"{name}"' for name in COLUMNS)
        rows = file.execute(f"SELECT {names} FROM decisions ORDER BY id").fetchall()
        return [decoded(dict(zip(COLUMNS, row, strict=True))) for row in rows]
    except (sqlite3.Error, ValueError, TypeError, RecursionError):
        raise ValueError(f"{path} is not a whole study: it was not written by `implicature play --record`.") from None
    finally:
        file.close()


def decoded(row: dict[str, Any]) -> Decision:
    """A row as the decision that it keeps; a ValueError where it cannot have been kept by us."""
    values = {name: json.loads(value) if name in AS_JSON else value for name, value in row.items()}
    decision = Decision(**{**values, "right": None if values["right"] is None else bool(values["right"])})
    if not consistent(decision):
        raise ValueError("This is not a decision.")
    return decision


def consistent(one: Decision) -> bool:
    """Whether a decision could have been taken: it is about a game, with words that there are, by places in it."""
    texts = (one.at, one.participant, one.session, one.role, one.game, one.agent, one.version, one.step)
    whole = (one.seed, one.target, one.rounds, one.round, one.milliseconds)
    number, words = len(one.candidates), len(one.words)
    lists = (one.candidates, *one.candidates, one.words, one.said, one.before, one.after, one.estimate, one.values)
    beliefs = [*one.before, *one.after, *one.estimate, *(value for value in one.values if value is not None)]
    return (
        all(type(text) is str and text.isprintable() and len(text) <= MOST_LETTERS for text in texts)
        and all(type(place) is int and abs(place) < 2**53 for place in whole)
        and all(type(part) is list for part in lists)
        and one.role in ("student", "teacher")
        and 0 < number <= MOST_CANDIDATES
        and 0 < words <= MOST_WORDS
        and 0 < len(one.said) <= MOST_ROUNDS
        and all(type(word) is str and word.isprintable() for names in (one.words, *one.candidates) for word in names)
        and set(one.said) <= set(one.words)
        and one.target in range(number)
        and (one.answer is None or (type(one.answer) is int and one.answer in range(number)))
        and len(one.before) == len(one.after) == len(one.estimate) == number
        and len(one.values) == words
        and all(type(belief) in (int, float) for belief in beliefs)
    )
