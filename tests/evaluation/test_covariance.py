"""How messages covary with the distractors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.contracts import AbstractTeacher, Pair
from implicature.agents.custom import CustomTeacher
from implicature.agents.exact import ExactModel, ExactStudent, ExactTeacher
from implicature.evaluation.covariance import covariance, message_covariance
from implicature.evaluation.transcripts import Transcripts
from implicature.games.rules import Rules
from implicature.spaces.space import Space


def two_by_two() -> Space:
    table = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]], bool)
    return Space("four", ("blue", "red", "box", "cone"), table, ("colour", "colour", "shape", "shape"))


def test_covariance_by_hand():
    # The target is the blue box (0). Beside the blue cone (1) she says "box", beside the red box (2) "blue".
    said = Transcripts(
        candidates=np.array([[0, 1], [2, 0]]),
        target=np.array([0, 1]),
        order=np.array([[0, 1], [0, 1]]),
        message=np.array([[2], [0]]),
        belief=np.zeros((2, 1, 2)),
        action=np.zeros((2, 1), int),
        reward=np.zeros((2, 1)),
        values=np.zeros((2, 1, 4)),
        estimate=np.zeros((2, 1, 2)),
        right=np.zeros((2, 1), bool),
        active=np.ones((2, 1), bool),
    )
    # "blue" is said in one of two games, in which the distractor is not blue:
    # 1/2 (1 − 1/2)(0 − 1/2) + 1/2 (0 − 1/2)(1 − 1/2) = −1/4.
    found = message_covariance(said, two_by_two())
    assert found[0].tolist() == [-0.25, 0.25, 0.25, -0.25]
    assert found[2].tolist() == [0.25, -0.25, -0.25, 0.25]
    assert not found[1].any()


def measure(teacher: AbstractTeacher) -> np.ndarray:
    pair, targets = Pair(teacher, ExactStudent(ExactModel(2))), np.array([0, 3])
    return covariance(pair, two_by_two(), Rules(2), targets, 40, seed=1, split="train")


@pytest.mark.slow
def test_an_exact_teacher_avoids_words_that_are_true_of_distractors():
    found = measure(ExactTeacher(ExactModel(2)))
    assert found.diagonal().min() < -0.05
    assert found.diagonal().max() <= 0


def test_a_teacher_who_ignores_the_context_has_no_covariance():
    # The first attribute of the target, whatever else there is.
    teacher = CustomTeacher(jax.jit(lambda observed: observed.candidates[observed.target] - 0.1 * jnp.arange(4)), 4)
    assert np.allclose(measure(teacher), 0)
