"""Steps of the optimiser."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

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
