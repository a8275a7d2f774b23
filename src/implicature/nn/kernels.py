"""Operations written for XLA:CPU's sake, each with its plain formula; tests/nn/test_kernels.py compares the two.

Needed with jaxlib 0.10 (the version in constraints.txt); check again with `implicature bench` after an update. Why:

- XLA:CPU recomputes a cheap intermediate in every consumer and fuses it with the reshape that a matrix product needs;
  such loops no longer vectorise. It treats division as expensive, so dividing by one (`materialize`, `leaky_relu`)
  prevents the recomputation. `jax.lax.optimization_barrier` does not: with it in place of `materialize`, and a plain
  leaky ReLU, training runs at 0.66 (deep sets) and 0.31 (exchange) of the throughput, measured on two cores.
- Reductions over a short inner axis (candidates) are slower than adding a few large arrays one after the other.
- Gathers have scatters as gradients; a one-hot product does not.
- Blocks of games that stay in the processor's cache, with games as the last axis, take a third to a half of the time of
  one `vmap` over all games (`map_blocks`; the exact recursion of numbers-4).

On other devices `materialize` and `leaky_relu` are their plain formulas, and the other tricks cost nothing that
matters. The environment variable IMPLICATURE_KERNELS, "plain" or "cpu", chooses by hand.
"""

import os
from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree, Shaped

Index = Int[Array, "*#games"]
"""The index of a message, of a candidate."""
MAX_UNROLLED = 16
"""Reductions over axes up to this length are unrolled."""
BLOCK, BLOCK_CELLS = 128, 2**16
"""Games of a block of `map_blocks`, and how many numbers they may have in the first array."""
Games = TypeVar("Games")


def for_cpu() -> bool:
    """Whether divisions are to keep XLA:CPU from recomputing; decided while a program is traced."""
    chosen = os.environ.get("IMPLICATURE_KERNELS", "")
    if chosen not in ("", "cpu", "plain"):
        raise ValueError(f"IMPLICATURE_KERNELS is {chosen!r:.40}: set it to cpu or plain, or leave it out.")
    return jax.default_backend() == "cpu" if not chosen else chosen == "cpu"


def materialize(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """x. Stops XLA:CPU from recomputing x in each of its consumers."""
    return x / jnp.where(x > 1e30, 2.0, 1.0) if for_cpu() else x


def leaky_relu(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """jax.nn.leaky_relu(x, 0.01); on CPUs by division, see `materialize`."""
    return _leaky_relu_by_division(x) if for_cpu() else jax.nn.leaky_relu(x, 0.01)


@jax.custom_vjp
def _leaky_relu_by_division(x: Float[Array, "..."]) -> Float[Array, "..."]:
    return x / jnp.where(x > 0, 1.0, 100.0)


_leaky_relu_by_division.defvjp(
    lambda x: (_leaky_relu_by_division(x), x), lambda x, g: (g / jnp.where(x > 0, 1.0, 100.0),)
)


@jax.custom_vjp
def matmul(weight: Float[Array, "inputs outputs"], x: Float[Array, "inputs *rest"]) -> Float[Array, "outputs *rest"]:
    """einsum("io,i...->o...", weight, x), as one matrix product. The left factor is transposed beforehand in the
    forward pass and used as it is in the backward pass: the library's kernels read it contiguously."""
    transposed = jax.lax.optimization_barrier(weight.T)
    return (transposed @ x.reshape(len(x), -1)).reshape(-1, *x.shape[1:])


def _matmul_fwd(weight: Array, x: Array) -> tuple[Array, tuple[Array, Array]]:
    return matmul(weight, x), (weight, x)


def _matmul_bwd(residuals: tuple[Array, Array], g: Array) -> tuple[Array, Array]:
    weight, x = residuals
    flat = g.reshape(len(g), -1)
    return x.reshape(len(x), -1) @ flat.T, (weight @ flat).reshape(x.shape)


matmul.defvjp(_matmul_fwd, _matmul_bwd)


@jax.custom_vjp
def linear(weight: Array, bias: Float[Array, " outputs"], x: Float[Array, "inputs *rest"]) -> Array:
    """matmul(weight, x) + bias. The bias's gradient is a matrix product with ones instead of a sum along axes."""
    return matmul(weight, x) + bias.reshape(-1, *[1] * (x.ndim - 1))


def _linear_fwd(weight: Array, bias: Array, x: Array) -> tuple[Array, tuple[Array, Array]]:
    return linear(weight, bias, x), (weight, x)


def _linear_bwd(residuals: tuple[Array, Array], g: Array) -> tuple[Array, Array, Array]:
    weight_gradient, x_gradient = _matmul_bwd(residuals, g)
    if g.ndim > 2 and g.shape[1] <= MAX_UNROLLED:
        g = unrolled_sum([g[:, i] for i in range(g.shape[1])])
    flat = g.reshape(len(g), -1)
    return weight_gradient, flat @ jnp.ones(flat.shape[1]), x_gradient


linear.defvjp(_linear_fwd, _linear_bwd)


def unrolled_sum(terms: Sequence[Float[Array, "..."]]) -> Float[Array, "..."]:
    """sum(terms), one after the other: faster than stacking few large arrays and reducing an axis."""
    return reduce(jnp.add, terms)


@jax.custom_vjp
def mean_over_candidates(x: Float[Array, "features candidates *rest"]) -> Float[Array, "features *rest"]:
    """jnp.mean(x, axis=1)."""
    return unrolled_sum([x[:, i] for i in range(x.shape[1])]) / x.shape[1]


def _mean_bwd(x: Array, g: Array) -> tuple[Array]:
    return (jnp.broadcast_to(g[:, None] / x.shape[1], x.shape),)


mean_over_candidates.defvjp(lambda x: (mean_over_candidates(x), x), _mean_bwd)


def sum_over_candidates(x: Float[Array, "features candidates *rest"]) -> Float[Array, "features *rest"]:
    """jnp.sum(x, axis=1)."""
    return mean_over_candidates(x) * x.shape[1]


@jax.custom_vjp
def dot(weights: Float[Array, " features"], x: Float[Array, "features *rest"]) -> Float[Array, "*rest"]:
    """jnp.tensordot(weights, x, 1)."""
    return unrolled_sum([weight * row for weight, row in zip(weights, x, strict=True)])


def _dot_bwd(residuals: tuple[Array, Array], g: Array) -> tuple[Array, Array]:
    weights, x = residuals
    return x.reshape(len(x), -1) @ g.reshape(-1), weights.reshape(-1, *[1] * g.ndim) * g


dot.defvjp(lambda weights, x: (dot(weights, x), (weights, x)), _dot_bwd)


def one_hot(size: int, index: Index) -> Bool[Array, "choices *#games"]:
    return jnp.arange(size).reshape(size, *[1] * index.ndim) == index


def take_one_hot(table: Shaped[Array, "..."], index: Index) -> Shaped[Array, "..."]:
    """table[..., index] game by game, for a table that ends with choices × games."""
    axis = table.ndim - index.ndim - 1
    return jnp.sum(table * one_hot(table.shape[axis], index), axis=axis)


def select(options: Sequence[Float[Array, "..."]], index: Index) -> Float[Array, "..."]:
    """options[index] game by game, as a chain of `where`."""
    selected = options[0]
    for i, option in enumerate(options[1:], 1):
        selected = jnp.where(index == i, option, selected)
    return selected


def map_blocks(function: Callable[[Games], PyTree[Array]], games: Games) -> PyTree[Array]:
    """vmap(function)(games), block by block, for a function that also takes, and then gives, games as the last axis."""

    def first(leaf: Array) -> Array:
        return jnp.moveaxis(leaf, -1, 0)

    def last(leaf: Array) -> Array:
        return jnp.moveaxis(leaf, 0, -1)

    leaves = jax.tree.leaves(games)
    number = len(leaves[0])
    size = max(1, min(number, BLOCK, BLOCK_CELLS // prod(leaves[0].shape[1:])))
    blocks = -(-number // size)

    def block(leaf: Array) -> Array:
        padding = [(0, blocks * size - number)] + [(0, 0)] * (leaf.ndim - 1)
        return jnp.pad(leaf, padding, mode="edge").reshape(blocks, size, *leaf.shape[1:])

    found = jax.lax.map(lambda one: jax.tree.map(first, function(jax.tree.map(last, one))), jax.tree.map(block, games))
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[:number], found)
