"""One implementation for NumPy and JAX: both give the same tables, compiled or not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.exact import ExactModel
from implicature.agents.rsa import greedy_accuracy, hard_recursion, no_clash, soft_recursion
from implicature.array_api import namespace, repeat
from implicature.evaluation.teaching_dimension import levels
from implicature.games.context import Context

OPTIONS = [
    {},
    {"prior": [3, 1, 2, 0]},
    {"costs": {"a": 0.2, "c": 0.1}, "qud": ["x", "y", "x", "z"]},
    {"lexica": [{"a": [1, 0.5, 0, 0], "b": [0, 1, 1, 1]}, {"a": [0, 1, 1, 0], "b": [1, 1, 0, 1]}],
     "lexica_prior": [2, 1]},
]  # fmt: skip


def random_truth(seed: int, candidates: int = 5, messages: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).random((candidates, messages)) < 0.5


def test_operations_are_numpys_only_where_all_arrays_are() -> None:
    assert namespace(np.ones(2), np.float32(1)) is np
    assert namespace(np.ones(2), jnp.ones(2)) is jnp
    # 0 + 1 + 2 in a loop of Python and in one of a compiled program.
    assert repeat(np, 3, lambda i, total: total + i, 0) == int(repeat(jnp, 3, lambda i, total: total + i, 0)) == 3


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(
    "model", [ExactModel(3), ExactModel(3, 2.0, False, "log", 0.1), ExactModel(3, float("inf"))], ids=str
)
def test_a_context_is_solved_alike_by_numpy_and_by_jax(options: dict, model: ExactModel) -> None:
    context = Context("a,b", "b,c", "c,a", "a", **options)
    arrays = context.arrays()
    with_numpy = model.recursion(arrays, arrays.prior, 3)
    with_jax = model.recursion(context, context.prior, 3)
    assert isinstance(with_numpy.student, np.ndarray)
    assert isinstance(with_jax.student, jax.Array)
    assert with_numpy.student.dtype == with_jax.student.dtype == np.float32
    for ours, theirs in zip(with_numpy, with_jax, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-6)


@pytest.mark.parametrize("seed", range(3))
def test_levels_matchings_and_accuracies_agree_game_by_game(seed: int) -> None:
    truth = random_truth(seed)
    compiled = jnp.asarray(truth)
    for recursion in (soft_recursion, hard_recursion):
        ours, theirs = recursion(truth, 2), recursion(compiled, 2)
        np.testing.assert_allclose(ours.student, theirs.student, atol=2e-6)
        np.testing.assert_allclose(
            greedy_accuracy(truth, ours.teacher[-1], ours.student[-1]),
            greedy_accuracy(compiled, theirs.teacher[-1], theirs.student[-1]),
            atol=2e-6,
        )
    np.testing.assert_array_equal(levels(truth), levels(compiled))
    np.testing.assert_array_equal(no_clash(truth), no_clash(compiled))
