"""Ease of learning: how many games a novice takes to understand the teachers of a run.

    games(95 %) = the training games after which he finds 95 % of the targets in validation games, means over teachers

A novice is a new student of the run's build and start: grounded, so that he knows the literal meanings, or not. He
learns as the run's students do, from a random one of its teachers in each batch; they do not adapt to him.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from implicature.agents.contracts import Pair
from implicature.agents.perspectives import FeatureTable
from implicature.training.algorithm1 import algorithm1
from implicature.training.methods import turn_step
from implicature.training.optimiser import Learner, repeat_step
from implicature.training.runs.run import Run
from implicature.training.seeds import Setup, accuracies, encode_all, step_with_random_partner, take_member
from implicature.training.sharding import COMPILER_OPTIONS
from implicature.training.stages import Stage, init_state, merge

LEARNED = 0.95
SEED = 2**30
"""No run is of this seed, so a novice is a new one."""
STEPS = 10
"""Iterations between two validations."""


def new_student(run: Run, seed: int) -> Pair:
    """A student who has only been pretrained, with a teacher who is not used; stacked, as a run's pairs are."""
    task, data = run.task, run.task.data
    keys = jax.random.key(SEED + seed, impl="rbg")[None]
    new = lambda key: run.method.new_pair(  # noqa: E731
        jax.random.fold_in(key, 0), run.config, data.observations, data.lexicon.shape[1]
    )
    pair = eqx.filter_vmap(new)(keys)
    before = [stage for stage in run.stages if stage.phase == 0 and stage.agent == "student"]
    for progress in algorithm1(task, before, run.method.make_step, keys, pair):
        pair = progress.pairs
    return pair


@eqx.filter_jit(**COMPILER_OPTIONS)
def learn(
    setup: Setup, stage: Stage, key: Key[Array, ""], pairs: Pair, features: FeatureTable, state: Learner,
    start: Int[Array, ""],
) -> Learner:  # fmt: skip
    """Some iterations of the first student against random teachers."""
    step = step_with_random_partner(turn_step, stage, setup, jnp.asarray(0), pairs, features)
    return repeat_step(step, key, state, start, STEPS)[0]


def ease_of_learning(run: Run, iterations: int = 500, seed: int = 0, phase: int | None = None) -> dict[str, Any]:
    """Games until a novice finds 95 % of the targets (None: not within so many iterations), and his accuracy before the
    first and after every `STEPS` iterations."""
    number, config = run.config.optimiser.pairs, run.config
    if not run.method.in_turns:
        raise ValueError(f"A novice learns in turns, and the agents of {config.method.method} learn together.")
    teachers = run.pairs_after(config.optimiser.phases if phase is None else phase)
    novice = new_student(run, seed)
    stage = Stage(1, "student", iterations)
    config = config.replace(population=number, seeds=1, iterations=iterations)
    setup, data = Setup(config, run.task.rules, run.task.data), run.task.data
    state = init_state(stage, take_member(novice, 0), config, run.task.rules)
    key = jax.random.key(SEED + seed, impl="rbg")

    def with_novice(model: Pair) -> Pair:
        """Each teacher with the novice."""
        student = jax.tree.map(lambda x: jnp.stack([x] * number) if eqx.is_array(x) else x, model)
        return Pair(teachers.teacher, student.student, teachers.teacher_encoder, student.student_encoder)

    def accuracy(pairs: Pair) -> float:
        features = encode_all(pairs, data.observations)
        return float(np.mean(accuracies(pairs, features, data, run.task.validation, run.task.rules)))

    pairs = with_novice(take_member(novice, 0))
    features, curve = encode_all(pairs, data.observations), [accuracy(pairs)]
    for start in range(0, iterations, STEPS):
        if curve[-1] >= LEARNED:
            break
        state = learn(setup, stage, key, pairs, features, state, jnp.asarray(start))
        curve.append(accuracy(with_novice(merge(stage, take_member(novice, 0), state))))
    per_iteration = config.optimiser.batch * (run.task.rules.candidates if config.optimiser.all_targets else 1)
    reached = curve[-1] >= LEARNED
    games = (len(curve) - 1) * STEPS * per_iteration
    return {"games": games if reached else None, "games_per_step": STEPS * per_iteration, "accuracy": curve}
