"""A contract for every belief network with every likelihood, and Bayes' rule on the table that it gives."""

from dataclasses import replace
from typing import get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from implicature.agents.teacher import Teacher
from implicature.nn.belief_nets import (
    BeliefNet,
    ExchangeNet,
    Likelihood,
    affine,
    averaged,
    leaky,
    mixed,
    once,
    posterior,
    read,
    update,
    weighed,
)
from implicature.training.algorithm1 import new_pair
from implicature.training.config import Config

CANDIDATES, MESSAGES = 5, 6
KINDS = get_args(Likelihood)
NETS: dict[str, BeliefNet] = {
    f"{network}, {kind}": new_pair(
        jax.random.key(0),
        replace(Config(width=4, depth=2), network=network, likelihood=kind),
        jnp.eye(MESSAGES),
        MESSAGES,
    ).student.belief
    for network in ("paper", "exchange")
    for kind in KINDS
}
every_network = pytest.mark.parametrize("net", NETS.values(), ids=NETS)
tables = arrays(np.float32, (CANDIDATES, MESSAGES), elements=st.sampled_from([0.0, 0.5, 1.0]))
priors = st.lists(st.integers(0, 9), min_size=5, max_size=5).filter(any).map(lambda w: np.array(w, "float32") / sum(w))

reading = eqx.filter_jit(lambda net, candidates: net(candidates))
believed = jax.jit(posterior)


def some_candidates(number: int) -> jax.Array:
    return jax.random.bernoulli(jax.random.key(number), 0.4, (number, MESSAGES)).astype(jnp.float32)


# Of every network


@every_network
@given(tables, st.permutations(range(CANDIDATES)))
@settings(max_examples=20)
def test_permuting_candidates_permutes_the_likelihood(net: BeliefNet, candidates: np.ndarray, order: list[int]):
    plain = np.exp(reading(net, jnp.asarray(candidates)).log_likelihood)
    other = np.exp(reading(net, jnp.asarray(candidates[order])).log_likelihood)
    assert np.allclose(plain[order], other, atol=1e-5)


@every_network
@pytest.mark.parametrize("number", [2, 12])
def test_the_same_weights_read_any_number_of_candidates(net: BeliefNet, number: int):
    found = reading(net, some_candidates(number))
    assert found.log_likelihood.shape == (number, MESSAGES)
    assert np.all(np.isfinite(found.log_likelihood))
    assert np.all(found.log_likelihood <= 1e-6)
    assert np.allclose(believed(found.log_likelihood, jnp.full(number, 1 / number)).sum(axis=0), 1, atol=1e-5)


@every_network
@given(tables, priors)
@settings(max_examples=20)
def test_beliefs_normalise_and_whom_the_prior_excludes_stays_excluded(net, candidates, prior):
    after = np.asarray(believed(reading(net, jnp.asarray(candidates)).log_likelihood, prior))
    assert np.all(after >= 0)
    assert np.allclose(after.sum(axis=0), 1, atol=1e-5)
    assert np.all(after[prior == 0] < 1e-6)


@every_network
def test_updating_with_a_message_is_its_column_of_the_posterior(net: BeliefNet):
    table = reading(net, some_candidates(CANDIDATES)).log_likelihood
    prior = jnp.array([0.1, 0.2, 0.3, 0.4, 0.0])
    heard = jax.jit(jax.vmap(update, (None, None, 0)))(table, prior, jnp.arange(MESSAGES))
    assert np.allclose(heard.T, believed(table, prior), atol=1e-6)


@every_network
def test_a_network_jits_and_vmaps_without_changing_its_mind(net: BeliefNet):
    games = jnp.stack([some_candidates(CANDIDATES), 1 - some_candidates(CANDIDATES), jnp.zeros((CANDIDATES, MESSAGES))])
    together = eqx.filter_jit(eqx.filter_vmap(lambda net, game: net(game), in_axes=(None, 0)))(net, games)
    for i, game in enumerate(games):
        assert np.allclose(together.log_likelihood[i], reading(net, game).log_likelihood, atol=1e-5)


@every_network
def test_many_games_at_once_are_read_as_one_by_one(net: BeliefNet):
    games = jnp.stack([some_candidates(CANDIDATES), 1 - some_candidates(CANDIDATES), jnp.zeros((CANDIDATES, MESSAGES))])
    together = reading(net, jnp.swapaxes(games, 0, 1)).log_likelihood
    for i, game in enumerate(games):
        assert np.allclose(together[..., i], reading(net, game).log_likelihood, atol=1e-5)


@every_network
def test_the_value_of_one_message_is_that_among_all(net: BeliefNet):
    # With a value head that is not 0, as it is at first.
    teacher = Teacher(net, 8, jax.random.key(1))
    teacher = eqx.tree_at(lambda teacher: teacher.out.weight, teacher, jnp.linspace(-1, 1, 8)[:, None])
    candidates = jnp.stack([some_candidates(CANDIDATES), 1 - some_candidates(CANDIDATES)], axis=1)
    target, belief = jnp.array([1, 3]), jnp.array([[0.1, 0.2, 0.3, 0.4, 0.0], [0.2] * 5]).T
    read_by_her = reading(net, candidates)
    every = teacher.values(read_by_her, target, belief)
    for message in range(MESSAGES):
        alone = teacher.values(read_by_her, target, belief, jnp.full(2, message))
        assert np.allclose(alone, every[message][None], atol=1e-5)


# Written for the processor, beside how one would write them. The bias is added up candidate by candidate up to FEW.
PLAIN = {
    "mixed": (mixed, lambda weight, x: jnp.einsum("io,i...->o...", weight, x), [(3, 5), (3, 2, 4)]),
    "affine": (affine, lambda w, c, x: jnp.einsum("io,i...->o...", w, x) + c[:, None, None], [(3, 5), (5,), (3, 2, 4)]),
    "affine, many": (
        affine,
        lambda w, c, x: jnp.einsum("io,i...->o...", w, x) + c[:, None, None],
        [(3, 5), (5,), (3, 20, 4)],
    ),
    "averaged": (averaged, lambda each: jnp.mean(each, axis=1), [(3, 4, 5)]),
    "weighed": (weighed, lambda weights, each: jnp.tensordot(weights, each, 1), [(3,), (3, 4, 5)]),
    "leaky": (leaky, lambda x: jax.nn.leaky_relu(x, 0.01), [(3, 4)]),
    "once": (once, lambda x: x, [(3, 4)]),
}


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_written_for_the_processor_and_its_gradient_are_those_of_the_plain_formula(name: str):
    written, formula, shapes = PLAIN[name]
    given = [jax.random.normal(jax.random.key(i), shape) for i, shape in enumerate(shapes)]
    (plain, plain_back), (ours, our_back) = jax.vjp(formula, *given), jax.vjp(written, *given)
    assert np.allclose(ours, plain, atol=1e-5)
    back = jax.random.normal(jax.random.key(9), plain.shape)
    for one, other in zip(our_back(back), plain_back(back), strict=True):
        assert np.allclose(one, other, atol=1e-5)


# With a lexicon: what words mean stays, use is added


def wordy(lexicon: bool) -> ExchangeNet:
    return ExchangeNet(MESSAGES, MESSAGES, jax.random.key(0), 4, 2, lapse=0.0, lexicon=lexicon)


def test_at_first_words_are_used_for_what_they_mean():
    # Twice the logit: the literal chance of a message squared, and normalised again.
    found = reading(wordy(True), some_candidates(CANDIDATES))
    squared = np.exp(2 * found.strict)
    assert np.allclose(np.exp(found.log_likelihood), squared / squared.sum(axis=1, keepdims=True), atol=1e-5)


def test_playing_changes_how_words_are_used_but_not_what_they_mean():
    def moved(lexicon: bool, table: str) -> tuple[bool, bool]:
        """Whether learning by this table moves the encoder and message vectors, and the rounds of exchange."""
        grown = jax.tree.map(lambda leaf: leaf + 0.1 if eqx.is_array(leaf) else leaf, wordy(lexicon))
        loss = eqx.filter_grad(lambda net: jnp.sum(getattr(net(some_candidates(CANDIDATES)), table) ** 2))
        gradient = loss(grown)
        return tuple(
            any(bool(jnp.any(leaf != 0)) for leaf in jax.tree.leaves(part))
            for part in ((gradient.encoder, gradient.messages), (gradient.rounds, gradient.gather))
        )  # type: ignore[return-value]

    assert moved(True, "log_likelihood") == (False, True)
    assert moved(True, "strict") == (True, False)
    assert moved(False, "log_likelihood") == (True, True)


def test_use_cannot_make_up_for_being_untrue():
    # The literal logits differ by 20 at the least, so by 40 here; use adds or takes at most 5 from each.
    net = eqx.tree_at(lambda net: net.gather.weight, wordy(True), 1e6 * jnp.ones((5, 1)))
    net = eqx.tree_at(lambda net: net.messages, net, 1e3 * net.messages)
    found = reading(net, some_candidates(CANDIDATES))
    best = np.asarray(found.strict).argmax(axis=1)
    assert np.array_equal(np.asarray(found.log_likelihood).argmax(axis=1), best)


# By hand


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_that_fits_nobody_leaves_the_prior(kind: Likelihood):
    # The last message is e⁻³⁰ or less for everybody; e⁻³⁰ against e⁻⁴⁰ would be certainty. With a lapse of 0.05 every
    # candidate says it with chance 0.05 / 3, so it tells nothing.
    logits = jnp.array([[2.0, 0.0, -30.0], [0.0, 2.0, -40.0], [1.0, 1.0, -50.0]])
    prior = jnp.array([0.6, 0.3, 0.1])
    heard = believed(read(logits, logits, logits, kind, 0.05).log_likelihood, prior)
    assert np.allclose(heard[:, -1], prior, atol=1e-5)
    # The others still tell something.
    assert np.abs(heard[:, 0] - prior).max() > 0.05


def test_softmax_lets_messages_compete_and_sigmoid_does_not():
    # Logits ln 3 and 0. Softmax: 3/4 and 1/4. Sigmoid: 3/4 and 1/2. A lapse of 0.2 over two messages: 0.8 p + 0.1.
    logits = jnp.log(jnp.array([[3.0, 1.0]]))
    chance = {kind: np.exp(read(logits, logits, logits, kind, 0.2).log_likelihood) for kind in KINDS}
    assert np.allclose(chance["softmax"], [[0.7, 0.3]])
    assert np.allclose(chance["sigmoid"], [[0.7, 0.5]])


def test_beliefs_are_updated_as_bayes_would():
    # Prior 0.6, 0.3, 0.1; the message is said of them with chances 1/2, 0, 1/2: 6/7, 0, 1/7.
    table = jnp.log(jnp.array([[0.5, 0.5], [1e-12, 1.0], [0.5, 0.5]]))
    after = update(table, jnp.array([0.6, 0.3, 0.1]), jnp.asarray(0))
    assert np.allclose(after, [6 / 7, 0, 1 / 7], atol=1e-6)
