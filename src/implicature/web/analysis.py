"""Participants' decisions as arrays, and the fit of each participant."""

from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from implicature.evaluation.people import DecisionArrays, fit_participant
from implicature.web.decisions import Decision

ROLES = ("student", "teacher")


def is_fitted(decision: Decision) -> bool:
    """A message or an answer; waiting is not modelled."""
    return decision.role == "teacher" or decision.answer is not None


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
    )


def fit_participants(decisions: list[Decision], quiet: bool = False) -> list[dict[str, Any]]:
    """A row for each participant and role, and one for both roles where they took both."""
    fits: list[dict[str, Any]] = []
    fitted = [one for one in decisions if is_fitted(one)]
    participants = list(dict.fromkeys(one.participant for one in decisions))
    for participant in track(participants, "Fitting …", console=Console(stderr=True), transient=True, disable=quiet):
        own = [one for one in fitted if one.participant == participant]
        roles = [role for role in ROLES if any(one.role == role for one in own)]
        for role in [*roles, *(["both"] if len(roles) == 2 else [])]:
            chosen = [one for one in own if role in ("both", one.role)]
            correct = [one.correct for one in chosen if one.correct is not None]
            fits.append(
                {
                    "participant": participant, "role": role, **asdict(fit_participant(decision_arrays(chosen))),
                    "accuracy": float(np.mean(correct)) if correct else None,
                    "median_reaction_time_ms": float(np.median([one.reaction_time_ms for one in chosen])),
                }
            )  # fmt: skip
    return fits
