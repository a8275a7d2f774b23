"""The page's API, asked in this process: what it answers, what it keeps from the student, and whom it lets play."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from implicature.cli.main import main
from implicature.training.config import Config
from implicature.training.runs.run import start_run
from implicature.web.app import create_app
from implicature.web.players import PRETRAINED, load_agents_and_games
from implicature.web.site import site_files

SETTINGS = {"game": "three-objects", "seed": 8, "pragmatic_only": True, "variant": 1}
PRETRAINED_SETTINGS = {"game": "numbers-4", "agent": "pretrained", "seed": 3, "pragmatic_only": True}


@pytest.fixture(scope="module")
def page() -> Iterator[TestClient]:
    with TestClient(create_app(), base_url="http://127.0.0.1") as client:
        yield client


def post(page: TestClient, path: str, body: dict) -> dict:
    response = page.post(f"/api/{path}", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def test_everything_on_the_page_comes_from_the_package_and_nothing_is_inline(page: TestClient):
    home = page.get("/")
    assert home.status_code == 200
    assert "http" not in home.text.replace("http-equiv", "")
    assert " style=" not in home.text
    assert " onclick=" not in home.text
    for name in site_files(server=True):
        assert page.get(f"/{name}").status_code == 200
    policy = home.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    for header in ("x-content-type-options", "referrer-policy", "x-frame-options", "cross-origin-opener-policy"):
        assert header in home.headers


def test_the_student_does_not_learn_the_target_before_answering(page: TestClient):
    first = post(page, "student", {"settings": SETTINGS})
    assert first["over"] is False
    assert first["target"] is None
    assert first["rounds"] == []
    game = post(page, "game", SETTINGS)
    assert "target" not in game
    labels = [candidate["label"] for candidate in game["candidates"]]
    end = post(page, "student", {"settings": SETTINGS, "answer": labels.index("blue sphere")})
    assert (end["over"], end["return"], end["target"]) == (True, 1.0, labels.index("blue sphere"))
    assert (end["literal_return"], end["exact_return"]) == (0.5, 1.0)  # a coin toss, and none
    # What he expects of a teacher of depth 1 for the blue cone: “cone” e^10 against “blue” e^5.
    words = ["blue", "sphere", "red", "cone"]
    cone = dict(zip(words, end["rounds"][0]["likelihood"][labels.index("blue cone")], strict=True))
    assert cone == pytest.approx({"blue": 0.0067, "sphere": 0, "red": 0, "cone": 0.9933}, abs=1e-3)


def test_the_inference_appears_between_depth_0_and_depth_1(page: TestClient):
    target = post(page, "watch", SETTINGS)["target"]
    games = [post(page, "watch", {**SETTINGS, "variant": depth}) for depth in (0, 1, 2)]
    beliefs = [game["rounds"][0]["belief_after"][target] for game in games]
    # L_1 of the sphere: (1/2) / (1/2 + e^5 / (e^5 + e^10)) = 0.9868
    assert beliefs[:2] == pytest.approx([0.5, 0.9868], abs=1e-3)
    assert beliefs[2] > 0.999


def test_the_pretrained_pair_is_small_and_learns_to_infer_over_its_phases(page: TestClient):
    assert sum(file.stat().st_size for file in PRETRAINED.iterdir()) < 1_000_000
    games = [post(page, "watch", {**PRETRAINED_SETTINGS, "variant": phase}) for phase in range(4)]
    beliefs = [game["rounds"][0]["belief_after"][game["target"]] for game in games]
    assert beliefs[0] < 0.6
    assert beliefs[3] > 0.9
    assert games[3]["return"] == 1.0


def test_a_message_of_the_teacher_is_understood_or_not(page: TestClient):
    literal = {**SETTINGS, "rounds": 2, "variant": 0}
    start = post(page, "teacher", {"settings": literal})
    assert (start["target"] is not None, start["rounds"]) == (True, [])
    words = page.get("/api/about").json()["games"][-1]["words"]
    blue, sphere = words.index("blue"), words.index("sphere")
    assert post(page, "teacher", {"settings": literal, "messages": [blue]})["over"] is False
    end = post(page, "teacher", {"settings": literal, "messages": [blue, sphere]})
    assert (end["over"], end["return"]) == (True, 0.8)  # two messages at 0.1
    late = page.post("/api/teacher", json={"settings": {**literal, "variant": 3}, "messages": [0, 1]})
    assert late.status_code == 422
    assert "the game is over" in late.json()["message"]


def test_waiting_brings_another_message_but_not_after_the_last(page: TestClient):
    literal = {"game": "numbers-7", "rounds": 2, "variant": 0, "pragmatic_only": True}
    first = post(page, "student", {"settings": literal})
    second = post(page, "student", {"settings": literal, "n_messages": 1, "answer": "wait"})
    assert second["messages"][0] == first["messages"][0]
    assert len(second["messages"]) == 2
    last = page.post("/api/student", json={"settings": literal, "n_messages": 2, "answer": "wait"})
    assert (last.status_code, "nothing to wait for" in last.json()["message"]) == (422, True)


def test_the_same_settings_deal_the_same_game_and_another_seed_another(page: TestClient):
    random = {"game": "objects-7", "candidates": 5, "seed": 7}
    first, again = (post(page, "game", random) for _ in range(2))
    assert first == again
    assert len(first["candidates"]) == 5
    assert post(page, "game", {**random, "seed": 8}) != first


def test_typed_candidates_become_a_game(page: TestClient):
    instances = post(page, "candidates", {"game": "numbers-4", "text": "1,2,3,9; {1,2,4}; 2,3; 3,4,5"})["instances"]
    game = post(page, "game", {"game": "numbers-4", "instances": instances})
    assert [one["label"] for one in game["candidates"]] == ["{1, 2, 3, 9}", "{1, 2, 4}", "{2, 3}", "{3, 4, 5}"]
    for name, text, message in [
        ("numbers-4", "1; 1,42", "no attribute '42'"),
        ("numbers-4", "1,2", "One candidate"),
        ("numbers-4", "1,2,3,4,5; 1", "There is no 1, 2, 3, 4, 5 in Number sets, 10 symbols: write another"),
        ("numbers-4", ";".join("0123456789abc"), "More than 12 candidates"),
        ("objects-4", "red, box; blue, cone", "write one of each: colour, shape, size, place."),
    ]:
        wrong = page.post("/api/candidates", json={"game": name, "text": text})
        assert wrong.status_code == 422
        assert message in wrong.json()["message"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"game": "nonsense"}, "No game is called 'nonsense': choose one of numbers-4,"),
        ({"agent": "nobody"}, "No agent is called 'nobody'"),
        ({"game": "objects-4", "agent": "pretrained"}, "does not know the game objects-4"),
        ({"variant": 7}, "has variants 0 to 6"),
        ({"candidates": 13}, "candidates: Input should be less than or equal to 12."),
        ({"game": "three-objects", "candidates": 4}, "4 candidates are not between 2 and 3"),
        ({"instances": [0, 0]}, "candidates must differ"),
        ({"instances": [0, 999]}, "no instance 999"),
        ({"game": "../../etc/passwd"}, "game: String should match pattern"),
        ({"path": "x"}, "path: Extra inputs are not permitted."),
    ],
)
def test_a_mistake_in_the_settings_is_one_sentence(wrong: dict, message: str, page: TestClient):
    response = page.post("/api/watch", json=wrong)
    assert response.status_code == 422
    assert message in response.json()["message"]


def test_instances_of_objects_have_images_and_others_have_none(page: TestClient):
    image = page.get("/api/image/objects-4/3.png")
    assert (image.status_code, image.headers["content-type"]) == (200, "image/png")
    assert image.content.startswith(b"\x89PNG")
    for path in ("objects-4/288.png", "numbers-4/0.png", "nonsense/0.png"):
        missing = page.get(f"/api/image/{path}")
        assert (missing.status_code, missing.json()) == (404, {"message": "There is no such image."})


def run_play(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["implicature", "play", "--no-browser", *arguments])
    main()


def test_a_mistake_on_the_command_line_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for arguments, message in [
            ([str(tmp_path), "--port", "0"], "is not a run: it has no config.json"),
            (["--port", "99999"], "99999 is not a port"),
            (["--port", str(taken.getsockname()[1])], "cannot be used (Address already in use): choose another"),
            (["--host", "nowhere.invalid"], "'nowhere.invalid', port 8642, cannot be used"),
            (["--host", " "], "say 0.0.0.0 if that is meant"),
            (["--teacher", "exact"], "Who is the student?"),
            (["--consent", "Yes?"], "say where with --record"),
            (["--port", "0", "--record", str(tmp_path / "none" / "s")], "cannot be used as a study file"),
        ]:
            with pytest.raises(SystemExit) as end:
                run_play(monkeypatch, *arguments)
            printed = capsys.readouterr()
            assert end.value.code == 2
            assert message in printed.err
            assert (printed.err.count("\n"), printed.out) == (1, "")


def test_without_the_extra_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(SystemExit) as end:
        run_play(monkeypatch)
    assert end.value.code == 2
    assert "The page needs uvicorn: pip install 'implicature[play]'." in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_is_the_first_agent_and_brings_its_own_space_along(tmp_path: Path):
    agents = load_agents_and_games(PRETRAINED)[1]
    assert next(iter(agents)) == "run"
    assert agents["run"].games == ("numbers-4",)
    kitchen = Path(__file__).parents[2] / "examples" / "kitchen.csv"
    config = Config.of(
        space=str(kitchen), candidates=3, phases=0, grounded=False, width=4, layers=1, candidate_sets=16,
        train_games=100,
    )  # fmt: skip
    for _ in start_run(tmp_path / "run", config).train():
        pass
    with TestClient(create_app(tmp_path / "run"), base_url="http://127.0.0.1") as page:
        assert post(page, "watch", {"game": "custom", "agent": "run", "variant": 0})["over"] is True
        assert page.get("/api/about").json()["agents"][0]["grounded"] is False
        assert post(page, "watch", {"game": "custom", "agent": "exact", "variant": 3})["over"] is True


CUSTOM = """
import numpy as np

def teacher(observation):  # the last true word, and all others are out of the question
    value = np.full(observation.candidates.shape[1], -np.inf)
    value[np.flatnonzero(observation.candidates[observation.target])[-1]] = 1
    return value

def broken(observation):
    raise KeyError("colour")
"""


def test_any_two_players_can_be_played_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "custom_on_the_page.py").write_text(CUSTOM)
    monkeypatch.chdir(tmp_path)
    app = create_app(players=("custom_on_the_page:teacher", "literal"))
    with TestClient(app, base_url="http://127.0.0.1") as page:
        about = page.get("/api/about").json()
        assert about["agents"][0] == {
            "name": "matchup", "title": "custom_on_the_page:teacher teaches literal", "variants": ["as given"],
            "variant": 0, "games": [game["name"] for game in about["games"]], "grounded": True,
        }  # fmt: skip
        state = post(page, "watch", {"game": "three-objects", "agent": "matchup", "instances": [0, 1, 2], "seed": 1})
        (round_,) = state["rounds"]
        words = next(game["words"] for game in about["games"] if game["name"] == "three-objects")
        # Attributes in the space's order: blue, sphere, red, cone.
        expected = ["sphere", "red", "cone"][state["target"]]
        assert words[round_["message"]] == expected
        assert [value is not None for value in round_["values"]].count(True) == 1
        assert round_["likelihood"] is None  # he does not say what he expects of her
    app = create_app(players=("custom_on_the_page:broken", "exact"))
    with TestClient(app, base_url="http://127.0.0.1") as page:
        wrong = page.post("/api/watch", json={"game": "three-objects", "agent": "matchup"})
        assert wrong.status_code == 422
        assert "broken stopped with KeyError: 'colour'" in wrong.json()["message"]


def test_a_run_plays_with_another_player_in_its_own_games():
    _, agents = load_agents_and_games(PRETRAINED, ("exact", str(PRETRAINED)))
    assert list(agents) == ["matchup", "run", "exact", "pretrained"]
    assert agents["matchup"].games == ("numbers-4",)
    with pytest.raises(ValueError, match="nowhere is not a run"):
        load_agents_and_games(None, ("exact", "nowhere"))


def test_the_page_is_exported_as_files_and_what_needs_a_server_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    folder = tmp_path / "site"
    monkeypatch.setitem(sys.modules, "uvicorn", None)  # the page needs no server, and so not the extra that has one
    run_play(monkeypatch, "--export", str(folder), "--address", "https://example.org/pragmatics")
    assert "index.html" in capsys.readouterr().out
    index = (folder / "index.html").read_text(encoding="utf-8")
    assert '<meta property="og:image" content="https://example.org/pragmatics/card.png">' in index
    assert '<meta property="og:url" content="https://example.org/pragmatics/">' in index
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert files == site_files(server=False, address="https://example.org/pragmatics/")
    (tmp_path / "file").write_text("")
    for arguments, message in [
        (["--export", str(tmp_path / "file")], "is not a folder"),
        (["--export", str(folder), "--address", "example.org"], "begin it with https://"),
        (["--export", str(folder), "--record", "s.sqlite"], "--record needs the server"),
        ([str(PRETRAINED), "--export", str(folder)], "A run needs the server"),
        (["--address", "https://example.org"], "say where with --export"),
    ]:
        with pytest.raises(SystemExit) as end:
            run_play(monkeypatch, *arguments)
        assert end.value.code == 2
        assert message in capsys.readouterr().err
