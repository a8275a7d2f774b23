"""Steps of the optimiser."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.student import LearnedStudent
from implicature.nn.live_exchange import LiveExchangeNet
from implicature.training.config import OptimiserConfig
from implicature.training.optimiser import apply_gradients, init_learner, repeat_step


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_a_step_goes_against_the_gradient_and_decays_the_weights_that_it_updates(decay: float):
    config = OptimiserConfig(learning_rate=0.1, weight_decay=decay)
    weights = {"updated": jnp.array([2.0, -4.0]), "frozen": jnp.array([1.0, 3.0])}
    gradient = {"updated": jnp.array([0.01, -0.01]), "frozen": jnp.zeros(2)}
    after = apply_gradients(init_learner(weights, config, 100), gradient, config, 100).model
    # Adam's first step is the sign, whatever the gradient's size, at the start of the warm-up: 2 % of the rate.
    expected = [2 - 0.002 * (1 + decay * 2), -4 - 0.002 * (-1 - decay * 4)]
    assert np.allclose(after["updated"], expected, atol=1e-5)
    assert np.array_equal(after["frozen"], weights["frozen"])


def test_chunks_do_not_change_what_a_step_repeated_leads_to():
    def step(key: jax.Array, state: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        return state + jax.random.normal(key), {"size": jnp.abs(state)}

    key, start = jax.random.key(0), jnp.asarray(0.0)
    whole, _ = repeat_step(step, key, start, jnp.asarray(0), 5)
    half, _ = repeat_step(step, key, start, jnp.asarray(0), 3)
    assert repeat_step(step, key, half, jnp.asarray(3), 2)[0] == whole


@pytest.mark.parametrize("freeze", [False, True])
def test_frozen_embeddings_of_live_words_are_left_out_of_the_optimiser_and_of_nothing_else(freeze: bool):
    words, games, live = 300, 4, 6
    student = LearnedStudent(LiveExchangeNet(words, jax.random.key(0), 4, 2, freeze_semantics=freeze))
    features = jax.random.bernoulli(jax.random.key(1), 0.5, (3, games, live)).astype(jnp.float32)
    ids = jnp.arange(live)[:, None] + jnp.arange(games) * 7

    def loss(student: LearnedStudent) -> jax.Array:
        return jnp.sum(student.net.with_words(features, ids).log_likelihood ** 2)  # type: ignore[attr-defined]

    config = OptimiserConfig(learning_rate=0.1)
    learner = init_learner((student, None), config, 100)
    # Adam keeps two numbers for each weight; words × 128 of them belong to the embeddings of each kind.
    kept = sum(leaf.size for leaf in jax.tree.leaves(learner.adam))
    assert (kept < words * 128) == freeze
    gradient = (eqx.filter_grad(loss)(student), None)
    after = apply_gradients(learner, gradient, config, 100).model[0].net
    reached = jnp.any(gradient[0].net.messages != 0), jnp.any(gradient[0].net.encoder[0].weight != 0)
    assert [bool(one) for one in reached] == [not freeze] * 2
    assert np.array_equal(after.messages, student.net.messages) == freeze  # type: ignore[attr-defined]
    assert not np.array_equal(after.readout.weight, student.net.readout.weight)  # type: ignore[attr-defined]
