"""Novices: partners say what they should, and what teaches most is what a gradient step gains."""

import json
import shutil
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.cli.main import main
from implicature.evaluation.novices import Lesson, games_until, mean_games, summarize_course, teach
from implicature.evaluation.novices.learning import test_novice as take_tests
from implicature.evaluation.novices.partners import Lessons, beliefs, losses, say_fixed, say_tailored, say_understood
from implicature.experiments.beyond import novices
from implicature.nn.exchange import ExchangeNet
from implicature.training.config import Config
from implicature.training.pretraining import belief_loss
from implicature.training.runs.run import open_run, start_run

# Three games of two candidates and four words, games last: what is true of (candidate, word).
MEANING = jnp.array([[[1, 1, 0, 0], [0, 1, 1, 0]], [[1, 0, 0, 1], [1, 1, 0, 0]], [[0, 1, 1, 1], [1, 0, 0, 1]]], bool)
GAMES = Lessons(
    features=jnp.swapaxes(MEANING, 0, 1).astype(jnp.float32),
    target=jnp.array([0, 1, 1]),
    meaning=jnp.moveaxis(MEANING, 0, -1),
    said=jnp.array([[1.0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 1]]),
    of_run=jnp.array([0, 1, 0]),
)


@pytest.fixture(scope="module")
def net() -> ExchangeNet:
    return ExchangeNet(4, 4, jax.random.key(0), width=4, layers=2)


def test_true_words_are_those_of_the_target():
    assert GAMES.true.T.astype(int).tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 1]]


def test_a_fixed_partner_says_the_same_to_every_novice(net: ExchangeNet):
    assert say_fixed(jax.random.key(1), net, GAMES, GAMES).tolist() == [0, 3, 3]


def test_the_best_understood_word_is_the_true_one_with_the_highest_belief_in_the_target(net: ExchangeNet):
    believed = np.asarray(beliefs(net, GAMES))
    for game, word in enumerate(say_understood(jax.random.key(0), net, GAMES, GAMES).tolist()):
        target = int(GAMES.target[game])
        true = np.flatnonzero(MEANING[game, target])
        assert word == true[np.argmax(believed[target, true, game])]


def test_the_tailored_word_is_the_true_one_whose_step_lowers_his_distance_most(net: ExchangeNet):
    # Each word's step is made, and the distance on the probe measured: no gradient of one along the other.
    key, rate = jax.random.key(3), 1e-2

    def distance(net: ExchangeNet) -> float:
        return float(jnp.mean(belief_loss(key, net(GAMES.features).log_likelihood, GAMES.meaning)))

    for game, word in enumerate(say_tailored(key, net, GAMES, GAMES).tolist()):
        lowered = {}
        for one in np.flatnonzero(MEANING[game, int(GAMES.target[game])]).tolist():
            gradient = eqx.filter_grad(lambda net, one=one, game=game: losses(net, GAMES)[one, game])(net)
            step = jax.tree.map(lambda g: -rate * g, gradient)
            lowered[one] = distance(net) - distance(eqx.apply_updates(net, step))
        assert word == max(lowered, key=lambda one: lowered[one])


def test_a_word_singles_out_where_it_is_true_of_one_candidate(net: ExchangeNet):
    guess = np.argmax(np.asarray(beliefs(net, GAMES)), axis=0)
    # Game 0: word 0 of candidate 0, word 2 of candidate 1; and so on.
    single = [(0, 0, 0), (0, 2, 1), (1, 1, 1), (1, 3, 0), (2, 0, 1), (2, 1, 0), (2, 2, 0)]
    expected = np.mean([guess[word, game] == candidate for game, word, candidate in single])
    found = take_tests(say_fixed, jax.random.key(0), net, GAMES)
    assert float(found["words"]) == pytest.approx(expected)
    said = [guess[0, 0] == 0, guess[3, 1] == 1, guess[3, 2] == 1]
    assert float(found["own"]) == pytest.approx(np.mean(said))


def course() -> list[Lesson]:
    figures = [[0.2, 0.3], [0.96, 0.94], [0.90, 0.94]]
    return [
        Lesson("run", 100 * i, {test: np.array(f) for test in ("words", "own", "run")}) for i, f in enumerate(figures)
    ]


def test_games_until_the_goal_count_the_first_time_and_may_be_never():
    assert games_until(course(), "words") == [100, None]
    assert summarize_course(course())["run"] == {"games": [100, None], "accuracy": [0.9, 0.94]}
    assert mean_games([100, None]) == "1 of 2 seeds"
    assert mean_games([100, 200]) == "150"
    assert mean_games([None]) == "never"


def test_the_table_has_a_row_for_each_partner_with_results():
    figures = {"words": "97", "own": "90", "run": "80", "until_words": "160", "until_own": "320", "until_run": ""}
    rows = [{"partner": "run", "seed": seed, "games": games, **figures} for seed in range(2) for games in (0, 160)]
    (table,) = novices.render(rows)
    assert [r.label for r in table.rows] == ["the run's teacher"]
    cells = [str(cell) for cell in table.rows[0].cells]
    assert cells == ["160", "97.0 ± 0.0", "320", "90.0 ± 0.0", "never", "80.0 ± 0.0", "2"]
    assert len(novices.draw(rows).axes) == 3


def test_an_ungrounded_run_has_no_words_to_teach(tmp_path: Path):
    config = Config.of(grounded=False, phases=0, train_games=100, width=2, layers=1)
    run = start_run(tmp_path / "run", config)
    with pytest.raises(ValueError, match="name a run that is grounded"):
        next(teach(run, "random", 10, 1))
    with pytest.raises(ValueError, match="No partner is called 'nobody'"):
        next(teach(run, "nobody", 10, 1))


@pytest.mark.slow
def test_novices_learn_words_from_true_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    shutil.copytree(novices.RUN, tmp_path / "run")
    arguments = ["teach", str(tmp_path / "run"), "--partner", "random", "--games", "1600", "--seeds", "2", "--json"]
    monkeypatch.setattr("sys.argv", ["implicature", *arguments])
    main()
    found = json.loads(capsys.readouterr().out)["partners"]["random"]
    assert min(found["words"]["accuracy"]) > 0.85
    assert found["words"]["games"][0] is None or found["words"]["games"][0] <= 1600
    assert (tmp_path / "run" / "teach.png").read_bytes().startswith(b"\x89PNG")
    assert open_run(tmp_path / "run").finished
