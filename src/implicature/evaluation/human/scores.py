"""How well a model predicts people, beside chance and beside the saturated model.

log-likelihood   Σ log P(answer) a decision; chance is −mean log(options), saturated is each item's own frequencies
r                Pearson's, over cells: predicted probability and observed frequency
calibration      Σ_bins n_b |mean predicted − observed| / n, ten bins of predicted probability
held out         parameters of one half of the people, log-likelihood of the other; mean ± std over random halves
AIC = 2k − 2 log L,  BIC = k log n − 2 log L,  with k parameters and n decisions
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from implicature.evaluation.human.fitting import Fit, evaluate, fit_predictions
from implicature.evaluation.human.items import Answers
from implicature.evaluation.human.predictions import Predictions, chance_predictions, fixed_predictions

HALVES = 20
BINS = 10
SMOOTHING = 0.5
"""Added to every count of a saturated model that is judged on other people (Jeffreys)."""

Model = Callable[[Answers], Predictions]
"""A model of how people answer: what it predicts for these items."""


@dataclass(frozen=True, eq=False)
class Score:
    """One model on the answers of listeners or speakers."""

    answers: Answers
    n_parameters: int
    fit: Fit
    held_out: tuple[float, float]
    """Mean and standard deviation of log L a decision."""
    predicted: Float[np.ndarray, " cells"]
    observed: Float[np.ndarray, " cells"]

    @property
    def per_decision(self) -> float:
        return self.fit.log_likelihood / self.answers.decisions

    @property
    def aic(self) -> float:
        return 2 * self.n_parameters - 2 * self.fit.log_likelihood

    @property
    def bic(self) -> float:
        return self.n_parameters * float(np.log(self.answers.decisions)) - 2 * self.fit.log_likelihood


def cell_means(answers: Answers, table: Float[np.ndarray, "items options"]) -> Float[np.ndarray, " cells"]:
    """The mean over the answers of each cell; an item counts by its number of decisions."""
    number = answers.totals.sum(axis=1, keepdims=True) * np.ones_like(table)
    inside = answers.cells >= 0
    cells = answers.cells[inside]
    return np.bincount(cells, (number * table)[inside]) / np.bincount(cells, number[inside])


def frequencies(answers: Answers, smoothing: float = 0.0) -> Float[np.ndarray, "items options"]:
    """How often each option of an item was chosen."""
    real = np.arange(answers.cells.shape[1]) < answers.option_counts[:, None]
    counts = answers.totals + smoothing * real
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1), real / answers.option_counts[:, None])


def correlation(one: Float[np.ndarray, " cells"], other: Float[np.ndarray, " cells"]) -> float | None:
    """Pearson's r; None where one of them is constant."""
    if len(one) < 2 or np.ptp(one) < 1e-9 or np.ptp(other) < 1e-9:
        return None
    return float(np.corrcoef(one, other)[0, 1])


def calibration(answers: Answers, table: Float[np.ndarray, "items options"]) -> list[dict[str, float]]:
    """Bins of predicted probability: mean predicted, observed frequency, and the number of decisions."""
    number = answers.totals.sum(axis=1, keepdims=True) * np.ones_like(table)
    real = np.arange(table.shape[1]) < answers.option_counts[:, None]
    predicted, observed, number = (x[real] for x in (table, frequencies(answers), number))
    bins = np.minimum((predicted * BINS).astype(int), BINS - 1)
    rows = []
    for i in np.unique(bins):
        inside, total = bins == i, number[bins == i].sum()
        if total > 0:
            means = [float((number[inside] * x[inside]).sum() / total) for x in (predicted, observed)]
            rows.append({"predicted": means[0], "observed": means[1], "decisions": float(total)})
    return rows


def calibration_error(bins: Sequence[dict[str, float]]) -> float:
    total = sum(one["decisions"] for one in bins)
    return sum(one["decisions"] * abs(one["predicted"] - one["observed"]) for one in bins) / total


def halves(answers: Answers, number: int = HALVES) -> list[tuple[Answers, Answers]]:
    """The people in two random halves, so many times; the same halves for every model."""
    split = []
    for seed in range(number):
        order = np.random.default_rng(seed).permutation(len(answers.people))
        middle = len(order) // 2
        split.append((answers.of_people(order[:middle]), answers.of_people(order[middle:])))
    return split


def held_out(fit: Callable[[Answers], Fit], answers: Answers, number: int = HALVES) -> tuple[float, float]:
    """log L a decision of the half that was not fitted."""
    if len(answers.people) < 2:
        return float("nan"), float("nan")
    each = [evaluate(fit(own), other.weights) / other.decisions for own, other in halves(answers, number)]
    return float(np.mean(each)), float(np.std(each))


def score(model: Model, answers: Answers, number: int = HALVES) -> Score:
    """The model fitted to all, and judged on halves that it was not fitted to."""
    predictions = model(answers)
    fit = fit_predictions(predictions, answers)
    outside = held_out(lambda own: fit_predictions(predictions, own), answers, number)
    cells = cell_means(answers, fit.population), cell_means(answers, frequencies(answers))
    return Score(answers, predictions.n_parameters, fit, outside, *cells)


def saturated(answers: Answers, number: int = HALVES) -> Score:
    """Each item's own frequencies: one distribution for all people, as good as such a model can be."""

    def fit(own: Answers, smoothing: float = SMOOTHING) -> Fit:
        table = frequencies(own, smoothing)
        return fit_predictions(fixed_predictions("saturated", table, (0.0,)), own)

    whole, observed = fit(answers, 0.0), cell_means(answers, frequencies(answers))
    parameters = int((answers.option_counts - 1).sum())
    return Score(answers, parameters, whole, held_out(fit, answers, number), observed, observed)


def chance(answers: Answers) -> float:
    """log L a decision of choosing at random."""
    return fit_predictions(chance_predictions(answers), answers).log_likelihood / answers.decisions


def rounded(value: float | None, digits: int = 4) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), digits)


def summarize(scores: Sequence[Score], number: int = HALVES) -> dict[str, Any]:
    """The figures of one model on one data set; its parts are pooled, and each stands beside."""
    decisions = np.array([one.answers.decisions for one in scores])
    share = decisions / decisions.sum()
    predicted, observed = (np.concatenate([getattr(one, name) for one in scores]) for name in ("predicted", "observed"))
    full = [saturated(one.answers, number) for one in scores]
    bins = [calibration(one.answers, one.fit.population) for one in scores]
    figures: dict[str, Any] = {
        "log_likelihood": rounded(sum(share * [one.per_decision for one in scores])),
        "held_out": rounded(sum(share * [one.held_out[0] for one in scores])),
        "held_out_std": rounded(float(np.sqrt(sum((share * [one.held_out[1] for one in scores]) ** 2)))),
        "r": rounded(correlation(predicted, observed)),
        "calibration_error": rounded(calibration_error([one for part in bins for one in part])),
        "chance": rounded(sum(share * [chance(one.answers) for one in scores])),
        "saturated": rounded(sum(share * [one.per_decision for one in full])),
        "saturated_held_out": rounded(sum(share * [one.held_out[0] for one in full])),
        "parameters": sum(one.n_parameters for one in scores),
        "aic": rounded(sum(one.aic for one in scores), 1),
        "bic": rounded(sum(one.bic for one in scores), 1),
        "decisions": rounded(decisions.sum(), 1),
        "people": sum(len(one.answers.people) for one in scores),
        "cells": len(predicted),
    }
    if len(scores) > 1:
        figures["parts"] = {f"{one.answers.role}s": summarize([one], number) for one in scores}
    else:
        (one,) = scores
        figures |= {"rationality": one.fit.rationality, "lapse": one.fit.lapse, "calibration": bins[0]}
    return figures
