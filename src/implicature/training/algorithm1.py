"""Algorithm 1: in each phase the teacher adapts to a fixed student, then the student to the fixed teacher.

`algorithm1` is the algorithm; `teacher_step` and `student_step` are its two inner loops, one iteration each. Line
numbers are the paper's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key, PyTree

from implicature.agents.contracts import AbstractStudent, AbstractTeacher, Pair
from implicature.agents.perspectives import FeatureTable
from implicature.agents.rollout import boltzmann, categorical, epsilon_boltzmann, rollout, truthful_epsilon_boltzmann
from implicature.agents.student import LearnedStudent
from implicature.agents.teacher import LearnedTeacher
from implicature.extensions import look_up
from implicature.games.rules import Rules
from implicature.nn import games_first, games_last
from implicature.nn.image_encoder import ImageEncoder, encode_batch
from implicature.profiling import part
from implicature.training.ahead import Ahead
from implicature.training.config import Config
from implicature.training.losses import LOSSES, OBVERTER_LOSSES, returns, teacher_loss
from implicature.training.optimiser import Learner, Metrics, Step, apply_gradients
from implicature.training.pretraining import contrastive_step, grounding_loss, grounding_step
from implicature.training.replay import TeacherState, transitions
from implicature.training.seeds import MakeStep, Setup, accuracies, encode_all, init_states, scan_steps
from implicature.training.sharding import shard
from implicature.training.stages import Stage, merge
from implicature.training.task import GameData, Task

CHUNK = 250
"""Iterations between two validations and checkpoints."""
VALIDATION = "validation"


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
    plan: list[Stage],
    make_step: MakeStep,
    keys: Key[Array, " seeds"],
    pairs: Pair,
    *,
    stage_index: int = 0,
    iteration: int = 0,
    states: PyTree = None,
) -> Iterator[Progress]:
    """Train several pairs, each from a key of its own, from the given stage and iteration of the plan on. `make_step`
    gives the step of each stage after pretraining: the method's."""
    config = task.config
    data = shard(task.data, config.optimiser.batch)
    if states is None and plan:
        states = init_states(plan[stage_index], pairs, task)
    ahead = Ahead()
    compile_ahead(ahead, task, plan[stage_index:], make_step, keys, pairs, data)
    try:
        for i in range(stage_index, len(plan)):  # each phase, each agent (lines 4, 5)
            stage = plan[i]
            features = shard(encode_all(pairs, data.observations), config.optimiser.batch)
            stage_keys = jax.vmap(lambda key, i=i: jax.random.fold_in(key, 1 + i))(keys)
            ahead.wait(program(stage, config))
            while iteration < stage.iterations:  # while training agent i (lines 7 to 40)
                size = min(CHUNK, stage.iterations - iteration)
                with part("training"):
                    states, metrics = scan_steps(
                        make_step=make_step if stage.phase else pretraining_step, stage=program(stage, config),
                        setup=Setup(config, task.rules, data), keys=stage_keys, pairs=pairs, features=features,
                        states=states, start=jnp.asarray(iteration), iterations=size,
                    )  # fmt: skip
                    jax.block_until_ready(metrics)
                iteration += size
                learned = merge(stage, pairs, states)
                encoders_learn = stage.phase == 0 or config.encoder.encoder == "finetuned"
                now = encode_all(learned, data.observations) if encoders_learn else features
                ahead.wait(VALIDATION)
                with part("validating"):
                    metrics["accuracy"] = accuracies(learned, now, data, task.validation, task.rules)
                    means = {name: [float(x) for x in value] for name, value in metrics.items()}
                if iteration == stage.iterations:
                    pairs = learned
                    states = init_states(plan[i + 1], pairs, task) if i + 1 < len(plan) else None  # line 6
                yield Progress(stage, i, iteration, pairs, states, means)
            iteration = 0
    finally:
        ahead.close()


def program(stage: Stage, config: Config) -> Stage:
    """What tells the compiled programs of stages apart: all phases have one, and both agents' pretraining where it has
    the same loss."""
    same = stage.phase == 0 and grounding_loss(config, "teacher") is grounding_loss(config, "student")
    return replace(stage, phase=min(stage.phase, 1), agent="teacher" if same else stage.agent)


def compile_ahead(
    ahead: Ahead, task: Task, plan: list[Stage], make_step: MakeStep, keys: Key[Array, " seeds"], pairs: Pair,
    data: GameData,
) -> None:  # fmt: skip
    """Let threads compile validation and the first chunks of all stages but the next, whose program is needed at once.
    What they are given has the shapes of what they will be called with; its values do not matter."""

    def compile_stage(stage: Stage) -> None:
        scan_steps.lower(
            make_step=make_step if stage.phase else pretraining_step, stage=program(stage, task.config),
            setup=Setup(task.config, task.rules, data), keys=keys, pairs=pairs,
            features=shard(encode_all(pairs, data.observations), task.config.optimiser.batch),
            states=init_states(stage, pairs, task), start=jnp.asarray(0), iterations=min(CHUNK, stage.iterations),
        ).compile()  # fmt: skip

    def compile_validation() -> None:
        features = encode_all(pairs, data.observations)
        accuracies.lower(pairs, features, data, task.validation, task.rules).compile()

    ahead.start(VALIDATION, compile_validation)
    for stage in plan:
        if (key := program(stage, task.config)) != program(plan[0], task.config):
            ahead.start(key, partial(compile_stage, stage))


def pretraining_step(stage: Stage, setup: Setup, pair: Pair, features: FeatureTable) -> Step:
    """The step of the stages before phase 1, whatever the method."""
    config, data = setup.config, setup.data
    if config.grounding.grounded:
        return grounding_step(config, data, grounding_loss(config, stage.agent))
    return contrastive_step(config, data)


def teacher_step(
    config: Config, data: GameData, rules: Rules, student: AbstractStudent, features: FeatureTable
) -> Step:
    """One iteration of the teacher's half: Q-learning from replay, and her prediction of his belief."""
    optimiser, method, truthful = config.optimiser, config.method, config.game.truthful
    assert method.beta is not None  # resolved
    assert method.gamma is not None
    beta, gamma = method.beta, method.gamma

    def step(key: Key[Array, ""], state: TeacherState) -> tuple[TeacherState, Metrics]:
        games_key, play_key, replay_key = jax.random.split(key, 3)
        i, (teacher, encoder) = state.learner.iteration, state.learner.model
        first, last = method.epsilon
        epsilon = first * (last / first) ** (i / optimiser.iterations) if first else jnp.zeros(())
        # Play (lines 8 to 27).
        games = data.sample(games_key, optimiser.batch, optimiser.all_targets)
        encoded = encode_batch(encoder, data.observations, features.teacher, games.candidates)
        seen = data.perspectives(games, FeatureTable(encoded, features.student))
        speak = (truthful_epsilon_boltzmann if truthful else epsilon_boltzmann)(epsilon, beta)
        observe = method.feedback == "belief"
        played = rollout(play_key, teacher, student, seen, rules, speak, categorical, observe_belief=observe)
        new = transitions(games, played, gamma, observe, rules, seen.teacher.cells)
        slot = i % method.replay_batches
        replay = jax.tree.map(lambda buffer, batch: buffer.at[slot].set(batch), state.replay, games_first(new))
        # Sample from the replay buffer (line 29).
        filled = jnp.minimum(i + 1, method.replay_batches) * optimiser.batch
        row = jax.random.randint(replay_key, (optimiser.batch,), 0, filled)
        batch = games_last(jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[row], replay))
        if optimiser.all_targets and data.uniform:
            # Equal in every batch: no need to gather it.
            batch = eqx.tree_at(lambda batch: batch.target, batch, new.target)

        def loss(model: tuple[LearnedTeacher, ImageEncoder | None]) -> tuple[Array, Metrics]:
            teacher, encoder = model
            target_network = state.target_network if rules.rounds > 1 else None
            rows = encode_batch(encoder, data.observations, features.teacher, batch.candidates)
            words = data.words_of(batch.candidates)
            features_of = words.features(rows[batch.candidates])
            obverter = OBVERTER_LOSSES[method.feedback]
            each, metrics = teacher_loss(
                teacher, target_network, batch, features_of, method.obverter_weight, obverter,
                costs=words.costs, cells=data.cells_of(batch.candidates),
                sayable=words.meaning > 0 if truthful else None, words=words.ids, present=words.present,
            )  # fmt: skip
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
    """One iteration of the student's half, against a teacher who speaks by softmax(β Q): REINFORCE, or by default in a
    grounded pair supervised cross-entropy on the target (F-18)."""
    optimiser, method = config.optimiser, config.method
    assert method.beta is not None  # resolved
    assert method.gamma is not None
    beta, gamma, loss_of = method.beta, method.gamma, look_up(LOSSES, method.loss, "a loss")

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Metrics]:
        games_key, play_key = jax.random.split(key)
        games = data.sample(games_key, optimiser.batch, optimiser.all_targets)

        def loss(model: tuple[LearnedStudent, ImageEncoder | None]) -> tuple[Array, Metrics]:
            student, encoder = model
            encoded = encode_batch(encoder, data.observations, features.student, games.student_candidates)
            seen = data.perspectives(games, FeatureTable(features.teacher, encoded))
            # Play (lines 8 to 27).
            speak, observe = boltzmann(beta), method.feedback == "belief"
            played = rollout(play_key, teacher, student, seen, rules, speak, categorical, observe_belief=observe)
            # R_t and J (lines 36, 37).
            return_t = returns(played, gamma)
            each = loss_of(played, seen, method, rules)
            return jnp.mean(each), {"reward": jnp.mean(return_t[0]), "student_loss": jnp.mean(each)}

        (_, metrics), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(state.model)
        return apply_gradients(state, gradient, optimiser, optimiser.iterations), metrics  # line 38

    return step
