"""The joint REINFORCE loss against the gradient that it estimates, and short trainings of both baselines."""

import csv
import shutil
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file

from implicature.agents.belief import entropy, posterior
from implicature.agents.contracts import Pair
from implicature.agents.lazaridou import Listener, Speaker
from implicature.agents.perspectives import FeatureTable, perspectives
from implicature.agents.rollout import boltzmann, categorical, rollout
from implicature.agents.rsa import literal_teacher, normalize
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.games.sampling import Game, draw_games
from implicature.nn import games_last
from implicature.spaces.numbers import number_sets
from implicature.training.config import Config, MethodConfig
from implicature.training.joint import joint_loss, joint_step, minus_mean_of_others
from implicature.training.methods import plan
from implicature.training.optimiser import init_learner, repeat_step
from implicature.training.pairs import NEW_PAIR
from implicature.training.pretraining import GroundingLoss, belief_loss, grounding_step, speaker_loss
from implicature.training.runs.run import Run, open_run, start_run
from implicature.training.task import GameData, make_task

every_method = pytest.mark.parametrize("method", ["la-2017", "la-2018"])

# Three candidates, four messages, played with each target; he sees them in another order.
TABLE = jnp.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], jnp.float32)
ORDER = jnp.array([2, 0, 1])
RULES = Rules(3)
BONUS = 0.3


def context(features: jax.Array) -> Context:
    return Context(features=features, lexicon=features > 0)


def objective(pair: Pair) -> jax.Array:
    """The mean over targets of Σ_m π_A(m | o*) (π_B(o* | m) + λ H(π_B(· | m))) + λ H(π_A), with every message tried.
    The entropy bonus is each agent's own: she does not choose words for the sake of his."""
    table = jnp.exp(pair.teacher.encode(context(TABLE)).log_likelihood)
    belief = posterior(pair.student.encode(context(TABLE[ORDER])).log_likelihood, jnp.full(3, 1 / 3))
    in_teacher_order = jnp.zeros_like(belief).at[ORDER].set(belief)
    right = jnp.sum(table * in_teacher_order)
    bonus = jnp.sum(entropy(table.T)) + jnp.sum(jax.lax.stop_gradient(table) * entropy(belief))
    return (right + BONUS * bonus) / 3


@pytest.mark.slow
@pytest.mark.parametrize("credit", ["sampled", "expected"])
def test_the_joint_loss_is_on_average_the_gradient_of_the_probability_of_being_right(credit: Any):
    config = Config.of(method="la-2017", width=8, filters=2, temperature=0.5)
    pair = NEW_PAIR["la-2017"](jax.random.key(3), config, jnp.eye(4), 4)
    number, method = 2_000, MethodConfig(method="la-2017", credit=credit)
    game = Game(jnp.arange(3)[:, None], jnp.arange(3), ORDER[:, None])
    seen = perspectives(game, FeatureTable(TABLE, TABLE), TABLE > 0)

    def sampled(key: jax.Array) -> Any:
        def loss(pair: Pair) -> jax.Array:
            played = rollout(key, pair.teacher, pair.student, seen, RULES, boltzmann(1.0), categorical)
            return jnp.mean(joint_loss(played, seen.target, method, (BONUS, BONUS))[0])

        return jax.tree.map(lambda leaf: -leaf, eqx.filter_grad(loss)(pair))

    each = jax.jit(jax.vmap(sampled))(jax.random.split(jax.random.key(0), number))
    each, exact = jax.device_get((each, eqx.filter_jit(eqx.filter_grad(objective))(pair)))
    for estimates, wanted in zip(jax.tree.leaves(each), jax.tree.leaves(exact), strict=True):
        error = estimates.std(axis=0) / number**0.5 + 1e-6
        assert np.all(np.abs(estimates.mean(axis=0) - wanted) < 5 * error)
    # The test has power: in each agent some component is many standard errors away from 0.
    for agent, wanted in ((each.teacher, exact.teacher), (each.student, exact.student)):
        clear = [
            np.max(np.abs(w) / (e.std(axis=0) / number**0.5 + 1e-6))
            for e, w in zip(jax.tree.leaves(agent), jax.tree.leaves(wanted), strict=True)
        ]
        assert max(clear) > 10


def test_a_return_is_compared_with_the_mean_of_the_other_games():
    # Others' means: 0.5, 1, 0.5.
    assert np.allclose(minus_mean_of_others(jnp.array([1.0, 0.0, 1.0])), [0.5, -1, 0.5])


# On a small space: sets of one or two of five numbers, three candidates

SPACE = number_sets(5, 2)
LEXICON = jnp.asarray(SPACE.table)
SMALL = Config.of(
    width=32, filters=8, candidate_sets=64, iterations=500, pretraining_iterations=500, learning_rate=0.01,
    listener_entropy_bonus=0.1,
)  # fmt: skip
DATA = GameData(LEXICON.astype(jnp.float32), LEXICON, draw_games(jax.random.key(0), 2_000, 3, SPACE.instances, "train"))
FEATURES = FeatureTable(DATA.observations, DATA.observations)
TEST = games_last(draw_games(jax.random.key(1), 500, 3, SPACE.instances, "test"))


@eqx.filter_jit
def accuracy(pair: Pair) -> jax.Array:
    """On test games."""
    seen = DATA.perspectives(TEST, FEATURES)
    return jnp.mean(rollout(jax.random.key(0), pair.teacher, pair.student, seen, RULES).success)


def train_together(pair: Pair, config: Config) -> Pair:
    @eqx.filter_jit
    def train(pair: Pair) -> Pair:
        state = init_learner(pair, config.optimiser, config.optimiser.iterations)
        step = joint_step(config, DATA, RULES, FEATURES)
        return repeat_step(step, jax.random.key(1), state, jnp.asarray(0), config.optimiser.iterations)[0].model

    return train(pair)


def table_after_pretraining(net: Any, loss: GroundingLoss) -> jax.Array:
    """What a network makes of test candidates after Bayesian pretraining."""

    @eqx.filter_jit
    def train(net: Any) -> jax.Array:
        iterations = SMALL.grounding.pretraining_iterations
        state = init_learner((net, None), SMALL.optimiser, iterations)
        step = grounding_step(SMALL, DATA, loss)
        state, _ = repeat_step(step, jax.random.key(2), state, jnp.asarray(0), iterations)
        return state.model[0](DATA.observations[TEST.candidates]).log_likelihood

    return train(net)


def new_pair(method: str) -> Pair:
    return NEW_PAIR[method](jax.random.key(0), SMALL, DATA.observations, 5)


# Without context the best is a message for every 3 of 15 instances: another candidate has the target's in so many games
# that the accuracy is about 86 %. At random it is one in three.
@pytest.mark.slow
@pytest.mark.parametrize(("method", "least"), [("la-2017", 0.85), ("la-2018", 0.7)])
def test_a_short_training_from_a_random_start_beats_chance_clearly(method: Any, least: float):
    pair = new_pair(method)
    assert accuracy(pair) < 0.5
    assert accuracy(train_together(pair, SMALL.replace(method=method))) > least


TRUTH = jnp.moveaxis(LEXICON[TEST.candidates], -1, 1)


@every_method
def test_a_grounded_speaker_sends_any_true_word(method: Any):
    speaker = new_pair(method).teacher
    assert isinstance(speaker, Speaker)
    probabilities = jnp.exp(table_after_pretraining(speaker.net, speaker_loss))
    # 1 for sets of one number, 1/2 for both words of the others.
    assert np.abs(probabilities - literal_teacher(TRUTH)).max() < 0.25
    assert float(jnp.sum(probabilities * TRUTH, axis=1).mean()) > 0.95


def test_a_grounded_listener_believes_by_bayes_rule():
    listener = new_pair("la-2017").student
    assert isinstance(listener, Listener)
    exact, fits = normalize(literal_teacher(TRUTH), axis=0), np.asarray(jnp.any(TRUTH, axis=0))
    after = posterior(table_after_pretraining(listener.net, belief_loss), jnp.full((3, 500), 1 / 3))
    assert np.abs(after - exact).sum(axis=0)[fits].mean() < 0.1


# Runs


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    config = Config.of(
        method="la-2017", grounded=False, train_games=2000, iterations=500, phases=1, candidate_sets=16, width=16,
        filters=4, seeds=2,
    )  # fmt: skip
    run = start_run(tmp_path_factory.mktemp("whole") / "run", config)
    for _ in run.train():
        pass
    return run


def test_speaker_and_listener_learn_together_after_each_was_grounded_alone():
    config = Config.of(method="la-2018", phases=2, pretraining_iterations=7, iterations=9, encoder="none")
    planned = [(stage.phase, stage.agent, stage.iterations) for stage in plan(config)]
    assert planned == [(0, "student", 7), (0, "teacher", 7), (1, "both", 9), (2, "both", 9)]
    assert [stage.agent for stage in plan(config.replace(grounded=False))] == ["both", "both"]


@pytest.mark.slow
def test_every_chunk_records_both_agents(whole: Run):
    with (whole.folder / "metrics.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["agent"] for line in lines] == ["both"] * 4  # two chunks, two pairs
    assert all(line[name] for line in lines for name in ("reward", "speaker_loss", "student_loss", "entropy"))
    first, second = (jax.tree.leaves(eqx.filter(whole.pair(index=i), eqx.is_array)) for i in (0, 1))
    assert not any(np.allclose(one, other) for one, other in zip(first, second, strict=True))


@pytest.mark.slow
def test_a_baseline_that_is_resumed_ends_bit_identical(whole: Run, tmp_path: Path):
    shutil.copytree(whole.folder, tmp_path / "run")
    (tmp_path / "run" / "phase-1.safetensors").unlink()
    # Its last checkpoint is of iteration 250, after the first of two chunks together.
    again = open_run(tmp_path / "run")
    assert len(list(again.train())) == 1
    for name in ("phase-0", "phase-1"):
        one, other = (load_file(folder / f"{name}.safetensors") for folder in (again.folder, whole.folder))
        assert {key: array.tobytes() for key, array in one.items()} == {k: a.tobytes() for k, a in other.items()}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"temperature": 0.0}, "--temperature is 0.0: give a number from 1e-06 to 1,000,000."),
        ({"entropy_bonus": -1.0}, "--entropy-bonus is -1.0: give a number from 0 to 10,000."),
        ({"filters": 0}, "--filters is 0: give a number from 1 to 1,024."),
    ],
)
def test_what_a_baseline_cannot_do_is_one_sentence(changed: dict[str, Any], sentence: str):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        make_task(Config.of(method="la-2017", **changed))
    assert str(refused.value) == sentence
