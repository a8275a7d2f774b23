"""Each kernel beside its plain formula: the same values and the same gradients."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.nn.kernels import (
    MAX_UNROLLED,
    dot,
    leaky_relu,
    linear,
    map_blocks,
    materialize,
    matmul,
    mean_over_candidates,
    one_hot,
    select,
    take_one_hot,
    unrolled_sum,
)


class Kernel(NamedTuple):
    function: Callable
    formula: Callable
    shapes: list[tuple[int, ...]]


def plain_linear(weight: jax.Array, bias: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.einsum("io,i...->o...", weight, x) + bias[:, None, None]


INDEX = jnp.array([2, 0, 1, 2, 2])
KERNELS = {
    "materialize": Kernel(materialize, lambda x: x, [(3, 4)]),
    "leaky_relu": Kernel(leaky_relu, lambda x: jax.nn.leaky_relu(x, 0.01), [(3, 4)]),
    "matmul": Kernel(matmul, lambda weight, x: jnp.einsum("io,i...->o...", weight, x), [(3, 5), (3, 2, 4)]),
    "linear": Kernel(linear, plain_linear, [(3, 5), (5,), (3, 2, 4)]),
    "linear, not unrolled": Kernel(linear, plain_linear, [(3, 5), (5,), (3, MAX_UNROLLED + 4, 4)]),
    "unrolled_sum": Kernel(lambda x: unrolled_sum(list(x)), lambda x: jnp.sum(x, axis=0), [(3, 4, 5)]),
    "mean_over_candidates": Kernel(mean_over_candidates, lambda x: jnp.mean(x, axis=1), [(3, 4, 5)]),
    "dot": Kernel(dot, lambda weights, x: jnp.tensordot(weights, x, 1), [(3,), (3, 4, 5)]),
    "take_one_hot": Kernel(
        lambda table: take_one_hot(table, INDEX), lambda table: table[:, INDEX, jnp.arange(5)], [(4, 3, 5)]
    ),
    "select": Kernel(lambda x: select(list(x), INDEX), lambda x: x[INDEX, :, jnp.arange(5)].T, [(3, 4, 5)]),
}


@pytest.mark.parametrize(("chosen", "divides"), [("", True), ("cpu", True), ("plain", False)])
def test_divisions_against_recomputation_are_for_cpus_or_chosen(
    chosen: str, divides: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("IMPLICATURE_KERNELS", chosen)
    x = jnp.array([-2.0, 0.0, 3.0])
    for kernel, expected in ((materialize, x), (leaky_relu, jnp.array([-0.02, 0.0, 3.0]))):
        np.testing.assert_allclose(kernel(x), expected, rtol=1e-6)
        assert ("div" in str(jax.make_jaxpr(lambda x, kernel=kernel: kernel(x))(x))) == divides


def test_another_choice_of_kernels_is_an_error_in_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("IMPLICATURE_KERNELS", "gpu")
    with pytest.raises(ValueError, match="set it to cpu or plain"):
        materialize(jnp.ones(2))


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_and_its_gradient_are_those_of_the_plain_formula(name: str):
    kernel = KERNELS[name]
    inputs = [jax.random.normal(jax.random.key(i), shape) for i, shape in enumerate(kernel.shapes)]
    (plain, plain_vjp), (ours, our_vjp) = jax.vjp(kernel.formula, *inputs), jax.vjp(kernel.function, *inputs)
    assert ours.shape == plain.shape
    assert np.allclose(ours, plain, atol=1e-5)
    cotangent = jax.random.normal(jax.random.key(9), plain.shape)
    for one, other in zip(our_vjp(cotangent), plain_vjp(cotangent), strict=True):
        assert np.allclose(one, other, atol=1e-5)


def test_one_hot_is_true_at_the_index_of_each_game():
    assert one_hot(3, jnp.array([2, 0])).astype(int).tolist() == [[0, 1], [0, 0], [1, 0]]


def test_indices_of_a_single_game_are_scalars():
    assert take_one_hot(jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.asarray(1)).tolist() == [2, 4]
    assert select([jnp.ones(2), jnp.zeros(2)], jnp.asarray(1)).tolist() == [0, 0]


@pytest.mark.parametrize("games", [1, 128, 300])
def test_blocks_of_games_give_what_one_vmap_over_all_gives(games: int):
    table = jax.random.normal(jax.random.key(0), (games, 4, 10))
    index = jax.random.randint(jax.random.key(1), (games,), 0, 10)

    def picked(game: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        table, index = game
        return take_one_hot(table, index), jnp.max(table, axis=(0, 1))

    ours, plain = map_blocks(picked, (table, index)), jax.vmap(picked)((table, index))
    assert [one.shape for one in ours] == [(games, 4), (games,)]
    for one, other in zip(ours, plain, strict=True):
        np.testing.assert_array_equal(one, other)
