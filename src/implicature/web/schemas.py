"""What the page asks and what it is told: every question is bounded here, before anything is done with it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from implicature.web.dealing import MOST_CANDIDATES, MOST_ROUNDS
from implicature.web.rounds import Round

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$", examples=["numbers-4"])]
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$", examples=["P07"])]
Place = Annotated[int, Field(ge=0, lt=MOST_CANDIDATES, strict=True)]
Word = Annotated[int, Field(ge=0, le=4096, strict=True)]
Instance = Annotated[int, Field(ge=0, le=1_000_000, strict=True)]
Candidates = Annotated[int, Field(ge=2, le=MOST_CANDIDATES, strict=True)]


class Question(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Address(Question):
    """A game and who plays it: what stands in the page's address."""

    game: Name = "numbers-4"
    candidates: Candidates | None = None
    instances: Annotated[list[Instance], Field(min_length=2, max_length=MOST_CANDIDATES)] | None = None
    """These candidates instead of drawn ones."""
    seed: Annotated[int, Field(ge=0, lt=2**31, strict=True)] = 0
    tricky: Annotated[bool, Field(strict=True)] = False
    """Only games that a literal pair often loses."""
    rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS, strict=True)] = 1
    agent: Name = "exact"
    step: Annotated[int, Field(ge=0, le=100, strict=True)] = 0
    """Depth of an exact agent, or which of a trained pair's phases."""


class Person(Question):
    """Who decided, and how long it took. Sent only by people who have agreed to be recorded."""

    consent: Literal[True]
    participant: Code
    session: Code
    milliseconds: Annotated[int, Field(ge=0, le=86_400_000, strict=True)]


class Heard(Question):
    """A person is the student, has heard so many words, and answers or waits; null to hear the last of them."""

    address: Address
    words: Annotated[int, Field(ge=1, le=MOST_ROUNDS, strict=True)] = 1
    answer: Place | Literal["wait"] | None = None
    person: Person | None = None


class Said(Question):
    """A person is the teacher and has said these words so far."""

    address: Address
    words: Annotated[list[Word], Field(max_length=MOST_ROUNDS)] = []
    person: Person | None = None


class Typed(Question):
    game: Name
    text: Annotated[str, Field(min_length=1, max_length=1000)]


class Shown(BaseModel):
    """A candidate as it is drawn."""

    instance: int
    names: list[str]
    called: str


class Board(BaseModel):
    """What both sides see."""

    game: str
    candidates: list[Shown]
    rounds: int
    cost: float


class Outcome(BaseModel):
    """Where the game stands. What the student must not know yet is left out."""

    words: list[int]
    over: bool
    target: int | None = None
    answer: int | None = None
    gain: float | None = None
    literal: float | None = None
    exact: float | None = None
    thoughts: list[Round] = []
    recorded: bool = False


class Instances(BaseModel):
    instances: list[int]


class Game(BaseModel):
    name: str
    title: str
    kind: Literal["numbers", "objects", "words"]
    words: list[str]
    candidates: int
    most: int
    pictures: bool
    """Whether its instances are shown in pictures."""


class Agent(BaseModel):
    name: str
    title: str
    steps: list[str]
    step: int
    games: list[str]
    grounded: bool


class About(BaseModel):
    """What this server offers."""

    version: str
    games: list[Game]
    agents: list[Agent]
    rounds: int
    consent: str | None
    """The sentence that people agree to, where decisions are recorded."""


class Problem(BaseModel):
    """A sentence about what is wrong."""

    sentence: str
