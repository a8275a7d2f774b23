"""One decision of a participant: as a value, as a row of a study file, and whether it can be replayed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from implicature.files import printable

PRACTICE = "practice"
"""The block of practice trials, which are recorded but not fitted."""
MAX_CANDIDATES, MAX_WORDS, MAX_MESSAGES, MAX_LETTERS = 100, 4096, 100, 200
"""Of a recorded game: more than the page ever shows."""


@dataclass(frozen=True)
class Decision:
    """One decision of a participant. Lists are stored as JSON."""

    time: str
    participant: str
    session: str
    role: str
    """student or teacher"""
    game: str
    seed: int
    candidates: list[list[str]]
    """The attributes of each, by name: enough to reconstruct the game."""
    words: list[str]
    """The vocabulary."""
    target: int
    max_rounds: int
    agent: str
    version: str
    variant: str
    """The agent's depth or phase."""
    round: int
    messages: list[str]
    """The messages so far; the last is this round's."""
    answer: int | None
    """The candidate that the participant or the agent answered; None for waiting."""
    correct: bool | None
    reaction_time_ms: int
    belief_before: list[float]
    """What the agents of this game computed: the student's belief before and after the message,"""
    belief_after: list[float]
    teacher_estimate: list[float]
    """the teacher's estimate of the belief before it,"""
    values: list[float | None]
    """and her values of all words; None for those that she may not say."""
    decision_id: str | None = None
    """A UUID that the page made for this decision; None from clients that make none, and in format 1."""
    trial: int | None = None
    """Its number among the participant's games in this session, from 1. It and what follows is None up to format 2."""
    block: str | None = None
    """Of a study's plan; None outside of one."""
    condition: str | None = None
    """Of the plan, or as the link has it."""
    thoughts_open: bool | None = None
    """Whether the page showed a belief of the other player before the decision."""
    literal_score: float | None = None
    """The score that a literal player can expect here,"""
    exact_score: float | None = None
    """and an exact one."""
    focus_lost: int | None = None
    """How often the page lost focus in this game."""
    viewport: str | None = None
    """Width × height of the window, in CSS pixels."""
    skips: int | None = None
    """Games that were left without an answer since the last decision."""


COLUMNS = {field.name: field.name for field in fields(Decision)} | {
    "time": "at", "max_rounds": "rounds", "variant": "step", "messages": "said", "correct": "right",
    "reaction_time_ms": "milliseconds", "belief_before": "before", "belief_after": "after",
    "teacher_estimate": "estimate",
}  # fmt: skip
"""The column of each field, as format 1 names it."""
GAME_FIELDS = (
    "participant", "session", "role", "game", "seed", "candidates", "target", "max_rounds", "agent", "version",
    "variant",
)  # fmt: skip
"""Decisions that agree in these are of one game; with the same round, they are the same decision."""
INTEGERS = {
    "seed", "target", "max_rounds", "round", "answer", "correct", "reaction_time_ms", "trial", "thoughts_open",
    "focus_lost", "skips",
}  # fmt: skip
BOOLEANS, REALS = ("correct", "thoughts_open"), {"literal_score", "exact_score"}
SINCE_FORMAT_3 = (
    "trial", "block", "condition", "thoughts_open", "literal_score", "exact_score", "focus_lost", "viewport", "skips",
)  # fmt: skip
JSON_FIELDS = {"candidates", "words", "messages", "belief_before", "belief_after", "teacher_estimate", "values"}


def current_time() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def to_row(decision: Decision) -> dict[str, Any]:
    """Its fields as SQLite stores them."""
    return {name: json.dumps(value) if name in JSON_FIELDS else value for name, value in vars(decision).items()}


def parse_row(row: Sequence[Any]) -> Decision:
    """A decision from its columns, in the order of COLUMNS; an error where they are not one."""
    values = {
        name: json.loads(value) if name in JSON_FIELDS else value for name, value in zip(COLUMNS, row, strict=True)
    }
    truth = {name: None if values[name] is None else bool(values[name]) for name in BOOLEANS}
    decision = Decision(**{**values, **truth})
    if not is_consistent(decision):
        raise ValueError("This is not a decision.")
    return decision


def is_consistent(decision: Decision) -> bool:
    """Whether types, sizes and indices fit each other, so that the decision can be replayed."""
    one = decision
    texts = [one.time, one.participant, one.session, one.role, one.game, one.agent, one.version, one.variant]
    texts += [text for text in (one.decision_id, one.block, one.condition, one.viewport) if text is not None]
    integers = [one.seed, one.target, one.max_rounds, one.round, one.reaction_time_ms]
    integers += [number for number in (one.trial, one.focus_lost, one.skips) if number is not None]
    beliefs = (one.belief_before, one.belief_after, one.teacher_estimate)
    lists = (one.candidates, *one.candidates, one.words, one.messages, *beliefs, one.values)
    some = [*one.values, one.literal_score, one.exact_score]
    numbers = [*(p for belief in beliefs for p in belief), *(value for value in some if value is not None)]
    n_candidates, n_words = len(one.candidates), len(one.words)
    return (
        all(type(text) is str and printable(text) and len(text) <= MAX_LETTERS for text in texts)
        and all(type(number) is int and abs(number) < 2**53 for number in integers)
        and all(type(part) is list for part in lists)
        and one.role in ("student", "teacher")
        and 0 < n_candidates <= MAX_CANDIDATES
        and 0 < n_words <= MAX_WORDS
        and 0 < len(one.messages) <= MAX_MESSAGES
        and all(type(word) is str and printable(word) for names in (one.words, *one.candidates) for word in names)
        and set(one.messages) <= set(one.words)
        and one.target in range(n_candidates)
        and (one.answer is None or (type(one.answer) is int and one.answer in range(n_candidates)))
        and all(len(belief) == n_candidates for belief in beliefs)
        and len(one.values) == n_words
        and all(type(number) in (int, float) for number in numbers)
    )
