"""Decisions of people who agreed to be recorded, in SQLite: each is on disk before the page hears that it was taken.

A closed tab or a killed server loses at most the decision in progress. Rows are only ever added, and a decision is one
row, however often it is sent: the first stands.
"""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic
from typing import Any

from implicature.web.decisions import (
    COLUMNS,
    GAME_FIELDS,
    INTEGERS,
    REALS,
    SINCE_FORMAT_3,
    Decision,
    is_consistent,
    parse_row,
    to_row,
)

FORMAT = 3
"""Format 2 added the decision id and the unique index, format 3 what is known of a trial and the participants of a
plan. Older ones are read as they are, and migrated when they are added to."""
APPLICATION_ID = 0x494D504C
"""SQLite's mark of the application that a file belongs to: IMPL."""
MAX_WAIT = 2.0
"""Seconds that a decision waits for a file that another program has locked,"""
MAX_WAIT_LOCKED = 0.2
"""and where another decision has just waited in vain."""
REPETITION = "repetition"
"""A column that is 0, but counts the copies of a decision that a server of format 1 recorded more than once."""

Row = tuple[Any, ...]


def quote_columns(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{COLUMNS[name]}"' for name in names)


ALL_COLUMNS = quote_columns(tuple(COLUMNS))
UNIQUE_COLUMNS = f"{quote_columns((*GAME_FIELDS, 'round'))}, {REPETITION}"
UNIQUE_INDEXES = (
    f"CREATE UNIQUE INDEX one_row_a_decision ON decisions ({UNIQUE_COLUMNS})",
    "CREATE UNIQUE INDEX one_decision_an_id ON decisions (participant, session, decision_id)",
)
UNIQUE_TRIALS = (
    "CREATE UNIQUE INDEX one_row_a_trial ON decisions (participant, session, trial, round) WHERE block IS NOT NULL"
)
"""Of a plan, whose trials the server numbers."""


def check_name(path: Path) -> None:
    """An error where SQLite would take the name for something else than a file, or it is none."""
    if str(path) == ":memory:" or str(path).startswith("file:"):
        raise ValueError(f"{path} is not the name of a file that lasts: choose another for the study.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a file: choose another for the study.")


def check_format(connection: sqlite3.Connection, path: Path) -> int:
    """The format of a study, 0 of an empty file; an error where it is something else."""
    try:
        application, version = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be used as a study file ({str(error)!r}): choose another.") from None
    if not empty and application != APPLICATION_ID:
        raise ValueError(f"{path} is a database of another application: choose another file for the study.")
    if version > FORMAT:
        raise ValueError(f"{path} was written by a later version of implicature: update it to read this study.")
    return 0 if empty else version


class Study:
    """A file that decisions are added to."""

    def __init__(self, path: Path):
        check_name(path)
        self._lock, self._blocked_at = Lock(), -MAX_WAIT
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, timeout=MAX_WAIT, isolation_level=None)
        except sqlite3.Error as error:
            raise ValueError(f"{path} cannot be used as a study file ({str(error)!r}): choose another.") from None
        try:
            check_format(self._connection, path)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            with self.transaction():
                # Another server may have migrated it meanwhile.
                migrate(self._connection, check_format(self._connection, path))
        except (sqlite3.Error, ValueError) as error:
            self._connection.close()
            if isinstance(error, ValueError):
                raise
            raise ValueError(f"{path} cannot be written ({str(error)!r}): choose another file.") from None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Alone with the file, after a bounded wait; on disk at the end, or nothing of it."""
        started = monotonic()
        wait = MAX_WAIT_LOCKED if started - self._blocked_at < MAX_WAIT else MAX_WAIT
        if not self._lock.acquire(timeout=wait):
            raise sqlite3.OperationalError("database is locked")
        try:
            left = max(0.0, wait - (monotonic() - started))
            self._connection.execute(f"PRAGMA busy_timeout = {int(1000 * left)}")
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                self._blocked_at = monotonic()
                raise
            self._blocked_at = -MAX_WAIT
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
        finally:
            self._lock.release()

    def record(self, decision: Decision, is_gone: Callable[[], bool] = lambda: False) -> Decision:
        """The decision that stands: this one, on disk, or the one that was recorded before in this round of this game.
        Nothing is recorded if the client has gone before its turn came."""
        if not is_consistent(decision):
            raise ValueError("This decision cannot be recorded, since it could not be read again: report this game.")
        with self.transaction():
            if is_gone():
                raise ValueError("The client has gone, so its decision is not recorded: send it again.")
            first = self._find(decision, decision.round)
            if first is not None:
                return first
            self._check_id(decision)
            self._check_order(decision)
            row = to_row(decision)
            insert = f"INSERT INTO decisions ({ALL_COLUMNS}) VALUES ({', '.join('?' * len(row))})"
            self._connection.execute(insert, list(row.values()))
            return decision

    def _find(self, decision: Decision, number: int) -> Decision | None:
        """What was recorded in this round of the decision's game."""
        row = to_row(decision)
        where = " AND ".join(f'"{COLUMNS[name]}" = ?' for name in (*GAME_FIELDS, "round"))
        query = f"SELECT {ALL_COLUMNS} FROM decisions WHERE {where} AND {REPETITION} = 0"
        found = self._connection.execute(query, [*(row[name] for name in GAME_FIELDS), number]).fetchone()
        return None if found is None else parse_row(found)

    def _check_id(self, decision: Decision) -> None:
        query = "SELECT count(*) FROM decisions WHERE participant = ? AND session = ? AND decision_id = ?"
        own = decision.participant, decision.session, decision.decision_id
        if decision.decision_id is not None and self._connection.execute(query, own).fetchone()[0]:
            raise ValueError("This decision id was sent with another decision: make a new one for each.")

    def _check_order(self, decision: Decision) -> None:
        """A round follows the one before it, which must be recorded, without an answer."""
        if decision.round == 1:
            return
        number = decision.round - 1
        before = self._find(decision, number)
        if before is None:
            raise ValueError(
                f"Round {decision.round} of this game was sent before round {number}: decide the rounds in their order."
            )
        if before.answer is not None:
            raise ValueError(f"This game ended in round {number}, so it has no round {decision.round}: start another.")
        if before.messages != decision.messages[:-1]:
            raise ValueError(
                f"Round {number} was recorded with another word: send the words of this game as they were sent."
            )

    def close(self) -> bool:
        """Whether the file alone is the whole study. It is, unless another program is using it."""
        with self._lock:
            whole = False
            with suppress(sqlite3.Error):
                self._connection.execute(f"PRAGMA busy_timeout = {int(1000 * MAX_WAIT)}")
                whole = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
                self._connection.execute("PRAGMA journal_mode = DELETE")  # readable without files of SQLite's beside it
            self._connection.close()
            return whole


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """From an empty file or an earlier format to the present one."""
    if version == FORMAT:
        return
    if version == 0:
        columns = ", ".join(f'"{column}" {column_type(name)}' for name, column in COLUMNS.items())
        connection.execute(f"CREATE TABLE decisions (id INTEGER PRIMARY KEY, {columns})")
    if version == 1:
        connection.execute("ALTER TABLE decisions ADD COLUMN decision_id TEXT")
    if version < 2:
        add_unique_indexes(connection)
    if version in (1, 2):
        for name in SINCE_FORMAT_3:
            connection.execute(f'ALTER TABLE decisions ADD COLUMN "{name}" {column_type(name)}')
    connection.execute(UNIQUE_TRIALS)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def column_type(name: str) -> str:
    return "INTEGER" if name in INTEGERS else "REAL" if name in REALS else "TEXT"


def add_unique_indexes(connection: sqlite3.Connection) -> None:
    """A decision is one row from now on; those that stand in the file twice are kept and numbered."""
    connection.execute(f"ALTER TABLE decisions ADD COLUMN {REPETITION} INTEGER NOT NULL DEFAULT 0")
    same = f"PARTITION BY {quote_columns((*GAME_FIELDS, 'round'))} ORDER BY id"
    numbered = f"SELECT ROW_NUMBER() OVER ({same}) - 1 AS number, id FROM decisions"
    repeated = connection.execute(f"SELECT number, id FROM ({numbered}) WHERE number > 0").fetchall()
    connection.executemany(f"UPDATE decisions SET {REPETITION} = ? WHERE id = ?", repeated)
    for index in UNIQUE_INDEXES:
        connection.execute(index)


@contextmanager
def open_for_reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that changes nothing, neither the file nor its folder, which may be read-only."""
    file = path.resolve()
    log = file.with_name(f"{file.name}-wal")
    logged = log.exists()
    with TemporaryDirectory() as folder:
        # Without a log nobody is writing, and SQLite needs no files of its own beside this one.
        connection = sqlite3.connect(f"{file.as_uri()}?{'mode=ro' if logged else 'immutable=1'}", uri=True)
        if logged:
            try:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            except sqlite3.OperationalError:
                connection.close()
                copies = [shutil.copyfile(one, Path(folder) / one.name) for one in (file, log)]
                connection = sqlite3.connect(copies[0])
        # Cells that are not UTF-8 become text that is not printable, so that only their rows are skipped.
        connection.text_factory = lambda cell: cell.decode("utf-8", "surrogateescape")
        try:
            yield connection
        finally:
            connection.close()


def columns_of_format(version: int) -> str:
    """All columns, NULL for those that a file of an earlier format has not."""
    missing = {*(SINCE_FORMAT_3 if version < FORMAT else ()), *(("decision_id",) if version < 2 else ())}
    return ", ".join("NULL" if name in missing else f'"{column}"' for name, column in COLUMNS.items())


def read_decisions(path: Path) -> tuple[list[Decision], int]:
    """All decisions of a study in their order, and how many rows are none; a server may still be adding some."""
    if not path.is_file():
        raise ValueError(f"{path} does not exist: `implicature play --record {path}` creates a study.")
    check_name(path)
    decisions, skipped = [], 0
    try:
        with open_for_reading(path) as connection:
            columns = columns_of_format(check_format(connection, path))
            for row in connection.execute(f"SELECT {columns} FROM decisions ORDER BY id"):
                try:
                    decisions.append(parse_row(row))
                except (ValueError, TypeError, RecursionError):
                    skipped += 1
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ValueError(
            f"{path} is damaged or no study of `implicature play --record` ({str(error)!r}): "
            "sqlite3's .recover may help."
        ) from None
    return decisions, skipped
