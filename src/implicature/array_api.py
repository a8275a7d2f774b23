"""One formula for NumPy and for JAX. Functions that take their operations from `namespace` run on NumPy arrays as they
are, which a single game is fastest with, and under `jit` and `vmap`. Importing this imports no JAX."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

AnyArray = Any
"""NumPy's or JAX's: shapes and types are still checked in `Float[AnyArray, "candidates messages"]`."""
State = TypeVar("State")


def namespace(*arrays: AnyArray) -> Any:
    """numpy where all arrays are NumPy's, else jax.numpy."""
    if all(isinstance(array, np.ndarray | np.generic) for array in arrays):
        return np
    import jax.numpy

    return jax.numpy


def log(x: AnyArray) -> AnyArray:
    """Logarithms, −∞ for 0."""
    with np.errstate(divide="ignore"):
        return namespace(x).log(x)


def repeat(xp: Any, times: AnyArray, body: Callable[[AnyArray, State], State], state: State) -> State:
    """body(i, state) for i = 0 … times − 1: a loop of Python, or of a compiled program."""
    if xp is np:
        for i in range(int(times)):
            state = body(i, state)
        return state
    import jax

    return jax.lax.fori_loop(0, times, body, state)
