"""The joint REINFORCE loss against the gradient that it estimates, and short trainings of both baselines."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file

from implicature.agents.belief import posterior
from implicature.agents.dialogue import Views, by_chance, dialogue, softly
from implicature.agents.exact import literal_teacher, normalised
from implicature.agents.teacher import entropy
from implicature.games import Rules
from implicature.training.adaptation import Pair
from implicature.training.baselines import above_others, joint_loss
from implicature.training.config import Config
from implicature.training.run import PAIRS, Run, open_run, setting_of, stages, start_run

METHODS = ("la-2017", "la-2018")
every_method = pytest.mark.parametrize("method", METHODS)

# Three candidates, four messages, played with each target; he sees them in another order.
SEEN = jnp.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], jnp.float32)
ORDER = jnp.array([2, 0, 1])
RULES = Rules(3)
WEIGHT = 0.3


def new_pair(method: str) -> Pair:
    return PAIRS[method](jax.random.key(3), Config(width=2, temperature=0.5), 4, 4)


def objective(pair: Pair) -> jax.Array:
    """The mean over targets of Σ_m π_A(m | o*) (π_B(o* | m) + λ H(π_B(· | m))) + λ H(π_A): what is to be maximised, with
    every message tried. The entropy bonus is each agent's own, so that she does not speak for his sake."""
    table = jnp.exp(pair.teacher.read(SEEN).log_likelihood)
    his = posterior(pair.student.read(SEEN[ORDER]).log_likelihood, jnp.full(3, 1 / 3))
    hers = jnp.zeros_like(his).at[ORDER].set(his)
    right = jnp.sum(table * hers)
    bonus = jnp.sum(entropy(table.T)) + jnp.sum(jax.lax.stop_gradient(table) * entropy(his))
    return (right + WEIGHT * bonus) / 3


@every_method
@pytest.mark.parametrize("answers", ["one", "every"])
def test_the_joint_loss_is_on_average_the_gradient_of_the_chance_of_being_right(method: str, answers: Any):
    pair, number, config = new_pair(method), 4_000, Config(method=method, answers=answers)
    views = Views(SEEN[:, None], SEEN[ORDER][:, None], jnp.arange(3), ORDER[:, None])

    @eqx.filter_jit
    def sampled(key: jax.Array) -> Any:
        def loss(pair: Pair) -> jax.Array:
            played = dialogue(key, pair.teacher, pair.student, views, RULES, softly(1.0), by_chance, told=True)
            return jnp.mean(joint_loss(played, views.target, config, WEIGHT)[0])

        return jax.tree.map(lambda leaf: -leaf, eqx.filter_grad(loss)(pair))

    each = jax.lax.map(sampled, jax.random.split(jax.random.key(0), number), batch_size=500)
    exact = eqx.filter_grad(objective)(pair)
    for found, wanted in zip(jax.tree.leaves(each), jax.tree.leaves(exact), strict=True):
        error = found.std(axis=0) / number**0.5 + 1e-6
        assert np.all(np.abs(found.mean(axis=0) - wanted) < 5 * error)
    # The test can tell: in each agent some component is many errors away from 0.
    for of_one, wanted in ((each.teacher, exact.teacher), (each.student, exact.student)):
        clear = [
            float(jnp.max(jnp.abs(w) / (f.std(axis=0) / number**0.5 + 1e-6)))
            for f, w in zip(jax.tree.leaves(of_one), jax.tree.leaves(wanted), strict=True)
        ]
        assert max(clear) > 10


def test_a_gain_is_compared_with_that_of_the_other_games():
    # Others' means: 0.5, 1, 0.5.
    assert np.allclose(above_others(jnp.array([1.0, 0.0, 1.0])), [0.5, -1, 0.5])


# Runs

TINY = Config(game="numbers-4", train_games=20_000, pretraining=500, iterations=1000, phases=1, batch=32, width=8)


def finished(folder: Path, config: Config) -> Run:
    run = start_run(folder, config)
    for _ in run.train():
        pass
    return run


def weights(folder: Path) -> dict[str, bytes]:
    files = sorted(folder.glob("phase-*.safetensors"))
    return {f"{file.stem} {name}": array.tobytes() for file in files for name, array in load_file(file).items()}


@pytest.fixture(scope="module")
def grounded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("baselines")
    return {method: finished(folder / method, replace(TINY, method=method)) for method in METHODS}


def accuracies(run: Run) -> list[float]:
    lines = (run.folder / "metrics.csv").read_text().splitlines()
    column = lines[0].split(",").index("accuracy")
    return [float(line.split(",")[column]) for line in lines[1:]]


def test_speaker_and_listener_learn_together_after_each_was_grounded_alone():
    config = replace(TINY, method="la-2018", phases=2)
    told = [(stage.phase, stage.agent, stage.iterations) for stage in stages(config)]
    assert told == [(0, "student", 500), (0, "teacher", 500), (1, "both", 1000), (2, "both", 1000)]
    assert [stage.agent for stage in stages(replace(config, grounded=False))] == ["both", "both"]


@every_method
def test_a_short_training_from_a_random_start_beats_chance_clearly(method: str, tmp_path: Path):
    run = finished(tmp_path / "run", replace(TINY, method=method, grounded=False))
    # One in four at random.
    assert accuracies(run)[-1] > 0.6


@every_method
def test_a_grounded_pair_starts_with_literal_words_and_gets_better(method: str, grounded: dict[str, Run]):
    run = grounded[method]
    pair, world = run.pair(phase=0), run.setting.world
    games = run.setting.validation.candidates[:200].T
    truth = jnp.moveaxis(world.truth[games], -1, 1)
    exact = normalised(literal_teacher(truth), axis=0)
    fits = np.asarray(jnp.any(truth, axis=0))
    for agent in (pair.teacher, pair.student):
        after = posterior(agent.read(world.features[games]).log_likelihood, jnp.full((4, 200), 1 / 4))
        assert np.abs(after - exact).sum(axis=0)[fits].mean() < 0.25
    # She says what is true, whichever candidate she means.
    chances = jnp.exp(pair.teacher.read(world.features[games]).log_likelihood)
    assert float(jnp.sum(chances * truth, axis=1).mean()) > 0.85
    found = accuracies(run)
    assert found[-1] > found[3]  # the last chunk of all, and of grounding


@every_method
def test_a_baseline_taken_up_again_ends_bit_identical(method: str, grounded: dict[str, Run], tmp_path: Path):
    whole = grounded[method].folder
    shutil.copytree(whole, tmp_path / "run")
    (tmp_path / "run" / "phase-1.safetensors").unlink()
    # Its last checkpoint is of iteration 750.
    again = open_run(tmp_path / "run")
    assert len(list(again.train())) == 1
    assert weights(again.folder) == weights(whole)


def test_two_pairs_at_once_are_two_runs(tmp_path: Path):
    config = replace(TINY, method="la-2017", iterations=250, grounded=False)
    both = finished(tmp_path / "both", replace(config, seeds=2))
    second = finished(tmp_path / "second", replace(config, seed=1))
    for one, other in zip(*(jax.tree.leaves(eqx.filter(p, eqx.is_array)) for p in (both.pair(index=1), second.pair())),
                          strict=True):  # fmt: skip
        assert np.allclose(one, other, atol=1e-3)


def test_a_baseline_has_one_message_a_game():
    with pytest.raises(ValueError, match="The agents of la-2017 have one message a game: leave --rounds at 1."):
        setting_of(Config(method="la-2017", rounds=2))
