"""Data parallelism: a batch in shards, one for each JAX device; gradients are averaged.

All devices hold the same agents. Each plays games of its own and has a replay buffer of its own. With one device this
is the plain program.
"""

from collections.abc import Callable
from functools import cache
from math import gcd
from typing import Any

import equinox as eqx
import jax
from jax.flatten_util import ravel_pytree
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

AXIS = "shard"
COMPILER_OPTIONS: dict[str, Any] = {
    "compiler_options": {
        "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
        "xla_cpu_prefer_vector_width": 512,
    }
}
"""XLA:CPU hands matrix products to a library, by default together with the elementwise operations around them, where
its own loops are faster. Other backends ignore these options."""


def n_shards(batch: int) -> int:
    """How many of the local devices can have equal shards of a batch."""
    return gcd(batch, jax.local_device_count())


@cache
def _mesh(number: int) -> Mesh:
    return jax.make_mesh((number,), (AXIS,), (AxisType.Auto,))


def _specs(tree: Any) -> Any:
    """Everything is replicated but replay buffers (pairs × batches × candidate sets), which are sharded by set."""

    def spec(path: tuple[Any, ...], leaf: Any) -> PartitionSpec:
        own = any(getattr(step, "name", "") == "replay" for step in path)
        return PartitionSpec(None, None, AXIS) if own else PartitionSpec()

    return jax.tree_util.tree_map_with_path(spec, tree)


def shard(tree: Any, batch: int) -> Any:
    """Put the arrays of a tree on the devices that will use them."""
    if (number := n_shards(batch)) == 1:
        return tree
    arrays, rest = eqx.partition(tree, eqx.is_array)
    shardings = jax.tree.map(lambda spec: NamedSharding(_mesh(number), spec), _specs(arrays))
    return eqx.combine(jax.device_put(arrays, shardings), rest)


def over_shards(function: Callable[..., tuple[Any, Any]], batch: int) -> Callable[..., tuple[Any, Any]]:
    """`state, metrics = function(state, *shared)` on every device at once, each with its own shard of the state."""
    if (number := n_shards(batch)) == 1:
        return function

    def sharded(state: Any, *shared: Any) -> tuple[Any, Any]:
        arrays, rest = eqx.partition((state, *shared), eqx.is_array)

        def one_shard(*arrays: Any) -> tuple[Any, Any]:
            state, metrics = function(*eqx.combine(arrays, rest))
            return eqx.filter(state, eqx.is_array), metrics

        specs = _specs(arrays)
        whole = jax.shard_map(
            one_shard, mesh=_mesh(number), in_specs=specs, out_specs=(specs[0], PartitionSpec()), check_vma=False
        )
        state, metrics = whole(*arrays)
        return eqx.combine(state, rest[0]), metrics

    return sharded


def is_sharded() -> bool:
    return AXIS in jax.sharding.get_abstract_mesh().manual_axes


def mean_over_shards(tree: Any) -> Any:
    """As one array: one transfer between devices."""
    if not is_sharded():
        return tree
    flat, shaped = ravel_pytree(tree)
    return shaped(jax.lax.pmean(flat, AXIS))


def fold_in_shard(key: jax.Array) -> jax.Array:
    """Another key on each device."""
    return jax.random.fold_in(key, jax.lax.axis_index(AXIS)) if is_sharded() else key
