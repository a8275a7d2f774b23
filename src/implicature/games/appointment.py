"""The appointment game: two players who both know something (Yuan et al., arXiv 2110.00121).

Each holds a calendar of n slots, each busy or free and at least one busy; they look for a slot that is free in both.
They take turns. A turn is a message, a run of own busy slots ("3-5"), or an answer, a proposed slot or "none", which
ends the game:

    R = −c · messages + { +1 a slot free in both, or "none" where there is none;  −2 another slot, or an untrue message;
                          −1 "none" where there is one }

After the last message that the rules allow, the next turn is an answer (F-70). An untrue message, or one too many, ends
the game.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from implicature.array_api import AnyArray, namespace
from implicature.games.context import Context
from implicature.games.registry import APPOINTMENT
from implicature.games.splits import split_instances

NAME = APPOINTMENT
RIGHT, WRONG_SLOT, WRONG_NONE, UNTRUE = 1.0, -2.0, -1.0, -2.0
TRAIN_FRACTION = 0.7
MAX_SLOTS, MAX_MESSAGES = 10, 20


@dataclass(frozen=True)
class AppointmentRules:
    """What both players know before a game begins."""

    slots: int = 8
    messages: int = 1
    """The most messages of both together; then an answer is due."""
    message_cost: float = 0.1

    def __post_init__(self) -> None:
        if not 2 <= self.slots <= MAX_SLOTS:
            raise ValueError(f"A calendar of {self.slots} slots: ask for 2 to {MAX_SLOTS}.")
        if not 0 <= self.messages <= MAX_MESSAGES:
            raise ValueError(f"An appointment with {self.messages:,} messages: ask for 0 to {MAX_MESSAGES}.")
        if not 0 <= self.message_cost < 1:
            raise ValueError(f"A message cost of {self.message_cost} is not in [0, 1): a right answer is worth 1.")

    @property
    def none(self) -> int:
        """The answer "none"; 0 … slots-1 are slots."""
        return self.slots

    @property
    def calendars(self) -> int:
        return 2**self.slots - 1

    @property
    def n_messages(self) -> int:
        """As actions, messages come first, then answers."""
        return len(runs(self.slots))

    @property
    def actions(self) -> int:
        return self.n_messages + self.slots + 1

    def score(self, answer: Any, first: Bool[AnyArray, " slots"], second: Bool[AnyArray, " slots"]) -> Any:
        """What an answer is worth, given both calendars (true where busy): NumPy's arrays or JAX's."""
        xp = namespace(first, second)
        common = ~(first | second)
        none = xp.where(xp.any(common), WRONG_NONE, RIGHT)
        return xp.append(xp.where(common, RIGHT, WRONG_SLOT), none)[answer]

    def sayable(self, own: Bool[AnyArray, " slots"], said: Any) -> Bool[AnyArray, " messages"]:
        """The messages that who holds this calendar may send when so many have been sent."""
        xp = namespace(own)
        return (own | ~xp.asarray(run_slots(self.slots))).all(axis=1) & (said < self.messages)

    def act(
        self, action: Any, own: Bool[AnyArray, " slots"], other: Bool[AnyArray, " slots"], said: Any
    ) -> tuple[Any, Any]:
        """What an action is worth to both, and whether it ends the game."""
        xp = namespace(own, other)
        speaks = action < self.n_messages
        allowed = self.sayable(own, said)[xp.where(speaks, action, 0)]
        answered = self.score(xp.where(speaks, 0, action - self.n_messages), own, other)
        return xp.where(speaks, xp.where(allowed, 0.0, UNTRUE) - self.message_cost, answered), ~(speaks & allowed)


@cache
def calendars(slots: int) -> Bool[np.ndarray, "calendars slots"]:
    """All calendars with at least one busy slot; number c − 1 has the busy slots of the binary number c."""
    numbers = np.arange(1, 2**slots)
    return (numbers[:, None] >> np.arange(slots)) % 2 == 1


@cache
def runs(slots: int) -> tuple[tuple[int, int], ...]:
    """All messages: the first and the last slot of a run."""
    return tuple((first, last) for first in range(slots) for last in range(first, slots))


@cache
def run_slots(slots: int) -> Bool[np.ndarray, "messages slots"]:
    """The slots that each message covers."""
    return np.array([[first <= slot <= last for slot in range(slots)] for first, last in runs(slots)])


@cache
def lexicon(slots: int) -> Bool[np.ndarray, "calendars messages"]:
    """A run is true of a calendar in which all its slots are busy."""
    return np.asarray((calendars(slots)[:, None] | ~run_slots(slots)).all(axis=2))


def maximal_runs(calendar: np.ndarray) -> list[tuple[int, int]]:
    """The runs of busy slots that cannot be extended: all there is to tell."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(calendar, int), [0]])))
    return [(int(first), int(last) - 1) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def appointment_context(rules: AppointmentRules) -> Context:
    """What both know of the other: any calendar is equally likely, and what each message is true of."""
    busy = calendars(rules.slots)
    return Context(features=jnp.asarray(busy, jnp.float32), lexicon=jnp.asarray(lexicon(rules.slots)))


def split_calendars(slots: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The calendars that training uses (70 %), and those held out."""
    return split_instances(2**slots - 1, TRAIN_FRACTION, seed)


def run_name(run: tuple[int, int]) -> str:
    """Slots are numbered from 1: "3-5", "4"."""
    first, last = run
    return f"{first + 1}" if first == last else f"{first + 1}-{last + 1}"


def answer_name(answer: int, slots: int) -> str:
    return "none" if answer == slots else f"slot {answer + 1}"


def calendar_name(calendar: np.ndarray) -> str:
    """One letter a slot: ■ busy, □ free."""
    return "".join("■" if busy else "□" for busy in calendar)
