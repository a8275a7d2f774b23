"""A player of the appointment game is teacher and student at once, after both contracts (agents/contracts.py). A turn
is a student's, who answers or waits (Ξ), and one who waits sends a message as a teacher. The state has both beliefs:

    belief            over the other's calendar:  b'(d) ∝ b(d) · P(m | d)                      after a message received
    memory.estimate   of the other's belief over one's own calendar, likewise                  after a message sent

Beliefs depend on what was said alone, not on one's own calendar, so that all calendars one may hold share one state.
"""

from abc import abstractmethod
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.appointment.exact import BETA, Truth, exact_listener, literal_listener, literal_speaker
from implicature.agents.appointment.worth import Belief, Calendars, Table, answer_values, message_worth, take_best
from implicature.agents.contracts import AbstractStudent, AbstractTeacher, AgentState, MessageProbabilities, Policy
from implicature.agents.contracts import Values as MessageValues
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.nn.kernels import Index


class Calendar(eqx.Module):
    """What both players know: every calendar there may be, and which messages are true of it."""

    busy: Calendars
    truth: Truth
    message_cost: Float[Array, ""]


class Point(eqx.Module):
    """Where a dialogue stands, for who is about to send a message or to receive one."""

    speaker: Belief
    """What the listener believes of the speaker's calendar: his own belief, or her estimate of it."""
    listener: Belief
    """What the speaker believes of the listener's calendar: likewise."""
    messages_left: Int[Array, ""]


class Memory(eqx.Module):
    """What a player keeps beside the belief over the other's calendar."""

    estimate: Belief
    messages_left: Int[Array, ""]
    message_cost: Float[Array, ""]
    answers: Float[Array, "calendars answers"]
    """The expected reward of each answer now, for each calendar that one may hold."""
    values: Table
    """Q of each message now, likewise; −∞ where it is untrue or no message is left."""
    calendar: Int[Array, ""]
    """The one that one holds."""


class AbstractPlayer(AbstractTeacher[Calendar], AbstractStudent[Calendar]):
    """Final players say what they take from a message and what one is worth."""

    @abstractmethod
    def hear(self, known: Calendar, point: Point) -> Table:
        """My belief over the speaker's calendar after each message."""

    @abstractmethod
    def expect(self, known: Calendar, point: Point) -> Table:
        """The listener's belief over my calendar after each message, as I expect it."""

    @abstractmethod
    def message_values(self, known: Calendar, point: Point) -> Table:
        """Q of each message for each calendar that I may hold."""

    @abstractmethod
    def message_probabilities(self, values: MessageValues) -> MessageProbabilities: ...

    def encode(self, context: Context) -> Calendar:
        return encode_calendars(context)

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        """Before the first turn; the calendar that one holds is put in by `hold`."""
        known = encode_calendars(context, rules.message_cost)
        return self._think(known, context.prior, context.prior, jnp.asarray(rules.rounds), jnp.asarray(0))

    def values(self, encoding: Calendar, target: Index, state: AgentState) -> MessageValues:
        return state.memory.values[target]

    def observe(self, encoding: Calendar, state: AgentState, message: Index) -> AgentState:
        known, memory = replace(encoding, message_cost=state.memory.message_cost), state.memory
        expected = self.expect(known, Point(memory.estimate, state.belief, memory.messages_left))
        return self._think(known, state.belief, expected[:, message], memory.messages_left - 1, memory.calendar)

    def update(self, encoding: Calendar, state: AgentState, message: Index) -> AgentState:
        known, memory = replace(encoding, message_cost=state.memory.message_cost), state.memory
        heard = self.hear(known, Point(state.belief, memory.estimate, memory.messages_left))
        return self._think(known, heard[:, message], memory.estimate, memory.messages_left - 1, memory.calendar)

    def policy(self, state: AgentState, last: Bool[Array, ""]) -> Policy:
        """The best answer; or Ξ, where the best message is worth more."""
        memory = state.memory
        answers, values = memory.answers[memory.calendar], memory.values[memory.calendar]
        waits = ~last & (jnp.max(values) > jnp.max(answers))
        return jnp.append(jnp.where(waits, 0.0, take_best(answers)), waits.astype(jnp.float32))

    def _think(
        self, known: Calendar, belief: Belief, estimate: Belief, left: Int[Array, ""], calendar: Int[Array, ""]
    ) -> AgentState:
        values = jax.lax.cond(
            left > 0,
            lambda: self.message_values(known, Point(estimate, belief, left)),
            lambda: jnp.full(known.truth.shape, -jnp.inf),
        )
        sayable = known.truth & (left > 0)
        answers = answer_values(known.busy, belief)
        memory = Memory(estimate, left, known.message_cost, answers, jnp.where(sayable, values, -jnp.inf), calendar)
        return AgentState(belief, memory)


def encode_calendars(context: Context, message_cost: float = 0.0) -> Calendar:
    return Calendar(context.features > 0.5, context.lexicon > 0, jnp.asarray(message_cost, jnp.float32))


def hold(state: AgentState, calendar: Int[Array, ""]) -> AgentState:
    """The state of a player who holds this calendar."""
    return eqx.tree_at(lambda state: state.memory.calendar, state, jnp.asarray(calendar))


class ExactPlayer(AbstractPlayer):
    """The exact recursion at every point of the game. A message is worth what it is if the other answers at once."""

    depth: int = eqx.field(static=True, default=10)
    beta: float = eqx.field(static=True, default=BETA)

    def hear(self, known: Calendar, point: Point) -> Table:
        return exact_listener(known.busy, known.truth, point.speaker, point.listener, self.depth, self.beta)

    def expect(self, known: Calendar, point: Point) -> Table:
        return exact_listener(known.busy, known.truth, point.speaker, point.listener, self.depth, self.beta)

    def message_values(self, known: Calendar, point: Point) -> Table:
        return message_worth(known.busy, self.expect(known, point), point.listener) - known.message_cost

    def message_probabilities(self, values: MessageValues) -> MessageProbabilities:
        return jax.nn.softmax(self.beta * values, axis=0)


class LiteralPlayer(AbstractPlayer):
    """Says anything true, and takes what is said literally. As long as a message is left, it answers only when sure."""

    def hear(self, known: Calendar, point: Point) -> Table:
        return literal_listener(known.truth, point.speaker)

    def expect(self, known: Calendar, point: Point) -> Table:
        return literal_listener(known.truth, point.speaker)

    def message_values(self, known: Calendar, point: Point) -> Table:
        """All true messages are alike; together they are worth a right answer less a message."""
        return jnp.broadcast_to(1 - known.message_cost, known.truth.shape)

    def message_probabilities(self, values: MessageValues) -> MessageProbabilities:
        return literal_speaker(values[None] > -jnp.inf)[0]
