"""How rational a participant is, and how deep they reason: maximum likelihood under the exact recursion.

    as the student   P(o | m_1 … m_r) = (1 − λ) L_t(o | m_r) + λ / K     belief after all messages, uniform prior
    as the teacher   P(m | o*)        = (1 − λ) S_t(m | o*) + λ / M      she responds to the student of depth t − 1
    (β, t)^          the maximum of Σ log P over a grid; waiting is not modelled, so it is left out

A lapse rate λ = 0.01 keeps one stray choice from ruling out a depth. Intervals are profile likelihood intervals: all
(β, t) within 1.92 of the maximum log likelihood, projected on β and on t. At t = 0, β has no effect.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.exact import ExactModel

LAPSE_RATE = 0.01
N_DEPTHS = 5
"""Depths 0 … 4: in games of this size deeper recursions hardly differ."""
BETAS = np.geomspace(0.25, 100, 121).astype(np.float32)
INTERVAL_MARGIN = 1.92
"""Half of the 95 % quantile of χ² with one degree of freedom."""
TIE = 1e-3
"""Log likelihoods closer than this are tied; the smallest depth wins."""


@dataclass(frozen=True)
class DecisionArrays:
    """Decisions as arrays, one a row; games are padded to the same number of candidates and words."""

    lexicon: Bool[np.ndarray, "decisions candidates words"]
    n_candidates: Int[np.ndarray, " decisions"]
    n_words: Int[np.ndarray, " decisions"]
    messages: Int[np.ndarray, "decisions rounds"]
    """The messages so far; -1 after the last."""
    is_teacher: Bool[np.ndarray, " decisions"]
    """Whether the participant chose the last message; else the answer."""
    target: Int[np.ndarray, " decisions"]
    answer: Int[np.ndarray, " decisions"]


@dataclass(frozen=True)
class Fit:
    """Estimates for one participant. An end of an interval is None where it lies beyond the grid."""

    decisions: int
    beta: float | None
    """None at depth 0, where it has no effect."""
    beta_low: float | None
    beta_high: float | None
    depth: int
    depth_low: int
    depth_high: int | None
    log_likelihood: float
    chance_log_likelihood: float
    """Of choosing at random, for comparison."""


def decision_log_likelihood(
    model: ExactModel, lexicon: Array, n_candidates: Array, n_words: Array, messages: Array, is_teacher: Array,
    target: Array, answer: Array,
) -> Float[Array, ""]:  # fmt: skip
    """log P of one decision."""
    belief = jnp.where(jnp.arange(lexicon.shape[0]) < n_candidates, 1 / n_candidates, 0.0)
    spoken = jnp.zeros(())
    for message in messages:
        teacher, student = model.tables(lexicon, belief)
        total = jnp.maximum(jnp.sum(teacher[target]), 1e-9)
        spoken = jnp.where(message >= 0, teacher[target, message] / total, spoken)
        belief = jnp.where(message >= 0, student[:, message], belief)
    probability, options = jnp.where(is_teacher, spoken, belief[answer]), jnp.where(is_teacher, n_words, n_candidates)
    return jnp.log((1 - LAPSE_RATE) * probability + LAPSE_RATE / options)


@partial(jax.jit, static_argnames="depths")
def log_likelihood_grid(
    betas: Float[Array, " betas"], columns: tuple[Array, ...], number: Int[Array, ""], depths: int
) -> Float[Array, "betas depths"]:
    """Σ log P over the first `number` decisions, for every β and depth."""

    def total(beta: Array, depth: Array) -> Array:
        each = jax.vmap(lambda *row: decision_log_likelihood(ExactModel(depth, beta), *row))(*columns)
        return jnp.sum(jnp.where(jnp.arange(len(each)) < number, each, 0))

    return jax.lax.map(lambda beta: jax.lax.map(lambda depth: total(beta, depth), jnp.arange(depths)), betas)


def fit_participant(decisions: DecisionArrays) -> Fit:
    """β and t of the participant who made these decisions; at least one."""
    number = len(decisions.target)
    # Padded to a power of two, so that one compiled program serves many participants.
    size = max(64, 1 << (number - 1).bit_length())
    columns = tuple(jnp.asarray(np.resize(column, (size, *column.shape[1:]))) for column in vars(decisions).values())
    grid = np.asarray(log_likelihood_grid(jnp.asarray(BETAS), columns, jnp.asarray(number), N_DEPTHS), np.float64)
    best = grid.max()
    depth = int(np.flatnonzero(grid.max(axis=0) >= best - TIE)[0])
    plausible = grid >= best - INTERVAL_MARGIN
    betas, depths = np.flatnonzero(plausible.any(axis=1)), np.flatnonzero(plausible.any(axis=0))
    options = np.where(decisions.is_teacher, decisions.n_words, decisions.n_candidates)
    return Fit(
        decisions=number,
        beta=None if depth == 0 else round(float(BETAS[grid[:, depth].argmax()]), 3),
        beta_low=None if betas[0] == 0 else round(float(BETAS[betas[0]]), 3),
        beta_high=None if betas[-1] == len(BETAS) - 1 else round(float(BETAS[betas[-1]]), 3),
        depth=depth,
        depth_low=int(depths[0]),
        depth_high=None if depths[-1] == N_DEPTHS - 1 else int(depths[-1]),
        log_likelihood=round(float(best), 3),
        chance_log_likelihood=round(float(-np.log(options).sum()), 3),
    )
