"""How fast games are played and learned from on this machine, and beside what it could do at most.

roofline fraction = floating-point operations of training per second / float32 matrix product rate, in one run
"""

import json as json_format
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table

from implicature.agents.exact import soft_recursion
from implicature.games import Rules, named_game, sample_game
from implicature.interfaces.vectorised import jax_env
from implicature.interfaces.writing import check_picture
from implicature.spaces import Space
from implicature.spaces.numbers import number_sets
from implicature.training.adaptation import World, new_pair, student_step, teacher_step
from implicature.training.config import Config
from implicature.training.parts import placed
from implicature.training.run import Stage, advance, all_sights, begin, over_seeds

ITERATIONS = 50
CANDIDATES = (2, 4, 8, 16)
MESSAGES = (6, 12, 24, 48)


def seconds(work: Callable[[], object], least: float = 1.0) -> float:
    """Seconds a call takes once compiled: the best of several rounds that together last `least` seconds or longer."""
    jax.block_until_ready(work())
    best, begun = float("inf"), time.perf_counter()
    while time.perf_counter() - begun < least:
        start = time.perf_counter()
        jax.block_until_ready(work())
        best = min(best, time.perf_counter() - start)
    return best


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

    return games / seconds(lambda: solve(truth))


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

    return games * steps / seconds(lambda: play(jax.random.key(0)))


def matmul_flops_per_second(size: int = 2048) -> float:
    matrix = jax.random.normal(jax.random.key(0), (size, size))
    product = jax.jit(jnp.dot)
    return 2 * size**3 / seconds(lambda: product(matrix, matrix))


def training_speed(config: Config, world: World, least: float = 3.0) -> dict[str, float]:
    """Games and floating-point operations a second over both halves of a phase, and the seconds to compile them: the
    very program that a run runs."""
    messages = world.truth.shape[1]
    rules = Rules(world.games.candidates.shape[1], config.rounds, config.message_cost)
    keys = jax.random.key(0, impl="rbg")[None]
    pairs = eqx.filter_jit(over_seeds(lambda key: new_pair(key, config, world.looks, messages)))(keys)
    sights = all_sights(pairs, world.looks)
    spent = flops = compiling = 0.0
    for agent in ("teacher", "student"):
        stage = Stage(1, agent, ITERATIONS)
        states = over_seeds(lambda pair, stage=stage: begin(stage, pair, config, rules))(pairs)
        given = placed((world, pairs, sights, states), config.batch)

        def half(stage: Stage = stage, given: Any = given) -> Any:
            world, pairs, sights, states = given
            end = advance(stage, config, rules, world, keys, pairs, sights, states, jnp.asarray(0), ITERATIONS)
            return eqx.filter(end, eqx.is_array)

        begun = time.perf_counter()
        jax.block_until_ready(half())
        first = time.perf_counter() - begun
        took = seconds(half, least)
        compiling += max(0.0, first - took)
        spent += took / ITERATIONS

        def once(key: Any, *every: Any, agent: str = agent) -> Any:
            pair, sights, state = jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, every)
            if agent == "teacher":
                return teacher_step(config, world, rules, pair.student, sights)(key, state)
            return student_step(config, world, rules, pair.teacher, sights)(key, state)

        cost = eqx.filter_jit(once).lower(keys[0], pairs, sights, states).lowered.cost_analysis()
        flops += cost["flops"] if cost else float("nan")
    games = 2 * config.batch * (rules.candidates if config.every_target else 1)
    return {"games": games / spent, "flops": flops / spent, "compile_seconds": compiling}


def curves() -> dict[str, dict[str, float]]:
    """Microseconds a training game takes by the number of candidates (10 messages) and of messages (4 candidates)."""

    def microseconds(space: Space, candidates: int) -> float:
        return round(1e6 / training_speed(Config(), some_games(space, candidates, 20_000), least=1.0)["games"], 2)

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
        check_picture(picture, "--picture")
    peak = matmul_flops_per_second()
    usual, world = Config(), some_games(*named_game("numbers-4"), 20_000)
    exchange, paper = training_speed(usual, world), training_speed(replace(usual, network="paper"), world)
    measured: dict[str, Any] = {
        "train_games_per_second": round(paper["games"]),
        "exchange_games_per_second": round(exchange["games"]),
        "roofline_fraction": round(paper["flops"] / peak, 3),
        "exchange_roofline_fraction": round(exchange["flops"] / peak, 3),
        "exact_games_per_second": round(exact_games_per_second()),
        "environment_steps_per_second": round(environment_steps_per_second()),
        "matmul_gflops": round(peak / 1e9, 1),
        "compile_seconds": round(exchange["compile_seconds"], 1),
        "paper_compile_seconds": round(paper["compile_seconds"], 1),
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
