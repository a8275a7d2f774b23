"""A linear layer on the first axis."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from implicature.nn.kernels import linear


class Linear(eqx.Module):
    """x W + c on the first axis."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    def __init__(self, inputs: int, outputs: int, key: Key[Array, ""], scale: float = 1.0):
        self.weight = scale * jax.random.normal(key, (inputs, outputs)) / inputs**0.5
        self.bias = jnp.zeros(outputs)

    def __call__(self, x: Float[Array, "inputs *rest"]) -> Float[Array, "outputs *rest"]:
        return linear(self.weight, self.bias, x)
