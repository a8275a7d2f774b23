"""Maximum likelihood of rationality, lapse rate and, in a mixture, the proportion of each kind of people.

    P(a | item) = (1 − λ) · P_model(a | item) + λ / options          a lapse is a random choice
    log L       = Σ_people log Σ_k w_k Π_decisions P_k(a | item)     a person is of one kind k throughout

Rationality and λ are chosen on a grid, w by expectation maximisation. One kind alone, or kinds that are all equally
frequent, need no EM.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from implicature.evaluation.human.items import Answers, Weights
from implicature.evaluation.human.predictions import Predictions

SMALLEST = 1e-12
"""A probability of 0 counts as this much: a model that rules out what somebody did is very bad, not infinitely bad."""
MAX_ITERATIONS, TOLERANCE = 300, 1e-4


@dataclass(frozen=True, eq=False)
class Fit:
    """Parameters of one model for one group of people."""

    rationality: float | None
    lapse: float
    proportions: Float[np.ndarray, " components"]
    table: Float[np.ndarray, "components items options"]
    """P(answer) of each kind of people, lapses included."""
    log_likelihood: float
    """Of all their decisions."""

    @property
    def population(self) -> Float[np.ndarray, "items options"]:
        """P(answer) of somebody unknown."""
        return np.tensordot(self.proportions, self.table, 1)


def with_lapse(
    table: Float[np.ndarray, "... items options"], lapse: float, options: Int[np.ndarray, " items"]
) -> Float[np.ndarray, "... items options"]:
    """(1 − λ) P + λ / options; padding stays 0."""
    real = np.arange(table.shape[-1]) < options[:, None]
    return np.where(real, (1 - lapse) * table + lapse / options[:, None], 0)


def log_table(table: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    return np.log(np.maximum(table, SMALLEST))


def person_log_likelihoods(
    weights: Weights, table: Float[np.ndarray, "components items options"]
) -> Float[np.ndarray, "components people"]:
    return np.tensordot(log_table(table), weights, axes=([1, 2], [1, 2]))


def mix(
    each: Float[np.ndarray, "components people"], proportions: Float[np.ndarray, " components"]
) -> tuple[Float[np.ndarray, " people"], Float[np.ndarray, "components people"]]:
    """log L of each person, and the posterior probability that they are of each kind."""
    joint = each + np.log(np.maximum(proportions, 1e-300))[:, None]
    largest = joint.max(axis=0)
    total = np.exp(joint - largest).sum(axis=0)
    return largest + np.log(total), np.exp(joint - largest) / total


def evaluate(fit: Fit, weights: Weights) -> float:
    """log L of people, perhaps of others than those who were fitted."""
    return float(mix(person_log_likelihoods(weights, fit.table), fit.proportions)[0].sum())


def posterior(fit: Fit, weights: Weights) -> Float[np.ndarray, "components people"]:
    """How likely each person is to be of each kind."""
    return mix(person_log_likelihoods(weights, fit.table), fit.proportions)[1]


def fit_predictions(predictions: Predictions, answers: Answers) -> Fit:
    """The best parameters for these people."""
    options = answers.option_counts
    if len(predictions.components) == 1:
        grid = np.stack(
            [
                np.tensordot(log_table(with_lapse(predictions.table[:, 0], lapse, options)), answers.totals, 2)
                for lapse in predictions.lapses
            ],
            axis=1,
        )
        setting, lapse = np.unravel_index(grid.argmax(), grid.shape)
        return make_fit(predictions, int(setting), int(lapse), np.ones(1), answers)
    logs = np.stack([log_table(with_lapse(predictions.table, lapse, options)) for lapse in predictions.lapses], axis=1)
    patterns, number = np.unique(
        answers.weights, axis=0, return_counts=True
    )  # people who answered alike count together
    each = np.tensordot(logs, patterns, axes=([3, 4], [1, 2]))  # settings × lapses × components × patterns
    if predictions.equal_weights:
        equal = np.full(each.shape[2], 1 / each.shape[2])
        grid = np.array([[mix(one, equal)[0] @ number for one in lapses] for lapses in each])
        setting, lapse = np.unravel_index(grid.argmax(), grid.shape)
        return make_fit(predictions, int(setting), int(lapse), equal, answers)
    starts = [int(i) for i in np.linspace(0, len(each) - 1, 5)[1:-1]] if len(each) > 2 else [0]
    fits = [
        make_fit(predictions, *expectation_maximization(each, number, start, len(predictions.lapses) // 10), answers)
        for start in starts
    ]
    return max(fits, key=lambda fit: fit.log_likelihood)


def expectation_maximization(
    each: Float[np.ndarray, "settings lapses components patterns"],
    number: Int[np.ndarray, " patterns"],
    setting: int,
    lapse: int,
) -> tuple[int, int, Float[np.ndarray, " components"]]:
    """Setting, lapse rate and proportions, from this start: who is of which kind (E), then the best parameters (M)."""
    proportions, before = np.full(each.shape[2], 1 / each.shape[2]), -np.inf
    for _ in range(MAX_ITERATIONS):
        log_likelihood, kinds = mix(each[setting, lapse], proportions)
        if (total := float(log_likelihood @ number)) - before < TOLERANCE:
            break
        before, proportions = total, kinds @ number / number.sum()
        expected = np.tensordot(each, kinds * number, 2)
        setting, lapse = (int(i) for i in np.unravel_index(expected.argmax(), expected.shape))
    return setting, lapse, proportions


def make_fit(
    predictions: Predictions, setting: int, lapse: int, proportions: Float[np.ndarray, " components"], answers: Answers
) -> Fit:
    table = with_lapse(predictions.table[setting], predictions.lapses[lapse], answers.option_counts)
    known = predictions.rationality[setting] if predictions.rationality else None
    fit = Fit(known, predictions.lapses[lapse], proportions, table, 0.0)
    return Fit(known, fit.lapse, proportions, table, evaluate(fit, answers.weights))
