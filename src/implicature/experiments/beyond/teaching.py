"""Teacher-aware gradient learning: a student who knows that his examples were chosen by a helpful teacher learns faster
than one who does not (Yuan et al., NeurIPS 2021, "Iterative Teacher-Aware Learning").

Linear regression, y = w*·x. At every step a few examples of the pool are at hand; g(x) = (w·x − y) x is the gradient of
the squared error of one.

    random    any example                                                  w ← w − η g(x)              (SGD)
    naive     the teacher picks the example that brings him closest to w*:
              argmin_x ‖w − η g(x) − w*‖² = argmin_x η² ‖g(x)‖² − 2 η (w − w*)·g(x)
    aware     the same teacher; then the student asks which w* would have made her pick it:
              p(x | w*) = softmax_x( −β (η² ‖g(x)‖² − 2 η (w − w*)·g(x)) )
              w' = w − η g(x),   w ← w' + η ∇_w* log p(x | w*) at w* = w'
                                 ∇_w* log p(x | w*) = −2 β η (g(x) − Σ_x' p(x' | w*) g(x'))
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key
from matplotlib.figure import Figure

from implicature.experiments.results import Result, TaskSpec, command, mean_and_std, version
from implicature.experiments.table import Number, Row, Table

__all__ = ["KEY", "draw", "render", "run", "tasks"]

DIMENSIONS, POOL, SHOWN = 100, 600, 20
LEARNING_RATE, BETA, STEPS = 1e-3, 5_000.0, 2_000
SEEDS = 5
RECORDED = 50
"""Steps between two recorded distances."""
METHODS = {
    "random": "random examples (SGD)",
    "naive": "a helpful teacher, a naive student",
    "aware": "a helpful teacher, a teacher-aware student",
}
KEY = ("method", "seed")

Weights = Float[Array, " weights"]
Gradients = Float[Array, "examples weights"]


class Regression(NamedTuple):
    """What is taught: the last weight is the constant term. Students start at 0; far from the target, gradients are so
    large that the teacher's choice is certain and tells nothing."""

    examples: Float[Array, "pool weights"]
    target: Weights


def sample_regression(key: Key[Array, ""]) -> Regression:
    """Targets and examples uniform in [−1, 1]; half of the pool is for training."""
    target_key, pool_key = jax.random.split(key)
    examples = jax.random.uniform(pool_key, (POOL // 2, DIMENSIONS), minval=-1, maxval=1)
    return Regression(
        jnp.concatenate([examples, jnp.ones((len(examples), 1))], axis=1),
        jax.random.uniform(target_key, (DIMENSIONS + 1,), minval=-1, maxval=1),
    )


def remaining_distance(
    gradients: Gradients, weights: Weights, target: Weights, rate: float
) -> Float[Array, " examples"]:
    """‖w − η g − w*‖² − ‖w − w*‖² of each example: what the teacher minimises."""
    return rate**2 * jnp.sum(gradients**2, axis=1) - 2 * rate * gradients @ (weights - target)


def teacher_likelihood_gradient(
    gradients: Gradients, picked: Int[Array, ""], weights: Weights, target: Weights, rate: float, beta: float
) -> Weights:
    """∇_w* log p(x | w*)."""
    probabilities = jax.nn.softmax(-beta * remaining_distance(gradients, weights, target, rate))
    return -2 * beta * rate * (gradients[picked] - probabilities @ gradients)


def learn_step(method: str, task: Regression, weights: Weights, key: Key[Array, ""]) -> Weights:
    """One example is shown, and the student learns from it."""
    shown_key, random_key = jax.random.split(key)
    examples = task.examples[jax.random.randint(shown_key, (SHOWN,), 0, len(task.examples))]
    gradients = (examples @ (weights - task.target))[:, None] * examples
    if method == "random":
        picked = jax.random.randint(random_key, (), 0, SHOWN)
    else:
        picked = jnp.argmin(remaining_distance(gradients, weights, task.target, LEARNING_RATE))
    moved = weights - LEARNING_RATE * gradients[picked]
    if method != "aware":
        return moved
    return moved + LEARNING_RATE * teacher_likelihood_gradient(gradients, picked, weights, moved, LEARNING_RATE, BETA)


@partial(jax.jit, static_argnums=0)
def distances(method: str, key: Key[Array, ""]) -> Float[Array, " steps"]:
    """‖w − w*‖ after each step, as a fraction of the distance at the start."""
    task_key, steps_key = jax.random.split(key)
    task = sample_regression(task_key)

    def step(weights: Weights, key: Array) -> tuple[Weights, Array]:
        weights = learn_step(method, task, weights, key)
        return weights, jnp.linalg.norm(weights - task.target)

    found = jax.lax.scan(step, jnp.zeros(DIMENSIONS + 1), jax.random.split(steps_key, STEPS))[1]
    return found / jnp.linalg.norm(task.target)


def tasks() -> list[TaskSpec]:
    return [{"method": method, "seed": seed} for seed in range(SEEDS) for method in METHODS]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """The distance left after every few steps; `half` is the first step that leaves at most half of it."""
    found = np.asarray(distances(task["method"], jax.random.key(task["seed"])))
    below = np.flatnonzero(found <= 0.5)
    half = int(below[0]) + 1 if len(below) else ""
    return [
        {**task, "step": step, "distance": round(float(found[step - 1]), 5), "half": half, "version": version(),
         "command": command()}
        for step in range(RECORDED, STEPS + 1, RECORDED)
    ]  # fmt: skip


def select(results: list[Result], method: str, step: int) -> list[Result]:
    return [one for one in results if one["method"] == method and int(one["step"]) == step]


def render(results: list[Result]) -> list[Table]:
    """Mean ± std over seeds of the distance left, and of the steps to half of it."""
    rows = []
    for method, name in METHODS.items():
        if own := select(results, method, STEPS):
            reached = [one for one in own if one["half"] != ""]
            half = (
                mean_and_std(own, "half", 0)
                if len(reached) == len(own)
                else f"> {STEPS:,} in {len(own) - len(reached)}"
            )
            rows.append(Row(name, [mean_and_std(own, "distance", 3), half, Number(float(len(own)), 0)]))
    return [Table("linear regression", [f"distance left after {STEPS:,} steps", "steps to half of it", "seeds"], rows)]


def draw(results: list[Result]) -> Figure:
    """The distance left, step by step: mean and range over seeds."""
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axis = figure.subplots()
    steps = range(RECORDED, STEPS + 1, RECORDED)
    for method, name in METHODS.items():
        found = {step: [float(one["distance"]) for one in select(results, method, step)] for step in steps}
        found = {step: values for step, values in found.items() if values}
        lines = axis.plot(list(found), [np.mean(values) for values in found.values()], label=name)
        low, high = ([f(values) for values in found.values()] for f in (min, max))
        axis.fill_between(list(found), low, high, alpha=0.2, color=lines[0].get_color())
    axis.set(xlabel="examples", ylabel="distance left, ‖w − w*‖", ylim=(0, 1))
    axis.grid(alpha=0.25)
    axis.legend(fontsize=8)
    return figure
