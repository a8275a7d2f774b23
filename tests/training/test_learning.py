"""One step of the optimiser."""

import jax.numpy as jnp
import numpy as np
import pytest

from implicature.training.algorithm1 import learn, learner
from implicature.training.config import Config


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_a_step_goes_against_the_gradient_and_draws_to_zero_what_learns(decay: float):
    config = Config(learning_rate=0.1, weight_decay=decay)
    weights = {"learns": jnp.array([2.0, -4.0]), "stays": jnp.array([1.0, 3.0])}
    gradient = {"learns": jnp.array([0.01, -0.01]), "stays": jnp.zeros(2)}
    after = learn(learner(weights, config, 100), gradient, config, 100).model
    # Adam's first step is the sign, whatever the gradient's size, at the schedule's beginning: 2 % of the rate.
    expected = [2 - 0.002 * (1 + decay * 2), -4 - 0.002 * (-1 - decay * 4)]
    assert np.allclose(after["learns"], expected, atol=1e-5)
    assert np.array_equal(after["stays"], weights["stays"])
