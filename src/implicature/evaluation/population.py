"""Participants around a population: a hierarchical fit, by expectation maximisation on the grid of the single fits.

    kind ~ π over random, literal, depth 1 … 4      log β ~ N(μ, σ²)      logit λ ~ N(ν, τ²)

Who made few decisions is drawn towards the others; the posterior of each participant says which kind they are. The sums
over the grid are exact, so nothing is approximated but the grid itself. One pseudo-participant, divided among all
kinds, keeps π away from 0.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from implicature.evaluation.people import BETAS, LAPSES, MODELS

ITERATIONS, TOLERANCE = 200, 1e-6
MIN_SPREAD = 0.1
"""Of log β and logit λ: people are never taken to be all alike."""
LOG_BETAS = np.log(BETAS.astype(np.float64))
LOGIT_LAPSES = np.log(LAPSES / (1 - LAPSES))
LAPSE_STEPS = np.gradient(LOGIT_LAPSES)


@dataclass(frozen=True, eq=False)
class Population:
    """What participants have in common, and each of them in that light."""

    proportions: Float[np.ndarray, " models"]
    beta: float
    """The median, of those who reason."""
    beta_spread: float
    """Standard deviation of log β."""
    lapse: float
    """The median, of those who are not random."""
    lapse_spread: float
    """Standard deviation of logit λ."""
    kinds: Float[np.ndarray, "people models"]
    """Posterior probability of each model."""
    betas: Float[np.ndarray, " people"]
    """Posterior median-like estimate, exp E log β, if they reason;"""
    lapses: Float[np.ndarray, " people"]
    """and of λ, if they are not random."""


def log_normal_weights(values: np.ndarray, mean: float, spread: float, steps: np.ndarray | float = 1.0) -> np.ndarray:
    weights = np.exp(-0.5 * ((values - mean) / spread) ** 2) * steps + 1e-300
    return np.log(weights / weights.sum())


def moments(weights: np.ndarray, values: np.ndarray, mean: float, spread: float) -> tuple[float, float]:
    """Mean and standard deviation under weights; the earlier ones where nobody counts."""
    total = weights.sum()
    if total < 1e-6:
        return mean, spread
    new = float((weights * values).sum() / total)
    return new, max(MIN_SPREAD, float(np.sqrt((weights * (values - new) ** 2).sum() / total)))


def fit_population(
    grids: Float[np.ndarray, "people betas depths lapses"], chance: Float[np.ndarray, " people"]
) -> Population:
    """From the log likelihoods of each participant: of every β, depth and lapse rate, and of random choices."""
    proportions = np.full(len(MODELS), 1 / len(MODELS))
    mu, sigma, nu, tau, before = 1.5, 1.0, -2.5, 1.0, -np.inf
    for _ in range(ITERATIONS):
        prior = log_normal_weights(LOG_BETAS, mu, sigma)[:, None, None] + log_normal_weights(
            LOGIT_LAPSES, nu, tau, LAPSE_STEPS
        )
        joint = grids + prior + np.log(proportions[1:])[:, None]
        random = chance + np.log(proportions[0])
        largest = np.maximum(joint.max(axis=(1, 2, 3)), random)
        weights = np.exp(joint - largest[:, None, None, None])
        at_random = np.exp(random - largest)
        total = weights.sum(axis=(1, 2, 3)) + at_random
        weights, at_random = weights / total[:, None, None, None], at_random / total
        kinds = np.concatenate([at_random[:, None], weights.sum(axis=(1, 3))], axis=1)
        log_likelihood = float((largest + np.log(total)).sum())
        if log_likelihood - before < TOLERANCE:
            break
        before = log_likelihood
        proportions = (kinds.sum(axis=0) + 1 / len(MODELS)) / (len(kinds) + 1)
        by_beta, by_lapse = weights[:, :, 1:].sum(axis=(0, 2, 3)), weights.sum(axis=(0, 1, 2))
        mu, sigma = moments(by_beta, LOG_BETAS, mu, sigma)
        nu, tau = moments(by_lapse, LOGIT_LAPSES, nu, tau)
    own_beta, own_lapse = weights[:, :, 1:].sum(axis=(2, 3)), weights.sum(axis=(1, 2))
    betas = np.exp(own_beta @ LOG_BETAS / np.maximum(own_beta.sum(axis=1), 1e-12))
    logits = own_lapse @ LOGIT_LAPSES / np.maximum(own_lapse.sum(axis=1), 1e-12)
    lapse = float(1 / (1 + np.exp(-nu)))
    return Population(proportions, float(np.exp(mu)), sigma, lapse, tau, kinds, betas, 1 / (1 + np.exp(-logits)))
