"""Any player says what it would say and believe in a context: exact players, runs, baselines and custom agents."""

import re
import sys
from collections.abc import Callable
from math import exp
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import Trained

import implicature
from implicature import Config, Context
from implicature.agents.exact import ExactModel, ExactStudent, ExactTeacher
from implicature.training.runs.run import Run

OBJECTS = "blue,sphere", "red,sphere", "blue,cone"
NUMBERS = "1,2,3", "1,2", "2,4"

AGENTS = """
import numpy as np

def teacher(observation):
    return np.where(observation.candidates[observation.target] > 0, -observation.candidates.sum(axis=0), -np.inf)

def student(observation):
    received = observation.messages[observation.messages >= 0]
    return observation.candidates[:, received].prod(axis=1) + 1e-6, 0.0
"""


@pytest.fixture
def context() -> Context:
    return Context(*OBJECTS)


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Run:
    config = Config.of(
        method="la-2017",
        grounded=False,
        iterations=20,
        phases=1,
        candidate_sets=16,
        width=8,
        filters=4,
        train_games=500,
    )
    return implicature.train(config, out=tmp_path_factory.mktemp("baseline") / "run")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a module of agents."""
    (tmp_path / "agents_to_ask.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "agents_to_ask", raising=False)


def values(answer: dict[str, float]) -> list[float]:
    return list(answer.values())


# Exact players, by hand


def test_a_literal_student_believes_in_all_that_a_word_is_true_of(context: Context):
    _, student = implicature.players("literal")
    # Both blue objects have two attributes, so S_0(blue) is 1/2 for each.
    assert student.listen(context, "blue") == {
        "blue,sphere": pytest.approx(0.5),
        "red,sphere": 0,
        "blue,cone": pytest.approx(0.5),
    }
    # "sphere" then leaves the blue sphere alone: 1/2 · 1/2 against 0.
    assert values(student.listen(context, "blue", "sphere")) == pytest.approx([1, 0, 0])
    assert values(student.listen(context)) == pytest.approx([1 / 3, 1 / 3, 1 / 3])


def test_a_pragmatic_student_takes_blue_to_mean_the_blue_sphere(context: Context):
    _, student = implicature.players("exact")
    assert list(student.listen(context, "blue")) == list(OBJECTS)
    assert student.listen(context, "blue")["blue,sphere"] > 0.98
    _, student = implicature.players(ExactTeacher(ExactModel(1)), ExactStudent(ExactModel(1)))
    # S_1(blue | blue sphere) = 1/2, as both its words are as good; S_1(blue | cone) = e^5 / (e^5 + e^10).
    cone = exp(5) / (exp(5) + exp(10))
    assert values(student.listen(context, "blue")) == pytest.approx([0.5 / (0.5 + cone), 0, cone / (0.5 + cone)])


@pytest.mark.parametrize("player", ["exact", "literal"])
def test_a_teacher_says_only_true_words(player: str, context: Context):
    teacher, _ = implicature.players(player)
    assert teacher.speak(context, target=0) == {
        "blue": pytest.approx(0.5),
        "sphere": pytest.approx(0.5),
        "red": 0,
        "cone": 0,
    }
    for target, name in enumerate(OBJECTS):
        said = teacher.speak(context, target)
        assert teacher.speak(context, name) == said
        assert sum(said.values()) == pytest.approx(1)
        assert {word for word, probability in said.items() if probability > 0} == set(name.split(","))
    # For the cone "cone" is the better word: e^(10 · 1) against e^(10 L(cone | blue)).
    said = teacher.speak(context, "blue,cone")
    assert said["cone"] > 0.99 > said["blue"]


def test_a_teacher_goes_on_from_what_was_said(context: Context):
    teacher, _ = implicature.players("exact")
    # After "red" the student is certain of the red sphere, so another word changes nothing: both are as good.
    assert teacher.speak(context, "red,sphere", said=["red"]) == {
        "blue": 0,
        "sphere": pytest.approx(0.5),
        "red": pytest.approx(0.5),
        "cone": 0,
    }
    assert teacher.speak(context, "red,sphere")["red"] > 0.99


def test_the_prior_changes_beliefs_as_bayes_says():
    _, student = implicature.players("literal")
    # "blue" is as likely to be said of either blue object: 3 · 1/2 against 1 · 1/2.
    belief = student.listen(Context(*OBJECTS, prior=[3.0, 4.0, 1.0]), "blue")
    assert values(belief) == pytest.approx([3 / 4, 0, 1 / 4])
    # {1} has one word, {1, 2} two: 1/4 · 1 against 3/4 · 1/2.
    belief = student.listen(Context("1", "1,2", prior=jnp.array([1.0, 3.0])), "1")
    assert values(belief) == pytest.approx([0.4, 0.6])


# Any player


def check_distributions(teacher: Any, student: Any, context: Context) -> None:
    """Both answer with probabilities, by the names of the context."""
    for target in range(len(context.candidates)):
        said = teacher.speak(context, target)
        assert list(said)[: len(context.words)] == list(context.words)
        assert sum(said.values()) == pytest.approx(1, abs=1e-5)
        assert min(said.values()) >= 0
    for words in ([], [context.words[0]], context.words[:2]):
        belief = student.listen(context, *words)
        assert tuple(belief) == context.candidates
        assert sum(belief.values()) == pytest.approx(1, abs=1e-5)
        assert min(belief.values()) >= 0


@pytest.mark.slow
def test_a_run_answers_by_folder_by_object_and_after_each_phase(whole_run: Trained):
    context = Context(*NUMBERS)
    teacher, student = implicature.players(whole_run.folder)
    check_distributions(teacher, student, context)
    # A run knows ten words; those of the context come first.
    assert len(teacher.speak(context)) == 10
    run = implicature.open_run(whole_run.folder)
    for same in (run, f"{whole_run.folder}:0", str(whole_run.folder)):
        assert implicature.players(same)[0].speak(context) == teacher.speak(context)
        assert implicature.players(same)[1].listen(context, "1") == student.listen(context, "1")
    _, before = implicature.players(run, phase=0)
    assert before.listen(context, "1") != student.listen(context, "1")
    # A word that nobody in the context has is a word of the run all the same.
    assert sum(student.listen(context, "9").values()) == pytest.approx(1, abs=1e-5)
    # It was trained for this: "4" means the only candidate that has it.
    assert max(student.listen(context, "4").items(), key=lambda item: item[1])[0] == "2,4"


def test_a_run_believes_as_in_its_rollouts(whole_run: Trained):
    run = implicature.open_run(whole_run.folder)
    _, student = implicature.players(run)
    for row in implicature.dialogues(run, games=10):
        names = [row[f"candidate_{i}"].strip("{}").replace(" ", "") for i in range(1, 5)]
        belief = student.listen(Context(*names), row["message"])
        assert values(belief) == pytest.approx([row[f"belief_{i}"] for i in range(1, 5)], abs=1e-4)


@pytest.mark.slow
def test_a_baseline_answers_too(baseline: Run):
    teacher, student = implicature.players(baseline)
    check_distributions(teacher, student, Context(*NUMBERS))
    # Its speaker samples from what she says: the probabilities are her policy, not a softmax of values by β.
    assert max(teacher.speak(Context(*NUMBERS)).values()) < 0.9


@pytest.mark.usefixtures("here")
def test_agents_of_ones_own_answer_by_name_and_as_functions(context: Context):
    teacher, student = implicature.players("agents_to_ask:teacher", "agents_to_ask:student")
    check_distributions(teacher, student, context)
    # She sends her best word, and of equally good ones any.
    assert values(teacher.speak(context, 0)) == [0.5, 0.5, 0, 0]
    assert values(teacher.speak(context, 1)) == [0, 0, 1, 0]
    assert values(student.listen(context, "blue")) == pytest.approx([0.5, 0, 0.5], abs=1e-5)

    def honest(observation: Any) -> Any:
        return observation.candidates[observation.target]

    compiled = jax.jit(lambda observation: (observation.candidates[:, observation.messages[0]] + 1e-6, 0.0))
    teacher, student = implicature.players(honest, compiled)
    check_distributions(teacher, student, context)
    assert values(student.listen(context, "red")) == pytest.approx([0, 1, 0], abs=1e-5)


# Mistakes


def listen_to(player: Any, *words: str, candidates: tuple[str, ...] = OBJECTS) -> Any:
    return implicature.players(player)[1].listen(Context(*candidates), *words)


def speak_of(player: Any, target: int | str) -> Any:
    return implicature.players(player)[0].speak(Context(*OBJECTS), target)


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda run: listen_to("exact", "green"), "'green' is not a word here: say one of 'blue', 'sphere', "),
        (
            lambda run: listen_to(run, "green", candidates=NUMBERS),
            "'green' is not a word of numbers-10: say one of",
        ),
        (lambda run: listen_to(run, "blue"), "This player does not know the word 'blue': it was trained on numbers-10"),
        (lambda run: speak_of("exact", 3), "There is no candidate 3: they are numbered 0 to 2."),
        (lambda run: speak_of("exact", -1), "There is no candidate -1"),
        (lambda run: speak_of("exact", "red,cone"), "'red,cone' is not a candidate here: name one of 'blue,sphere', "),
        (lambda run: speak_of(ExactStudent(ExactModel(0)), 0), "ExactStudent is not a teacher"),
        (
            lambda run: speak_of(lambda observation: [1, 2], 0),
            "gave values of shape (2,): a teacher gives",
        ),
        (lambda run: speak_of(jax.jit(lambda observation: np.ones(3)), 0), "is no teacher for this game"),
        (lambda run: speak_of("nowhere", 0), "nowhere is not a run: it has no config.json."),
        (lambda run: implicature.players(run, phase=7), "has no pair after phase 7"),
        (lambda run: implicature.players(f"{run}:5"), "has no pair 5: it has 1, numbered from 0."),
    ],
)
def test_a_mistake_is_one_sentence(mistake: Callable[[Path], Any], sentence: str, whole_run: Trained):
    with pytest.raises(ValueError, match=re.escape(sentence)) as refused:
        mistake(whole_run.folder)
    assert "\n" not in str(refused.value)


def test_a_context_of_arrays_cannot_be_asked_in_words():
    lexicon = np.eye(3, dtype=bool)
    plain = Context(features=jnp.asarray(lexicon, jnp.float32), lexicon=jnp.asarray(lexicon))
    with pytest.raises(ValueError, match="name its candidates to ask in words"):
        implicature.players("exact")[1].listen(plain)
