"""Two players and their test games, as the command line asks for them. No JAX here: it is shown as help."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from implicature.games.rules import Contexts


@dataclass(frozen=True)
class MatchupArgs:
    """Two players and their test games."""

    run: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="[RUN]")] = None
    """The run's folder, for both roles or for the one that is not named otherwise; RUN:1 is its pair number 1."""
    teacher: str | None = None
    """The teacher: a run's folder, "exact", exact:depth=1,utility=log,alpha=4 (docs/rsa.md), "literal", or
    module:object, an agent of your own, whose module is run."""
    student: str | None = None
    """The student, likewise."""
    games: int = 20_000
    """How many games."""
    seed: int = 0
    """Another seed draws other games."""
    phase: int | None = None
    """Runs as they were after this phase; by default the last."""
    novel: bool = False
    """Targets that training held out, among any candidates, for runs with --train-instance-fraction below 1 (the
    paper's table 3)."""
    images: str | None = None
    """Other images of the same instances for pairs who see images: a folder, or "objects" for those of the package."""
    candidates: int | None = None
    """Another number of candidates than in training."""
    layers: int | None = None
    """Apply the shared layers of runs with --share-layers as often as if there were so many, to see what depth does."""
    game: str = "numbers-4"
    """The game where neither player is of a run: numbers-4, numbers-7, objects-4, objects-7, emoji-7, emoji-16,
    emoji-50."""
    space: str | None = None
    """Or a space of your own there: a CSV or JSON file (then say how many --candidates)."""
    contexts: Contexts | None = None
    """How candidates are drawn there: random, or near, neighbours that share words; by default as the game has it."""
    context_temperature: float | None = None
    """τ of near contexts there, from nearest (0) to random (large); by default 0.02."""
    rounds: int = 1
    """The maximum number of messages in a game there."""
    message_cost: float = 0.0
    """What each message costs both players there."""
    noise: float = 0.0
    """Channel noise: how likely a word is received as another one. Exact players reckon with it."""
    qud: str | None = None
    """The question under discussion, a category or an attribute of the space, such as colour: an answer that agrees
    with the target in it is right."""

    def players(self) -> tuple[str, str]:
        """The teacher and the student that were asked for."""
        teacher, student = self.teacher or self.run, self.student or self.run
        if teacher is None or student is None:
            role = "teacher" if teacher is None else "student"
            raise ValueError(f"Who is the {role}? Name a run, or say it with --{role}.")
        return teacher, student
