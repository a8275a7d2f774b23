"""The page's questions, asked of the app itself: what is told, what is kept from the student, and what is refused."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from implicature.cli.main import main
from implicature.training.config import Config
from implicature.training.run import start_run
from implicature.web.app import new_app
from implicature.web.players import SHIPPED, all_players
from implicature.web.security import BURST, MOST_BYTES, RATE, Guard

ADDRESS = {"game": "three-objects", "seed": 8, "tricky": True, "step": 1}
PAIR = {"game": "numbers-4", "agent": "pair", "seed": 3, "tricky": True}


@pytest.fixture(scope="module")
def app():
    return new_app()


@pytest.fixture(scope="module")
def page(app) -> Iterator[TestClient]:
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def asked(page: TestClient, path: str, question: dict) -> dict:
    answer = page.post(f"/api/{path}", json=question)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_everything_on_the_page_comes_from_the_package_and_nothing_is_inline(page: TestClient):
    home = page.get("/")
    assert home.status_code == 200
    assert "http" not in home.text.replace("http-equiv", "")
    assert " style=" not in home.text
    assert " onclick=" not in home.text
    for name in ("main.js", "board.js", "style.css", "icon.svg", "draw.js", "thoughts.js", "state.js", "dom.js"):
        assert page.get(f"/{name}").status_code == 200
    policy = home.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    for header in ("x-content-type-options", "referrer-policy", "x-frame-options", "cross-origin-opener-policy"):
        assert header in home.headers


def test_the_student_is_not_told_the_target_before_the_answer(page: TestClient):
    heard = asked(page, "student", {"address": ADDRESS})
    assert heard["over"] is False
    assert heard["target"] is None
    assert heard["thoughts"] == []
    board = asked(page, "game", ADDRESS)
    assert "target" not in board
    called = [candidate["called"] for candidate in board["candidates"]]
    end = asked(page, "student", {"address": ADDRESS, "answer": called.index("blue sphere")})
    assert (end["over"], end["gain"], end["target"]) == (True, 1.0, called.index("blue sphere"))
    assert (end["literal"], end["exact"]) == (0.5, 1.0)  # a coin toss, and none
    assert "For the blue cone she would have said “cone”" in end["thoughts"][0]["why"]


def test_the_inference_appears_between_depth_0_and_depth_1(page: TestClient):
    target = asked(page, "watch", ADDRESS)["target"]
    believed = [asked(page, "watch", {**ADDRESS, "step": step})["thoughts"][0]["after"][target] for step in (0, 1, 2)]
    # L_1 of the sphere: (1/2) / (1/2 + e^5 / (e^5 + e^10)) = 0.9868
    assert believed[:2] == pytest.approx([0.5, 0.9868], abs=1e-3)
    assert believed[2] > 0.999


def test_the_shipped_pair_is_small_and_learns_to_infer_over_its_phases(page: TestClient):
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) < 1_000_000
    games = [asked(page, "watch", {**PAIR, "step": step}) for step in range(4)]
    believed = [game["thoughts"][0]["after"][game["target"]] for game in games]
    assert believed[0] < 0.6
    assert believed[3] > 0.9
    assert games[3]["gain"] == 1.0


def test_a_word_for_the_teacher_is_understood_or_not(page: TestClient):
    address = {**ADDRESS, "rounds": 2, "step": 0}
    start = asked(page, "teacher", {"address": address})
    assert (start["target"] is not None, start["thoughts"]) == (True, [])
    words = page.get("/api/about").json()["games"][-1]["words"]
    torn = asked(page, "teacher", {"address": address, "words": [words.index("blue")]})
    assert torn["over"] is False
    both = asked(page, "teacher", {"address": address, "words": [words.index("blue"), words.index("sphere")]})
    assert (both["over"], both["gain"]) == (True, 0.8)  # two words at 0.1
    early = page.post("/api/teacher", json={"address": {**address, "step": 3}, "words": [0, 1]})
    assert early.status_code == 422
    assert "the game is over" in early.json()["sentence"]


def test_waiting_brings_another_word_but_not_after_the_last(page: TestClient):
    address = {"game": "numbers-7", "rounds": 2, "step": 0, "tricky": True}
    first = asked(page, "student", {"address": address})
    second = asked(page, "student", {"address": address, "words": 1, "answer": "wait"})
    assert second["words"][0] == first["words"][0]
    assert len(second["words"]) == 2
    last = page.post("/api/student", json={"address": address, "words": 2, "answer": "wait"})
    assert (last.status_code, "nothing to wait for" in last.json()["sentence"]) == (422, True)


def test_an_address_deals_the_same_game_again_and_another_seed_another(page: TestClient):
    address = {"game": "objects-7", "candidates": 5, "seed": 7}
    once, again = (asked(page, "game", address) for _ in range(2))
    assert once == again
    assert len(once["candidates"]) == 5
    assert asked(page, "game", {**address, "seed": 8}) != once


def test_typed_candidates_become_a_game(page: TestClient):
    found = asked(page, "candidates", {"game": "numbers-4", "text": "1,2,3,9; {1,2,4}; 2,3; 3,4,5"})["instances"]
    board = asked(page, "game", {"game": "numbers-4", "instances": found})
    assert [one["called"] for one in board["candidates"]] == ["{1, 2, 3, 9}", "{1, 2, 4}", "{2, 3}", "{3, 4, 5}"]
    for text, sentence in [("1; 1,42", "no attribute '42'"), ("1,2", "One candidate"), ("1,2,3,4,5; 1", "There is no")]:
        wrong = page.post("/api/candidates", json={"game": "numbers-4", "text": text})
        assert wrong.status_code == 422
        assert sentence in wrong.json()["sentence"]


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ({"game": "nonsense"}, "No game is called 'nonsense': choose one of numbers-4,"),
        ({"agent": "nobody"}, "No agent is called 'nobody'"),
        ({"game": "objects-4", "agent": "pair"}, "does not know the game objects-4"),
        ({"step": 7}, "has steps 0 to 6"),
        ({"candidates": 13}, "candidates: Input should be less than or equal to 12."),
        ({"game": "three-objects", "candidates": 4}, "4 candidates are not between 2 and 3"),
        ({"instances": [0, 0]}, "candidates must differ"),
        ({"instances": [0, 999]}, "no instance 999"),
        ({"game": "../../etc/passwd"}, "game: String should match pattern"),
        ({"path": "x"}, "path: Extra inputs are not permitted."),
    ],
)
def test_a_mistake_in_an_address_is_one_sentence(address: dict, sentence: str, page: TestClient):
    answer = page.post("/api/watch", json=address)
    assert answer.status_code == 422
    assert sentence in answer.json()["sentence"]


def test_no_path_leads_out_of_the_page(page: TestClient):
    for path in ("/../app.py", "/..%2fapp.py", "/%2e%2e/app.py", "/pair/config.json", "/api/picture/0.png"):
        assert page.get(path).status_code in (404, 405)


def test_other_hosts_other_sites_and_long_questions_are_refused(page: TestClient):
    assert page.get("/", headers={"host": "evil.example"}).status_code == 400
    assert page.post("/api/watch", json={}, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert page.post("/api/watch", content=b"x" * (MOST_BYTES + 1)).status_code == 413
    assert page.post("/api/watch", content=iter([b"x" * MOST_BYTES, b"x" * MOST_BYTES])).status_code == 413
    assert page.get(f"/?{'x' * 3000}").status_code == 414


def test_one_client_is_slowed_down_and_others_are_not():
    seconds = [0.0]
    guard = Guard(lambda *_: None, None, clock=lambda: seconds[0])  # pyright: ignore[reportArgumentType]
    assert [guard.may("a") for _ in range(int(BURST) + 1)] == [True] * int(BURST) + [False]
    assert guard.may("b")
    seconds[0] = 2 / RATE
    assert [guard.may("a") for _ in range(3)] == [True, True, False]


CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]


@pytest.mark.parametrize("mode", GenerationMode)
def test_whatever_is_asked_the_answer_is_never_a_server_error(mode: GenerationMode, monkeypatch: pytest.MonkeyPatch):
    """Questions that fit the API's own description, and questions that do not."""
    monkeypatch.setattr("implicature.web.security.BURST", 1e9)
    description = schemathesis.openapi.from_asgi("/api/openapi.json", new_app(hosts=None))
    tried: set[str] = set()
    for found in description.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()

        @settings(max_examples=30, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=CHECKS, timeout=120)

        try:
            ask()
            tried.add(operation.path)
        except Unsatisfiable:
            assert operation.path == "/api/about"  # which has nothing to ask wrongly
    assert {"/api/game", "/api/student", "/api/teacher", "/api/watch", "/api/candidates"} <= tried


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["implicature", "play", "--no-browser", *arguments])
    main()


def test_a_mistake_on_the_command_line_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for arguments, sentence in [
            ([str(tmp_path), "--port", "0"], "is not a run: it has no config.json"),
            (["--port", "99999"], "99999 is not a port"),
            (["--port", str(taken.getsockname()[1])], "cannot be used (Address already in use): choose another"),
            (["--host", "nowhere.invalid"], "'nowhere.invalid', port 8642, cannot be used"),
            (["--consent", "Yes?"], "say where with --record"),
            (["--port", "0", "--record", str(tmp_path / "none" / "s")], "cannot be used as a study's file"),
        ]:
            with pytest.raises(SystemExit) as end:
                command(monkeypatch, *arguments)
            said = capsys.readouterr()
            assert end.value.code == 2
            assert sentence in said.err
            assert (said.err.count("\n"), said.out) == (1, "")


def test_without_the_extra_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(SystemExit) as end:
        command(monkeypatch)
    assert end.value.code == 2
    assert "pip install 'implicature[play]'" in capsys.readouterr().err


def test_a_run_is_the_first_agent_and_brings_its_own_space_along(tmp_path: Path):
    players = all_players(SHIPPED)[1]
    assert next(iter(players)) == "run"
    assert players["run"].games == ("numbers-4",)
    kitchen = Path(__file__).parents[2] / "examples" / "kitchen.csv"
    config = Config(
        space=str(kitchen), candidates=3, phases=0, grounded=False, width=4, depth=1, batch=16, train_games=100
    )
    for _ in start_run(tmp_path / "run", config).train():
        pass
    with TestClient(new_app(tmp_path / "run"), base_url="http://127.0.0.1") as page:
        told = asked(page, "watch", {"game": "yours", "agent": "run", "step": 0})
        assert "Their words have no meaning but use" in told["thoughts"][0]["why"]
        assert asked(page, "watch", {"game": "yours", "agent": "exact", "step": 3})["over"] is True


MINE = """
import numpy as np

def teacher(sees):  # the last true word, and all others are out of the question
    value = np.full(sees.candidates.shape[1], -np.inf)
    value[np.flatnonzero(sees.candidates[sees.target])[-1]] = 1
    return value

def broken(sees):
    raise KeyError("colour")
"""


def test_any_two_agents_sit_at_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "mine_on_the_page.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    with TestClient(new_app(both=("mine_on_the_page:teacher", "literal")), base_url="http://127.0.0.1") as page:
        about = page.get("/api/about").json()
        assert about["agents"][0] == {
            "name": "met", "title": "mine_on_the_page:teacher teaches literal", "steps": ["as they are"], "step": 0,
            "games": [game["name"] for game in about["games"]], "grounded": True,
        }  # fmt: skip
        told = asked(page, "watch", {"game": "three-objects", "agent": "met", "instances": [0, 1, 2], "seed": 1})
        (thought,) = told["thoughts"]
        words = next(game["words"] for game in about["games"] if game["name"] == "three-objects")
        target = {"blue sphere": "sphere", "red sphere": "red", "blue cone": "cone"}
        meant = list(target)[told["target"]]
        # Attributes in the space's order: blue, sphere, red, cone.
        assert words[thought["word"]] == target[meant]
        assert [value is not None for value in thought["values"]].count(True) == 1
        assert f"“{target[meant]}” is true of the" in thought["why"]
    with TestClient(new_app(both=("mine_on_the_page:broken", "exact")), base_url="http://127.0.0.1") as page:
        wrong = page.post("/api/watch", json={"game": "three-objects", "agent": "met"})
        assert wrong.status_code == 422
        assert "broken stopped with KeyError: 'colour'" in wrong.json()["sentence"]


def test_a_run_meets_another_agent_in_its_own_games():
    _, players = all_players(SHIPPED, ("exact", str(SHIPPED)))
    assert list(players) == ["met", "run", "exact", "pair"]
    assert players["met"].games == ("numbers-4",)
    with pytest.raises(ValueError, match="nowhere is not a run"):
        all_players(None, ("exact", "nowhere"))
