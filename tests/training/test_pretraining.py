"""Bayesian pretraining makes a message mean an attribute: beliefs become those of the exact literal student."""

from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from implicature.agents.rsa import literal_teacher, student
from implicature.games.sampling import Game
from implicature.nn.belief_nets import posterior
from implicature.spaces.numbers import number_sets
from implicature.training.algorithm1 import World, grounding_step, iterate, learner, new_pair
from implicature.training.config import Config
from implicature.training.pretraining import believing_loss, grounding_loss, speaking_loss
from implicature.training.run import start_run

SPACE = number_sets(5, 2)
TRUTH = jnp.asarray(SPACE.table)
CANDIDATES = 3
# All 455 combinations, 400 of them to train with.
COMBINATIONS = np.random.default_rng(0).permutation(list(combinations(range(SPACE.instances), CANDIDATES)))


def games(chosen: np.ndarray) -> Game:
    number = len(chosen)
    return jax.vmap(Game)(jnp.asarray(chosen), jnp.zeros(number, int), jnp.tile(jnp.arange(CANDIDATES), (number, 1)))


WORLD, TEST = World(TRUTH.astype(jnp.float32), TRUTH, games(COMBINATIONS[:400])), games(COMBINATIONS[400:])
PRIOR = jnp.array([0.5, 0.3, 0.2])


@eqx.filter_jit
def beliefs(net, games: Game) -> tuple[jax.Array, jax.Array]:
    """The network's and the exact student's after every message of every game, from one prior."""

    def one(candidates):
        exact = student(literal_teacher(TRUTH[candidates]), PRIOR, jnp.tile(PRIOR[:, None], TRUTH.shape[1]))
        return posterior(net(WORLD.looks[candidates]).log_likelihood, PRIOR), exact

    return jax.vmap(one)(games.candidates)


@cache
def pretrained() -> tuple:
    """A network before and after a short pretraining, and the mean loss of its first and second half."""
    config = Config(pretraining=600, batch=64, width=8, depth=2, learning_rate=1e-2, lapse=0.05)
    net = new_pair(jax.random.key(2), config, WORLD.looks, TRUTH.shape[1]).student.belief
    step = grounding_step(config, WORLD, grounding_loss)
    run = eqx.filter_jit(lambda state, start: iterate(step, jax.random.key(3), state, start, 300))
    half, first = run(learner((net, None), config, 600), jnp.asarray(0))
    whole, second = run(half, jnp.asarray(300))
    return net, whole.model[0], float(first["grounding_loss"]), float(second["grounding_loss"])


def test_pretraining_makes_beliefs_those_of_the_exact_literal_student():
    before, after, _, _ = pretrained()
    fits = np.asarray(TRUTH[TEST.candidates].any(axis=1))

    def distances(net) -> np.ndarray:
        """Total variation, for each message that fits somebody."""
        found, exact = beliefs(net, TEST)
        return np.abs(found - exact).sum(axis=1)[fits] / 2

    assert distances(before).mean() > 0.2
    # Lapses alone, a few percent of all messages, put the network's likelihood of what is untrue above 0.
    assert distances(after).mean() < 0.1


def test_after_pretraining_a_message_that_fits_nobody_says_little():
    # In games of unseen combinations; some of these messages are still taken for a hint.
    _, after, _, _ = pretrained()
    found, _ = beliefs(after, TEST)
    fits_nobody = ~np.asarray(TRUTH[TEST.candidates].any(axis=1))
    assert np.median(np.abs(found - PRIOR[:, None]).sum(axis=1)[fits_nobody] / 2) < 0.1


def test_the_loss_falls():
    _, _, first, second = pretrained()
    assert second < first


def test_the_loss_of_the_exact_student_is_the_entropy_of_his_beliefs():
    # Candidates {0} and {1}: either message names one of them, so nothing is uncertain; a network that is sure of it
    # has a loss near 0, whatever the prior. A network that knows nothing has at least the prior's entropy on average.
    truth = jnp.eye(2, dtype=bool)
    config = Config(network="paper", width=2, depth=0)
    net = new_pair(jax.random.key(0), config, jnp.eye(2), 2).student.belief

    def with_messages(table: jax.Array):
        width = net.messages.shape[1]
        weight = jnp.eye(2, width)
        vectors = jnp.zeros((2, width)).at[:, :2].set(table)
        return eqx.tree_at(lambda net: (net.encoder.weight, net.messages), net, (weight, vectors))

    @eqx.filter_jit
    def losses(net) -> jax.Array:
        keys = jax.random.split(jax.random.key(1), 50)
        return jax.vmap(lambda key: believing_loss(key, net(jnp.eye(2)).strict, truth))(keys)

    sure, unsure = losses(with_messages(30 * jnp.eye(2))), losses(with_messages(jnp.zeros((2, 2))))
    assert np.all(np.asarray(sure) < 1e-3)
    # A message that tells nothing leaves the prior p, 1 - p; each of the two messages should have led to certainty in
    # one of them: the mean of -ln p and -ln (1 - p) is at least ln 2.
    assert np.all(np.asarray(unsure) >= np.log(2) - 1e-5)


def test_a_word_that_is_rare_for_everybody_leads_to_the_same_beliefs_but_is_not_the_literal_teachers():
    # Candidates {0, 1} and {1}: the literal teacher says either word for the first, 1 for the second.
    truth = jnp.array([[True, True], [False, True]])
    literal = jnp.log(jnp.array([[0.5, 0.5], [1e-6, 1.0]]))
    rare = literal.at[:, 0].add(-5.0)
    key = jax.random.key(0)
    np.testing.assert_allclose(believing_loss(key, rare, truth), believing_loss(key, literal, truth), rtol=1e-4)
    # ln 2 for the first candidate, nothing for the second, in the mean.
    np.testing.assert_allclose(speaking_loss(key, literal, truth), np.log(2) / 2, rtol=1e-4)
    assert speaking_loss(key, rare, truth) > 0.8
    both = believing_loss(key, rare, truth) + speaking_loss(key, rare, truth)
    np.testing.assert_allclose(grounding_loss(key, rare, truth), both, rtol=1e-6)


def test_after_pretraining_true_words_are_as_likely_as_the_literal_teacher_says_them():
    _, after, _, _ = pretrained()
    truth = TRUTH[TEST.candidates]
    said = np.exp(jax.vmap(lambda candidates: after(WORLD.looks[candidates]).strict)(TEST.candidates))
    assert np.abs(said - literal_teacher(jnp.moveaxis(truth, 0, -1)).transpose(2, 0, 1)).mean() < 0.05


def test_lessons_of_beliefs_alone_are_the_papers(tmp_path: Path):
    # The same network in the same games: words, where they are taught, cost more than the literal teacher's entropy,
    # ln 3.3 or so, as no network knows them at the start.
    def first_loss(lessons: Literal["words", "beliefs"]) -> float:
        config = Config(lessons=lessons, phases=0, pretraining=1, batch=64, train_games=1_000, width=4, depth=1)
        return next(iter(start_run(tmp_path / lessons, config).train())).info["grounding_loss"][0]

    assert first_loss("words") - first_loss("beliefs") > 1.5


def test_the_papers_network_learns_what_words_mean_among_seven_candidates(tmp_path: Path):
    # With large message vectors or larger steps its beliefs stay at the prior (F-07, F-11): a loss of 0.747, and as all
    # candidates then have the same words, ln 10 = 2.30 more. The best is 0.64 for beliefs and 1.18 for words.
    config = Config(game="numbers-7", network="paper", phases=0, pretraining=1_000, batch=128, train_games=100_000)
    losses = [progress.info["grounding_loss"][0] for progress in start_run(tmp_path / "run", config).train()]
    assert losses[3] < 2.2
    assert losses[-1] < 2.2
