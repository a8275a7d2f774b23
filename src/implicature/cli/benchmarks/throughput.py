"""Throughput on this machine: games played and trained on per second, and the fraction of peak matmul throughput.

fraction of peak = floating-point operations of training per second / float32 matmul throughput, in one run
"""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from implicature.agents.rsa import soft_recursion
from implicature.envs.jax_env import jax_env
from implicature.files import name_in_errors
from implicature.games.registry import load_game
from implicature.games.sampling import sample_game
from implicature.nn.kernels import map_blocks
from implicature.spaces import Space
from implicature.spaces.numbers import number_sets
from implicature.training.config import Config
from implicature.training.methods import turn_step
from implicature.training.pairs import NEW_PAIR
from implicature.training.resolve import resolve
from implicature.training.seeds import Setup, encode_all, over_seeds, scan_steps
from implicature.training.sharding import shard
from implicature.training.stages import Stage, init_state
from implicature.training.task import GameData

ITERATIONS = 50
GAMES = 20_000
CANDIDATES = (2, 4, 8, 16)
MESSAGES = (6, 12, 24, 48)


def median_seconds(*calls: Callable[[], object], at_least: float = 1.0) -> list[float]:
    """Seconds of each call once compiled: the median of several rounds through all of them, which together last
    `at_least` seconds for each. Interleaved, so that a change of the machine's load affects all."""
    for call in calls:
        jax.block_until_ready(call())
    seconds: list[list[float]] = [[] for _ in calls]
    started = time.perf_counter()
    while time.perf_counter() - started < at_least * len(calls):
        for call, times in zip(calls, seconds, strict=True):
            begin = time.perf_counter()
            jax.block_until_ready(call())
            times.append(time.perf_counter() - begin)
    return [median(times) for times in seconds]


def sample_data(space: Space, candidates: int, games: int = GAMES) -> GameData:
    """Games of any split: only their number matters here."""
    keys = jax.random.split(jax.random.key(0), games)
    sampled = jax.jit(jax.vmap(lambda key: sample_game(key, candidates, jnp.arange(space.instances))))(keys)
    lexicon = jnp.asarray(space.lexicon.meaning)
    return GameData(lexicon.astype(jnp.float32), lexicon, sampled)


def exact_games_per_second(depth: int = 3) -> float:
    """Games of numbers-4 solved by the exact recursion: teacher and student of depth 3."""
    data = sample_data(*load_game("numbers-4"))
    lexicon = data.lexicon[data.games.candidates]

    def solve(lexicon: jax.Array) -> tuple[jax.Array, jax.Array]:
        recursion = soft_recursion(lexicon, depth)
        return recursion.teacher[-1], recursion.student[-1]

    solve_all = jax.jit(partial(map_blocks, solve))
    return GAMES / median_seconds(lambda: solve_all(lexicon))[0]


def environment_steps_per_second(games: int = 1_024, steps: int = 400) -> float:
    """Steps of numbers-4 with two rounds, both players acting at random, many games at once."""
    env = jax_env("numbers-4", rounds=2, message_cost=0.1)

    @jax.jit
    def play(key: jax.Array) -> Any:
        def step(states: Any, key: jax.Array) -> tuple[Any, jax.Array]:
            action_key, step_key = jax.random.split(key)
            choices = jnp.where(states.teacher_turn, env.messages, env.rules.candidates + 1)
            actions = jnp.floor(jax.random.uniform(action_key, (games,)) * choices).astype(jnp.int32)
            after, reward, _ = jax.vmap(env.step)(jax.random.split(step_key, games), states, actions)
            return after, jnp.mean(reward)

        reset_key, steps_key = jax.random.split(key)
        states = jax.vmap(env.reset)(jax.random.split(reset_key, games))
        return jax.lax.scan(step, states, jax.random.split(steps_key, steps))

    return games * steps / median_seconds(lambda: play(jax.random.key(0)))[0]


def matmul_call(size: int = 2048) -> tuple[Callable[[], object], float]:
    """A float32 matmul, and its floating-point operations."""
    matrix = jax.random.normal(jax.random.key(0), (size, size))
    matmul = jax.jit(jnp.dot)
    return lambda: matmul(matrix, matrix), 2 * size**3


@dataclass(frozen=True)
class TrainingCalls:
    """Both halves of a phase, as the very program that a run runs, and what is in them."""

    halves: list[Callable[[], object]]
    games: int
    flops: float
    compile_seconds: float


def training_calls(config: Config, space: Space, candidates: int) -> TrainingCalls:
    config, data = resolve(config, space, candidates), sample_data(space, candidates)
    rules = config.game.rules(candidates)
    keys = jax.random.key(0, impl="rbg")[None]
    new_pair = over_seeds(lambda key: NEW_PAIR["pragmatic"](key, config, data.observations, data.lexicon.shape[1]))
    pairs = eqx.filter_jit(new_pair)(keys)
    batch = config.optimiser.batch
    halves: list[Callable[[], object]] = []
    flops = compiling = 0.0
    for agent in ("teacher", "student"):
        stage = Stage(1, agent, ITERATIONS)
        states = over_seeds(lambda pair, stage=stage: init_state(stage, pair, config, rules))(pairs)
        features = encode_all(pairs, data.observations)
        inputs = shard((data, pairs, features, states), batch)

        def half(stage: Stage = stage, inputs: PyTree = inputs) -> PyTree:
            data, pairs, features, states = inputs
            end = scan_steps(
                make_step=turn_step, stage=stage, setup=Setup(config, rules, data), keys=keys, pairs=pairs,
                features=features, states=states, start=jnp.asarray(0), iterations=ITERATIONS,
            )  # fmt: skip
            return eqx.filter(end, eqx.is_array)

        halves.append(half)
        started = time.perf_counter()
        jax.block_until_ready(half())
        compiled = time.perf_counter()
        jax.block_until_ready(half())
        compiling += max(0.0, compiled - started - (time.perf_counter() - compiled))

        def one_step(key: PyTree, *first: PyTree, stage: Stage = stage) -> PyTree:
            pair, features, state = jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, first)
            return turn_step(stage, Setup(config, rules, data), pair, features)(key, state)

        cost = eqx.filter_jit(one_step).lower(keys[0], pairs, features, states).lowered.cost_analysis()
        flops += cost["flops"] * ITERATIONS if cost else float("nan")
    games = 2 * ITERATIONS * batch * (candidates if config.optimiser.all_targets else 1)
    return TrainingCalls(halves, games, flops, compiling)


def measure() -> dict[str, Any]:
    """All figures of `implicature bench`."""
    game = load_game("numbers-4")
    exchange = training_calls(Config(), *game)
    deep_sets = training_calls(Config.of(network="deep-sets"), *game)
    matmul, operations = matmul_call()
    matmul_seconds, *halves = median_seconds(matmul, *exchange.halves, *deep_sets.halves, at_least=8.0)
    peak, exchange_seconds, deep_sets_seconds = operations / matmul_seconds, sum(halves[:2]), sum(halves[2:])
    return {
        "deep_sets_train_games_per_second": round(deep_sets.games / deep_sets_seconds),
        "exchange_train_games_per_second": round(exchange.games / exchange_seconds),
        "deep_sets_fraction_of_peak": round(deep_sets.flops / deep_sets_seconds / peak, 3),
        "exchange_fraction_of_peak": round(exchange.flops / exchange_seconds / peak, 3),
        "exact_games_per_second": round(exact_games_per_second()),
        "environment_steps_per_second": round(environment_steps_per_second()),
        "matmul_gflops": round(peak / 1e9, 1),
        "deep_sets_compile_seconds": round(deep_sets.compile_seconds, 1),
        "exchange_compile_seconds": round(exchange.compile_seconds, 1),
        "peak_memory_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "devices": jax.local_device_count(),
    }


def measure_curves() -> dict[str, dict[str, float]]:
    """Microseconds of a training game by the number of candidates (10 messages) and of messages (4 candidates)."""

    def microseconds(space: Space, candidates: int) -> float:
        calls = training_calls(Config(), space, candidates)
        return round(1e6 * sum(median_seconds(*calls.halves)) / calls.games, 2)

    return {
        "candidates": {str(k): microseconds(number_sets(10, 4), k) for k in CANDIDATES},
        "messages": {str(m): microseconds(number_sets(m, 2), 4) for m in MESSAGES},
    }


def plot_curves(curves: dict[str, dict[str, float]], path: Path) -> None:
    """Cost beside a straight line through the first point: what is below grows less than linearly."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for ax, (name, points) in zip(axes, curves.items(), strict=True):
        sizes, costs = [int(n) for n in points], list(points.values())
        ax.plot(sizes, costs, "o-", label="measured")
        ax.plot(sizes, [costs[0] * n / sizes[0] for n in sizes], ":", color="gray", label="linear")
        ax.set(xlabel=name, xticks=sizes, ylim=(0, None), ylabel="µs per training game")
        ax.legend(frameon=False)
    with name_in_errors(path):
        figure.savefig(path, dpi=150)
    plt.close(figure)
