"""How a participant decides: at random, literally, or with so many steps of the exact recursion; maximum likelihood.

    as the student   P(o | m_1 … m_r) = (1 − λ) L_t(o | m_r) + λ / K     belief after all messages, uniform prior
    as the teacher   P(m | o*)        = (1 − λ) S_t(m | o*) + λ / M      she responds to the student of depth t − 1

    model      random   literal (t = 0)   depth t = 1 … 4
    free       –        λ                 λ, β

The model with the lowest BIC = k log n − 2 log L is named, unless a likelihood-ratio test does not distinguish it from
chance: then the participant is called random. Intervals are profile likelihood intervals: all (β, λ, t) within 1.92 of
the maximum log likelihood, projected on each. The recursion starts as the game's own agents do.
Waiting is not modelled.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int
from scipy.stats import chi2

from implicature.agents.exact import ExactModel

N_DEPTHS = 5
"""Depths 0 … 4: in games of this size deeper recursions hardly differ."""
BETAS = np.geomspace(0.25, 100, 61).astype(np.float32)
LAPSES = np.array([0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, *np.arange(0.1, 0.55, 0.05), 0.6, 0.7, 0.8, 0.9])
INTERVAL_MARGIN = 1.92
"""Half of the 95 % quantile of χ² with one degree of freedom."""
SIGNIFICANCE = 0.01
"""Of the test against chance: the best of several models is tested, so it is stricter than 5 %."""
TIE = 1e-3
"""Log likelihoods closer than this are tied; the smallest depth wins."""
RANDOM, LITERAL = "random", "literal"
MODELS = (RANDOM, LITERAL, *(f"depth {t}" for t in range(1, N_DEPTHS)))
N_PARAMETERS = (0, 1, *[2] * (N_DEPTHS - 1))

Grid = Float[np.ndarray, "betas depths lapses"]


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
    share: Bool[np.ndarray, " decisions"]
    """How the recursion of each game starts, see `ExactModel`."""

    @property
    def choice(self) -> Int[np.ndarray, " decisions"]:
        """The word or the candidate that the participant chose."""
        last = self.messages[np.arange(len(self.target)), (self.messages >= 0).sum(axis=1) - 1]
        return np.where(self.is_teacher, last, self.answer)

    @property
    def n_options(self) -> Int[np.ndarray, " decisions"]:
        return np.where(self.is_teacher, self.n_words, self.n_candidates)


@dataclass(frozen=True)
class Fit:
    """Estimates for one participant. An end of an interval is None where it lies beyond the grid."""

    decisions: int
    model: str
    """random, literal or depth t"""
    better_than_chance: bool
    p_chance: float
    """Of the likelihood-ratio test of the best model against chance."""
    depth: int | None
    """The best one; None where the participant is called random. Quote it with its interval only: where the games do
    not tell depths apart, the interval is wide or open."""
    depth_low: int | None
    depth_high: int | None
    beta: float | None
    """None where it has no effect."""
    beta_low: float | None
    beta_high: float | None
    lapse: float | None
    lapse_low: float | None
    lapse_high: float | None
    log_likelihood: float
    chance_log_likelihood: float
    aic: dict[str, float]
    bic: dict[str, float]


def option_probabilities(
    model: ExactModel, lexicon: Array, n_candidates: Array, messages: Array, is_teacher: Array, target: Array
) -> Float[Array, " options"]:
    """P of each candidate, or of each word, in one decision, before lapses."""
    belief = jnp.where(jnp.arange(lexicon.shape[0]) < n_candidates, 1 / n_candidates, 0.0)
    spoken = jnp.zeros(lexicon.shape[1])
    for message in messages:
        teacher, student = model.tables(lexicon, belief)
        total = jnp.maximum(jnp.sum(teacher[target]), 1e-9)
        spoken = jnp.where(message >= 0, teacher[target] / total, spoken)
        belief = jnp.where(message >= 0, student[:, message], belief)
    size = max(lexicon.shape)
    padded = [jnp.pad(one, (0, size - len(one))) for one in (spoken, belief)]
    return jnp.where(is_teacher, *padded)


@partial(jax.jit, static_argnames="depths")
def probability_grid(
    betas: Float[Array, " betas"], columns: tuple[Array, ...], depths: int
) -> Float[Array, "betas depths decisions options"]:
    def each(beta: Array, depth: Array) -> Array:
        def one(share: Array, *row: Array) -> Array:
            return option_probabilities(ExactModel(depth, beta, share), *row)

        return jax.vmap(one)(*columns)

    return jax.lax.map(lambda beta: jax.lax.map(lambda depth: each(beta, depth), jnp.arange(depths)), betas)


def predict_options(decisions: DecisionArrays) -> Float[np.ndarray, "betas depths decisions options"]:
    """P of every option of each decision, for every β and depth."""
    one = decisions
    number = len(one.target)
    # Padded to a power of two, so that one compiled program serves many participants.
    size = max(64, 1 << (number - 1).bit_length())
    columns = (one.share, one.lexicon, one.n_candidates, one.messages, one.is_teacher, one.target)
    padded = tuple(jnp.asarray(np.resize(column, (size, *column.shape[1:]))) for column in columns)
    return np.asarray(probability_grid(jnp.asarray(BETAS), padded, N_DEPTHS))[:, :, :number]


def choice_grid(
    options: Float[np.ndarray, "betas depths decisions options"],
    choice: Int[np.ndarray, " decisions"],
    n_options: Int[np.ndarray, " decisions"],
) -> Grid:
    """Σ log P of what was chosen, for every β, depth and lapse rate."""
    chosen = options[:, :, np.arange(len(choice)), choice].astype(np.float64)
    return np.stack([np.log((1 - lapse) * chosen + lapse / n_options).sum(axis=2) for lapse in LAPSES], axis=2)


def fit_participant(decisions: DecisionArrays) -> Fit:
    """The participant who made these decisions; at least one."""
    grid = choice_grid(predict_options(decisions), decisions.choice, decisions.n_options)
    return fit_grid(grid, decisions.n_options)


def interval(
    plausible: Bool[np.ndarray, " n"], values: np.ndarray, floor: bool = False
) -> tuple[float | None, float | None]:
    """From the first to the last plausible value; open at an end of the grid, with `floor` only at the upper one."""
    inside = np.flatnonzero(plausible)
    low = None if inside[0] == 0 and not floor else round(float(values[inside[0]]), 3)
    return low, None if inside[-1] == len(values) - 1 else round(float(values[inside[-1]]), 3)


def fit_grid(grid: Grid, n_options: Int[np.ndarray, " decisions"]) -> Fit:
    """The model that is named, and its parameters."""
    number, chance = len(n_options), float(-np.log(n_options).sum())
    by_depth = grid.max(axis=(0, 2))
    logs = np.array([chance, *by_depth])
    parameters = np.array(N_PARAMETERS)
    aic, bic = 2 * parameters - 2 * logs, parameters * np.log(number) - 2 * logs
    chosen = int(np.flatnonzero(bic <= bic.min() + TIE)[0])
    best = int(by_depth.argmax()) + 1 if chosen == 0 else chosen
    p_chance = float(chi2.sf(max(0.0, 2 * (logs[best] - chance)), parameters[best]))
    is_random = chosen == 0 or p_chance >= SIGNIFICANCE
    depth = 0 if is_random else chosen - 1
    plausible = grid >= by_depth[depth] - INTERVAL_MARGIN
    depths = np.flatnonzero(plausible.any(axis=(0, 2)))
    beta, lapse = np.unravel_index(grid[:, depth].argmax(), grid[:, depth].shape)
    beta_interval = interval(plausible.any(axis=(1, 2)), BETAS)
    lapse_interval = interval(plausible.any(axis=(0, 1)), LAPSES, floor=True)
    nothing: tuple[None, None] = (None, None)
    return Fit(
        number,
        RANDOM if is_random else MODELS[chosen],
        not is_random,
        round(p_chance, 6),
        None if is_random else depth,
        *(nothing if is_random else (int(depths[0]), None if depths[-1] == N_DEPTHS - 1 else int(depths[-1]))),
        None if is_random or depth == 0 else round(float(BETAS[beta]), 3),
        *(nothing if is_random or depth == 0 else beta_interval),
        None if is_random else round(float(LAPSES[lapse]), 3),
        *(nothing if is_random else lapse_interval),
        round(float(chance if is_random else by_depth[depth]), 3),
        round(chance, 3),
        {name: round(float(value), 2) for name, value in zip(MODELS, aic, strict=True)},
        {name: round(float(value), 2) for name, value in zip(MODELS, bic, strict=True)},
    )
