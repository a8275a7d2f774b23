"""Requests and responses of a study. A screen holds nothing that a participant may not know yet."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from implicature.web.schemas import Code, DecisionId, RequestModel, Viewport
from implicature.web.study.plan import Drawing, Role

LongCode = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Count = Annotated[int, Field(ge=0, le=1_000_000, strict=True)]


class Who(RequestModel):
    """A participant, by the code of the link; on Prolific PROLIFIC_PID is the code."""

    code: LongCode
    prolific_pid: LongCode | None = None
    study_id: LongCode | None = None
    session_id: LongCode | None = None


class ScreenRequest(RequestModel):
    who: Who


class Consent(RequestModel):
    who: Who
    consent: Literal[True]
    session: Code


class Done(RequestModel):
    """A screen is done: with an answer where it asks for one."""

    who: Who
    position: Count
    """Of the screen. Another than the participant's present one changes nothing."""
    answer: Annotated[int, Field(ge=0, le=4096, strict=True)] | None = None
    """The card or the word, from 0."""
    answers: Annotated[list[Annotated[int, Field(ge=0, le=8, strict=True)]], Field(max_length=20)] | None = None
    """To the comprehension check."""
    reaction_time_ms: Annotated[int, Field(ge=0, le=86_400_000, strict=True)] = 0
    focus_lost: Count = 0
    viewport: Viewport | None = None
    decision_id: DecisionId | None = None


class Card(BaseModel):
    attributes: list[str]
    label: str
    image: str | None = None


class QuestionScreen(BaseModel):
    question: str
    answers: list[str]


class TrialScreen(BaseModel):
    role: Role
    practice: bool
    cards: list[Card]
    words: list[str]
    said: str | None = None
    check: str | None = None
    target: int | None = None
    """Only the teacher's, who must know it."""
    draw: Drawing


class Feedback(BaseModel):
    """On the trial before."""

    correct: bool
    target: int
    answer: int
    """The card that the participant or the partner chose."""
    trial: TrialScreen


class Screen(BaseModel):
    """What a participant sees now."""

    kind: Literal["consent", "text", "comprehension", "trial", "end", "failed"]
    title: str
    position: int = 0
    steps: int = 1
    """Screens in all."""
    text: str = ""
    questions: list[QuestionScreen] = []
    attempts_left: int | None = None
    wrong: list[int] = []
    """Questions that were not right in the attempt before."""
    trial: TrialScreen | None = None
    code: str | None = None
    url: str | None = None
    feedback: Feedback | None = None
