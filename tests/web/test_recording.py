"""Decisions of people who agreed, through a real server: none that was answered is lost, whoever plays or kills."""

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
from implicature.cli.study import fits
from implicature.web.storage import decisions

ADDRESS = {"game": "three-objects", "tricky": True, "step": 1}


def person(code: str, session: str = "one") -> dict:
    return {"consent": True, "participant": code, "session": session, "milliseconds": 1234}


def test_two_people_at_once_and_a_killed_server_lose_at_most_the_decision_under_way(tmp_path: Path, serving):
    """Both play as fast as they can until the server is killed outright in the middle of it."""
    file = tmp_path / "study.sqlite"
    answered = {"anna": 0, "ben": 0}
    with serving("--record", str(file)) as (page, process):

        def plays(code: str) -> None:
            with httpx.Client(base_url=page, timeout=60) as client:
                while True:
                    question = {"address": {**ADDRESS, "seed": answered[code]}, "answer": 0, "person": person(code)}
                    try:
                        told = client.post("api/student", json=question)
                    except httpx.HTTPError:
                        return
                    assert told.json()["recorded"] is True
                    answered[code] += 1

        players = [threading.Thread(target=plays, args=(code,)) for code in answered]
        for player in players:
            player.start()
        while min(answered.values()) < 20 and all(player.is_alive() for player in players):
            players[0].join(0.01)
        os.kill(process.pid, signal.SIGKILL)
        for player in players:
            player.join()
    assert min(answered.values()) >= 20
    kept = decisions(file)
    for code, number in answered.items():
        mine = [one for one in kept if one.participant == code]
        assert [one.seed for one in mine] == list(range(len(mine)))
        assert number <= len(mine) <= number + 1
    # The file is whole, and the next server goes on with it.
    with serving("--record", str(file)) as (page, _):
        question = {"address": {**ADDRESS, "rounds": 2}, "answer": "wait", "person": person("anna", "two")}
        told = httpx.post(f"{page}api/student", json=question, timeout=60).json()
        assert told["recorded"] is True
        unasked = httpx.post(f"{page}api/student", json={"address": ADDRESS, "answer": 0}, timeout=60).json()
        assert unasked["recorded"] is False
    again = decisions(file)
    assert len(again) == len(kept) + 1
    assert (again[-1].session, again[-1].answer, again[-1].right) == ("two", None, None)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study of one person who played both roles, kept by the page's own host."""
    from implicature.web import questions as q
    from implicature.web.sessions import Host
    from implicature.web.storage import Study

    file = tmp_path / "study.sqlite"
    kept = Study(file)
    host = Host(None, kept)
    who = q.Person.model_validate(person("P07"))
    for seed in range(6):
        address = q.Address.model_validate({**ADDRESS, "seed": seed})
        target = host.watch(address).target
        assert target is not None
        host.student(q.Heard(address=address, answer=target, person=who))
        host.teacher(q.Said(address=address, words=[0], person=who))
    kept.close()
    return file


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["implicature", "study", *arguments])
    main()


def test_a_study_is_exported_as_tidy_tables_with_fits(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    out = study.parent / "out"
    run(monkeypatch, str(study), "--csv", str(out), "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["decisions"] == 12
    assert [row["role"] for row in told["participants"]] == ["student", "teacher", "both"]
    # Six times right where a literal student tosses a coin: (1/2)^6 is less likely than any depth from 1 on.
    student = told["participants"][0]
    assert (student["depth"], student["right"], student["decisions"]) == (1, 1.0, 6)
    rows = {file.stem: file.read_text().splitlines() for file in out.iterdir()}
    assert {name: len(lines) - 1 for name, lines in rows.items()} == {
        "decisions": 12,
        "beliefs": 12 * 3,
        "values": 12 * 4,
        "participants": 3,
    }
    assert rows["decisions"][0].startswith("decision,at,participant,session,role,game,seed,target,")
    assert "P07,one,student,three-objects," in rows["decisions"][1]
    assert ",1234," in rows["decisions"][1]
    run(monkeypatch, str(study))
    assert "P07" in capsys.readouterr().out


def test_waiting_is_kept_but_not_fitted(study: Path):
    kept = decisions(study)
    waited = [replace(one, participant="P08", answer=None, right=None) for one in kept if one.role == "student"]
    assert fits(waited, quiet=True) == []


def test_a_file_that_is_no_study_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    other, text = tmp_path / "other.sqlite", tmp_path / "text.sqlite"
    with sqlite3.connect(other) as file:
        file.execute("CREATE TABLE accounts (id INTEGER)")
    text.write_text("not a database, but long enough to be looked at " * 40)
    for path, sentence in [
        (tmp_path / "none.sqlite", "does not exist"),
        (other, "is a database of something else"),
        (text, "cannot be used as a study's file"),
    ]:
        with pytest.raises(SystemExit) as end:
            run(monkeypatch, str(path))
        assert end.value.code == 2
        said = capsys.readouterr().err
        assert sentence in said
        assert said.count("\n") == 1
