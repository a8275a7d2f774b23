"""Files of recorded decisions become tidy tables, or an error of one sentence. Reading never changes the file."""

import json
import sqlite3
from pathlib import Path

import pytest
from hostility import CASES, JSON, NUMBERS, TEXT, assert_sentence, case, command, fuzz, mutated, refused
from hypothesis import given
from hypothesis import strategies as st

from implicature.cli.study import write_tables
from implicature.web.analysis import decision_arrays, is_fitted
from implicature.web.decisions import COLUMNS, JSON_FIELDS, Decision, is_consistent
from implicature.web.storage import Study, read_decisions
from implicature.web.study.order import steps_of
from implicature.web.study.participants import read_participants
from implicature.web.study.plan import read_plan

EXAMPLE = Path(__file__).parents[2] / "examples" / "franke-degen.json"

GOOD = Decision(
    time="2026-01-01T00:00:00.000+00:00", participant="P1", session="s", role="student", game="three-objects", seed=0,
    candidates=[["blue", "sphere"], ["red", "sphere"]], words=["blue", "sphere", "red"], target=0, max_rounds=1,
    agent="exact", version="0.1.0", variant="depth 3", round=1, messages=["blue"], answer=0, correct=True,
    reaction_time_ms=900, belief_before=[0.5, 0.5], belief_after=[1.0, 0.0], teacher_estimate=[0.5, 0.5],
    values=[1.0, 0.5, None],
)  # fmt: skip


@pytest.fixture
def good(tmp_path: Path) -> bytes:
    study = Study(tmp_path / "good.sqlite")
    study.record(GOOD)
    study.close()
    assert read_decisions(tmp_path / "good.sqlite") == ([GOOD], 0)
    return (tmp_path / "good.sqlite").read_bytes()


def read(kind: str, path: Path, out: Path) -> bool:
    """Whether its decisions can be written as tables and as arrays for a fit."""
    content = path.read_bytes()

    def convert() -> None:
        decisions, skipped = read_decisions(path)
        assert skipped >= 0
        assert all(is_consistent(one) for one in decisions)
        write_tables(decisions, [], out, *read_participants(path))
        if fitted := [one for one in decisions if is_fitted(one)]:
            decision_arrays(fitted)

    sentence = case(kind, convert)
    assert path.read_bytes() == content
    if sentence is not None:
        assert_sentence(sentence)
        assert path.name in sentence
    return sentence is None


def test_studies_with_bytes_changed(tmp_path: Path, good: bytes):
    for number in range(CASES["bytes of studies"]):
        path = tmp_path / "mine.sqlite"
        for beside in tmp_path.glob("mine.sqlite*"):
            beside.unlink()
        path.write_bytes(mutated(good, number))
        read("bytes of studies", path, tmp_path / "out")


@given(
    changes=st.dictionaries(st.sampled_from(list(COLUMNS)), JSON | NUMBERS | TEXT, min_size=1, max_size=2),
    raw=st.booleans(),
)
@fuzz("decisions")
def test_decisions_of_any_values(tmp_path: Path, good: bytes, changes: dict, raw: bool):
    path = tmp_path / "mine.sqlite"
    for beside in tmp_path.glob("mine.sqlite*"):
        beside.unlink()
    path.write_bytes(good)
    cells = [
        json.dumps(value) if (name in JSON_FIELDS and not raw) or isinstance(value, list | dict) else value
        for name, value in changes.items()
    ]
    cells = [cell if not isinstance(cell, int) or abs(cell) < 2**63 else float(cell) for cell in cells]
    cells = [cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell for cell in cells]
    file = sqlite3.connect(path)
    columns = ", ".join(f'"{COLUMNS[name]}" = ?' for name in changes)
    file.execute(f"UPDATE decisions SET {columns}", cells)
    file.commit()
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    read("decisions", path, tmp_path / "out")


def leaves(value: object) -> list[tuple[dict | list, str | int]]:
    """Where in a document a value can be put in place of another."""
    if not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [*((value, key) for key in keys), *(leaf for key in keys for leaf in leaves(value[key]))]  # pyright: ignore


@given(place=st.integers(0, 10**6), value=JSON, name=TEXT)
@fuzz("study plans")
def test_study_plans_of_any_values(tmp_path: Path, place: int, value: object, name: str):
    """A value anywhere in the example plan is replaced by another, or one is added: it is a plan, or one sentence."""
    plan = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    plan["blocks"][0]["lists"] = {key: trials[:2] for key, trials in plan["blocks"][0]["lists"].items()}
    holder, key = (found := leaves(plan))[place % len(found)]
    if isinstance(holder, dict) and place % 3 == 0:
        holder[name] = value
    else:
        holder[key] = value  # pyright: ignore[reportCallIssue, reportArgumentType]
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan), encoding="utf-8")
    sentence = case("study plans", lambda: steps_of(read_plan(path), 3))
    assert sentence is None or path.name in sentence
    if sentence is not None:
        assert_sentence(sentence)


def test_the_command_refuses_what_is_no_study(tmp_path: Path):
    foreign = sqlite3.connect(tmp_path / "foreign.sqlite")
    foreign.execute("CREATE TABLE decisions (id INTEGER)")
    foreign.commit()
    foreign.close()
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.sqlite").write_text("not a database, but long enough to be taken for one" * 10)
    (tmp_path / "empty.sqlite").touch()
    for name in (
        "foreign.sqlite",
        "folder",
        "text.sqlite",
        "empty.sqlite",
        "missing",
        "\x1b[31m",
        "[/red]",
        "/dev/zero",
    ):
        before = (tmp_path / name).read_bytes() if (tmp_path / name).is_file() else None
        refused(tmp_path, "study", name)
        if name not in ("missing", "\x1b[31m", "[/red]", "empty.sqlite"):
            refused(tmp_path, "play", "--port", "0", "--no-browser", "--record", name)
        assert before is None or (tmp_path / name).read_bytes() == before
    assert command(tmp_path, "study", "--help").code == 0
