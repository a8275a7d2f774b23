"""Recorded decisions: each is one row, whatever is sent twice, cut off or locked, and what is recorded can be read."""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient

from implicature.training.config import Config
from implicature.training.runs.run import start_run
from implicature.web.app import create_app
from implicature.web.storage import Study, read_decisions

SETTINGS = {"game": "three-objects", "seed": 8, "pragmatic_only": True, "variant": 1}
TWO_ROUNDS = {**SETTINGS, "rounds": 2, "variant": 0}
"""A literal student waits for a second word after “blue”."""
BLUE, SPHERE, CONE = 0, 1, 3
FIRST_ID, SECOND_ID = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
NOBODY = 65_534


def participant(code: str = "P1", session: str = "one", **more: Any) -> dict:
    return {"consent": True, "code": code, "session": session, "reaction_time_ms": 900, **more}


def student_turn(seed: int = 8, answer: int | str = 0, **more: Any) -> dict:
    return {"settings": {**SETTINGS, "seed": seed}, "answer": answer, "participant": participant(**more)}


def decisions_in(file: Path) -> list:
    return read_decisions(file)[0]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "study.sqlite"


@pytest.fixture
def page(file: Path) -> Iterator[TestClient]:
    """A page that records, in this process."""
    with closing(Study(file)) as study, TestClient(create_app(study=study), base_url="http://127.0.0.1") as client:
        yield client


def post(page: TestClient, path: str, body: dict) -> dict:
    response = page.post(f"/api/{path}", json=body)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.fixture(scope="module")
def recording(serving, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server that records, and its file. The game that the tests play is compiled."""
    file = tmp_path_factory.mktemp("recording") / "study.sqlite"
    with serving("--record", str(file)) as (address, _):
        httpx.post(f"{address}api/student", json={"settings": SETTINGS, "answer": 0}, timeout=120).raise_for_status()
        yield address, file


# ---- D2: a recorded decision is one row


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"decision_id": FIRST_ID}, {}], ids=["id", "no-id"])
def test_d2_fifty_concurrent_posts_of_one_decision_give_one_row(more: dict, recording: tuple[str, Path]):
    address, file = recording
    code = f"D2-{len(more)}"
    body = student_turn(seed=100, code=code, **more)

    def send(_: int) -> tuple[int, str]:
        response = httpx.post(f"{address}api/student", json=body, timeout=60)
        return response.status_code, response.text

    with ThreadPoolExecutor(50) as threads:
        responses = set(threads.map(send, range(50)))
    assert len(responses) == 1
    status, text = responses.pop()
    assert (status, json.loads(text)["recorded"]) == (200, True)
    assert len([one for one in decisions_in(file) if one.participant == code]) == 1


def test_d2_a_repeat_is_answered_like_the_first_post_whatever_it_says(page: TestClient, file: Path):
    """Two quick keys, or a client that does not know of ids: the first answer stands."""
    first = post(page, "student", student_turn(answer=0, decision_id=FIRST_ID))
    for repeat in (student_turn(answer=1, decision_id=FIRST_ID), student_turn(answer=2), student_turn(answer=0)):
        assert post(page, "student", repeat) == first
    settings = {**SETTINGS, "variant": 3}
    said = post(page, "teacher", {"settings": settings, "messages": [BLUE], "participant": participant()})
    again = post(page, "teacher", {"settings": settings, "messages": [CONE], "participant": participant()})
    assert again == said
    assert said["messages"] == [BLUE]
    assert [(one.role, one.round) for one in decisions_in(file)] == [("student", 1), ("teacher", 1)]


def test_d2_no_other_request_tells_the_target_of_a_recorded_game(page: TestClient):
    """Whoever watches, teaches or plays unrecorded by the same seed sees a game that has nothing to do with it."""
    same = {"watch": 0, "teacher": 0, "unrecorded": 0}
    for seed in range(10):
        settings = {"game": "numbers-4", "seed": seed, "variant": 1}
        person = participant(code=f"P{seed}")

        def target_of(viewer: str, state: dict, settings: dict = settings) -> int:
            shown = post(page, "game", {**settings, "viewer": viewer})
            return shown["candidates"][state["target"]]["instance"]

        told = {
            "watch": target_of("unrecorded", post(page, "watch", settings)),
            "teacher": target_of("teacher", post(page, "teacher", {"settings": settings})),
            "unrecorded": target_of("unrecorded", post(page, "student", {"settings": settings, "answer": 0})),
        }
        turn = {"settings": settings, "participant": person}
        assert post(page, "student", turn)["target"] is None
        meant = target_of("student", post(page, "student", {**turn, "answer": 0}))
        for name, instance in told.items():
            same[name] += instance == meant
    # One of more than 300 number sets is the target: by chance, the same one in a game now and then at most.
    assert max(same.values()) <= 1, same


@pytest.mark.slow
def test_d2_a_repeat_of_waiting_is_waiting(page: TestClient, file: Path):
    turn = {"settings": TWO_ROUNDS, "answer": "wait", "participant": participant()}
    first = post(page, "student", turn)
    assert (first["over"], len(first["messages"])) == (False, 2)
    assert post(page, "student", {**turn, "answer": 1}) == first
    end = post(page, "student", {**turn, "answer": 1, "n_messages": 2})
    assert (end["over"], end["answer"]) == (True, 1)
    assert [(one.round, one.answer) for one in decisions_in(file)] == [(1, None), (2, 1)]


def test_d2_rounds_come_in_order(page: TestClient, file: Path):
    early = {"settings": TWO_ROUNDS, "answer": 1, "n_messages": 2, "participant": participant()}
    response = page.post("/api/student", json=early)
    assert (response.status_code, response.json()["message"]) == (
        422,
        "Round 2 of this game was sent before round 1: decide the rounds in their order.",
    )
    post(page, "student", {**early, "n_messages": 1})
    late = page.post("/api/student", json=early)
    assert (late.status_code, late.json()["message"]) == (
        422,
        "This game ended in round 1, so it has no round 2: start another.",
    )
    words = {"settings": TWO_ROUNDS, "messages": [BLUE], "participant": participant()}
    assert post(page, "teacher", words)["over"] is False
    other = page.post("/api/teacher", json={**words, "messages": [SPHERE, CONE]})
    assert (other.status_code, other.json()["message"]) == (
        422,
        "Round 1 was recorded with another word: send the words of this game as they were sent.",
    )
    assert post(page, "teacher", {**words, "messages": [BLUE, SPHERE]})["over"] is True
    assert [(one.role, one.round) for one in decisions_in(file)] == [("student", 1), ("teacher", 1), ("teacher", 2)]


def test_d2_a_second_game_of_a_session_is_another_decision(page: TestClient, file: Path):
    games = [
        {}, {"seed": 9}, {"game": "some-all"}, {"variant": 2}, {"rounds": 2}, {"instances": [0, 1]},
        {"instances": [1, 0]}, {"instances": [0, 2]},
    ]  # fmt: skip
    for change in games:
        turn = {"settings": {**SETTINGS, **change}, "answer": 0, "participant": participant()}
        assert post(page, "student", turn)["recorded"] is True
    for who in (participant(code="P2"), participant(session="two")):
        assert post(page, "student", {"settings": SETTINGS, "answer": 0, "participant": who})["recorded"] is True
    post(page, "teacher", {"settings": SETTINGS, "messages": [BLUE], "participant": participant()})
    assert len(decisions_in(file)) == len(games) + 3


def test_d2_a_decision_id_belongs_to_one_decision_of_one_participant(page: TestClient, file: Path):
    post(page, "student", student_turn(decision_id=FIRST_ID))
    other = page.post("/api/student", json=student_turn(seed=9, decision_id=FIRST_ID))
    assert (other.status_code, other.json()["message"]) == (
        422,
        "This decision id was sent with another decision: make a new one for each.",
    )
    post(page, "student", student_turn(seed=9, decision_id=SECOND_ID))
    post(page, "student", student_turn(seed=9, code="P2", decision_id=SECOND_ID))
    assert page.post("/api/student", json=student_turn(seed=10, decision_id="x")).status_code == 422
    assert len(decisions_in(file)) == 3


FORMAT_1 = (
    "CREATE TABLE decisions (id INTEGER PRIMARY KEY, at TEXT, participant TEXT, session TEXT, role TEXT, game TEXT, "
    "seed INTEGER, candidates TEXT, words TEXT, target INTEGER, rounds INTEGER, agent TEXT, version TEXT, step TEXT, "
    'round INTEGER, said TEXT, answer INTEGER, "right" INTEGER, milliseconds INTEGER, before TEXT, after TEXT, '
    'estimate TEXT, "values" TEXT)'
)


def write_format_1(file: Path, page_file: Path, copies: int) -> None:
    """The decisions of a study as the first version would have recorded them, each several times."""
    columns = (
        "at participant session role game seed candidates words target rounds agent version step round said answer"
    )
    names = [*columns.split(), "right", "milliseconds", "before", "after", "estimate", "values"]
    quoted = ", ".join(f'"{name}"' for name in names)
    with closing(sqlite3.connect(page_file)) as source, closing(sqlite3.connect(file)) as target, target:
        rows = source.execute(f"SELECT {quoted} FROM decisions ORDER BY id").fetchall()
        target.execute("PRAGMA application_id = 1229803596")
        target.execute("PRAGMA user_version = 1")
        target.execute(FORMAT_1)
        insert = f"INSERT INTO decisions ({quoted}) VALUES ({', '.join('?' * len(names))})"
        target.executemany(insert, [row for row in rows for _ in range(copies)])


def test_d2_a_study_of_format_1_keeps_its_duplicates_and_takes_no_more(page: TestClient, file: Path, tmp_path: Path):
    post(page, "student", student_turn(seed=1))
    post(page, "student", student_turn(seed=2))
    old = tmp_path / "old.sqlite"
    write_format_1(old, file, copies=3)
    assert len(decisions_in(old)) == 6
    with closing(Study(old)) as study, TestClient(create_app(study=study), base_url="http://127.0.0.1") as later:
        assert post(later, "student", student_turn(seed=1, answer=1))["answer"] == 0
        assert post(later, "student", student_turn(seed=3))["recorded"] is True
        assert post(later, "student", student_turn(seed=3, decision_id=FIRST_ID))["recorded"] is True
    assert [one.seed for one in decisions_in(old)] == [1, 1, 1, 2, 2, 2, 3]
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
        copy = "INSERT INTO decisions SELECT NULL, {} FROM decisions WHERE id = 7"
        names = [row[1] for row in connection.execute("PRAGMA table_info(decisions)")][1:]
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(copy.format(", ".join(f'"{name}"' for name in names)))
    # It is opened as it is from now on.
    Study(old).close()
    assert len(decisions_in(old)) == 7


# ---- D3: what is recorded can be read


@pytest.mark.slow
def test_d3_joiners_and_new_emoji_are_recorded_and_read(tmp_path: Path, ask):
    """می‌خواهم holds a zero-width non-joiner; Python 3.11 does not know 🩷, which is of Unicode 15."""
    space = tmp_path / "own.csv"
    rows = [f"{verb},{sign}" for verb in ("می‌خواهم", "می‌روم") for sign in ("👩‍🚀", "🩷")]
    space.write_text("\n".join(["verb,sign", *rows]), encoding="utf-8")
    config = Config.of(
        space=str(space), candidates=2, phases=0, grounded=False, width=4, layers=1, candidate_sets=16, train_games=100
    )
    for _ in start_run(tmp_path / "run", config).train():
        pass
    file = tmp_path / "study.sqlite"
    with closing(Study(file)) as study:
        app = create_app(tmp_path / "run", study=study)
        with TestClient(app, base_url="http://127.0.0.1") as page:
            for seed in range(3):
                settings = {"game": "custom", "agent": "run", "seed": seed}
                turn = {"settings": settings, "answer": 0, "participant": participant()}
                assert post(page, "student", turn)["recorded"] is True
    code, out, err = ask("study", file, "--json", "--csv", tmp_path / "out")
    assert (code, err) == (0, "")
    assert (json.loads(out)["decisions"], json.loads(out)["skipped_rows"]) == (3, 0)
    table = (tmp_path / "out" / "decisions.csv").read_text(encoding="utf-8")
    assert "می‌" in table
    assert "🩷" in table


@pytest.mark.parametrize(
    "change",
    [
        "said = 'nonsense'", "answer = 9", "words = NULL", "participant = x'ff'", "game = CAST(x'ff' AS TEXT)",
        "words = '[\"a\x1b[31m\"]'", "role = 'nobody'", "milliseconds = 'soon'", "before = '[[[['",
    ],
)  # fmt: skip
def test_d3_a_bad_row_is_skipped_and_counted(change: str, page: TestClient, file: Path, ask):
    for seed in range(3):
        post(page, "student", student_turn(seed=seed))
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"UPDATE decisions SET {change} WHERE id = 2")
    decisions, skipped = read_decisions(file)
    assert ([one.seed for one in decisions], skipped) == ([0, 2], 1)
    code, out, _ = ask("study", file)
    assert code == 0
    assert "2 decisions" in out
    assert "1 row of 3 was skipped" in " ".join(out.split())


def test_d3_what_could_not_be_read_is_not_recorded(file: Path, page: TestClient):
    post(page, "student", student_turn())
    (good,) = decisions_in(file)
    with (
        closing(Study(file)) as study,
        pytest.raises(ValueError, match="This decision cannot be recorded"),
    ):
        study.record(replace(good, seed=99, words=["blue\x1b[31m", *good.words[1:]]))
    assert len(decisions_in(file)) == 1


# ---- D8: recording in operation


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_d8_the_file_alone_can_be_copied_after_a_signal(number: signal.Signals, file: Path, tmp_path: Path, serving):
    with serving("--record", str(file)) as (address, process):
        response = httpx.post(f"{address}api/student", json=student_turn(), timeout=120)
        assert response.json()["recorded"] is True
        process.send_signal(number)
        assert process.wait(30) == 0
    copy = tmp_path / "copy.sqlite"
    shutil.copy(file, copy)
    assert len(decisions_in(copy)) == 1
    assert [one.name for one in sorted(tmp_path.iterdir())] == ["copy.sqlite", "study.sqlite"]


@contextmanager
def foreign_lock(file: Path) -> Iterator[sqlite3.Connection]:
    """Another program writes to the file and does not finish."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=10)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield connection


@pytest.mark.slow
def test_d8_a_foreign_lock_is_answered_with_503_soon(recording: tuple[str, Path]):
    address, file = recording

    def send(seed: int) -> tuple[int, str, float]:
        started = time.monotonic()
        response = httpx.post(f"{address}api/student", json=student_turn(seed=seed, code="D8"), timeout=30)
        return response.status_code, response.json().get("message", ""), time.monotonic() - started

    for seed in range(60):  # dealt and compiled, so that only the lock takes time
        httpx.post(f"{address}api/student", json={"settings": {**SETTINGS, "seed": seed}, "answer": 0}, timeout=60)
    with foreign_lock(file), ThreadPoolExecutor(60) as threads:
        responses = list(threads.map(send, range(60)))
    assert {status for status, _, _ in responses} == {503}
    assert all("could not be recorded (database is locked)" in message for _, message, _ in responses)
    assert max(seconds for _, _, seconds in responses) < 6
    assert not [one for one in decisions_in(file) if one.participant == "D8"]
    status, _, _ = send(0)
    assert status == 200


def connect(address: str) -> socket.socket:
    url = urlsplit(address)
    return socket.create_connection((url.hostname or "", url.port or 80), timeout=30)


def raw_post(body: bytes, length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    head = f"POST /api/student HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {size}"
    return head.encode() + b"\r\n\r\n" + body


@pytest.mark.slow
def test_d8_nothing_is_recorded_after_its_client_has_gone(recording: tuple[str, Path]):
    address, file = recording
    httpx.post(f"{address}api/student", json={"settings": {**SETTINGS, "seed": 70}, "answer": 0}, timeout=60)
    with foreign_lock(file) as lock:
        client = connect(address)
        client.sendall(raw_post(json.dumps(student_turn(seed=70, code="gone")).encode()))
        time.sleep(0.7)
        client.close()
        time.sleep(0.3)
        lock.execute("ROLLBACK")
    time.sleep(2.5)
    assert not [one for one in decisions_in(file) if one.participant == "gone"]


def test_d8_a_body_that_is_cut_off_is_not_recorded(recording: tuple[str, Path]):
    """It is whole JSON, but not all that was promised."""
    address, file = recording
    body = json.dumps(student_turn(seed=71, code="cut")).encode()
    with connect(address) as client:
        client.sendall(raw_post(body, len(body) + 20))
        time.sleep(0.3)
    with connect(address) as client:
        head = raw_post(b"").replace(b"content-length: 0", b"transfer-encoding: chunked")
        client.sendall(head + f"{len(body):x}\r\n".encode() + body + b"\r\n")
        time.sleep(0.3)
    time.sleep(1.5)
    assert not [one for one in decisions_in(file) if one.participant == "cut"]


@contextmanager
def read_only_folder(*files: Path) -> Iterator[Path]:
    """A folder with these files in which this process can change nothing, even if it is root's."""
    folder = Path(tempfile.mkdtemp())
    for one in files:
        shutil.copy(one, folder)
        (folder / one.name).chmod(0o444)
    folder.chmod(0o555)
    user = os.geteuid()
    try:
        if user == 0:
            os.seteuid(NOBODY)
        assert not os.access(folder, os.W_OK, effective_ids=True)
        yield folder
    finally:
        if user == 0:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_d8_a_study_is_read_from_a_folder_that_cannot_be_written(page: TestClient, file: Path, tmp_path: Path):
    """A file that was closed, one that an earlier version closed, and one of a killed server with what lies beside."""
    post(page, "student", student_turn(seed=1))
    killed = [file, file.with_name(f"{file.name}-wal")]
    with read_only_folder(*killed) as folder:
        assert [one.seed for one in decisions_in(folder / file.name)] == [1]
        assert len(list(folder.iterdir())) == 2
    closed = tmp_path / "closed.sqlite"
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(closed)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
    with read_only_folder(closed) as folder:
        assert len(decisions_in(folder / closed.name)) == 1
    with closing(sqlite3.connect(closed)) as target:
        target.execute("PRAGMA journal_mode = WAL")
    with read_only_folder(closed) as folder:
        assert len(decisions_in(folder / closed.name)) == 1
    decisions_in(closed)
    assert not list(tmp_path.glob("closed.sqlite-*"))


@pytest.mark.parametrize("name", [":memory:", "file:study.sqlite", "file::memory:?cache=shared"])
def test_d8_a_name_that_sqlite_takes_for_something_else_is_refused(name: str, tmp_path: Path):
    command = [str(Path(sys.executable).with_name("implicature")), "play", "--no-browser", "--port", "0"]
    ended = subprocess.run(
        [*command, "--record", name], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 2
    assert "is not the name of a file that lasts" in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
