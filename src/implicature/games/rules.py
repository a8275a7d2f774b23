"""The rules of the referential game ⟨A, B, Ω, M, 𝒜⟩ (section 2).

In each round the teacher sends m at cost c_m and the student answers 1 … K or waits (Ξ); the game ends at the first
answer that is not Ξ, or with the last round. Both receive  R = −Σ c_m + 1[answer = target].
"""

from dataclasses import dataclass
from typing import Any

MAX_CANDIDATES = 1_000
MAX_ROUNDS = 100


@dataclass(frozen=True)
class Rules:
    """What both players know before a game begins."""

    candidates: int
    rounds: int = 1
    message_cost: float = 0.0

    def __post_init__(self) -> None:
        if self.candidates < 2:
            raise ValueError(f"{self.candidates} candidates leave nothing to guess: ask for 2 or more.")
        if self.candidates > MAX_CANDIDATES:
            raise ValueError(f"{self.candidates:,} candidates are too many: ask for {MAX_CANDIDATES:,} or fewer.")
        if self.rounds < 1:
            raise ValueError(f"A game of {self.rounds} rounds has no message: ask for 1 or more.")
        if self.rounds > MAX_ROUNDS:
            raise ValueError(f"A game of {self.rounds:,} rounds is too long: ask for {MAX_ROUNDS} or fewer.")
        if not 0 <= self.message_cost < 1:
            raise ValueError(f"A message cost of {self.message_cost} is not in [0, 1): a right answer is worth 1.")

    @property
    def wait(self) -> int:
        """The student's action Ξ; 0 … candidates-1 are answers."""
        return self.candidates

    def score(self, action: Any, target: Any, round_index: Any) -> tuple[Any, Any]:
        """The reward of a round, and whether it ends the game. `action` is in the order that the target is given in, or
        Ξ. Plain numbers, or arrays with an entry for each game."""
        return (action == target) - self.message_cost, (action != self.wait) | (round_index == self.rounds - 1)
