"""New pairs: every random number is used once."""

from itertools import combinations
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.student import LearnedStudent
from implicature.agents.teacher import LearnedTeacher
from implicature.spaces import objects
from implicature.training.config import Config
from implicature.training.pairs import NEW_PAIR
from implicature.training.resolve import resolve

BUILDS: dict[str, dict[str, Any]] = {
    "exchange": {"network": "exchange"},
    "exchange, ungrounded": {"network": "exchange", "grounded": False},
    "deep-sets": {"network": "deep-sets"},
    "la-2017": {"method": "la-2017"},
    "la-2018": {"method": "la-2018"},
}


@pytest.mark.parametrize("settings", BUILDS.values(), ids=BUILDS)
@pytest.mark.parametrize("impl", ["rbg", "threefry2x32"])
def test_no_two_weights_of_a_pair_that_sees_images_start_from_the_same_numbers(settings: dict[str, Any], impl: str):
    config = resolve(Config.of(game="objects-4", **settings), objects(), candidates=4)
    images = jnp.zeros((2, 128, 128, 3), jnp.uint8)
    pair = NEW_PAIR[config.method.method](jax.random.key(0, impl=impl), config, images, 18)
    assert pair.teacher_encoder is not None
    assert pair.student_encoder is not None
    leaves = jax.tree.leaves(eqx.filter(pair, eqx.is_inexact_array))
    # Biases and the exchange network's readout start from constants.
    weights = [np.ravel(leaf) for leaf in leaves if leaf.size >= 32 and np.std(leaf) > 0]
    assert len(weights) > 15
    for one, other in combinations(weights, 2):
        size = min(len(one), len(other))
        assert abs(np.corrcoef(one[:size], other[:size])[0, 1]) < 0.9


def test_teacher_and_student_start_differently():
    config = resolve(Config(), objects(), candidates=4)
    pair = NEW_PAIR["pragmatic"](jax.random.key(0), config, jnp.eye(18), 18)
    assert pair.teacher_encoder is None
    assert isinstance(pair.teacher, LearnedTeacher)
    assert isinstance(pair.student, LearnedStudent)
    assert not eqx.tree_equal(pair.teacher.net, pair.student.net)
