"""A batch in parts, each played on a processor of its own, so that they need not share every small operation.

All processors know the same agents. Each plays and remembers games of its own; gradients are averaged. One processor is
the plain program.
"""

from collections.abc import Callable
from functools import cache
from math import gcd
from typing import Any

import equinox as eqx
import jax
from jax.flatten_util import ravel_pytree
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

PART = "part"
OWN_LOOPS: dict[str, Any] = {
    "compiler_options": {
        "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
        "xla_cpu_prefer_vector_width": 512,
    }
}
"""On a CPU XLA hands matrix products to a library, and by default what stands around them, too, where its own loops are
faster. Other processors do not heed it."""


def processors(batch: int) -> int:
    """How many of those that JAX knows can have equal parts of a batch."""
    return gcd(batch, jax.local_device_count())


@cache
def _mesh(number: int) -> Mesh:
    return jax.make_mesh((number,), (PART,), (AxisType.Auto,))


def _shares(tree: Any) -> Any:
    """All have all of it, but for replay buffers (pairs × batches × sets): each has sets of its own."""

    def share(path: tuple[Any, ...], leaf: Any) -> PartitionSpec:
        mine = any(getattr(step, "name", "") == "replay" for step in path)
        return PartitionSpec(None, None, PART) if mine else PartitionSpec()

    return jax.tree_util.tree_map_with_path(share, tree)


def placed(tree: Any, batch: int) -> Any:
    """The arrays of a tree where the processors will look for them."""
    if (number := processors(batch)) == 1:
        return tree
    arrays, rest = eqx.partition(tree, eqx.is_array)
    where = jax.tree.map(lambda share: NamedSharding(_mesh(number), share), _shares(arrays))
    return eqx.combine(jax.device_put(arrays, where), rest)


def over_parts(function: Callable[..., tuple[Any, Any]], batch: int) -> Callable[..., tuple[Any, Any]]:
    """`state, info = function(state, *shared)` on every processor at once, each with its own part of the state."""
    if (number := processors(batch)) == 1:
        return function

    def together(state: Any, *shared: Any) -> tuple[Any, Any]:
        arrays, rest = eqx.partition((state, *shared), eqx.is_array)

        def part(*arrays: Any) -> tuple[Any, Any]:
            state, info = function(*eqx.combine(arrays, rest))
            return eqx.filter(state, eqx.is_array), info

        specs = _shares(arrays)
        whole = jax.shard_map(
            part, mesh=_mesh(number), in_specs=specs, out_specs=(specs[0], PartitionSpec()), check_vma=False
        )
        state, info = whole(*arrays)
        return eqx.combine(state, rest[0]), info

    return together


def in_parts() -> bool:
    return PART in jax.sharding.get_abstract_mesh().manual_axes


def mean_over_parts(tree: Any) -> Any:
    """As one array: what passes between processors passes once."""
    if not in_parts():
        return tree
    flat, shaped = ravel_pytree(tree)
    return shaped(jax.lax.pmean(flat, PART))


def own_key(key: jax.Array) -> jax.Array:
    """Another key on each processor."""
    return jax.random.fold_in(key, jax.lax.axis_index(PART)) if in_parts() else key
