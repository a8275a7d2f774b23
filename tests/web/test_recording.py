"""Decisions of people who agreed, through a real server: none that was acknowledged is lost, even if it is killed."""

import json
import os
import signal
import sqlite3
import sys
import threading
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from implicature.cli.main import main
from implicature.web.analysis import fit_participants, starts_with_share
from implicature.web.codebook import codebook_rows
from implicature.web.decisions import Decision
from implicature.web.storage import Study, read_decisions

SETTINGS = {"game": "three-objects", "pragmatic_only": True, "variant": 1}


def decisions_in(file: Path) -> list[Decision]:
    decisions, skipped = read_decisions(file)
    assert skipped == 0
    return decisions


def participant(code: str, session: str = "one") -> dict:
    return {"consent": True, "code": code, "session": session, "reaction_time_ms": 1234}


@pytest.mark.slow
def test_two_people_at_once_and_a_killed_server_lose_at_most_the_decision_in_progress(tmp_path: Path, serving):
    """Both play as fast as they can until the server is killed outright in the middle of it."""
    file = tmp_path / "study.sqlite"
    answered = {"anna": 0, "ben": 0}
    with serving("--record", str(file)) as (page, process):

        def play(code: str) -> None:
            with httpx.Client(base_url=page, timeout=60) as client:
                while True:
                    settings = {**SETTINGS, "seed": answered[code]}
                    turn = {"settings": settings, "answer": 0, "participant": participant(code)}
                    try:
                        response = client.post("api/student", json=turn)
                    except httpx.HTTPError:
                        return
                    assert response.json()["recorded"] is True
                    answered[code] += 1

        players = [threading.Thread(target=play, args=(code,)) for code in answered]
        for player in players:
            player.start()
        while min(answered.values()) < 20 and all(player.is_alive() for player in players):
            players[0].join(0.01)
        os.kill(process.pid, signal.SIGKILL)
        for player in players:
            player.join()
    assert min(answered.values()) >= 20
    recorded = decisions_in(file)
    for code, number in answered.items():
        own = [one for one in recorded if one.participant == code]
        assert [one.seed for one in own] == list(range(len(own)))
        assert number <= len(own) <= number + 1
    # The file is intact, and the next server goes on with it.
    with serving("--record", str(file)) as (page, _):
        settings, anna = {**SETTINGS, "rounds": 2}, participant("anna", "two")
        turn = {"settings": settings, "answer": "wait", "participant": anna}
        state = httpx.post(f"{page}api/student", json=turn, timeout=60).json()
        assert state["recorded"] is True
        anonymous = httpx.post(f"{page}api/student", json={"settings": SETTINGS, "answer": 0}, timeout=60).json()
        assert anonymous["recorded"] is False
    again = decisions_in(file)
    assert len(again) == len(recorded) + 1
    assert (again[-1].session, again[-1].answer, again[-1].correct) == ("two", None, None)


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    """A study of one person who played both roles."""
    from implicature.web.schemas import GameSettings, Participant, StudentTurn, TeacherTurn
    from implicature.web.sessions import GameSessions

    file = tmp_path / "study.sqlite"
    study = Study(file)
    sessions = GameSessions(None, study=study)
    person = Participant.model_validate(participant("P07"))
    for seed in range(6):
        settings = GameSettings.model_validate({**SETTINGS, "seed": seed})
        _, dealt = sessions.deal(settings, "student")
        sessions.student_turn(StudentTurn(settings=settings, answer=dealt.target, participant=person))
        sessions.teacher_turn(TeacherTurn(settings=settings, messages=[0], participant=person))
    study.close()
    return file


def run_study(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["implicature", "study", *arguments])
    main()


def test_a_study_is_exported_as_tidy_tables_with_fits(
    study_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    out = study_file.parent / "out"
    run_study(monkeypatch, str(study_file), "--csv", str(out), "--json")
    printed = json.loads(capsys.readouterr().out)
    assert printed["decisions"] == 12
    assert [fit["role"] for fit in printed["participants"]] == ["student", "teacher", "both"]
    # Six times right where a literal student tosses a coin: (1/2)^6 is less likely than any depth from 1 on.
    student = printed["participants"][0]
    assert (student["depth"], student["accuracy"], student["decisions"]) == (1, 1.0, 6)
    # No depth from 1 on is ruled out by that, so the interval is open.
    assert (student["depth_low"], student["depth_high"], student["better_than_chance"]) == (1, None, True)
    rows = {file.stem: file.read_text().splitlines() for file in out.iterdir()}
    assert {name: len(lines) - 1 for name, lines in rows.items()} == {
        "decisions": 12,
        "beliefs": 12 * 3,
        "values": 12 * 4,
        "participants": 3,
        "codebook": len(codebook_rows()),
    }
    columns = {(row.split(",")[0], row.split(",")[1]) for row in rows["codebook"][1:]}
    tables = {name: lines[0].split(",") for name, lines in rows.items() if name != "codebook"}
    assert columns == {(name, column) for name, header in tables.items() for column in header}
    assert rows["decisions"][0] == (
        "decision,time,participant,session,role,game,seed,target,max_rounds,agent,version,variant,round,answer,correct,"
        "reaction_time_ms,trial,block,condition,thoughts_open,literal_score,exact_score,focus_lost,viewport,skips,"
        "message,messages,candidates"
    )
    assert rows["beliefs"][0] == "decision,candidate,attributes,is_target,belief_before,belief_after,teacher_estimate"
    assert rows["values"][0] == "decision,message,value,sent"
    assert "P07,one,student,three-objects," in rows["decisions"][1]
    assert ",1234," in rows["decisions"][1]
    run_study(monkeypatch, str(study_file))
    printed_table = capsys.readouterr().out
    assert "P07" in printed_table
    assert "≥ 1" in printed_table


def test_the_fit_starts_as_the_game_of_the_page_does():
    """some-all is played with "indicator"; it was fitted with "share"."""
    assert [starts_with_share(game) for game in ("some-all", "three-objects", "numbers-7", "a run's")] == [
        False, True, True, True
    ]  # fmt: skip


def test_random_clicks_are_called_random(study_file: Path):
    """30 games of three objects, answered 0, 1, 2, 0, 1, 2 …"""
    (first, *_) = decisions_in(study_file)
    clicks = [replace(first, seed=i, answer=i % 3, correct=i % 3 == first.target) for i in range(30)]
    (row,) = fit_participants(clicks, quiet=True)
    assert (row["model"], row["better_than_chance"], row["depth"]) == ("random", False, None)


def test_power_is_simulated_without_a_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    run_study(monkeypatch, "--power", "--game", "three-objects", "--trials", "20", "--people", "5", "--json")
    rows = json.loads(capsys.readouterr().out)["recovery"]
    assert [row["kind"] for row in rows] == ["random", "literal", "depth 1", "depth 2"]
    assert all(sum(value for name, value in row.items() if name.startswith("called")) == 1 for row in rows)
    for arguments in (["--power", "--game", "chess"], ["--power", "--people", "0"], ["--power", "--beta", "0"], []):
        with pytest.raises(SystemExit) as end:
            run_study(monkeypatch, *arguments)
        assert end.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_waiting_is_recorded_but_not_fitted(study_file: Path):
    answers = [one for one in decisions_in(study_file) if one.role == "student"]
    waits = [replace(one, participant="P08", answer=None, correct=None) for one in answers]
    assert fit_participants(waits, quiet=True) == []


def test_a_study_of_the_first_version_still_opens(tmp_path: Path):
    """Columns as that version created them; the last row is what it recorded."""
    with sqlite3.connect(tmp_path / "old.sqlite") as file:
        file.execute("PRAGMA application_id = 1229803596")
        file.execute("PRAGMA user_version = 1")
        file.execute(
            "CREATE TABLE decisions (id INTEGER PRIMARY KEY, at TEXT, participant TEXT, session TEXT, role TEXT, "
            "game TEXT, seed INTEGER, candidates TEXT, words TEXT, target INTEGER, rounds INTEGER, agent TEXT, "
            'version TEXT, step TEXT, round INTEGER, said TEXT, answer INTEGER, "right" INTEGER, milliseconds INTEGER, '
            'before TEXT, after TEXT, estimate TEXT, "values" TEXT)'
        )
        file.execute(
            "INSERT INTO decisions VALUES (1, '2026-01-01T00:00:00.000+00:00', 'P1', 's', 'student', 'three-objects', "
            """0, '[["blue", "sphere"], ["red", "sphere"]]', '["blue", "sphere", "red"]', 0, 1, 'exact', '0.1.0', """
            """'depth 3', 1, '["blue"]', 0, 1, 900, '[0.5, 0.5]', '[1.0, 0.0]', '[0.5, 0.5]', '[1.0, 0.5, null]')"""
        )
    (decision,) = decisions_in(tmp_path / "old.sqlite")
    assert (decision.variant, decision.messages, decision.correct) == ("depth 3", ["blue"], True)
    assert (decision.reaction_time_ms, decision.belief_after) == (900, [1.0, 0.0])
    study = Study(tmp_path / "old.sqlite")
    study.record(replace(decision, seed=1, answer=None, correct=None))
    study.close()
    assert [one.answer for one in decisions_in(tmp_path / "old.sqlite")] == [0, None]


def test_a_file_that_is_no_study_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    other, text = tmp_path / "other.sqlite", tmp_path / "text.sqlite"
    with sqlite3.connect(other) as file:
        file.execute("CREATE TABLE accounts (id INTEGER)")
    text.write_text("not a database, but long enough to be looked at " * 40)
    for path, message in [
        (tmp_path / "none.sqlite", "does not exist"),
        (other, "is a database of another application"),
        (text, "cannot be used as a study file"),
    ]:
        with pytest.raises(SystemExit) as end:
            run_study(monkeypatch, str(path))
        assert end.value.code == 2
        printed = capsys.readouterr().err
        assert message in printed
        assert printed.count("\n") == 1
