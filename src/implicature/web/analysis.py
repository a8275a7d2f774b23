"""Participants' decisions as arrays, the fit of each participant, and of all of them together."""

from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from implicature.evaluation.people import MODELS, DecisionArrays, Fit, choice_grid, fit_grid, predict_options
from implicature.evaluation.population import Population, fit_population
from implicature.web.dealing import playable_games
from implicature.web.decisions import PRACTICE, Decision

ROLES = ("student", "teacher")


def is_fitted(decision: Decision) -> bool:
    """A message or an answer that was no practice; waiting is not modelled."""
    return decision.block != PRACTICE and (decision.role == "teacher" or decision.answer is not None)


def decision_arrays(decisions: list[Decision]) -> DecisionArrays:
    """Decisions as arrays, padded to the largest game among them."""
    candidates = max(len(one.candidates) for one in decisions)
    words = max(len(one.words) for one in decisions)
    rounds = max(len(one.messages) for one in decisions)
    lexicon = np.zeros((len(decisions), candidates, words), bool)
    messages = np.full((len(decisions), rounds), -1)
    for row, one in enumerate(decisions):
        is_true = [[word in attributes for word in one.words] for attributes in one.candidates]
        lexicon[row, : len(one.candidates), : len(one.words)] = is_true
        messages[row, : len(one.messages)] = [one.words.index(word) for word in one.messages]
    return DecisionArrays(
        lexicon=lexicon,
        n_candidates=np.array([len(one.candidates) for one in decisions]),
        n_words=np.array([len(one.words) for one in decisions]),
        messages=messages,
        is_teacher=np.array([one.role == "teacher" for one in decisions]),
        target=np.array([one.target for one in decisions]),
        answer=np.array([-1 if one.answer is None else one.answer for one in decisions]),
        share=np.array([starts_with_share(one.game) for one in decisions]),
    )


def starts_with_share(game: str) -> bool:
    """How the recursion of the game's own agents starts; that of a run's game starts with "share"."""
    known = playable_games().get(game)
    return known is None or known.share


def flatten(fit: Fit) -> dict[str, Any]:
    """A fit as one row: an AIC and a BIC for each model."""
    row = asdict(fit)
    for name in ("aic", "bic"):
        row |= {f"{name}_{model.replace(' ', '_')}": value for model, value in row.pop(name).items()}
    return row


def fit_participants(decisions: list[Decision], quiet: bool = False) -> list[dict[str, Any]]:
    """A row for each participant and role, and one for both roles where they took both; with what the population of
    the role says about them."""
    rows: list[dict[str, Any]] = []
    grids, chances = [], []
    fitted = [one for one in decisions if is_fitted(one)]
    participants = list(dict.fromkeys(one.participant for one in decisions))
    for participant in track(participants, "Fitting …", console=Console(stderr=True), transient=True, disable=quiet):
        own = [one for one in fitted if one.participant == participant]
        roles = [role for role in ROLES if any(one.role == role for one in own)]
        for role in [*roles, *(["both"] if len(roles) == 2 else [])]:
            chosen = [one for one in own if role in ("both", one.role)]
            correct = [one.correct for one in chosen if one.correct is not None]
            arrays = decision_arrays(chosen)
            grids.append(choice_grid(predict_options(arrays), arrays.choice, arrays.n_options))
            fit = fit_grid(grids[-1], arrays.n_options)
            chances.append(fit.chance_log_likelihood)
            rows.append(
                {
                    "participant": participant, "role": role, **flatten(fit),
                    "accuracy": float(np.mean(correct)) if correct else None,
                    "median_reaction_time_ms": float(np.median([one.reaction_time_ms for one in chosen])),
                }
            )  # fmt: skip
    add_populations(rows, np.array(grids), np.array(chances))
    return rows


def add_populations(rows: list[dict[str, Any]], grids: np.ndarray, chances: np.ndarray) -> None:
    """To each row what the hierarchical fit of its role says."""
    for role in (*ROLES, "both"):
        if chosen := [i for i, row in enumerate(rows) if row["role"] == role]:
            population = fit_population(grids[chosen], chances[chosen])
            for i, kinds, beta, lapse in zip(
                chosen, population.kinds, population.betas, population.lapses, strict=True
            ):
                names = [f"posterior_{model.replace(' ', '_')}" for model in MODELS]
                rows[i] |= {name: round(float(p), 4) for name, p in zip(names, kinds, strict=True)}
                rows[i] |= {
                    "population_beta": round(float(beta), 3), "population_lapse": round(float(lapse), 4)
                }  # fmt: skip
                rows[i] |= {f"role_{name}": value for name, value in describe(population).items()}


def describe(population: Population) -> dict[str, float]:
    """The population itself, the same for all rows of a role."""
    shares = {f"share_{model.replace(' ', '_')}": p for model, p in zip(MODELS, population.proportions, strict=True)}
    names = "beta", "beta_spread", "lapse", "lapse_spread"
    return {
        name: round(float(value), 4)
        for name, value in {**shares, **{name: getattr(population, name) for name in names}}.items()
    }
