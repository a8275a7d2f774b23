"""The command `explain`: numbers worked out by hand, true sentences, and one sentence for each mistake."""

import json
import re
import subprocess
import sys
from math import exp
from pathlib import Path

import numpy as np
import pytest

from implicature.cli.main import main
from implicature.explanation.model import Explanation, explain_candidates
from implicature.explanation.text import explain_candidate, explain_in_words
from implicature.games.parsing import ordinal, parse_candidates, sort_words

THREE = ["blue,sphere", "red,sphere", "blue,cone"]
PAPER = ["1,2,3,9", "1,2,4", "2,3", "3,4,5"]
CIRCLE = ["1,2", "1,3", "2,3"]
EXAMPLES = Path(__file__).parents[2] / "examples"


def explain(arguments: list[str], **options) -> Explanation:
    return explain_candidates(parse_candidates(arguments), **options)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["implicature", "explain", *arguments])
    main()


def test_beliefs_about_three_objects_are_those_worked_out_by_hand() -> None:
    found = explain(THREE, depth=1)
    assert found.messages == ["blue", "sphere", "red", "cone"]
    # L_0: both blue ones have two attributes, S_0 = 1/2 each.
    np.testing.assert_allclose(found.depths[0].student[0], [0.5, 0, 0.5], rtol=1e-6)
    # S_1: the blue sphere's messages tie; for the cone L_0 is 1/2 after "blue" and 1 after "cone":
    # S_1(blue | cone) = e^5 / (e^5 + e^10).
    blue = exp(5) / (exp(5) + exp(10))
    np.testing.assert_allclose(found.depths[1].teacher[0], [0.5, 0.5, 0, 0], rtol=1e-5)
    np.testing.assert_allclose(found.depths[1].teacher[2], [blue, 0, 0, 1 - blue], rtol=1e-5)
    np.testing.assert_allclose(found.depths[1].student[0], np.array([0.5, 0, blue]) / (0.5 + blue), rtol=1e-5)


def test_the_paper_example_has_the_levels_and_dimensions_worked_out_by_hand() -> None:
    found = explain(PAPER)
    assert found.messages == ["1", "2", "3", "4", "5", "9"]
    # 9 and 5 are the first's and the fourth's own. Without them 1 and 4 are the second's and 3 is the third's.
    assert found.level == [0, 1, 1, 0]
    # The second needs 4 against the first and 1 or 2 against the fourth; {2, 3} is part of the first.
    assert found.td == [1, 2, None, 1]
    assert found.rtd == [1, 1, 1, 1]
    assert found.exact
    # One message each, true and its own.
    assert len(set(found.no_clash)) == 4
    assert all(word in names for word, names in zip(found.no_clash, found.candidates, strict=True))
    assert found.accuracy == [1, 1, 1, 1]


@pytest.mark.slow
def test_a_circle_has_no_levels_and_stays_a_coin_toss() -> None:
    found = explain(CIRCLE, depth=100)
    assert found.level == [None, None, None]
    assert found.td == found.rtd == [2, 2, 2]
    np.testing.assert_allclose(found.accuracy, 0.5)


def test_three_candidates_clash_over_two_messages() -> None:
    # S_0(1 | {1, 2}) = 1/2 and S_0(1 | {1}) = 1, so L_0 = 1/3, 2/3.
    clash = explain(["1,2", "1", "2"], depth=0)
    np.testing.assert_allclose(clash.depths[0].student[0], [1 / 3, 2 / 3, 0], rtol=1e-6)
    assert clash.no_clash.count(None) == 1


def test_an_indicator_start_weighs_truth_alone() -> None:
    # "some" is true of both; with 1/|o| it favours {some}, 1 : 1/2.
    game = ["some", "some,all"]
    np.testing.assert_allclose(explain(game, depth=0, start="indicator").depths[0].student[0], [0.5, 0.5])
    np.testing.assert_allclose(explain(game, depth=0).depths[0].student[0], [2 / 3, 1 / 3], rtol=1e-6)


@pytest.mark.slow
def test_beliefs_and_choices_add_up_to_one_whatever_the_padding() -> None:
    for n in (2, 8, 9):
        found = explain([f"0,{i},{i + 1}" for i in range(1, n + 1)], depth=2)
        for depth in found.depths:
            assert np.shape(depth.student) == (n + 2, n)
            np.testing.assert_allclose(np.sum(depth.student, axis=1), 1, rtol=1e-5)
            np.testing.assert_allclose(np.sum(depth.teacher, axis=1), 1, rtol=1e-5)


def test_numbers_are_ordered_by_size_and_other_names_by_appearance() -> None:
    assert sort_words(["10", "9", "-2", "9"]) == ["-2", "9", "10"]
    assert sort_words(["10", "nine", "2"]) == ["10", "nine", "2"]


def test_ordinals_are_english() -> None:
    numbers = {1: "first", 12: "twelfth", 13: "13th", 21: "21st", 22: "22nd", 33: "33rd", 50: "50th", 111: "111th"}
    assert {number: ordinal(number) for number in numbers} == numbers


def test_the_counterfactual_names_what_she_would_have_said() -> None:
    assert explain_candidate(explain(THREE), 0) == (
        "For the first she says “blue” or “sphere”. “blue” fits the first and the third. "
        "For the third she would have said “cone”; so “blue” means the first."
    )
    assert "for the second she would have said “1” or “4”; so “2” means the third." in explain_candidate(
        explain(PAPER), 2
    )
    assert explain_candidate(explain(THREE), 1).endswith("“red” fits nobody else, so it means the second.")


def test_ties_and_misses_are_named_as_such() -> None:
    assert explain_candidate(explain(CIRCLE), 0).endswith(
        "For the second she would as soon have said “1” as “3”; so after “1” he cannot tell the first from the second."
    )
    # Whatever she says for {1, 2}, he expects it rather for the one who has nothing else: 1/2 against 1.
    assert explain_candidate(explain(["1,2", "1", "2"]), 0).endswith(
        "For the second she would have said “1” too; "
        "so he takes “1” to mean the second (67%) rather than the first (33%)."
    )


@pytest.mark.slow
def test_every_sentence_about_random_games_is_true() -> None:
    generator = np.random.default_rng(0)
    place = {f"the {ordinal(i + 1)}": i for i in range(6)}
    claims = 0
    for _ in range(40):
        table = np.unique(generator.random((6, 6)) < 0.45, axis=0)
        names = [[str(x + 1) for x in np.flatnonzero(row)] for row in table if row.any()]
        found = explain_candidates(names, depth=3, beta=float(generator.choice([0.5, 10.0])))
        for text in explain_in_words(found, None, most=6):
            for who, word, too in re.findall(
                r"or (the \w+) she would have said “(\w+)”( too)?(?:;|, for| and for)", text
            ):
                assert found.depths[-1].teacher[place[who]][found.messages.index(word)] >= 0.9
                assert f". “{word}” fits" in text or not too
                claims += 1
            for word, who in re.findall(r"so “(\w+)” means (the \w+)", text):
                assert found.depths[-1].student[found.messages.index(word)][place[who]] >= 0.99
                claims += 1
            for word, who, percent in re.findall(r"so he takes “(\w+)” to mean (the \w+) \((\d+)%\)", text):
                beliefs = found.depths[-1].student[found.messages.index(word)]
                assert np.argmax(beliefs) == place[who]
                assert float(percent) == pytest.approx(100 * max(beliefs), abs=0.51)
                claims += 1
    assert claims > 100


@pytest.mark.slow
def test_the_command_prints_one_json_object() -> None:
    command = [sys.executable, "-c", "from implicature.cli.main import main; main()", "explain", *PAPER, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["candidates"] == [names.split(",") for names in PAPER]
    assert found["messages"] == ["1", "2", "3", "4", "5", "9"]
    assert found["td"] == [1, 2, None, 1]
    assert found.keys() >= {"level", "rtd", "no_clash", "exact"}
    assert [depth["depth"] for depth in found["depths"]] == list(range(7))
    assert {np.shape(depth["student"]) for depth in found["depths"]} == {(6, 4)}
    assert {np.shape(depth["teacher"]) for depth in found["depths"]} == {(4, 6)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "game",
    [
        [*THREE, "--target", "1"],
        [",".join(f"an attribute {i} with a name of some length {j}" for j in range(3)) for i in range(8)],
        [f"{i},{i + 1},{i * i},{i % 5}" for i in range(20, 40)],
        [f"x{i % 4},y{i // 4 % 4},x{i % 3}z,w{i % 5}" for i in range(1, 9)],
    ],
    ids=["target", "long names", "many candidates", "eight candidates"],
)
def test_the_tables_fit_80_columns(
    game: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, *game)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.count("← target") == game.count("--target")
    assert all(word in shown for word in ("literal", "level", "TD", "RTD", "no-clash", "she says", "found"))


def test_names_are_never_read_as_markup(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(monkeypatch, "[red],[/],:smile:", "[red],日本語", "--target", "1")
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("[red], [/], :smile:  ← target", "“[/]” or “:smile:”", "日本語"))


def test_the_textbook_model_is_60_to_40_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # L_1(blue) ∝ S_1 = 1/2, 1/3 (tests/agents/test_conventions.py).
    run(monkeypatch, *THREE, *["--utility", "log", "--alpha", "1", "--start", "indicator", "--depth", "1", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["depths"][1]["student"][found["messages"].index("blue")] == pytest.approx([0.6, 0, 0.4])


def test_where_a_word_is_less_than_half_true_the_belief_is_shown_as_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "space.csv").write_text("name,kind\nwhale,a\nseal,b\nyak,c\n")
    (tmp_path / "lexicon.csv").write_text("name,big,barks\nwhale,0.8,0\nseal,0.2,1\nyak,0,1\n")
    # L_0(big) = 0.8, 0.2, 0 with an indicator start.
    run(monkeypatch, "--space", str(tmp_path), "whale", "seal", "yak", "--depth", "0", "--start", "indicator")
    assert re.search(r"big +●80 +○20 +·", capsys.readouterr().out)


def test_candidates_may_be_instances_of_a_space(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "--space", str(EXAMPLES / "kitchen.csv"), "frying pan", "metal,boiling", "--json")
    assert json.loads(capsys.readouterr().out)["candidates"][0][0] == "metal"
    run(monkeypatch, "--space", "objects", "blue,box", "red", "--json")
    assert json.loads(capsys.readouterr().out)["messages"] == ["blue", "box", "red"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "without candidates"),
        (["1,2"], "One candidate"),
        (["1,1,2", "3"], "the attribute '1' twice"),
        (["", "1"], "without a name"),
        (["1,,2", "1"], "without a name"),
        (["1", " "], "The second candidate"),
        (["a\x1b[31m", "b"], r"cannot be printed, 'a\x1b[31m'"),
        (["a\nb", "b"], "cannot be printed"),
        (["a\u202eb", "b"], "cannot be printed"),
        (["a\udcff", "b"], "cannot be printed"),
        (["x" * 65, "b"], "65 letters"),
        ([str(i) for i in range(500)], "500 candidates are too many: give 50 or fewer."),
        ([",".join(map(str, range(201))), "1"], "201 attributes"),
        (["1", "2", "--target", "3"], "from 1 to 2"),
        (["1", "2", "--target", "0"], "from 1 to 2"),
        (["1", "2", "--depth", "-1"], "The depth -1"),
        (["1", "2", "--depth", "101"], "The depth 101"),
        (["1", "2", "--beta", "-1"], "β = -1"),
        (["1", "2", "--beta", "nan"], "β = nan"),
        (["blu,box", "red", "--space", "objects"], "The space objects has no attribute 'blu': did you mean 'blue'?"),
        (["42,1", "2", "--space", "objects"], "it has 'blue', 'red',"),
        (["1", "2", "--space", "nowhere"], "No space is called 'nowhere'"),
        (["1", "2", "--space", "nowhere.csv"], "cannot be read"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(monkeypatch, *arguments)
    shown = capsys.readouterr()
    assert stopped.value.code == 2
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    assert sentence in shown.err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three_objects", "some_all"])
def test_the_examples_run(name: str) -> None:
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, check=True)
    assert "depth 4" in done.stdout


def test_a_game_is_explained_without_importing_jax() -> None:
    code = (
        "import sys; from implicature.cli.main import main; sys.argv = ['implicature', 'explain', 'a,b', 'b,c', 'c']; "
        "main(); print([name for name in ('jax', 'equinox', 'scipy', 'matplotlib') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "[]"
