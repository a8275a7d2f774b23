"""Algorithm 1: in each phase the teacher adapts to a fixed student, then the student to the fixed teacher.

`algorithm1` is the algorithm; `teacher_step` and `student_step` are its two inner loops, one iteration each. Line
numbers are the paper's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key, PyTree

from implicature.agents.contracts import AbstractStudent, AbstractTeacher, Pair
from implicature.agents.perspectives import FeatureTable
from implicature.agents.rollout import boltzmann, categorical, epsilon_boltzmann, rollout
from implicature.agents.student import LearnedStudent
from implicature.agents.teacher import LearnedTeacher
from implicature.games.rules import Rules
from implicature.nn import games_first, games_last
from implicature.nn.image_encoder import ImageEncoder, encode_batch
from implicature.training.config import Config
from implicature.training.joint import joint_step
from implicature.training.losses import CREDIT_ASSIGNMENT, baseline, returns, student_loss, teacher_loss
from implicature.training.optimiser import Learner, Metrics, Step, apply_gradients
from implicature.training.pretraining import contrastive_step, grounding_loss, grounding_step
from implicature.training.replay import TeacherState, transitions
from implicature.training.seeds import Setup, accuracies, encode_all, init_states, scan_steps
from implicature.training.sharding import shard
from implicature.training.stages import Stage, merge, stages
from implicature.training.task import GameData, Task

CHUNK = 250
"""Iterations between two validations and checkpoints."""


@dataclass(frozen=True)
class Progress:
    """Where training stands after a chunk: all it takes to go on from here."""

    stage: Stage
    stage_index: int
    iteration: int
    """Of this stage."""
    pairs: Pair
    """After the last chunk of a stage, with what was learned in it."""
    states: PyTree
    """The learners', or, after the last chunk of a stage, the next stage's; None at the end."""
    metrics: dict[str, list[float]]
    """Means over the chunk, for each pair; `accuracy` is on validation games."""


def algorithm1(
    task: Task,
    keys: Key[Array, " seeds"],
    pairs: Pair,
    *,
    stage_index: int = 0,
    iteration: int = 0,
    states: PyTree = None,
) -> Iterator[Progress]:
    """Train several pairs, each from a key of its own, from the given stage and iteration on."""
    config, plan = task.config, stages(task.config)
    data = shard(task.data, config.optimiser.candidate_sets)
    if states is None and plan:
        states = init_states(plan[stage_index], pairs, task)
    for i in range(stage_index, len(plan)):  # each phase, each agent (lines 4, 5)
        stage = plan[i]
        features = shard(encode_all(pairs, data.observations), config.optimiser.candidate_sets)
        stage_keys = jax.vmap(lambda key, i=i: jax.random.fold_in(key, 1 + i))(keys)
        while iteration < stage.iterations:  # while training agent i (lines 7 to 40)
            size = min(CHUNK, stage.iterations - iteration)
            states, metrics = scan_steps(
                make_step=make_step,
                stage=replace(stage, phase=min(stage.phase, 1)),  # one compiled program for all phases
                setup=Setup(config, task.rules, data), keys=stage_keys, pairs=pairs, features=features,
                states=states, start=jnp.asarray(iteration), iterations=size,
            )  # fmt: skip
            iteration += size
            learned = merge(stage, pairs, states)
            encoders_learn = stage.phase == 0 or config.encoder.encoder == "finetuned"
            now = encode_all(learned, data.observations) if encoders_learn else features
            metrics["accuracy"] = accuracies(learned, now, data, task.validation, task.rules)
            means = {name: [float(x) for x in value] for name, value in metrics.items()}
            if iteration == stage.iterations:
                pairs = learned
                states = init_states(plan[i + 1], pairs, task) if i + 1 < len(plan) else None  # line 6
            yield Progress(stage, i, iteration, pairs, states, means)
        iteration = 0


def make_step(stage: Stage, setup: Setup, pair: Pair, features: FeatureTable) -> Step:
    """The step that a stage repeats."""
    config, data, rules = setup.config, setup.data, setup.rules
    if stage.phase == 0 and config.grounding.grounded:
        return grounding_step(config, data, grounding_loss(config, stage.agent))
    if stage.phase == 0:
        return contrastive_step(config, data)
    if stage.agent == "both":
        return joint_step(config, data, rules, features)
    if stage.agent == "teacher":
        return teacher_step(config, data, rules, pair.student, features)
    return student_step(config, data, rules, pair.teacher, features)


def teacher_step(
    config: Config, data: GameData, rules: Rules, student: AbstractStudent, features: FeatureTable
) -> Step:
    """One iteration of the teacher's half: Q-learning from replay, and her prediction of his belief."""
    optimiser, method = config.optimiser, config.method
    assert method.beta is not None  # resolved
    beta = method.beta

    def step(key: Key[Array, ""], state: TeacherState) -> tuple[TeacherState, Metrics]:
        games_key, play_key, replay_key = jax.random.split(key, 3)
        i, (teacher, encoder) = state.learner.iteration, state.learner.model
        first, last = method.epsilon
        epsilon = first * (last / first) ** (i / optimiser.iterations)
        # Play (lines 8 to 27).
        games = data.sample(games_key, optimiser.candidate_sets, optimiser.all_targets)
        encoded = encode_batch(encoder, data.observations, features.teacher, games.candidates)
        seen = data.perspectives(games, FeatureTable(encoded, features.student))
        speak = epsilon_boltzmann(epsilon, beta)
        played = rollout(play_key, teacher, student, seen, rules, speak, categorical, observe_belief=True)
        new = transitions(games, played, method.gamma)
        slot = i % method.replay_batches
        replay = jax.tree.map(lambda buffer, batch: buffer.at[slot].set(batch), state.replay, games_first(new))
        # Sample from the replay buffer (line 29).
        filled = jnp.minimum(i + 1, method.replay_batches) * optimiser.candidate_sets
        row = jax.random.randint(replay_key, (optimiser.candidate_sets,), 0, filled)
        batch = games_last(jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[row], replay))
        if optimiser.all_targets:
            # Equal in every batch: no need to gather it.
            batch = eqx.tree_at(lambda batch: batch.target, batch, new.target)

        def loss(model: tuple[LearnedTeacher, ImageEncoder | None]) -> tuple[Array, Metrics]:
            teacher, encoder = model
            target_network = state.target_network if rules.rounds > 1 else None
            rows = encode_batch(encoder, data.observations, features.teacher, batch.candidates)
            each, metrics = teacher_loss(teacher, target_network, batch, rows[batch.candidates], method.obverter_weight)
            return jnp.mean(each), jax.tree.map(jnp.mean, metrics)

        # Update (lines 30 to 34).
        (_, metrics), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(state.learner.model)
        learner = apply_gradients(state.learner, gradient, optimiser, optimiser.iterations)
        target_network = state.target_network
        if rules.rounds > 1:
            due = learner.iteration % method.target_update == 0
            target_network = jax.tree.map(
                lambda old, new: jnp.where(due, new, old) if eqx.is_array(old) else old,
                target_network,
                learner.model[0],
            )
        return TeacherState(learner, target_network, replay), {"reward": jnp.mean(played.episode_return), **metrics}

    return step


def student_step(
    config: Config, data: GameData, rules: Rules, teacher: AbstractTeacher, features: FeatureTable
) -> Step:
    """One iteration of the student's half: REINFORCE against a teacher who speaks by softmax(β Q)."""
    optimiser, method = config.optimiser, config.method
    assert method.beta is not None  # resolved
    assert method.calibration_alpha is not None
    beta, alpha = method.beta, method.calibration_alpha

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Metrics]:
        games_key, play_key = jax.random.split(key)
        games = data.sample(games_key, optimiser.candidate_sets, optimiser.all_targets)

        def loss(model: tuple[LearnedStudent, ImageEncoder | None]) -> tuple[Array, Metrics]:
            student, encoder = model
            encoded = encode_batch(encoder, data.observations, features.student, games.student_candidates)
            seen = data.perspectives(games, FeatureTable(features.teacher, encoded))
            # Play (lines 8 to 27).
            played = rollout(play_key, teacher, student, seen, rules, boltzmann(beta), categorical, observe_belief=True)
            # R_t and J (lines 36, 37).
            return_t = returns(played, method.gamma)
            active = jnp.sum(played.active, axis=(1, 2), keepdims=True)
            mean = jnp.sum(return_t * played.active, axis=(1, 2), keepdims=True) / jnp.maximum(active, 1)
            later = method.gamma * jnp.append(mean[1:], jnp.zeros((1, 1, 1)), axis=0)
            advantage = return_t - baseline(played, later, rules.message_cost)
            each = student_loss(played, games.target, advantage, alpha, CREDIT_ASSIGNMENT[method.credit])
            return jnp.mean(each), {"reward": jnp.mean(return_t[0]), "student_loss": jnp.mean(each)}

        (_, metrics), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(state.model)
        return apply_gradients(state, gradient, optimiser, optimiser.iterations), metrics  # line 38

    return step
