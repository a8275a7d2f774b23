"""A contract for every belief network with every likelihood, and Bayes' rule on the table that it gives."""

from typing import get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from implicature.agents.belief import posterior, update
from implicature.agents.teacher import LearnedTeacher
from implicature.nn import games_first, games_last
from implicature.nn.exchange import ExchangeNet
from implicature.nn.likelihood import AbstractBeliefNet, LikelihoodKind, likelihood
from implicature.training.config import Config
from implicature.training.pairs import NETWORKS

CANDIDATES, MESSAGES = 5, 6
KINDS = get_args(LikelihoodKind)
NETS: dict[str, AbstractBeliefNet] = {
    f"{network}, {kind}": NETWORKS[network](
        Config.of(network=network, width=8, layers=2, likelihood=kind, freeze_semantics=False),
        MESSAGES,
        MESSAGES,
        jax.random.key(0),
    )
    for network in NETWORKS
    for kind in KINDS
}
every_network = pytest.mark.parametrize("net", NETS.values(), ids=NETS)
tables = arrays(np.float32, (CANDIDATES, MESSAGES), elements=st.sampled_from([0.0, 0.5, 1.0]))
priors = st.lists(st.integers(0, 9), min_size=5, max_size=5).filter(any).map(lambda w: np.array(w, "float32") / sum(w))

encode = eqx.filter_jit(lambda net, candidates: net(candidates))
beliefs = jax.jit(posterior)


def some_candidates(number: int) -> jax.Array:
    return jax.random.bernoulli(jax.random.key(number), 0.4, (number, MESSAGES)).astype(jnp.float32)


def three_games() -> jax.Array:
    return jnp.stack([some_candidates(CANDIDATES), 1 - some_candidates(CANDIDATES), jnp.zeros((CANDIDATES, MESSAGES))])


def test_games_come_last_and_back():
    games = {"belief": jnp.zeros((7, 4)), "target": jnp.zeros(7)}
    last = games_last(games)
    assert {name: leaf.shape for name, leaf in last.items()} == {"belief": (4, 7), "target": (7,)}
    assert games_first(last)["belief"].shape == (7, 4)


# Every network


@every_network
@given(tables, st.permutations(range(CANDIDATES)))
@settings(max_examples=20)
def test_permuting_candidates_permutes_the_likelihood(net: AbstractBeliefNet, candidates: np.ndarray, order: list[int]):
    plain = np.exp(encode(net, jnp.asarray(candidates)).log_likelihood)
    other = np.exp(encode(net, jnp.asarray(candidates[order])).log_likelihood)
    assert np.allclose(plain[order], other, atol=1e-5)


@pytest.mark.slow
@every_network
@pytest.mark.parametrize("number", [2, 12])
def test_the_same_weights_take_any_number_of_candidates(net: AbstractBeliefNet, number: int):
    encoding = encode(net, some_candidates(number))
    assert encoding.log_likelihood.shape == (number, MESSAGES)
    assert np.all(np.isfinite(encoding.log_likelihood))
    assert np.all(encoding.log_likelihood <= 1e-6)
    assert np.allclose(beliefs(encoding.log_likelihood, jnp.full(number, 1 / number)).sum(axis=0), 1, atol=1e-5)


@every_network
@given(tables, priors)
@settings(max_examples=20)
def test_beliefs_normalise_and_candidates_with_prior_zero_stay_excluded(net, candidates, prior):
    after = np.asarray(beliefs(encode(net, jnp.asarray(candidates)).log_likelihood, prior))
    assert np.all(after >= 0)
    assert np.allclose(after.sum(axis=0), 1, atol=1e-5)
    assert np.all(after[prior == 0] < 1e-6)


@every_network
def test_updating_with_a_message_is_its_column_of_the_posterior(net: AbstractBeliefNet):
    table = encode(net, some_candidates(CANDIDATES)).log_likelihood
    prior = jnp.array([0.1, 0.2, 0.3, 0.4, 0.0])
    after = jax.jit(jax.vmap(update, (None, None, 0)))(table, prior, jnp.arange(MESSAGES))
    assert np.allclose(after.T, beliefs(table, prior), atol=1e-6)


@every_network
def test_a_network_under_jit_and_vmap_gives_the_same_values(net: AbstractBeliefNet):
    games = three_games()
    together = eqx.filter_jit(eqx.filter_vmap(lambda net, game: net(game), in_axes=(None, 0)))(net, games)
    for i, game in enumerate(games):
        assert np.allclose(together.log_likelihood[i], encode(net, game).log_likelihood, atol=1e-5)


@every_network
def test_a_batch_with_games_last_is_the_games_one_by_one(net: AbstractBeliefNet):
    games = three_games()
    together = encode(net, jnp.swapaxes(games, 0, 1)).log_likelihood
    for i, game in enumerate(games):
        assert np.allclose(together[..., i], encode(net, game).log_likelihood, atol=1e-5)


@pytest.mark.slow
@every_network
def test_the_value_of_one_message_is_that_among_all(net: AbstractBeliefNet):
    # With a Q head that is not 0, as it is at first.
    teacher = LearnedTeacher(net, 8, jax.random.key(1))
    teacher = eqx.tree_at(lambda teacher: teacher.q_out.weight, teacher, jnp.linspace(-1, 1, 8)[:, None])
    candidates = jnp.stack([some_candidates(CANDIDATES), 1 - some_candidates(CANDIDATES)], axis=1)
    target, belief = jnp.array([1, 3]), jnp.array([[0.1, 0.2, 0.3, 0.4, 0.0], [0.2] * 5]).T
    encoding = encode(net, candidates)
    every = teacher.q_values(encoding, target, belief)
    for message in range(MESSAGES):
        alone = teacher.q_values(encoding, target, belief, jnp.full(2, message))
        assert np.allclose(alone, every[message][None], atol=1e-5)


# Frozen semantics: word meanings stay, training on games adds a bounded term


def exchange_net(freeze_semantics: bool) -> ExchangeNet:
    return ExchangeNet(MESSAGES, MESSAGES, jax.random.key(0), 4, 2, lapse_rate=0.0, freeze_semantics=freeze_semantics)


@pytest.mark.slow
def test_before_training_on_games_words_are_used_literally():
    # Twice the logit: the literal probability of a message squared, and normalised again.
    encoding = encode(exchange_net(True), some_candidates(CANDIDATES))
    squared = np.exp(2 * encoding.literal)
    assert np.allclose(np.exp(encoding.log_likelihood), squared / squared.sum(axis=1, keepdims=True), atol=1e-5)


@pytest.mark.slow
def test_training_on_games_changes_use_but_not_meaning():
    def has_gradient(freeze_semantics: bool, table: str) -> tuple[bool, bool]:
        """Whether a loss on this table trains the encoder and the message vectors, and the exchange layers."""
        net = jax.tree.map(lambda leaf: leaf + 0.1 if eqx.is_array(leaf) else leaf, exchange_net(freeze_semantics))
        gradient = eqx.filter_grad(lambda net: jnp.sum(getattr(net(some_candidates(CANDIDATES)), table) ** 2))(net)
        meaning, use = (
            any(bool(jnp.any(leaf != 0)) for leaf in jax.tree.leaves(part))
            for part in ((gradient.encoder, gradient.messages), (gradient.layers, gradient.readout))
        )
        return meaning, use

    assert has_gradient(True, "log_likelihood") == (False, True)
    assert has_gradient(True, "literal") == (True, False)
    assert has_gradient(False, "log_likelihood") == (True, True)


def test_no_learned_term_outweighs_being_untrue():
    # The literal logits differ by 20 or more, so by 40 here; the learned term adds at most 5 to each.
    net = eqx.tree_at(lambda net: net.readout.weight, exchange_net(True), 1e6 * jnp.ones((5, 1)))
    net = eqx.tree_at(lambda net: net.messages, net, 1e3 * net.messages)
    encoding = encode(net, some_candidates(CANDIDATES))
    best = np.asarray(encoding.literal).argmax(axis=1)
    assert np.array_equal(np.asarray(encoding.log_likelihood).argmax(axis=1), best)


# By hand


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_that_fits_no_candidate_leaves_the_prior(kind: LikelihoodKind):
    # The last message has probability e⁻³⁰ or less for every candidate; e⁻³⁰ against e⁻⁴⁰ would be certainty. With a
    # lapse rate of 0.05 every candidate has it with probability 0.05 / 3, so it is uninformative.
    logits = jnp.array([[2.0, 0.0, -30.0], [0.0, 2.0, -40.0], [1.0, 1.0, -50.0]])
    prior = jnp.array([0.6, 0.3, 0.1])
    after = beliefs(likelihood(logits, logits, logits, kind, 0.05).log_likelihood, prior)
    assert np.allclose(after[:, -1], prior, atol=1e-5)
    # The others are still informative.
    assert np.abs(after[:, 0] - prior).max() > 0.05


def test_messages_compete_in_a_softmax_and_not_in_a_sigmoid():
    # Logits ln 3 and 0. Softmax: 3/4 and 1/4. Sigmoid: 3/4 and 1/2. A lapse rate of 0.2 over two messages: 0.8 p + 0.1.
    logits = jnp.log(jnp.array([[3.0, 1.0]]))
    probability = {kind: np.exp(likelihood(logits, logits, logits, kind, 0.2).log_likelihood) for kind in KINDS}
    assert np.allclose(probability["softmax"], [[0.7, 0.3]])
    assert np.allclose(probability["sigmoid"], [[0.7, 0.5]])


def test_beliefs_are_updated_by_bayes_rule():
    # Prior 0.6, 0.3, 0.1; the message has probability 1/2, 0, 1/2: 6/7, 0, 1/7.
    table = jnp.log(jnp.array([[0.5, 0.5], [1e-12, 1.0], [0.5, 0.5]]))
    after = update(table, jnp.array([0.6, 0.3, 0.1]), jnp.asarray(0))
    assert np.allclose(after, [6 / 7, 0, 1 / 7], atol=1e-6)
