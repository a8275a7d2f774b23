"""Who plays what, as the command line asks for it. No JAX here: it is shown as help."""

from dataclasses import dataclass
from typing import Annotated

import tyro


@dataclass(frozen=True)
class Sides:
    """Two players and their test games."""

    run: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="[RUN]")] = None
    """The run's folder, for both sides or for the one that is not named otherwise; RUN:1 is its pair number 1."""
    teacher: str | None = None
    """Who speaks: a run's folder, "exact", "literal", or module:object, an agent of your own, whose module is run."""
    student: str | None = None
    """Who listens, likewise."""
    games: int = 20_000
    """How many games."""
    seed: int = 0
    """Another seed draws other games."""
    phase: int | None = None
    """Runs as they were after this phase; by default the last."""
    novel: bool = False
    """Targets that training held out, among any candidates, for runs with --instances below 1 (the paper's table 3)."""
    pictures: str | None = None
    """Other pictures of the same things for pairs who see: a folder, or "objects" for those of the package."""
    candidates: int | None = None
    """Another number of candidates than in training."""
    game: str = "numbers-4"
    """The game where neither is of a run: numbers-4, numbers-7, objects-4, objects-7."""
    space: str | None = None
    """Or a space of your own there: a CSV or JSON file (then say how many --candidates)."""
    rounds: int = 1
    """The most messages of a game there."""
    message_cost: float = 0.0
    """What each message costs both there."""
