"""Any player about a game of your own: what she says, what she expects of him, what he believes, in the names typed."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import implicature
from implicature.cli.main import main
from implicature.spaces.small import quantifiers
from implicature.training.config import Config
from implicature.training.runs.run import start_run

PRETRAINED = Path(implicature.__file__).parent / "training" / "pretrained" / "numbers-4"
SETS = ("1,2,3,9", "1,2,4", "2,3", "1,5")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["implicature", *arguments])
    main()


def test_an_exact_teacher_expects_what_the_student_believes():
    context = implicature.Context("blue,sphere", "red,sphere", "blue,cone", prior=[2, 1, 1])
    teacher, student = implicature.players("exact:depth=1,utility=log,alpha=1,start=indicator")
    expected = teacher.expects(context)
    assert list(expected) == list(context.words)
    for word in context.words:
        assert expected[word] == pytest.approx(student.listen(context, word))
    assert expected["blue"] == pytest.approx({"blue,sphere": 0.8, "red,sphere": 0.0, "blue,cone": 0.2}, abs=1e-5)


def test_a_trained_teacher_has_an_expectation_of_her_own_and_a_function_has_none():
    context = implicature.Context(*SETS)
    teacher, student = implicature.players(PRETRAINED)
    expected, believed = teacher.expects(context)["9"], student.listen(context, "9")
    assert expected["1,2,3,9"] > 0.9
    assert expected == pytest.approx(believed, abs=0.1)  # her model of him is good, and not himself
    assert expected != believed
    plain, _ = implicature.players(lambda observation: observation.candidates[observation.target], "exact")
    assert plain.expects(context)["9"] == pytest.approx(dict.fromkeys(SETS, 0.25))


@pytest.mark.parametrize("target", ["1,2,4", "2"])
def test_the_command_asks_any_player_and_answers_in_the_names_typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], target: str
):
    run(monkeypatch, "ask", str(PRETRAINED), *SETS, "--target", target, "--json")
    answer = json.loads(capsys.readouterr().out)
    assert answer["candidates"] == list(SETS)
    assert list(answer["says"]) == ["1,2,4"]
    assert answer["says"]["1,2,4"]["4"] > 0.9
    assert answer["believes"]["4"]["1,2,4"] > 0.9
    assert answer["expects"]["4"].keys() == set(SETS)


def test_the_command_takes_the_names_of_a_spaces_instances(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    (tmp_path / "space.csv").write_text("name,legs,fur\nwhale,0,0\ndolphin,0,0\nseal,0,1\n")
    lexicon = "name,big,swims,barks,unicorn\nwhale,1,1,0,0\ndolphin,0.4,1,0,0\nseal,0.1,1,1,0\n"
    (tmp_path / "lexicon.csv").write_text(lexicon)
    where = ("--space", str(tmp_path), "whale", "dolphin", "seal")
    run(monkeypatch, "ask", "exact:depth=0,utility=log,start=indicator", *where, "--target", "seal", "--json")
    answer = json.loads(capsys.readouterr().out)
    assert answer["believes"]["big"] == pytest.approx({"whale": 2 / 3, "dolphin": 4 / 15, "seal": 1 / 15}, abs=1e-5)
    # S_1 at α = 1 ∝ L_0(seal): big 1/15, swims 1/3, barks 1; "unicorn" fits nobody here and is left out.
    total = 1 / 15 + 1 / 3 + 1
    says = {"big": 1 / 15 / total, "swims": 1 / 3 / total, "barks": 1 / total}
    assert answer["says"]["seal"] == pytest.approx(says, abs=1e-5)
    run(monkeypatch, "explain", *where, "--utility", "log", "--depth", "1")
    assert "whale" in capsys.readouterr().out


def test_explain_asks_a_player_in_place_of_the_recursion(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    run(monkeypatch, "explain", *SETS, "--player", str(PRETRAINED), "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["player"] == str(PRETRAINED)
    assert len(found["depths"]) == 2  # literally, and the player's
    nine = found["messages"].index("9")
    assert found["depths"][1]["student"][nine][0] > 0.9
    same = implicature.explain(*SETS, player="exact:depth=1,beta=10")
    exact = implicature.explain(*SETS, depth=2)
    np.testing.assert_allclose(same.depths[1].student, exact.depths[1].student, atol=1e-5)
    np.testing.assert_allclose(same.depths[1].teacher, exact.depths[2].teacher, atol=1e-5)


@pytest.fixture(scope="module")
def some_and_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned nothing yet: her Q is the predicted belief less the word's cost."""
    folder = tmp_path_factory.mktemp("runs") / "quantifiers"
    small: dict[str, Any] = {
        "phases": 0,
        "pretraining_iterations": 1,
        "train_games": 100,
        "candidate_sets": 4,
        "width": 4,
        "layers": 1,
    }
    list(start_run(folder, Config.of(space="quantifiers", candidates=3, **small)).train())
    return folder


def costs_that_explain(run: Path, context: implicature.Context, beta: float = 20.0) -> dict[str, float]:
    """What each word must cost, up to a constant, if P(word) ∝ exp(β (b(target) − cost)) for the second candidate."""
    teacher, _ = implicature.players(run)
    said, expected = teacher.speak(context, 1), teacher.expects(context)
    target = context.candidates[1]
    free = {word: expected[word][target] - np.log(chance) / beta for word, chance in said.items()}
    return {word: cost - min(free.values()) for word, cost in free.items()}


THREE_OF_ELEVEN = ("3 of 10", "10 of 10", "0 of 10")


def test_words_cost_a_trained_teacher_what_the_context_says_and_else_what_they_cost_in_training(some_and_all: Path):
    own = {"none": 0.1, "some": 0.0, "most": 0.05, "all": 0.1}
    named = implicature.Context(*THREE_OF_ELEVEN)
    assert costs_that_explain(some_and_all, named) == pytest.approx(own, abs=1e-5)
    of_space = implicature.Context(*THREE_OF_ELEVEN, space=quantifiers())
    assert costs_that_explain(some_and_all, of_space) == pytest.approx(own, abs=1e-5)
    dear = implicature.Context(*THREE_OF_ELEVEN, space=quantifiers(), costs={**own, "most": 0.3})
    assert costs_that_explain(some_and_all, dear) == pytest.approx({**own, "most": 0.3}, abs=1e-5)


def test_costs_that_are_typed_change_those_of_the_space_and_leave_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], some_and_all: Path
):
    said = []
    for player in (str(some_and_all), "exact:depth=0,beta=20"):
        where = () if player == str(some_and_all) else ("--space", "quantifiers")
        for costs in ((), ("--costs", "most=0.3")):
            run(monkeypatch, "ask", player, *THREE_OF_ELEVEN, *where, "--target", "2", "--json", *costs)
            said.append(json.loads(capsys.readouterr().out)["says"]["10 of 10"])
        free, dear = said[-2:]
        # β (0.3 − 0.05) = 5 less for "most", and nothing changes between the others.
        assert np.log(free["most"] / free["all"]) - np.log(dear["most"] / dear["all"]) == pytest.approx(5, abs=1e-3)
        assert free["some"] / free["all"] == pytest.approx(dear["some"] / dear["all"], rel=1e-3)


def test_the_same_instance_twice_and_names_of_ones_own_are_known_to_a_run(some_and_all: Path):
    twins = ("3 of 10", "10 of 10", "10 of 10")
    _, student = implicature.players(some_and_all)
    twice = student.listen(implicature.Context(*twins), "all")
    assert twice["10 of 10"] == pytest.approx(twice["10 of 10 (2)"], abs=1e-6)
    named = implicature.Context(*twins, space=quantifiers(), names=["few", "left", "right"])
    assert list(student.listen(named, "all").items()) == [
        (name, pytest.approx(chance)) for name, chance in zip(("few", "left", "right"), twice.values(), strict=True)
    ]
    unknown = implicature.Context("a", "b", lexicon={"some": [1, 1], "all": [0, 1], "none": [0, 0], "most": [0, 1]})
    with pytest.raises(ValueError, match="does not know the candidate 'a': it was trained on quantifiers"):
        student.listen(unknown, "all")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["exact", "a", "b", "--target", "c"], "'c' is not a candidate here: name one of 'a', 'b'."),
        (["exact", "a", "b", "--said", "c"], "'c' is not a word here"),
        ([str(PRETRAINED), "1,2", "3", "--space", "objects"], "A run knows its own space: leave out --space."),
        ([str(PRETRAINED), "1,2", "eleven"], "The space numbers-10 has no attribute 'eleven'"),
        (["exact", "a", "b", "--prior", "1;2"], "--prior is '1;2': write numbers with commas between"),
    ],
)
def test_a_wrong_question_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
):
    with pytest.raises(SystemExit):
        run(monkeypatch, "ask", *arguments)
    assert sentence in capsys.readouterr().err


def test_dialogues_carry_her_values_and_her_estimate_of_his_belief():
    rows = implicature.dialogues(PRETRAINED, games=20)
    for row in rows:
        beliefs, estimates = ([row[f"{what}_{i}"] for i in range(1, 5)] for what in ("belief", "estimate"))
        assert sum(estimates) == pytest.approx(1, abs=1e-4)
        assert estimates == pytest.approx(beliefs, abs=0.5)
        values = {word: row[f"value_{word}"] for word in map(str, range(10))}
        assert max(values, key=lambda word: values[word]) == row["message"]
    exact = implicature.dialogues("exact", games=20)[0]
    said = {word for word in map(str, range(10)) if exact[f"value_{word}"] is not None}
    assert said == set(exact["target"].strip("{}").split(", "))  # she values true words alone


def test_noise_and_a_question_are_rules_of_test_games():
    options = {"game": "objects-4", "games": 400}
    plain, noisy = (implicature.evaluate("exact", **options, noise=noise)["accuracy"] for noise in (0.0, 0.5))
    assert plain > 0.9
    assert noisy < plain - 0.2
    assert (
        implicature.evaluate("literal", **options, qud="colour")["accuracy"]
        > implicature.evaluate("literal", **options)["accuracy"]
    )
