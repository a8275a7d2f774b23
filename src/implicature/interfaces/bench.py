"""How fast games are played on this machine, and beside what it could do at most."""

import json as json_format
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table

from implicature.agents.exact import soft_recursion
from implicature.games import named_game, sample_game


def seconds(work: Callable[[], object], least: float = 1.0) -> float:
    """Seconds a call takes once compiled: the best of several rounds that together last `least` seconds or longer."""
    jax.block_until_ready(work())
    best, begun = float("inf"), time.perf_counter()
    while time.perf_counter() - begun < least:
        start = time.perf_counter()
        jax.block_until_ready(work())
        best = min(best, time.perf_counter() - start)
    return best


def exact_games_per_second(games: int = 20_000, depth: int = 3) -> float:
    """Games of numbers-4 solved by the exact recursion: the whole student and teacher of depth 3."""
    space, candidates = named_game("numbers-4")
    keys = jax.random.split(jax.random.key(0), games)
    drawn = jax.jit(jax.vmap(lambda key: sample_game(key, candidates, jnp.arange(space.instances))))(keys)
    truth = jnp.asarray(space.table)[drawn.candidates]

    @jax.jit
    @jax.vmap
    def solve(truth):
        played = soft_recursion(truth, depth)
        return played.teacher[-1], played.student[-1]

    return games / seconds(lambda: solve(truth))


def bench(json: bool = False) -> None:
    measured = {"exact_games_per_second": round(exact_games_per_second())}
    if json:
        print(json_format.dumps(measured))
        return
    table = Table("what", "measured")
    for what, value in measured.items():
        table.add_row(what.replace("_", " "), f"{value:,}")
    Console().print(table)
