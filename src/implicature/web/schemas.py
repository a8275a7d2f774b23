"""Requests and responses of the page's API. Every request is validated and bounded here, before it is computed with."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from implicature.web.dealing import MAX_CANDIDATES, MAX_ROUNDS, Kind
from implicature.web.rounds import Round

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$", examples=["numbers-4"])]
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$", examples=["P07"])]
DecisionId = Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
Viewport = Annotated[str, Field(pattern=r"^[0-9]{1,5}x[0-9]{1,5}$", examples=["1280x860"])]
Position = Annotated[int, Field(ge=0, lt=MAX_CANDIDATES, strict=True)]
Message = Annotated[int, Field(ge=0, le=4096, strict=True)]
Instance = Annotated[int, Field(ge=0, le=1_000_000, strict=True)]


class RequestModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GameSettings(RequestModel):
    """Which game is dealt and who plays it: what the page's URL holds."""

    game: Name = "numbers-4"
    candidates: Annotated[int, Field(ge=2, le=MAX_CANDIDATES, strict=True)] | None = None
    instances: Annotated[list[Instance], Field(min_length=2, max_length=MAX_CANDIDATES)] | None = None
    """These candidates instead of random ones."""
    seed: Annotated[int, Field(ge=0, lt=2**31, strict=True)] = 0
    pragmatic_only: Annotated[bool, Field(strict=True)] = False
    """Only games that take pragmatic inference."""
    rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS, strict=True)] = 1
    agent: Name = "exact"
    variant: Annotated[int, Field(ge=0, le=100, strict=True)] = 0
    """The depth of an exact agent, or which of a trained pair's phases."""


Viewer = Literal["student", "teacher", "unrecorded"]
"""Who sees a game: a student whose answer may be recorded, a teacher, or somebody who is never recorded."""


class ShownGame(GameSettings):
    viewer: Viewer = "student"
    """Where decisions are recorded, each of them has other games by the same seed."""


class Participant(RequestModel):
    """Who decided, and how long it took. Sent only for people who have agreed to be recorded."""

    consent: Literal[True]
    code: Code
    session: Code
    reaction_time_ms: Annotated[int, Field(ge=0, le=86_400_000, strict=True)]
    trial: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    condition: Code | None = None
    thoughts_open: Annotated[bool, Field(strict=True)] | None = None
    focus_lost: Annotated[int, Field(ge=0, le=1_000_000, strict=True)] | None = None
    viewport: Viewport | None = None
    skips: Annotated[int, Field(ge=0, le=1_000_000, strict=True)] | None = None
    decision_id: DecisionId | None = None
    """A UUID of this decision. Whatever else is sent with the same one is a repeat, and gets the first response."""


class StudentTurn(RequestModel):
    """A person is the student, has received so many messages, and answers or waits; null to read the last of them.
    Whoever is recorded says so from the first message on: without a participant, another game is played."""

    settings: GameSettings
    n_messages: Annotated[int, Field(ge=1, le=MAX_ROUNDS, strict=True)] = 1
    answer: Position | Literal["wait"] | None = None
    participant: Participant | None = None


class TeacherTurn(RequestModel):
    """A person is the teacher and has sent these messages so far."""

    settings: GameSettings
    messages: Annotated[list[Message], Field(max_length=MAX_ROUNDS)] = []
    participant: Participant | None = None


class CandidateText(RequestModel):
    """Candidates that a person has typed."""

    game: Name
    text: Annotated[str, Field(min_length=1, max_length=1000)]


class CandidateInstances(BaseModel):
    instances: list[int]


class Candidate(BaseModel):
    instance: int
    attributes: list[str]
    label: str


class PublicGame(BaseModel):
    """What both players see of a game."""

    game: str
    candidates: list[Candidate]
    rounds: int
    message_cost: float


class GameState(BaseModel):
    """Where the game stands. What the student must not know yet is left out."""

    model_config = ConfigDict(populate_by_name=True)

    messages: list[int]
    over: bool
    target: int | None = None
    answer: int | None = None
    episode_return: Annotated[float | None, Field(alias="return")] = None
    literal_return: float | None = None
    """What a literal pair can expect in this game,"""
    exact_return: float | None = None
    """and an exact pair."""
    rounds: list[Round] = []
    recorded: bool = False


class GameInfo(BaseModel):
    name: str
    title: str
    kind: Kind
    words: list[str]
    candidates: int
    max_candidates: int
    images: bool
    """Whether its instances have images."""


class AgentInfo(BaseModel):
    name: str
    title: str
    variants: list[str]
    variant: int
    """The default."""
    games: list[str]
    grounded: bool


class About(BaseModel):
    """What this server offers."""

    version: str
    games: list[GameInfo]
    agents: list[AgentInfo]
    max_rounds: int
    consent: str | None
    """What people agree to, where decisions are recorded."""
    study: str | None = None
    """The title of the study by a plan that this server is for; it then offers nothing else."""


class ErrorMessage(BaseModel):
    """One sentence about what is wrong."""

    message: str
