"""Adam (or RMSProp) with warm-up, cosine decay, gradient clipping and, where asked for, weight decay.

Every learner follows one law, `state, metrics = step(key, state)`.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key, PyTree

from implicature.agents.student import LearnedStudent
from implicature.agents.teacher import LearnedTeacher
from implicature.nn.live_exchange import LiveExchangeNet
from implicature.training.config import OptimiserConfig
from implicature.training.sharding import mean_over_shards

Metrics = dict[str, Float[Array, ""]]
Step = Callable[[Key[Array, ""], PyTree], tuple[PyTree, Metrics]]
FINAL_RATE = 0.02
"""The learning rate at the start of the warm-up and at the end, as a fraction of the peak."""


class Learner(eqx.Module):
    """A model with its optimiser's state and its iteration."""

    model: PyTree
    adam: optax.OptState
    iteration: Int[Array, ""]


def optimiser(config: OptimiserConfig, iterations: int, learning_rate: float) -> optax.GradientTransformation:
    rate: float | optax.Schedule = learning_rate
    if config.schedule == "cosine":
        # Warm-up: the deep-sets network's large message vectors do not survive Adam's first full steps (F-11).
        low = FINAL_RATE * learning_rate
        rate = optax.warmup_cosine_decay_schedule(low, learning_rate, max(1, iterations // 10), max(2, iterations), low)
    clip = (optax.clip_by_global_norm(config.gradient_clip),) if config.gradient_clip else ()
    scale = optax.scale_by_adam() if config.optimiser == "adam" else optax.scale_by_rms(decay=0.99)
    # All weights as one array: few operations instead of many small ones, to run and to compile.
    adam = optax.flatten(optax.chain(*clip, scale))

    def decay(updates: PyTree, weights: PyTree) -> PyTree:
        """Only of weights that are being updated: frozen ones must not decay."""
        return jax.tree.map(lambda u, w: u + config.weight_decay * w * jnp.any(u != 0), updates, weights)

    weight_decay = (optax.stateless(decay),) if config.weight_decay else ()
    return optax.chain(adam, *weight_decay, optax.scale_by_learning_rate(rate))


def learned_weights(model: PyTree) -> PyTree:
    """The weights that gradients reach. Of an agent with live words and frozen semantics these are not the embeddings:
    a large vocabulary has millions, and the optimiser would go through all of them to change nothing."""

    def is_agent(node: PyTree) -> bool:
        return isinstance(node, LearnedTeacher | LearnedStudent)

    def without_meanings(node: PyTree) -> PyTree:
        if not (is_agent(node) and isinstance(node.net, LiveExchangeNet) and node.net.freeze_semantics):
            return node
        return eqx.tree_at(lambda agent: (agent.net.encoder, agent.net.messages), node, (None, None))

    return eqx.filter(jax.tree.map(without_meanings, model, is_leaf=is_agent), eqx.is_inexact_array)


def init_learner(
    model: PyTree, config: OptimiserConfig, iterations: int, learning_rate: float | None = None
) -> Learner:
    adam = optimiser(config, iterations, learning_rate or config.learning_rate)
    return Learner(model, adam.init(learned_weights(model)), jnp.asarray(0))


def apply_gradients(
    learner: Learner, gradient: PyTree, config: OptimiserConfig, iterations: int, learning_rate: float | None = None
) -> Learner:
    weights = learned_weights(learner.model)
    adam = optimiser(config, iterations, learning_rate or config.learning_rate)
    updates, state = adam.update(mean_over_shards(learned_weights(gradient)), learner.adam, weights)
    return Learner(eqx.apply_updates(learner.model, updates), state, learner.iteration + 1)


def repeat_step(
    step: Step, key: Key[Array, ""], state: PyTree, start: Int[Array, ""], iterations: int
) -> tuple[PyTree, Metrics]:
    """Some iterations of a step, and the means of its metrics. Keys depend on the iteration alone, so that results do
    not depend on chunks."""

    def body(state: PyTree, i: Array) -> tuple[PyTree, Metrics]:
        return step(jax.random.fold_in(key, i), state)

    state, metrics = jax.lax.scan(body, state, start + jnp.arange(iterations))
    return state, jax.tree.map(jnp.mean, metrics)
