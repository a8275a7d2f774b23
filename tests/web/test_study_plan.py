"""Studies by a plan: mistakes in it are one sentence, orders are balanced, and the server alone knows what comes."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from implicature.evaluation.human.published import load_published
from implicature.web.analysis import fit_participants
from implicature.web.app import create_app
from implicature.web.storage import Study, read_decisions
from implicature.web.study.order import Step, steps_of, williams
from implicature.web.study.participants import read_participants
from implicature.web.study.plan import Plan, read_plan
from implicature.web.study.trials import cards_of, playable_trial

EXAMPLE = Path(__file__).parents[2] / "examples" / "franke-degen.json"
SPHERES = {"objects": ["blue box", "blue sphere", "red cone"], "words": ["sphere", "cone", "blue", "red"]}
SIMPLE = {**SPHERES, "word": "blue", "target": 1}
COMPLEX = {
    "objects": ["red sphere", "green sphere", "red box"],
    "words": ["sphere", "red", "green"],
    "word": "sphere",
    "target": 1,
}
PLAN: dict[str, Any] = {
    "title": "A study",
    "consent": "May we?",
    "instructions": ["First page.", "Second page."],
    "comprehension": [{"question": "What?", "answers": ["this", "that"], "correct": 2}],
    "attempts": 2,
    "practice": [{**SIMPLE, "id": "try"}],
    "blocks": [
        {"name": "hear", "trials": [{**COMPLEX, "id": "one"}, {**SIMPLE, "id": "two"}], "order": "fixed"},
        {"name": "say", "role": "teacher", "feedback": True, "trials": [{**SPHERES, "target": 2}]},
        {"name": "look", "trials": [{"check": "Click the red cone.", "objects": SPHERES["objects"], "target": 3}]},
    ],
    "debriefing": "Thank you.",
    "completion": {"code": "C1", "url": "https://example.org/done?cc=C1"},
}


def changed(**changes: Any) -> dict[str, Any]:
    return {**PLAN, **changes}


def in_block(**changes: Any) -> dict[str, Any]:
    return changed(blocks=[{"name": "b", "trials": [SIMPLE], **changes}])


def trial(**changes: Any) -> dict[str, Any]:
    return in_block(trials=[{**SIMPLE, **changes}])


def as_plan(content: Any, folder: Path) -> Plan:
    file = folder / "plan.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return read_plan(file)


# ---- mistakes


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "Line 1 is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"seed": ' + "9" * 5_000 + "}", "a number that is too long"),
        ([], "the plan is wrong"),
        ({}, "title is missing: add it."),
        (changed(tittle="x"), "tittle is not a field of a plan"),
        (changed(blocks=[]), "blocks is wrong: list should have at least 1 item"),
        (changed(attempts=0), "attempts is wrong"),
        (changed(completion={}), "completion has neither a code nor a url"),
        (changed(completion={"url": "javascript:alert(1)"}), "completion url is wrong"),
        (changed(consent="a\x1b[2Jb"), "cannot be printed"),
        (changed(comprehension=[{"question": "Q?", "answers": ["a", "b"], "correct": 3}]), "has no answer 3"),
        (changed(blocks=[PLAN["blocks"][0]] * 2), "two blocks are called 'hear'"),
        (in_block(name="practice"), "call your block something else"),
        (in_block(trials=None), "needs either trials or lists"),
        (in_block(lists={"a": [SIMPLE], "b": [SIMPLE]}), "needs either trials or lists"),
        (in_block(trials=None, lists={"a": [SIMPLE], "b": []}), "a list of block 'b' is empty"),
        (trial(target=4), "trial 1 of block b has no object 4: it has 3, counted from 1."),
        (trial(target=None), "has no target"),
        (trial(objects=None), "has no objects"),
        (trial(words=None), "has no words"),
        (trial(words=["blue", "blue"]), "has the word 'blue' twice"),
        (trial(word=None), "has no word to hear: give one of sphere, cone, blue, red."),
        (trial(word="green"), "which is not among its words"),
        (trial(word="red"), "which is not true of its target"),
        (trial(check="Look!"), "has both a check and a word"),
        (trial(game="numbers-7"), "has a game without a seed"),
        (trial(game="chess", seed=1), "names no game of the page: choose one of numbers-4"),
        (trial(game="numbers-7", seed=1), "has a game and objects"),
        (in_block(role="teacher"), "in this block participants choose it"),
        (in_block(role="teacher", trials=[{**SPHERES, "target": 1, "words": ["cone"]}]), "no word that is true of its"),
        (in_block(trials=[{"game": "numbers-7", "seed": 1}] * 2), "deals numbers-7 with seed 1 twice"),
        (
            in_block(
                trials=[
                    {"id": "a", "versions": {"x": SIMPLE, "y": SIMPLE}},
                    {"id": "b", "versions": {"y": SIMPLE, "x": SIMPLE}},
                ]
            ),
            "differ in their conditions",
        ),
    ],
)
def test_a_mistake_in_a_plan_is_one_sentence(content: Any, message: str, tmp_path: Path):
    with pytest.raises(ValueError, match=r"\.$") as error:
        as_plan(content, tmp_path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400 + len(str(tmp_path))


def test_a_mistake_on_the_command_line_is_one_sentence(ask, tmp_path: Path):
    (tmp_path / "plan.json").write_text("{")
    for arguments in (
        ["--study", tmp_path / "none.json"],
        ["--study", tmp_path / "plan.json"],
        ["--study", EXAMPLE, "--consent", "May we?"],
        ["--study", EXAMPLE, "--teacher", "exact"],
        ["--study", EXAMPLE, "--export", tmp_path / "site"],
    ):
        code, _, error = ask("play", *arguments)
        assert (code, error.count("\n")) == (2, 1), error


# ---- orders


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_each_block_comes_equally_often_at_each_place_and_after_each_other(n: int):
    rows = williams(n)
    assert len(rows) == (n if n % 2 == 0 else 2 * n)
    for place in range(n):
        assert set(Counter(row[place] for row in rows).values()) == {len(rows) // n}
    followers = Counter(pair for row in rows for pair in pairwise(row))
    assert len(followers) == n * (n - 1)
    assert len(set(followers.values())) == 1


def block_names(plan: Plan, participant: int) -> list[str]:
    return list(dict.fromkeys(step.block for step in steps_of(plan, participant) if step.kind == "trial"))[1:]


def test_blocks_items_and_lists_are_counterbalanced(tmp_path: Path):
    """Two blocks in two orders; then the next two participants get the other condition of each item."""
    item = {"x": {**SIMPLE, "word": "blue"}, "y": {**SPHERES, "word": "sphere", "target": 2}}
    blocks = [
        {"name": "a", "trials": [{"id": f"i{i}", "versions": item} for i in range(4)]},
        {"name": "b", "lists": {"one": [SIMPLE], "two": [SIMPLE, SIMPLE]}},
    ]
    plan = as_plan(changed(blocks=blocks, block_order="latin-square"), tmp_path)
    assert [block_names(plan, i) for i in range(4)] == [["a", "b"], ["b", "a"]] * 2
    conditions = []
    for i in range(4):
        steps = [step for step in steps_of(plan, i) if step.block == "a"]
        conditions.append({step.trial.id: step.condition for step in steps if step.trial is not None})
        assert len([step for step in steps_of(plan, i) if step.block == "b"]) == 1 + i // 2
    assert conditions[0] == conditions[1] == {"i0": "x", "i1": "y", "i2": "x", "i3": "y"}
    assert conditions[2] == conditions[3] == {"i0": "y", "i1": "x", "i2": "y", "i3": "x"}


def test_orders_are_the_participants_own_and_always_the_same():
    plan = read_plan(EXAMPLE)

    def order(i: int) -> list[str]:
        return [step.trial.id or "" for step in steps_of(plan, i) if step.trial is not None]

    assert order(0) == order(0) != order(2)
    assert sorted(order(0)) == sorted(order(2))
    cards = [cards_of(step).labels for step in steps_of(plan, 0) if step.kind == "trial"]
    assert cards == [cards_of(step).labels for step in steps_of(plan, 0) if step.kind == "trial"]
    places = Counter(cards_of(step).target for i in range(20) for step in steps_of(plan, i) if step.kind == "trial")
    assert min(places.values()) > 0.28 * sum(places.values())  # the target is at each of three places about as often


# ---- the example


def test_the_example_has_the_items_of_franke_and_degen():
    """The truth table of each trial is that of the published item, up to the order of words; and as many of each."""
    published = {item.name: item for item in load_published("franke-degen-2016").parts[0].items}
    plan = read_plan(EXAMPLE)
    for i in range(2):
        steps = [step for step in steps_of(plan, i) if step.block == "listener" and step.trial is not None]
        counts = Counter(step.condition for step in steps)
        assert counts == {"simple": 12, "complex": 12, "unambiguous": 33, "ambiguous": 9, "check": 2}
        for step in steps:
            if step.condition in ("simple", "complex"):
                assert step.trial is not None
                item = next(one for name, one in published.items() if step.condition in name)
                own = [[word in one.split() for word in step.words] for one in step.trial.objects or []]
                columns = [tuple(column) for column in np.array(own, bool).T]
                assert sorted(columns) == sorted(tuple(column) for column in item.lexicon.T)
                heard = columns[step.words.index(step.trial.word or "")]
                assert heard == tuple(item.lexicon[:, item.given])


def test_scores_are_what_literal_and_exact_students_expect(tmp_path: Path):
    """After “sphere” a literal student tosses a coin between two spheres of two words each; an exact one knows that for
    the green sphere she would have said “green”. After “blue” the blue box is the better guess also literally: there is
    no other word for it."""
    plan = as_plan(in_block(trials=[COMPLEX, SIMPLE], order="fixed"), tmp_path)
    found = [playable_trial(step, 1).scores() for step in steps_of(plan, 0) if step.block == "b"]
    assert found == [(0.5, 1.0), (1.0, 1.0)]


# ---- through the API


@pytest.fixture
def open_study(tmp_path: Path) -> Iterator[Callable[..., TestClient]]:
    """A study by a plan in this process; open it again to go on with its file."""
    opened: list[Study] = []

    def start(content: Any = PLAN, file: str = "s.sqlite") -> TestClient:
        while opened:
            opened.pop().close()
        study = Study(tmp_path / file)
        opened.append(study)
        return TestClient(create_app(study=study, plan=as_plan(content, tmp_path)), base_url="http://127.0.0.1")

    yield start
    for study in opened:
        study.close()


class Person:
    def __init__(self, page: TestClient, code: str = "P1", **ids: str):
        self.page, self.who, self.screen, self.seen = page, {"code": code, **ids}, {}, []

    def post(self, path: str, **body: Any) -> dict:
        response = self.page.post(f"/api/study/{path}", json={"who": self.who, **body})
        assert response.status_code == 200, response.text
        self.screen = response.json()
        self.seen.append(self.screen)
        return self.screen

    def agree(self) -> dict:
        return self.post("consent", consent=True, session="abc")

    def done(self, **body: Any) -> dict:
        return self.post("done", **{"position": self.screen["position"], **body})

    def to_trials(self) -> "Person":
        self.agree()
        self.done()
        self.done()
        self.done(answers=[1])
        return self


def test_a_participant_goes_through_the_plan_and_is_recorded(open_study, tmp_path: Path):
    person = Person(open_study(), "5f", prolific_pid="5f", study_id="S", session_id="T")
    assert person.post("screen")["kind"] == "consent"
    assert read_participants(tmp_path / "s.sqlite") == ([], [])
    person.agree()
    assert (person.screen["kind"], person.screen["text"]) == ("text", "First page.")
    assert person.done()["text"] == "Second page."
    assert person.done()["kind"] == "comprehension"
    assert person.done(answers=[0])["text"] == "First page."  # not right: the instructions again
    assert person.screen["wrong"] == [0]
    person.done()
    assert person.done()["attempts_left"] == 1
    assert person.done(answers=[1])["trial"]["practice"] is True
    practice = person.screen["trial"]
    assert person.done(answer=0)["feedback"]["trial"] == practice  # practice always has feedback
    for answer in (1, 2):
        assert person.done(answer=answer, reaction_time_ms=500, focus_lost=2, viewport="800x600")["feedback"] is None
    assert person.screen["trial"]["role"] == "teacher"
    assert person.screen["trial"]["target"] in (0, 1, 2)
    target = person.screen["trial"]["target"]
    assert person.done(answer=0)["feedback"]["correct"] is True  # “sphere”, which is true of the target alone
    assert person.seen[-1]["feedback"]["answer"] == target
    assert person.screen["trial"]["check"] == "Click the red cone."
    labels = [one["label"] for one in person.screen["trial"]["cards"]]
    assert person.done(answer=labels.index("red cone"))["kind"] == "end"
    assert (person.screen["code"], person.screen["url"]) == ("C1", "https://example.org/done?cc=C1")
    decisions, skipped = read_decisions(tmp_path / "s.sqlite")
    assert skipped == 0
    assert [(one.trial, one.block, one.role) for one in decisions] == [
        (1, "practice", "student"), (2, "hear", "student"), (3, "hear", "student"), (4, "say", "teacher")
    ]  # fmt: skip
    second = decisions[1]
    assert (second.participant, second.session, second.reaction_time_ms) == ("5f", "T", 500)
    assert (second.focus_lost, second.viewport, second.skips, second.thoughts_open) == (2, "800x600", 0, False)
    assert (second.literal_score, second.exact_score) == (0.5, 1.0)
    (session,), events = read_participants(tmp_path / "s.sqlite")
    assert (session["prolific_pid"], session["study_id"], session["session_id"]) == ("5f", "S", "T")
    assert (session["status"], session["attempts"], session["checks_passed"]) == ("complete", 2, 1)
    assert [(one["kind"], one["passed"]) for one in events] == [
        ("comprehension", 0),
        ("comprehension", 1),
        ("check", 1),
    ]
    # Practice is not fitted.
    assert {row["role"]: row["decisions"] for row in fit_participants(decisions, quiet=True)} == {
        "student": 2, "teacher": 1, "both": 3
    }  # fmt: skip


def mentions_target(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, one in value.items():
            if name == "target" and one is not None:
                yield path
            yield from mentions_target(one, f"{path}/{name}")
    elif isinstance(value, list):
        for one in value:
            yield from mentions_target(one, path)


def test_no_target_reaches_a_student_before_the_answer_and_no_other_game_is_offered(open_study):
    page = open_study()
    person = Person(page).to_trials()
    for _ in range(3):
        before = person.screen
        assert list(mentions_target(before["trial"])) == []
        person.done(answer=0)
        assert set(mentions_target(person.screen)) <= {"/feedback", "/trial"}
    assert person.screen["trial"]["role"] == "teacher"
    for path in ("game", "student", "teacher", "watch", "candidates"):
        assert page.post(f"/api/{path}", json={"settings": {}}).status_code in (404, 405)
    about = page.get("/api/about").json()
    assert (about["study"], about["games"], about["agents"]) == ("A study", [], [])


def test_who_comes_back_goes_on_where_they_were_also_after_the_server_was_restarted(open_study, tmp_path: Path):
    person = Person(open_study()).to_trials()
    person.done(answer=0)
    at = person.done(answer=0)
    again = Person(open_study())  # another server, another browser
    assert again.post("screen") == {**at, "feedback": None}
    assert again.agree() == again.screen
    assert len(read_participants(tmp_path / "s.sqlite")[0]) == 1


def test_a_screen_that_is_done_twice_counts_once(open_study, tmp_path: Path):
    """Two tabs, or a request that is sent again: the first answer stands, and the second gets the present screen."""
    page = open_study()
    person = Person(page).to_trials()
    person.done(answer=0)
    position = person.screen["position"]
    after = person.done(answer=0)
    late = Person(page)
    assert late.post("done", position=position, answer=2) == after
    assert late.post("done", position=position + 7, answer=2) == after
    decisions, _ = read_decisions(tmp_path / "s.sqlite")
    assert [(one.trial, one.answer) for one in decisions] == [(1, 0), (2, 0)]
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as file:
        names = [row[1] for row in file.execute("PRAGMA table_info(decisions)")][1:]
        columns = ", ".join(f'"{name}"' for name in names)
        other = columns.replace('"seed"', "99").replace('"decision_id"', "NULL")
        with pytest.raises(sqlite3.IntegrityError, match=r"participant, decisions\.session, decisions\.trial"):
            file.execute(f"INSERT INTO decisions ({columns}) SELECT {other} FROM decisions WHERE id = 1")


def test_steps_cannot_be_skipped_or_answered_with_nonsense(open_study):
    page = open_study()
    person = Person(page)
    who = {"who": person.who}
    assert "has not agreed" in page.post("/api/study/done", json={**who, "position": 0}).json()["message"]
    person.agree()
    assert person.post("done", position=9)["text"] == "First page."  # what is asked for is not where they are
    person.done()
    person.done()
    for wrong in ({}, {"answers": []}, {"answers": [1, 1]}):
        response = page.post("/api/study/done", json={**who, "position": 2, **wrong})
        assert (response.status_code, "answer each" in response.json()["message"]) == (422, True)
    person.done(answers=[1])
    for wrong in ({}, {"answer": 3}, {"answer": -1}, {"answer": 0, "viewport": "x"}):
        assert page.post("/api/study/done", json={**who, "position": 3, **wrong}).status_code == 422
    assert person.post("screen")["position"] == 3


def test_who_fails_the_comprehension_check_does_not_go_on(open_study, tmp_path: Path):
    person = Person(open_study())
    person.agree()
    for _ in range(2):
        person.done()
        person.done()
        person.done(answers=[0])
    assert person.screen["kind"] == "failed"
    assert (person.screen["code"], person.screen["url"]) == (None, None)
    assert person.done(answers=[1])["kind"] == "failed"
    assert read_participants(tmp_path / "s.sqlite")[0][0]["status"] == "failed"


def test_participants_get_orders_in_turn(open_study, tmp_path: Path):
    page = open_study(changed(block_order="latin-square"))
    people = [Person(page, f"P{i}") for i in range(6)]
    for person in people:
        person.agree()
    assert [row["number"] for row in read_participants(tmp_path / "s.sqlite")[0]] == list(range(6))
    plan = as_plan(changed(block_order="latin-square"), tmp_path)
    assert len({tuple(block_names(plan, i)) for i in range(6)}) == 6


def test_a_file_of_another_plan_is_refused(open_study):
    Person(open_study()).agree()
    with pytest.raises(ValueError, match="1 participants of another plan"):
        open_study(changed(title="Another"))


def test_dealt_games_are_played_by_seed(open_study, tmp_path: Path):
    blocks = [{"name": "b", "order": "fixed", "trials": [{"game": "numbers-4", "seed": seed} for seed in (1, 2)]}]
    person = Person(open_study(changed(blocks=blocks, practice=[]))).to_trials()
    assert person.screen["trial"]["draw"] == "numbers"
    assert person.screen["trial"]["said"] in person.screen["trial"]["words"]
    person.done(answer=1)
    assert person.done(answer=1)["kind"] == "end"
    decisions, _ = read_decisions(tmp_path / "s.sqlite")
    assert [(one.game, one.seed, one.agent) for one in decisions] == [
        ("numbers-4", 1, "exact"),
        ("numbers-4", 2, "exact"),
    ]


def test_a_study_is_exported_with_sessions_events_and_a_codebook(open_study, ask, tmp_path: Path):
    person = Person(open_study()).to_trials()
    for _ in range(3):
        person.done(answer=0)
    out = tmp_path / "out"
    code, printed, error = ask("study", tmp_path / "s.sqlite", "--csv", out)
    assert code == 0, error
    assert "1 participants: 0 complete, 1 under way" in printed
    tables = {file.stem: file.read_text().splitlines() for file in out.iterdir()}
    assert {"sessions", "events"} <= set(tables)
    described = {tuple(row.split(",")[:2]) for row in tables["codebook"][1:]}
    assert described == {(t, c) for t, rows in tables.items() if t != "codebook" for c in rows[0].split(",")}
    code, printed, _ = ask("study", tmp_path / "s.sqlite", "--condition", "none", "--json")
    assert json.loads(printed)["participants"][0]["decisions"] == 2
    code, _, error = ask("study", tmp_path / "s.sqlite", "--condition", "other")
    assert (code, error.count("\n"), "choose among none" in error) == (2, 1, True)


def literal_answers(steps: list[Step]) -> Iterator[int]:
    """What a literal listener chooses: any card that the word is true of."""
    random = np.random.default_rng(0)
    for step in steps:
        assert step.trial is not None
        said = step.trial.word
        yield int(random.choice([i for i, names in enumerate(cards_of(step).attributes) if said in names]))


def test_a_literal_listener_of_the_example_is_called_literal(open_study, tmp_path: Path):
    """The whole replication through the API, and the fit of what it recorded."""
    content = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    person = Person(open_study(content))
    person.agree()
    person.done()
    person.done()
    person.done(answers=[1, 1])
    steps = [step for step in steps_of(as_plan(content, tmp_path), 0) if step.trial is not None]
    answers = literal_answers([step for step in steps if step.trial is not None and step.trial.check is None])
    while person.screen["kind"] != "end":
        if person.screen["kind"] == "text":
            person.done()
            continue
        shown = person.screen["trial"]
        if shown["check"] is None:
            person.done(answer=next(answers), reaction_time_ms=900)
        else:
            labels = [one["label"] for one in shown["cards"]]
            person.done(answer=next(i for i, label in enumerate(labels) if label in shown["check"]))
    decisions, _ = read_decisions(tmp_path / "s.sqlite")
    (row,) = fit_participants(decisions, quiet=True)
    assert (row["decisions"], row["model"]) == (66, "literal")
    (session,), _ = read_participants(tmp_path / "s.sqlite")
    assert (session["status"], session["checks"], session["checks_passed"]) == ("complete", 2, 2)
