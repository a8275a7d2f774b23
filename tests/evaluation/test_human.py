"""Published answers of people, and the figures that are known for them (in-sample, computed independently)."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from implicature.cli.main import main
from implicature.evaluation.human.fitting import fit_predictions, mix, posterior, with_lapse
from implicature.evaluation.human.items import Answers, Item, collect, one_person_each, uniform
from implicature.evaluation.human.models import load_model, word_columns
from implicature.evaluation.human.predictions import Predictions, exact_predictions, fixed_predictions
from implicature.evaluation.human.published import canonical_form, load_published
from implicature.evaluation.human.reading import read_answers
from implicature.evaluation.human.scores import calibration, calibration_error, cell_means, correlation, frequencies
from implicature.evaluation.human.training_space import salience_levels, training_space
from implicature.spaces import Lexicon, Space

FRANK_GOODMAN = {part.role: part for part in load_published("frank-goodman-2012").parts}
FRANKE_DEGEN = {part.role: part for part in load_published("franke-degen-2016").parts}
(PRAGMODS,) = load_published("pragmods").parts
(QING_FRANKE,) = load_published("qing-franke-2015").parts


def cells(model: str, answers: Answers) -> tuple[np.ndarray, np.ndarray]:
    """Predicted and observed, cell by cell."""
    fit = fit_predictions(load_model(model)(answers), answers)
    return cell_means(answers, fit.population), cell_means(answers, frequencies(answers))


def r(model: str, answers: Answers) -> float:
    value = correlation(*cells(model, answers))
    assert value is not None
    return round(value, 3)


def per_decision(model: str, answers: Answers) -> float:
    return round(fit_predictions(load_model(model)(answers), answers).log_likelihood / answers.decisions, 3)


def test_people_decisions_and_cells_are_those_of_the_papers():
    sizes = {part.name: (len(part.people), part.decisions, part.cells.max() + 1) for part in (PRAGMODS, QING_FRANKE)}
    assert sizes == {"pragmods-listeners": (1274, 1274, 57), "qing-franke-2015-listeners": (180, 180, 3)}
    assert [(len(part.people), part.cells.max() + 1) for part in FRANK_GOODMAN.values()] == [(265, 10), (198, 6)]
    assert [len(part.people) for part in FRANKE_DEGEN.values()] == [59, 58]
    # Summed by hand over the file: simple and complex items of listeners.
    np.testing.assert_array_equal(FRANKE_DEGEN["listener"].totals, [[374, 296, 38], [517, 160, 31]])


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("literal:prior=listener", 0.990),
        ("exact:depth=1,beta=1", 0.998),
        ("exact:depth=1,utility=log,alpha=0.5", 0.998),
        ("exact:depth=1,utility=log,alpha=1,prior=uniform", 0.958),
        ("exact:depth=1,beta=10", 0.713),
    ],
)
def test_listeners_of_frank_and_goodman(model: str, known: float):
    assert r(model, FRANK_GOODMAN["listener"]) == known


def test_speakers_of_frank_and_goodman():
    assert r("exact:depth=1,utility=log,alpha=1", FRANK_GOODMAN["speaker"]) == 0.984


@pytest.mark.parametrize(
    ("model", "known", "without_certainty"),
    [
        ("literal", 0.914, 0.910),
        ("literal:start=indicator", 0.736, 0.142),
        ("exact:depth=1,utility=log,alpha=1.08", 0.952, 0.908),
        ("exact:depth=1,beta=1.75", 0.950, 0.904),
    ],
)
def test_listeners_of_pragmods(model: str, known: float, without_certainty: float):
    predicted, observed = cells(f"{model}{',' if '=' in model else ':'}lapse=0", PRAGMODS)
    assert round(correlation(predicted, observed) or 0, 3) == known
    uncertain = (predicted > 1e-6) & (predicted < 1 - 1e-6)
    assert round(correlation(predicted[uncertain], observed[uncertain]) or 0, 3) == without_certainty


def test_the_rationality_of_qing_and_franke():
    """65 and 115 of 180: log(S(green | circle) / S(green | square)) settles β at 1.89; the grid has 1.90."""
    fit = fit_predictions(load_model("exact:depth=1,start=indicator")(QING_FRANKE), QING_FRANKE)
    assert fit.rationality == pytest.approx(1.89, rel=0.03)
    certain = fit_predictions(load_model("exact:depth=3,beta=10,lapse=0")(QING_FRANKE), QING_FRANKE).population[0]
    np.testing.assert_allclose(certain, [0, 1, 0], atol=0.01)


@pytest.mark.parametrize(
    ("role", "known"),
    [
        ("listener", {"literal": -0.799, "exact:depth=1": -0.783, "mixture": -0.765}),
        ("speaker", {"literal": -0.890, "exact:depth=1": -0.771, "mixture": -0.758}),
    ],
)
def test_listeners_and_speakers_of_franke_and_degen(role: str, known: dict[str, float]):
    assert {model: per_decision(model, FRANKE_DEGEN[role]) for model in known} == known


# By hand


def small(weights: list[list[int]]) -> Answers:
    """blue sphere, red sphere, blue cone; "blue" was heard; each row is a person."""
    table = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]], bool)
    item = Item("blue", "listener", ("blue", "sphere", "red", "cone"), table, 0, uniform(3), (0, 1, 2))
    return collect("small", "listener", [(str(i), item, [float(x) for x in row]) for i, row in enumerate(weights)])


def test_a_prediction_is_the_one_worked_out_by_hand():
    """Depth 1: L_0(sphere | blue) = 1/2, so S_1(blue | sphere) = 1/2; of the cone S_1(blue) = e^{β/2} / (e^{β/2} + e^β)
    with belief and (1/2)^α / ((1/2)^α + 1) with log."""
    answers = small([[1, 0, 0]])
    cone = {"belief": np.exp(1) / (np.exp(1) + np.exp(2)), "log": 0.25 / 1.25}
    for utility, said in cone.items():
        predicted = exact_predictions(answers, [1], [2.0], utility).table[0, 0, 0]  # type: ignore[arg-type]
        np.testing.assert_allclose(predicted, [0.5 / (0.5 + said), 0, said / (0.5 + said)], rtol=1e-5)


def test_the_prior_enters_the_listeners_posterior_or_the_whole_recursion():
    """Prior 2 : 1 : 1. Literal: 2/3. In the posterior only, S_1 is as with a uniform prior: odds 2 · (1/2) / (1/5)."""
    answers = small([[1, 0, 0]])
    answers.items[0].prior[:] = [0.5, 0.25, 0.25]
    literal = exact_predictions(answers, [0], prior_use="listener").table[0, 0, 0, 0]
    deeper = exact_predictions(answers, [1], [2.0], "log", prior_use="listener").table[0, 0, 0, 0]
    # Throughout: L_0(sphere | blue) = 2/3 = L_0(sphere | sphere), so S_1(blue | sphere) = 1/2; cone: (1/3)²: 1 → 1/10.
    both = exact_predictions(answers, [1], [2.0], "log", prior_use="both").table[0, 0, 0, 0]
    np.testing.assert_allclose([literal, deeper, both], [2 / 3, 5 / 6, 10 / 11], rtol=1e-5)


def test_a_lapse_is_a_random_choice_among_the_options():
    table = np.array([[0.5, 0.5, 0.0]])
    np.testing.assert_allclose(with_lapse(table, 0.3, np.array([3])), [[0.45, 0.45, 0.1]])
    np.testing.assert_allclose(with_lapse(table, 0.3, np.array([2])), [[0.5, 0.5, 0.0]])


def test_the_posterior_of_a_person_is_bayes_rule():
    """Likelihoods 1/8 and 1/2 with proportions 1/2: posterior 1/5 and 4/5."""
    total, kinds = mix(np.log([[1 / 8], [1 / 2]]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(kinds[:, 0], [0.2, 0.8])
    assert total[0] == pytest.approx(np.log(5 / 16))


def test_kinds_of_people_that_are_equally_frequent_have_no_proportions_to_fit():
    """Both answer twice, (1, 1) and (1, 2). Kind A: 1 with probability 0.8; B: 1/2. Mixed by person:
    (0.64 + 0.25) / 2 · (0.16 + 0.25) / 2; not by decision, which would be (0.65 · 0.65) · (0.65 · 0.35)."""
    answers = small([[2, 0, 0], [1, 1, 0]])
    table = np.array([[[0.8, 0.2, 0.0]], [[0.5, 0.5, 0.0]]])
    predictions = Predictions("two kinds", table[None], (), ("A", "B"), (0.0,), equal_weights=True)
    assert predictions.n_parameters == 0
    fit = fit_predictions(predictions, answers)
    assert fit.log_likelihood == pytest.approx(np.log(0.445 * 0.205))
    np.testing.assert_array_equal(fit.proportions, [0.5, 0.5])


def test_each_person_may_be_like_one_of_a_pairs_phases():
    """After phase 0 "green" may be the square or the circle; after phase 1 (β = 20) the square would be "square"."""
    model = load_model("pretrained@0+1")(QING_FRANKE)
    assert (model.n_parameters, model.components) == (1, ("phase 0", "phase 1"))
    np.testing.assert_allclose(model.table[0, 0, 0], [0.5, 0.5, 0], atol=0.05)
    assert model.table[0, 1, 0, 0] < 0.2


def test_a_pair_whose_words_are_not_its_attributes_is_asked_by_name():
    """Attributes a, b; words b, nothing, a: the item's word a is attribute 0 and word 2."""
    space = Space("s", ("a", "b"), np.eye(2, dtype=bool), lexicon=Lexicon(("b", "nothing", "a"), np.ones((2, 3))))
    assert word_columns(space, ["a", "b"]) == ([0, 1], [2, 0], 2, 3, None)
    # Six words, nothing and salience: what the pairs of `reproduce people` see.
    assert word_columns(training_space(), ["f", "a"]) == ([5, 0], [5, 0], 7, 7, 6)
    np.testing.assert_allclose(salience_levels(np.array([0.25, 0.25, 0.5])), [-1 / 3, -1 / 3, 2 / 3])


def test_equal_candidates_share_a_cell_and_contexts_have_one_form():
    assert FRANK_GOODMAN["listener"].cells.max() + 1 == 10
    one, order = canonical_form(np.array([[0, 1], [1, 0], [1, 1]], bool), 1)
    other, _ = canonical_form(np.array([[1, 1], [0, 1], [1, 0]], bool), 1)
    np.testing.assert_array_equal(one, other)
    assert sorted(order) == [0, 1, 2]


def test_counts_become_one_row_a_person():
    assert one_person_each([2.0, 0.5, 0.5]) == [[1, 0, 0], [1, 0, 0], [0, 0.5, 0.5]]


def test_calibration_is_the_gap_between_predicted_and_observed():
    """Predicted .5, .5, 0 and observed .75, .25, 0: in one bin the means agree, so the error is 0; .8 and .2 do not."""
    answers = small([[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert calibration_error(calibration(answers, np.array([[0.5, 0.5, 0.0]]))) == 0
    assert calibration_error(calibration(answers, np.array([[0.8, 0.2, 0.0]]))) == pytest.approx(0.1 / 3)


def test_depth_and_rationality_are_recovered_from_simulated_people():
    """60 people with 24 decisions each: two thirds of depth 0, the others of depth 2, β = 4, 10 % lapses."""
    answers, random = FRANKE_DEGEN["listener"], np.random.default_rng(0)
    table = exact_predictions(answers, [0, 2], [4.0]).table[0]
    people = []
    for person in range(60):
        own = with_lapse(table[int(person % 3 == 0)], 0.1, answers.option_counts)
        people.append([random.multinomial(12, row / row.sum()) for row in own])
    simulated = Answers(
        "simulated", "listener", answers.items, tuple(map(str, range(60))), np.array(people, float), answers.cells
    )
    fit = fit_predictions(load_model("mixture:depths=0+1+2")(simulated), simulated)
    assert fit.lapse == pytest.approx(0.1, abs=0.04)
    assert fit.rationality is not None
    assert 2 < fit.rationality < 8
    # From β = 4 on depths 1 and 2 answer nearly alike in these items, so they are counted together.
    np.testing.assert_allclose(fit.proportions[0], 2 / 3, atol=0.1)
    kinds = posterior(fit, simulated.weights)[0] > 0.5
    assert np.mean(kinds == (np.arange(60) % 3 != 0)) > 0.85


# One's own data

HEADER = "item,context,prior,word,target,answers,person\n"
GOOD = HEADER + '"a","blue,sphere; red,sphere; blue,cone; -",,blue,,3;0;1;0,p1\na2,"x,y; y",2;1,,2,1;4,p1\n'


def test_a_table_of_ones_own_is_read(tmp_path: Path):
    path = tmp_path / "mine.csv"
    path.write_text(GOOD, encoding="utf-8")
    listeners, speakers = read_answers(path).parts
    assert listeners.items[0].lexicon.tolist() == [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 0, 0]]
    assert listeners.totals.tolist() == [[3, 0, 1, 0]]
    assert (speakers.items[0].words, speakers.items[0].given) == (("x", "y"), 1)
    np.testing.assert_allclose(speakers.items[0].prior, [2 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("a,x; y,,x,1,1;2,p", "both a word and a target"),
        ("a,x; y,,,,1;2,p", "or neither"),
        ("a,x,,x,,1;2,p", "1 candidate: write 2 to 50"),
        ("a,x; y,,z,,1;2,p", "in no candidate, 'z'"),
        ("a,x; y,,,3,1;2,p", "number the candidates from 1 to 2"),
        ("a,x; y,,x,,1;2;3,p", "answers '1;2;3': give each of the 2 candidates one number"),
        ("a,x; y,,x,,one;2,p", "answers that are not numbers"),
        ("a,x; y,,x,,0;0,p", "not all of them 0"),
        ("a,x; y,1;-1,x,,1;2,p", "prior that are no weights"),
        (",x; y,,x,,1;2,p", "no name in the column item"),
        ("a,x; ,,x,,1;2,p", "a context that cannot be read"),
    ],
)
def test_mistakes_in_a_table_are_one_sentence(tmp_path: Path, row: str, sentence: str):
    path = tmp_path / "mine.csv"
    path.write_text(f"{HEADER}{row}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=sentence) as error:
        read_answers(path)
    assert str(error.value).startswith(f"{path}: Row 1 has ")


def test_one_name_for_two_games_is_refused(tmp_path: Path):
    path = tmp_path / "mine.csv"
    path.write_text(HEADER + "a,x; y,,x,,1;2,p\na,x; y,,y,,1;2,p\n", encoding="utf-8")
    with pytest.raises(ValueError, match="Row 2 describes 'a' differently"):
        read_answers(path)


# The command


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["implicature", "people", *arguments])
    main()


def test_the_command_prints_figures_and_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    out = tmp_path / "cells.png"
    run(monkeypatch, "exact:depth=1,utility=log,alpha=1", "--data", "frank-goodman-2012", "--json", "--out", str(out),
        "--csv", str(tmp_path / "out"))  # fmt: skip
    printed = json.loads(capsys.readouterr().out)
    figures = printed["data"]["frank-goodman-2012"]
    assert {"log_likelihood", "r", "chance", "saturated", "cells", "held_out", "aic", "bic"} <= set(figures)
    assert (figures["cells"], figures["parameters"]) == (16, 2)
    speakers = figures["parts"]["speakers"]
    assert speakers["r"] == pytest.approx(0.984, abs=5e-4)
    assert speakers["chance"] == pytest.approx(-np.log(2), abs=1e-4)
    assert figures["chance"] < figures["log_likelihood"] < figures["saturated"]
    # AIC = 2k − 2 log L, one lapse rate for the speakers.
    expected = 2 - 2 * speakers["log_likelihood"] * speakers["decisions"]
    assert speakers["aic"] == pytest.approx(expected, abs=0.1)
    assert out.read_bytes().startswith(b"\x89PNG")
    assert len((tmp_path / "out" / "cells.csv").read_text().splitlines()) == 1 + 5 * 3 + 7 * 2


def test_predictions_in_a_file_are_a_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    run(monkeypatch, "--data", "franke-degen-2016-listeners", "--template", str(tmp_path / "items.csv"))
    lines = (tmp_path / "items.csv").read_text().splitlines()
    assert len(lines) == 3
    # The pooled frequencies as predictions are the saturated model.
    totals = FRANKE_DEGEN["listener"].totals
    filled = [lines[0], *(line + ";".join(map(str, row)) for line, row in zip(lines[1:], totals, strict=True))]
    (tmp_path / "model.csv").write_text("\n".join(filled) + "\n")
    capsys.readouterr()
    run(monkeypatch, str(tmp_path / "model.csv"), "--data", "franke-degen-2016-listeners", "--json")
    figures = json.loads(capsys.readouterr().out)["data"]["franke-degen-2016-listeners"]
    assert figures["log_likelihood"] == figures["saturated"] == pytest.approx(-0.781, abs=5e-4)
    assert figures["r"] == pytest.approx(1)
    assert figures["parameters"] == 1


def test_a_student_of_ones_own_is_a_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    (tmp_path / "mine_people.py").write_text(
        "import numpy as np\n"
        "def student(observation):\n"
        "    heard = [m for m in observation.messages if m >= 0][-1]\n"
        "    return np.asarray(observation.candidates)[:, heard], 0.0\n"
    )
    monkeypatch.chdir(tmp_path)
    run(monkeypatch, "mine_people:student", "--data", "franke-degen-2016-listeners", "--json")
    mine = json.loads(capsys.readouterr().out)["data"]["franke-degen-2016-listeners"]
    run(monkeypatch, "literal:start=indicator", "--data", "franke-degen-2016-listeners", "--json")
    literal = json.loads(capsys.readouterr().out)["data"]["franke-degen-2016-listeners"]
    assert mine["log_likelihood"] == pytest.approx(literal["log_likelihood"], abs=1e-3)


def test_the_literal_pair_of_the_package_predicts_as_the_literal_player_does():
    """Phase 0 is grounded only, so its student is nearly L_0; its words are assigned at random."""
    learned = fit_predictions(load_model("pretrained@0")(QING_FRANKE), QING_FRANKE)
    np.testing.assert_allclose(learned.population[0], [0.5, 0.5, 0], atol=0.05)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["literal", "--data", "nobody"], "No data set is called"),
        (["exact:depht=1"], "is not understood"),
        (["exact:depth=x"], "whole numbers"),
        (["exact:beta=-1"], "give 0.001 to 1000"),
        (["exact:beta=1,alpha=1"], "which are the same"),
        (["exact:utility=fun"], "choose one of belief, log"),
        (["mixture:weights=some"], "choose one of fitted, equal"),
        (["pretrained@0+0"], "name each once, as in RUN@0+1"),
        (["literal", "--out", "nowhere/x.png"], "cannot be written"),
        (["literal", "--out", "x.txt"], "ends in .png"),
        (["literal", "--halves", "0"], "1 to 1,000"),
        (["missing.csv"], "cannot be read"),
    ],
)
def test_mistakes_are_one_sentence(arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys):
    with pytest.raises(SystemExit) as end:
        run(monkeypatch, *arguments)
    assert end.value.code == 2
    printed = capsys.readouterr().err
    assert sentence in printed
    assert printed.count("\n") == 1


def test_fixed_predictions_have_only_a_lapse_rate():
    assert fixed_predictions("mine", np.ones((1, 2)) / 2).n_parameters == 1
    assert load_model("mixture:depths=0+1+2")(QING_FRANKE).n_parameters == 4
    assert load_model("mixture:depths=0+1+2,weights=equal,beta=2")(QING_FRANKE).n_parameters == 1
    assert load_model("exact:depth=1,beta=2,lapse=0.1")(QING_FRANKE).n_parameters == 0
