"""How what is said goes with what else there is."""

import jax
import jax.numpy as jnp
import numpy as np

from implicature.agents.custom import OwnTeacher
from implicature.agents.exact import ExactStudent, ExactTeacher, Recursion
from implicature.evaluation.covariance import covariance, covariance_of
from implicature.evaluation.transcripts import Transcripts
from implicature.games.sampling import Rules
from implicature.nn.image_encoder import Sights
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
        live=np.ones((2, 1), bool),
    )
    # "blue" is said in one of two games, in which the distractor is not blue:
    # 1/2 (1 − 1/2)(0 − 1/2) + 1/2 (0 − 1/2)(1 − 1/2) = −1/4.
    found = covariance_of(said, two_by_two())
    assert found[0].tolist() == [-0.25, 0.25, 0.25, -0.25]
    assert found[2].tolist() == [0.25, -0.25, -0.25, 0.25]
    assert not found[1].any()


def measured(teacher: object) -> np.ndarray:
    space = two_by_two()
    features = jnp.asarray(space.table, jnp.float32)
    student, targets = ExactStudent(Recursion(2)), np.array([0, 3])
    return covariance(teacher, student, Sights(features, features), space, Rules(2), targets, 40, seed=1, split="train")


def test_an_exact_teacher_avoids_what_is_true_of_distractors_too():
    found = measured(ExactTeacher(Recursion(2)))
    assert found.diagonal().min() < -0.05
    assert found.diagonal().max() <= 0


def test_who_says_the_same_in_every_context_has_none():
    # The first attribute of the target, whatever else there is.
    teacher = OwnTeacher(jax.jit(lambda sees: sees.candidates[sees.target] - 0.1 * jnp.arange(4)), 4)
    assert np.allclose(measured(teacher), 0)
