"""One game solved exactly: what each message means at each depth, and how hard each candidate is to name."""

from dataclasses import dataclass
from functools import partial
from math import isfinite

import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.rsa import Recursion, Start, greedy_accuracy, no_clash, soft_recursion
from implicature.evaluation.teaching_dimension import levels, teaching_dimensions
from implicature.games.parsing import sort_words

MAX_DEPTH = 100
MAX_BETA = 1000.0
"""Beyond it, β times the rounding of a belief would decide between messages that are equally good."""
BUDGET = 200_000
"""Steps of the search for teaching sets: two seconds at worst, since a person is waiting."""


@dataclass(frozen=True)
class DepthTables:
    """L_t and S_t; with start="indicator", S_0 is the truth itself rather than a chance."""

    depth: int
    student: list[list[float]]
    """[message][candidate]"""
    teacher: list[list[float]]
    """[candidate][message]"""


@dataclass(frozen=True)
class Explanation:
    """The fields of `--json`. Lists with an entry for each candidate are in their order."""

    candidates: list[list[str]]
    messages: list[str]
    level: list[int | None]
    td: list[int | None]
    """Positive examples, at least one; None where none single the candidate out."""
    rtd: list[int | None]
    exact: bool
    """Whether TD and RTD are; else they are upper bounds."""
    no_clash: list[str | None]
    accuracy: list[float]
    """The probability of finding the candidate at the last depth if both choose what is best."""
    depths: list[DepthTables]


@partial(jax.jit, static_argnames=("depth", "beta", "start"))
def solve(
    truth: Bool[Array, "candidates messages"], prior: Float[Array, " candidates"], depth: int, beta: float, start: Start
) -> tuple[Recursion, Float[Array, " candidates"], Int[Array, " candidates"], Int[Array, " candidates"]]:
    recursion = soft_recursion(truth, depth, beta, start, prior)
    return (
        recursion,
        greedy_accuracy(truth, recursion.teacher[-1], recursion.student[-1]),
        levels(truth),
        no_clash(truth),
    )


def explain_candidates(
    candidates: list[list[str]], depth: int = 6, beta: float = 10.0, start: Start = "share"
) -> Explanation:
    """What each message comes to mean among these candidates, and how hard each of them is to name."""
    if not 0 <= depth <= MAX_DEPTH:
        raise ValueError(f"The depth {depth} is not between 0 (literal) and {MAX_DEPTH}: choose one that is.")
    if not (isfinite(beta) and 0 <= beta <= MAX_BETA):
        raise ValueError(f"β = {beta:g} is not between 0 (any true message) and {MAX_BETA:g}: choose one that is.")
    messages = sort_words([name for names in candidates for name in names])
    truth = np.array([[message in names for message in messages] for names in candidates])
    n, m = truth.shape
    # Compilation dominates: games of similar size are padded to share a compiled program.
    padded = np.pad(truth, ((0, -n % 8), (0, -m % 16)))
    prior = np.where(np.arange(len(padded)) < n, np.float32(1 / n), np.float32(0))
    recursion, accuracy, level, own = jax.device_get(solve(padded, prior, depth=depth, beta=beta, start=start))
    taught = teaching_dimensions(truth, positive=True, min_size=1, budget=BUDGET)
    return Explanation(
        candidates,
        messages,
        [None if i < 0 else i for i in level[:n].tolist()],
        list(taught.td),
        list(taught.rtd),
        taught.exact,
        [None if i < 0 else messages[i] for i in own[:n].tolist()],
        accuracy[:n].tolist(),
        [
            DepthTables(t, student[:n, :m].T.tolist(), teacher[:n, :m].tolist())
            for t, (student, teacher) in enumerate(zip(recursion.student, recursion.teacher, strict=True))
        ],
    )
