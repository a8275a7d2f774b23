"""How fast games are played and learned from on this machine, and beside what it could do at most.

roofline fraction = floating-point operations of training per second / float32 matrix product rate, in one run
"""

import json as json_format
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table

from implicature.agents.exact import soft_recursion
from implicature.games import Rules, named_game, sample_game
from implicature.training.adaptation import World, iterate, learner, new_pair, student_step, teacher_state, teacher_step
from implicature.training.config import Config

ITERATIONS = 50


def seconds(work: Callable[[], object], least: float = 1.0) -> float:
    """Seconds a call takes once compiled: the best of several rounds that together last `least` seconds or longer."""
    jax.block_until_ready(work())
    best, begun = float("inf"), time.perf_counter()
    while time.perf_counter() - begun < least:
        start = time.perf_counter()
        jax.block_until_ready(work())
        best = min(best, time.perf_counter() - start)
    return best


def some_games(name: str, games: int) -> World:
    """A world with games of any split: only their number matters here."""
    space, candidates = named_game(name)
    keys = jax.random.split(jax.random.key(0), games)
    drawn = jax.jit(jax.vmap(lambda key: sample_game(key, candidates, jnp.arange(space.instances))))(keys)
    truth = jnp.asarray(space.table)
    return World(truth.astype(jnp.float32), truth, drawn)


def exact_games_per_second(games: int = 20_000, depth: int = 3) -> float:
    """Games of numbers-4 solved by the exact recursion: the whole student and teacher of depth 3."""
    world = some_games("numbers-4", games)
    truth = world.truth[world.games.candidates]

    @jax.jit
    @jax.vmap
    def solve(truth):
        played = soft_recursion(truth, depth)
        return played.teacher[-1], played.student[-1]

    return games / seconds(lambda: solve(truth))


def matmul_flops_per_second(size: int = 2048) -> float:
    matrix = jax.random.normal(jax.random.key(0), (size, size))
    product = jax.jit(jnp.dot)
    return 2 * size**3 / seconds(lambda: product(matrix, matrix))


def training_speed(config: Config) -> dict[str, float]:
    """Games and floating-point operations a second over both halves of a phase, and the seconds to compile them."""
    world = some_games(config.game, 20_000)
    messages = world.truth.shape[1]
    rules = Rules(world.games.candidates.shape[1], config.rounds, config.message_cost)
    pair = new_pair(jax.random.key(0), config, messages, messages)
    halves: list[tuple[Callable[[World], Any], Any]] = [
        (lambda world: teacher_step(config, world, rules, pair.student), teacher_state(pair.teacher, config, rules)),
        (lambda world: student_step(config, world, rules, pair.teacher), learner(pair.student, config, 1)),
    ]
    spent = flops = compiling = 0.0
    for step, state in halves:
        half = eqx.filter_jit(
            lambda key, state, world, step=step: iterate(step(world), key, state, jnp.asarray(0), ITERATIONS)
        )
        once = eqx.filter_jit(lambda key, state, world, step=step: step(world)(key, state))
        key = jax.random.key(1)
        begun = time.perf_counter()
        jax.block_until_ready(eqx.filter(half(key, state, world), eqx.is_array))
        first = time.perf_counter() - begun
        took = seconds(lambda half=half, key=key, state=state: eqx.filter(half(key, state, world), eqx.is_array), 3.0)
        compiling += max(0.0, first - took)
        spent += took / ITERATIONS
        cost = once.lower(key, state, world).lowered.cost_analysis()
        flops += cost["flops"] if cost else float("nan")
    return {"games": 2 * config.batch / spent, "flops": flops / spent, "compile_seconds": compiling}


def bench(json: bool = False) -> None:
    peak = matmul_flops_per_second()
    usual = Config()
    exchange, paper = training_speed(usual), training_speed(replace(usual, network="paper"))
    measured = {
        "train_games_per_second": round(paper["games"]),
        "exchange_games_per_second": round(exchange["games"]),
        "roofline_fraction": round(paper["flops"] / peak, 3),
        "exchange_roofline_fraction": round(exchange["flops"] / peak, 3),
        "exact_games_per_second": round(exact_games_per_second()),
        "matmul_gflops": round(peak / 1e9, 1),
        "compile_seconds": round(exchange["compile_seconds"], 1),
        "peak_memory_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    if json:
        print(json_format.dumps(measured))
        return
    table = Table("what", "measured", title="numbers-4 on this machine")
    for what, value in measured.items():
        table.add_row(what.replace("_", " "), f"{value:,}")
    Console().print(table)
