"""How fast games are played and learned from on this machine, and beside what it could do at most.

roofline fraction = floating-point operations of training per second / float32 matrix product rate, in one run
"""

import json as json_format
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table

from implicature.agents.rsa import soft_recursion
from implicature.envs.jax_env import jax_env
from implicature.files import check_png
from implicature.games.sampling import Rules, named_game, sample_game
from implicature.spaces import Space
from implicature.spaces.numbers import number_sets
from implicature.training.algorithm1 import World, new_pair, student_step, teacher_step
from implicature.training.config import Config
from implicature.training.run import Stage, advance, all_sights, begin, over_seeds
from implicature.training.sharding import placed

ITERATIONS = 50
CANDIDATES = (2, 4, 8, 16)
MESSAGES = (6, 12, 24, 48)


def seconds(*works: Callable[[], object], least: float = 1.0) -> list[float]:
    """Seconds that a call of each takes once compiled: the median of several rounds through all of them, which together
    last `least` seconds for each or longer. Side by side, so that all meet the machine in the same moods; a best would
    tell which of them had the luckiest moment."""
    for work in works:
        jax.block_until_ready(work())
    taken: list[list[float]] = [[] for _ in works]
    begun = time.perf_counter()
    while time.perf_counter() - begun < least * len(works):
        for work, mine in zip(works, taken, strict=True):
            start = time.perf_counter()
            jax.block_until_ready(work())
            mine.append(time.perf_counter() - start)
    return [median(mine) for mine in taken]


def some_games(space: Space, candidates: int, games: int) -> World:
    """A world with games of any split: only their number matters here."""
    keys = jax.random.split(jax.random.key(0), games)
    drawn = jax.jit(jax.vmap(lambda key: sample_game(key, candidates, jnp.arange(space.instances))))(keys)
    truth = jnp.asarray(space.table)
    return World(truth.astype(jnp.float32), truth, drawn)


def exact_games_per_second(games: int = 20_000, depth: int = 3) -> float:
    """Games of numbers-4 solved by the exact recursion: the whole student and teacher of depth 3."""
    world = some_games(*named_game("numbers-4"), games)
    truth = world.truth[world.games.candidates]

    @jax.jit
    @jax.vmap
    def solve(truth):
        played = soft_recursion(truth, depth)
        return played.teacher[-1], played.student[-1]

    return games / seconds(lambda: solve(truth))[0]


def environment_steps_per_second(games: int = 1_024, steps: int = 400) -> float:
    """Steps of numbers-4 with two rounds, both players acting at random, many games at once."""
    env = jax_env("numbers-4", rounds=2, message_cost=0.1)

    @jax.jit
    def play(key: jax.Array) -> Any:
        def step(states: Any, key: jax.Array) -> tuple[Any, jax.Array]:
            act, go_on = jax.random.split(key)
            most = jnp.where(states.speaking, env.messages, env.rules.candidates + 1)
            actions = jnp.floor(jax.random.uniform(act, (games,)) * most).astype(jnp.int32)
            after, reward, _ = jax.vmap(env.step)(jax.random.split(go_on, games), states, actions)
            return after, jnp.mean(reward)

        begin, go_on = jax.random.split(key)
        return jax.lax.scan(step, jax.vmap(env.reset)(jax.random.split(begin, games)), jax.random.split(go_on, steps))

    return games * steps / seconds(lambda: play(jax.random.key(0)))[0]


def matrix_product(size: int = 2048) -> tuple[Callable[[], object], float]:
    """A float32 product, and its floating-point operations."""
    matrix = jax.random.normal(jax.random.key(0), (size, size))
    product = jax.jit(jnp.dot)
    return lambda: product(matrix, matrix), 2 * size**3


@dataclass(frozen=True)
class Training:
    """Both halves of a phase, as the very program that a run runs, and what is in them."""

    halves: list[Callable[[], object]]
    games: int
    flops: float
    compile_seconds: float


def training(config: Config, world: World) -> Training:
    messages = world.truth.shape[1]
    rules = Rules(world.games.candidates.shape[1], config.rounds, config.message_cost)
    keys = jax.random.key(0, impl="rbg")[None]
    pairs = eqx.filter_jit(over_seeds(lambda key: new_pair(key, config, world.looks, messages)))(keys)
    sights = all_sights(pairs, world.looks)
    halves: list[Callable[[], object]] = []
    flops = compiling = 0.0
    for agent in ("teacher", "student"):
        stage = Stage(1, agent, ITERATIONS)
        states = over_seeds(lambda pair, stage=stage: begin(stage, pair, config, rules))(pairs)
        given = placed((world, pairs, sights, states), config.batch)

        def half(stage: Stage = stage, given: Any = given) -> Any:
            world, pairs, sights, states = given
            end = advance(stage, config, rules, world, keys, pairs, sights, states, jnp.asarray(0), ITERATIONS)
            return eqx.filter(end, eqx.is_array)

        halves.append(half)
        begun = time.perf_counter()
        jax.block_until_ready(half())
        compiled = time.perf_counter()
        jax.block_until_ready(half())
        compiling += max(0.0, compiled - begun - (time.perf_counter() - compiled))

        def once(key: Any, *every: Any, agent: str = agent) -> Any:
            pair, sights, state = jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, every)
            if agent == "teacher":
                return teacher_step(config, world, rules, pair.student, sights)(key, state)
            return student_step(config, world, rules, pair.teacher, sights)(key, state)

        cost = eqx.filter_jit(once).lower(keys[0], pairs, sights, states).lowered.cost_analysis()
        flops += cost["flops"] * ITERATIONS if cost else float("nan")
    games = 2 * ITERATIONS * config.batch * (rules.candidates if config.every_target else 1)
    return Training(halves, games, flops, compiling)


def curves() -> dict[str, dict[str, float]]:
    """Microseconds a training game takes by the number of candidates (10 messages) and of messages (4 candidates)."""

    def microseconds(space: Space, candidates: int) -> float:
        learned = training(Config(), some_games(space, candidates, 20_000))
        return round(1e6 * sum(seconds(*learned.halves)) / learned.games, 2)

    return {
        "candidates": {str(k): microseconds(number_sets(10, 4), k) for k in CANDIDATES},
        "messages": {str(m): microseconds(number_sets(m, 2), 4) for m in MESSAGES},
    }


def draw_curves(found: dict[str, dict[str, float]], path: Path) -> None:
    """Cost beside a straight line through the first point: what is below grows less than linearly."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for ax, (what, points) in zip(axes, found.items(), strict=True):
        numbers, costs = [int(n) for n in points], list(points.values())
        ax.plot(numbers, costs, "o-", label="measured")
        ax.plot(numbers, [costs[0] * n / numbers[0] for n in numbers], ":", color="gray", label="linear")
        ax.set(xlabel=what, xticks=numbers, ylim=(0, None), ylabel="µs a training game")
        ax.legend(frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def bench(json: bool, with_curves: bool, picture: Path | None) -> None:
    if picture is not None:
        check_png(picture, "--picture")
    world = some_games(*named_game("numbers-4"), 20_000)
    exchange, paper = training(Config(), world), training(replace(Config(), network="paper"), world)
    product, operations = matrix_product()
    once, *halves = seconds(product, *exchange.halves, *paper.halves, least=8.0)
    peak, exchange_took, paper_took = operations / once, sum(halves[:2]), sum(halves[2:])
    measured: dict[str, Any] = {
        "train_games_per_second": round(paper.games / paper_took),
        "exchange_games_per_second": round(exchange.games / exchange_took),
        "roofline_fraction": round(paper.flops / paper_took / peak, 3),
        "exchange_roofline_fraction": round(exchange.flops / exchange_took / peak, 3),
        "exact_games_per_second": round(exact_games_per_second()),
        "environment_steps_per_second": round(environment_steps_per_second()),
        "matmul_gflops": round(peak / 1e9, 1),
        "compile_seconds": round(exchange.compile_seconds, 1),
        "paper_compile_seconds": round(paper.compile_seconds, 1),
        "peak_memory_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "processors": jax.local_device_count(),
    }
    found = curves() if with_curves or picture else {}
    if picture:
        draw_curves(found, picture)
    if json:
        print(json_format.dumps({**measured, **({"microseconds_a_game": found} if found else {})}))
        return
    table = Table("what", "measured", title="numbers-4 on this machine")
    for what, value in measured.items():
        table.add_row(what.replace("_", " "), f"{value:,}")
    for what, points in found.items():
        for number, cost in points.items():
            table.add_row(f"µs a game, {number} {what}", f"{cost:,}")
    Console().print(table)
