"""A pair with partners that it has never met."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature import training
from implicature.agents.exact import UNTRUE, ExactModel
from implicature.agents.perspectives import FeatureTable
from implicature.agents.rollout import argmax
from implicature.cli.main import main
from implicature.evaluation.held_out import held_out_games
from implicature.evaluation.rollouts import identical_games
from implicature.evaluation.strangers import matrix, partners
from implicature.evaluation.strangers.meeting import load_meeting, meet
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.training.config import Config
from implicature.training.runs.run import start_run
from implicature.training.task import Task, make_task

PRETRAINED = str(Path(training.__file__).parent / "pretrained" / "numbers-4")
GAMES = 300


@pytest.fixture(scope="module")
def task() -> Task:
    return make_task(Config.of(train_games=1))


def test_teachers_who_speak_once_are_understood_as_if_they_spoke_to_each_student(task: Task):
    """The table of one-message games, against a rollout of each pair from the same keys."""
    names = ("depth 1", "people", "liar")
    players = [one for one in partners.exact_partners(task.rules) if one.name in names]
    games = held_out_games(task, GAMES, 0)
    cells = [(0, 1), (1, 0), (1, 2), (2, 2)]
    found = matrix.Table(players, task, games).play(cells)
    view_key, play_key = jax.random.split(jax.random.fold_in(jax.random.key(0), 0))
    rows = jnp.asarray(task.space.features, jnp.float32)
    seen = identical_games(view_key, FeatureTable(rows, rows), task.data.semantics, games)
    for i, j in cells:
        teacher, student = players[i], players[j]
        success = matrix.successes_of_pair(
            jax.random.split(play_key, GAMES), teacher.pair.teacher, student.pair.student, seen, task.rules,
            teacher.speak, student.answer,
        )  # fmt: skip
        assert found[i, j] == pytest.approx(float(np.mean(success)))


def test_a_liar_says_an_untrue_word_one_time_in_ten_and_else_the_best():
    values, keys = jnp.asarray([UNTRUE, 0.5, 0.9, UNTRUE]), jax.random.split(jax.random.key(0), 4000)
    said = np.asarray(jax.vmap(lambda key: partners.lie(key, values))(keys))
    assert not (said == 1).any()
    # 10 % ± 2 % is more than four standard deviations of 4,000 draws; both lies are as likely.
    assert np.mean(said == 0) == pytest.approx(0.05, abs=0.015)
    assert np.mean(said != 2) == pytest.approx(0.1, abs=0.02)


def test_a_liar_to_whom_every_word_is_true_says_the_best():
    keys = jax.random.split(jax.random.key(0), 100)
    assert set(np.asarray(jax.vmap(lambda key: partners.lie(key, jnp.asarray([0.2, 0.7])))(keys))) == {1}


def test_a_lying_student_answers_another_candidate_one_time_in_ten_and_waits_when_he_would():
    keys = jax.random.split(jax.random.key(0), 4000)
    answers = np.asarray(jax.vmap(lambda key: partners.mislead(key, jnp.asarray([0.1, 0.8, 0.1, 0.0])))(keys))
    assert np.mean(answers != 1) == pytest.approx(0.1, abs=0.02)
    assert set(answers) == {0, 1, 2}
    waits = np.asarray(jax.vmap(lambda key: partners.mislead(key, jnp.asarray([0.1, 0.1, 0.1, 0.7])))(keys))
    assert set(waits) == {3}


def test_speakers_of_depths_0_and_1_mix_a_random_true_word_with_the_best_response():
    """{a, b} beside {a}: S_0 says a or b. L_0 hears a as ⅓ {a, b}, ⅔ {a} and b as {a, b}, so S_1 ∝ e^β⅓, e^β; with
    β = 3 that is b with probability 1 / (1 + e^−2) = 0.881. Half each: 0.690."""
    lexicon = jnp.asarray([[True, True], [True, False]])
    context = Context(features=lexicon.astype(jnp.float32), lexicon=lexicon)
    teacher = partners.RecursionTeacher(ExactModel(0, 3.0, depth_weights=(0.5, 0.5)))
    values = teacher.values(context, jnp.asarray(0), teacher.init_state(context, Rules(2)))
    np.testing.assert_allclose(teacher.message_probabilities(values), [0.310, 0.690], atol=1e-3)


def test_a_noisy_partner_costs_what_the_channel_costs(task: Task):
    players = [one for one in partners.exact_partners(task.rules) if one.name in ("depth 3", "noisy")]
    found = matrix.Table(players, task, held_out_games(task, 2000, 0)).play([(0, 0), (0, 1), (1, 0)])
    # A tenth of the words is another one, which is understood as the target a quarter of the time at most.
    for cell in ((0, 1), (1, 0)):
        assert 0.88 < found[cell] < found[0, 0] - 0.05


def test_the_weights_of_learned_partners_are_small_and_all_there():
    files = [file for file in (partners.WEIGHTS / "strangers").rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 500_000
    assert {f"strangers/{file.parent.name}" for file in files} == set(partners.LEARNED.values()) - {"numbers-4"}


@pytest.mark.slow
def test_a_run_meets_strangers_and_everybody_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    image = tmp_path / "strangers.png"
    arguments = [PRETRAINED, "--games", str(GAMES), "--all", "--out", str(image), "--json"]
    monkeypatch.setattr("sys.argv", ["implicature", "strangers", *arguments])
    main()
    figures = json.loads(capsys.readouterr().out)
    each = {name: one["accuracy"] for name, one in figures["partners"].items()}
    # The pair of the package is no stranger to itself.
    assert set(partners.LEARNED) - set(each) == {"the package's pair"}
    assert figures["mean"] == pytest.approx(np.mean(list(each.values())))
    assert figures["worst"] == min(each.values()) == each[figures["worst_partner"]]
    assert figures["self_play"] > 0.97 > figures["worst"]
    names, table = figures["players"], np.asarray(figures["table"])
    assert table.shape == (len(each) + 1,) * 2
    seed = names.index("another seed")
    assert table[0, seed] == figures["partners"]["another seed"]["as_teacher"] > 0.95
    assert table[seed, 0] == figures["partners"]["another seed"]["as_student"] > 0.95
    assert image.stat().st_size > 10_000


def test_a_game_without_learned_partners_has_exact_ones_and_those_that_are_named(tmp_path: Path):
    tiny = Config.of(space="examples/kitchen.csv", candidates=3, train_games=100, phases=0, pretraining_iterations=5)
    run = start_run(tmp_path / "kitchen", tiny.replace(candidate_sets=4, width=4, layers=1, q_hidden=4))
    for _ in run.train():
        pass
    meeting = load_meeting(str(run.folder), ["exact:depth=5"], games=50)
    names = [one.name for one in meeting.strangers]
    assert names == [one.name for one in partners.exact_partners(run.task.rules)] + ["exact:depth=5"]
    assert meeting.strangers[-1].speak is argmax
    figures = meet(meeting)
    assert 0 <= figures["worst"] <= figures["mean"] <= 1
    assert "table" not in figures


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["literal"], "literal is not a run"),
        ([PRETRAINED, "--partners", "random:random"], "has one role, but strangers have both"),
        ([PRETRAINED, "--games", "0"], "games"),
        ([PRETRAINED, "--out", "strangers.txt"], "is not a PNG file"),
    ],
)
def test_what_cannot_be_met_is_told_in_one_sentence(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.argv", ["implicature", "strangers", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
