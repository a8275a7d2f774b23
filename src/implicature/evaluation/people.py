"""How rational a person is, and how deep they think: maximum likelihood under the exact recursion.

    as the student   P(o | m_1 … m_r) = (1 − ε) L_t(o | m_r) + ε / K        belief after the words so far, prior uniform
    as the teacher   P(m | o*)        = (1 − ε) S_t(m | o*) + ε / M         she answers the student of depth t − 1
    (β, t)^          the largest Σ log P over a grid; waiting is not explained, so it is left out

A slip ε = 0.01 keeps one stray choice from ruling out a depth. Intervals hold what the likelihood ratio test does not
reject at 5 %: all (β, t) within 1.92 of the best log likelihood, seen from β and from t. At t = 0 β has no effect.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.exact import Recursion

SLIP = 0.01
DEPTHS = 5
"""0 … 4: beyond it people and games of this size hardly differ."""
BETAS = np.geomspace(0.25, 100, 121).astype(np.float32)
WITHIN = 1.92
"""Half of the 95 % point of χ² with one degree of freedom."""


@dataclass(frozen=True)
class Choices:
    """Decisions as arrays, one a row: games are padded with candidates and words that do not exist."""

    truth: Bool[np.ndarray, "decisions room words"]
    candidates: Int[np.ndarray, " decisions"]
    vocabulary: Int[np.ndarray, " decisions"]
    said: Int[np.ndarray, "decisions rounds"]
    """The words so far; -1 after the last."""
    teaches: Bool[np.ndarray, " decisions"]
    """The last word was the person's decision; else the answer was."""
    target: Int[np.ndarray, " decisions"]
    answer: Int[np.ndarray, " decisions"]


@dataclass(frozen=True)
class Fit:
    """What one person's decisions say of them. An end of an interval is None where the grid's end is not ruled out."""

    decisions: int
    beta: float | None
    """None at depth 0, where it has no effect."""
    beta_low: float | None
    beta_high: float | None
    depth: int
    depth_low: int
    depth_high: int | None
    log_likelihood: float
    chance: float
    """The log likelihood of guessing at random, to compare with."""


def log_chance(
    mind: Recursion, truth: Array, candidates: Array, vocabulary: Array, said: Array, teaches: Array, target: Array,
    answer: Array,
) -> Float[Array, ""]:  # fmt: skip
    """log P of one decision."""
    belief = jnp.where(jnp.arange(truth.shape[0]) < candidates, 1 / candidates, 0.0)
    spoken = jnp.zeros(())
    for word in said:
        teacher, student = mind.tables(truth, belief)
        spoken = jnp.where(word >= 0, teacher[target, word] / jnp.maximum(jnp.sum(teacher[target]), 1e-9), spoken)
        belief = jnp.where(word >= 0, student[:, word], belief)
    chance, number = jnp.where(teaches, spoken, belief[answer]), jnp.where(teaches, vocabulary, candidates)
    return jnp.log((1 - SLIP) * chance + SLIP / number)


@partial(jax.jit, static_argnames="depths")
def likelihoods(
    betas: Float[Array, " betas"], columns: tuple[Array, ...], number: Int[Array, ""], depths: int
) -> Float[Array, "betas depths"]:
    """Σ log P over the first `number` decisions, for every β and depth."""

    def at(beta: Array, depth: Array) -> Array:
        each = jax.vmap(lambda *one: log_chance(Recursion(depth, beta), *one))(*columns)
        return jnp.sum(jnp.where(jnp.arange(len(each)) < number, each, 0))

    return jax.lax.map(lambda beta: jax.lax.map(lambda depth: at(beta, depth), jnp.arange(depths)), betas)


def rounded(number: float | np.floating) -> float:
    return round(float(number), 3)


def fit(choices: Choices) -> Fit:
    """β and t of the person who made these decisions; at least one."""
    # Filled up to a power of two, so that one program serves many participants.
    size = max(64, 1 << (len(choices.target) - 1).bit_length())
    columns = tuple(jnp.asarray(np.resize(column, (size, *column.shape[1:]))) for column in vars(choices).values())
    total = np.asarray(likelihoods(jnp.asarray(BETAS), columns, jnp.asarray(len(choices.target)), DEPTHS), np.float64)
    best = total.max()
    # Of equally likely depths the smallest: nobody need be taken to think deeper than they show.
    depth = int(np.flatnonzero(total.max(axis=0) >= best - 1e-3)[0])
    kept = total >= best - WITHIN
    betas, likely = np.flatnonzero(kept.any(axis=1)), np.flatnonzero(kept.any(axis=0))
    low, high, last = int(betas[0]), int(betas[-1]), len(BETAS) - 1
    number = np.where(choices.teaches, choices.vocabulary, choices.candidates)
    return Fit(
        len(choices.target),
        None if depth == 0 else rounded(BETAS[total[:, depth].argmax()]),
        None if low == 0 else rounded(BETAS[low]),
        None if high == last else rounded(BETAS[high]),
        depth,
        int(likely[0]),
        None if likely[-1] == DEPTHS - 1 else int(likely[-1]),
        rounded(best),
        rounded(-np.log(number).sum()),
    )
