"""The rules of the referential game ⟨A, B, Ω, M, 𝒜⟩ (section 2).

In each round the teacher sends m at cost c_m and the student answers 1 … K or waits (Ξ); the game ends at the first
answer that is not Ξ, or with the last round. Both receive  R = −Σ c_m + 1[answer = target], where c_m is the cost of
any message and that of the word itself. With a question under discussion, any candidate in the target's cell is right.
With channel noise ε, the student receives another word than was sent with probability ε, each equally likely.

A message of up to n words takes n rounds: he hears them one after the other and waits (Ξ) until the last. A word that
is said again in the same message adds nothing and costs nothing, so that a shorter message is one with a word repeated.
"""

from dataclasses import dataclass
from typing import Any, Literal

Contexts = Literal["random", "near"]
"""How candidates are drawn: any instances, or neighbours of one of them (games/contexts.py)."""
NEAR_TEMPERATURE = 0.02
"""Contexts about as hard as the nearest neighbours, and many of them for each anchor (F-63)."""
MAX_CANDIDATES = 1_000
MAX_ROUNDS = 100


@dataclass(frozen=True)
class Rules:
    """What both players know before a game begins."""

    candidates: int
    rounds: int = 1
    message_cost: float = 0.0
    noise: float = 0.0
    """ε: how likely a word is received as another one."""
    words: int = 1
    """The most words in a message; the number of rounds is a multiple of it."""

    def __post_init__(self) -> None:
        if self.candidates < 2:
            raise ValueError(f"{self.candidates} candidates leave nothing to guess: ask for 2 or more.")
        if self.candidates > MAX_CANDIDATES:
            raise ValueError(f"{self.candidates:,} candidates are too many: ask for {MAX_CANDIDATES:,} or fewer.")
        if self.rounds < 1:
            raise ValueError(f"A game of {self.rounds} rounds has no message: ask for 1 or more.")
        if self.rounds > MAX_ROUNDS:
            raise ValueError(f"A game of {self.rounds:,} rounds is too long: ask for {MAX_ROUNDS} or fewer.")
        if self.words < 1 or self.rounds % self.words:
            raise ValueError(
                f"{self.rounds} rounds are no whole number of messages of up to {self.words} words: a round is a word."
            )
        if not 0 <= self.message_cost < 1:
            raise ValueError(f"A message cost of {self.message_cost} is not in [0, 1): a right answer is worth 1.")
        if not 0 <= self.noise < 1:
            raise ValueError(f"A channel noise of {self.noise} is not in [0, 1): it is how often a word is misheard.")

    @property
    def wait(self) -> int:
        """The student's action Ξ; 0 … candidates-1 are answers."""
        return self.candidates

    def completes(self, round_index: Any) -> Any:
        """Whether this round's word is the last of its message, so that the student may answer."""
        return (round_index + 1) % self.words == 0

    def score(
        self, action: Any, target: Any, round_index: Any, word_cost: Any = 0.0, repeated: Any = False
    ) -> tuple[Any, Any]:
        """The reward of a round, and whether it ends the game. `action` is in the order that the target is given in, or
        Ξ. A word that is repeated in its message is free. Plain numbers, or arrays with an entry for each game."""
        reward = (action == target) - (self.message_cost + word_cost) * (1 - repeated)
        return reward, (action != self.wait) | (round_index == self.rounds - 1)


def check_word_costs(costs: Any, message_cost: float) -> None:
    """Raise an error where a right answer would not be worth its message."""
    if (most := float(max(costs, default=0.0)) + message_cost) >= 1:
        raise ValueError(
            f"A message would cost up to {most:g}, but a right answer is worth 1: lower the costs of words or messages."
        )
