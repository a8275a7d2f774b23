"""Seeds are an axis: everything here is done for several pairs at once, each from a key of its own, and compiled."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PyTree

from implicature.agents.contracts import Pair
from implicature.agents.perspectives import FeatureTable
from implicature.agents.rollout import rollout
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.nn import games_last
from implicature.nn.exchange import at_depth
from implicature.nn.image_encoder import Observations
from implicature.training.config import Config
from implicature.training.optimiser import Metrics, Step, repeat_step
from implicature.training.sharding import (
    COMPILER_OPTIONS,
    fold_in_shard,
    mean_over_shards,
    n_shards,
    over_shards,
    shard,
)
from implicature.training.stages import Stage, init_state
from implicature.training.task import GameData, Task


class Setup(eqx.Module):
    """What a step needs besides the agents."""

    config: Config = eqx.field(static=True)
    rules: Rules = eqx.field(static=True)
    data: GameData


Tree = TypeVar("Tree")
PARTNER_KEY = 10
"""Partners are drawn from keys of their own,"""
DEPTH_KEY = 11
"""and so is the depth of shared layers."""
FEWEST_REPEATS = 2
MAX_CELLS = 2**19
"""Candidates × messages of the validation games that are played at once."""
MakeStep = Callable[[Stage, Setup, Pair, FeatureTable], Step]


def over_seeds(function: Callable[..., Any]) -> Callable[..., Any]:
    """Map a function over the leading axis of all arguments. One pair after the other inside one program: on CPUs that
    is faster than batched matrix products."""

    def mapped(*arguments: PyTree) -> PyTree:
        arrays, rest = eqx.partition(arguments, eqx.is_array)
        out_rests: list[PyTree] = []

        def one(arrays: PyTree) -> PyTree:
            out, out_rest = eqx.partition(function(*eqx.combine(arrays, rest)), eqx.is_array)
            out_rests.append(out_rest)
            return out

        return eqx.combine(jax.lax.map(one, arrays), out_rests[0])

    return mapped


def init_states(stage: Stage, pairs: Pair, task: Task) -> PyTree:
    """The learners' states at the start of a stage."""
    init = over_seeds(lambda pair: init_state(stage, pair, task.config, task.rules))
    return shard(eqx.filter_jit(init)(pairs), task.config.optimiser.batch)


@eqx.filter_jit
def encode_all(pairs: Pair, observations: Observations) -> FeatureTable:
    """The features that each pair has of all observations."""
    return over_seeds(lambda pair: pair.encode_all(observations))(pairs)


def n_chunks(games: int, cells: int) -> int:
    """In how many equal parts games are played, so that memory is bounded; one where they are small."""
    return next(n for n in range(1, games + 1) if games % n == 0 and games // n * cells <= max(MAX_CELLS, cells))


@eqx.filter_jit
def accuracies(
    pairs: Pair, features: FeatureTable, data: GameData, games: Game, rules: Rules
) -> Float[Array, " seeds"]:
    """The fraction of games in which each pair finds the target, both argmax. One program serves all stages."""
    view_key, play_key = jax.random.split(jax.random.key(0))
    viewed = data.with_views(view_key, games_last(games))
    parts = n_chunks(len(games.target), rules.candidates * data.n_messages)

    def accuracy(pair: Pair, features: FeatureTable) -> Array:
        def play(some: Game) -> Array:
            played = rollout(play_key, pair.teacher, pair.student, data.perspectives(some, features), rules)
            return jnp.mean(played.success)

        if parts == 1:
            return play(viewed)
        split = jax.tree.map(lambda leaf: jnp.moveaxis(leaf.reshape(*leaf.shape[:-1], parts, -1), -2, 0), viewed)
        return jnp.mean(jax.lax.map(play, split))

    return over_seeds(accuracy)(pairs, features)


def step_with_random_partner(
    make_step: MakeStep, stage: Stage, setup: Setup, index: Int[Array, ""], pairs: Pair, features: FeatureTable
) -> Step:
    """A population: the learner of this index plays each batch with a partner j ~ U{0 … N − 1} of the other role."""

    def step(key: Key[Array, ""], state: PyTree) -> tuple[PyTree, Metrics]:
        other = jax.random.randint(jax.random.fold_in(key, PARTNER_KEY), (), 0, setup.config.optimiser.population)
        teacher, student = (index, other) if stage.agent == "teacher" else (other, index)
        one, another = take_member(pairs, teacher), take_member(pairs, student)
        pair = Pair(one.teacher, another.student, one.teacher_encoder, another.student_encoder)
        rows = features.teacher[teacher], features.student[student]
        return make_step(stage, setup, pair, FeatureTable(*rows, features.views_per_instance))(key, state)

    return step


def take_member(stacked: Tree, index: Int[Array, ""] | int) -> Tree:
    """One of several agents, or pairs, that stand along the leading axis."""
    return jax.tree.map(lambda leaf: leaf[index] if eqx.is_array(leaf) else leaf, stacked)


def step_at_random_depth(make_step: MakeStep, stage: Stage, setup: Setup, pair: Pair, features: FeatureTable) -> Step:
    """With shared layers: in each iteration both agents apply theirs twice or more often, at most as often as there are
    layers after the first (F-66)."""
    most = setup.config.network.layers - 1

    def step(key: Key[Array, ""], state: PyTree) -> tuple[PyTree, Metrics]:
        depth = jax.random.randint(jax.random.fold_in(key, DEPTH_KEY), (), min(FEWEST_REPEATS, most), most + 1)
        own = make_step(stage, setup, at_depth(pair, depth), features)
        state, metrics = own(key, at_depth(state, depth))
        return at_depth(state, None), metrics

    return step


@eqx.filter_jit(**COMPILER_OPTIONS)
def scan_steps(
    *,
    make_step: MakeStep,
    stage: Stage,
    setup: Setup,
    keys: Key[Array, " seeds"],
    pairs: Pair,
    features: FeatureTable,
    states: PyTree,
    start: Int[Array, ""],
    iterations: int,
) -> tuple[PyTree, dict[str, Float[Array, " seeds"]]]:
    """Some iterations of a stage for every pair, each batch divided among the devices."""
    config = setup.config
    batch = config.optimiser.batch
    shard_config = config.replace(candidate_sets=batch // n_shards(batch))

    def one_shard(
        states: PyTree, data: GameData, keys: Array, pairs: Pair, features: FeatureTable, start: Array
    ) -> tuple[PyTree, dict[str, Float[Array, " seeds"]]]:
        here = replace(setup, config=shard_config, data=data)

        def make_own(index: Array, pair: Pair, own: FeatureTable) -> Step:
            make = partial(step_at_random_depth, make_step) if config.network.share_layers else make_step
            if config.optimiser.population == 1 or stage.phase == 0:
                return make(stage, here, pair, own)
            return step_with_random_partner(make, stage, here, index, pairs, features)

        def one_pair(index: Array, key: Array, pair: Pair, own: FeatureTable, state: PyTree) -> tuple[PyTree, Metrics]:
            step = make_own(index, pair, own)
            state, metrics = repeat_step(step, fold_in_shard(key), state, start, iterations)
            return state, mean_over_shards(metrics)

        return over_seeds(one_pair)(jnp.arange(len(keys)), keys, pairs, features, states)

    return over_shards(one_shard, batch)(states, setup.data, keys, pairs, features, start)
