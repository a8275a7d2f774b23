"""Teacher-aware gradient learning: its formulas, and that it is faster."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.experiments.beyond import teaching
from implicature.experiments.beyond.teaching import remaining_distance, teacher_likelihood_gradient

GRADIENTS = jnp.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]])
WEIGHTS, TARGET = jnp.array([3.0, 4.0]), jnp.array([1.0, 1.0])


def test_the_teacher_minimises_the_distance_that_is_left():
    # η = 1/2, w − w* = (2, 3), squared 13. After a step along (1, 0): (1.5, 3), 11.25; along (0, 2): (2, 2), 8;
    # along (−1, 1): (2.5, 2.5), 12.5. Less 13: −1.75, −5, −0.5.
    assert np.allclose(remaining_distance(GRADIENTS, WEIGHTS, TARGET, 0.5), [-1.75, -5, -0.5])


def test_the_likelihood_gradient_is_that_of_the_log_probability_of_her_choice():
    def log_probability(target: jax.Array) -> jax.Array:
        left = jnp.stack([jnp.sum((WEIGHTS - 0.5 * one - target) ** 2) for one in GRADIENTS])
        return jax.nn.log_softmax(-0.3 * left)[2]

    found = teacher_likelihood_gradient(GRADIENTS, jnp.asarray(2), WEIGHTS, TARGET, 0.5, 0.3)
    assert np.allclose(found, jax.grad(log_probability)(TARGET), atol=1e-5)


@pytest.mark.slow
def test_a_teacher_helps_and_knowing_her_helps_more():
    results = [one for task in teaching.tasks()[:3] for one in teaching.run(task, 0, Path())]
    last = {one["method"]: one for one in results if one["step"] == teaching.STEPS}
    assert last["aware"]["distance"] < 0.1 < last["naive"]["distance"] < 0.4 < last["random"]["distance"]
    assert last["aware"]["half"] <= last["naive"]["half"] / 3
    assert last["random"]["half"] == ""
    (table,) = teaching.render(results)
    assert [row.label for row in table.rows] == list(teaching.METHODS.values())
    assert str(table.rows[0].cells[1]) == "> 2,000 in 1"
    assert len(teaching.draw(results).axes[0].lines) == 3
