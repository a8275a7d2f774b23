"""Exact players as a teacher and a student of the one rollout, for games of any number of rounds.

    student of depth t   b'(o) = L_t(o | m) with prior b      his teacher   Q(o*, b, m) = L_t(o* | m), true m only

Without learning, the value of a further message is unknown: he assumes that it will make him certain, and waits while
his best guess is worth less than that, max b < 1 − c_m.

Depth is an array, so that one compiled program serves all depths; candidates with prior 0 change nothing, so that
padding serves smaller games, too.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.belief import Belief
from implicature.agents.contracts import (
    AbstractStudent,
    AbstractTeacher,
    AgentState,
    MessageProbabilities,
    Policy,
    Values,
)
from implicature.agents.rsa import TIE, Table, Truth, literal_teacher, log_student, soft_teacher
from implicature.games.context import Context
from implicature.games.rules import Rules

BETA = 10.0
UNTRUE = -1.0
"""The value of a message that she may not send."""


class ExactModel(eqx.Module):
    """What both know of each other: how deep the student reasons, and how rational he takes the teacher to be."""

    depth: int | Int[Array, ""]
    beta: float | Float[Array, ""] = BETA
    share: bool | Bool[Array, ""] = True
    """How the recursion starts: "share", or else "indicator"."""

    def tables(self, truth: Truth, belief: Belief) -> tuple[Table, Table]:
        """S_t and L_t: what he expects her to say, and what he believes after each message."""
        share, indicator = literal_teacher(truth, "share"), literal_teacher(truth, "indicator")
        literal = jnp.log(jnp.where(self.share, share, indicator))
        unchanged = jnp.tile(belief[:, None], truth.shape[1])

        def deeper(_: Array, tables: tuple[Table, Table]) -> tuple[Table, Table]:
            teacher = soft_teacher(truth, tables[1], self.beta)
            return teacher, log_student(teacher, belief, tables[1])

        start = literal, log_student(literal, belief, unchanged)
        teacher, student = jax.lax.fori_loop(0, self.depth, deeper, start)
        return jnp.exp(teacher), student


class ExactTeacher(AbstractTeacher[Truth]):
    """She knows what he makes of every message, and sends only true ones."""

    model: ExactModel

    def encode(self, context: Context) -> Truth:
        return context.lexicon

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def values(self, encoding: Truth, target: Int[Array, ""], state: AgentState) -> Values:
        return jnp.where(encoding[target], self.model.tables(encoding, state.belief)[1][target], UNTRUE)

    def observe(self, encoding: Truth, state: AgentState, message: Int[Array, ""]) -> AgentState:
        return AgentState(self.model.tables(encoding, state.belief)[1][:, message], active=state.active)

    def message_probabilities(self, values: Values) -> MessageProbabilities:
        """S_t+1 ∝ exp(β L_t), true messages only."""
        return jax.nn.softmax(jnp.where(values == UNTRUE, -jnp.inf, self.model.beta * values), axis=0)


class ExactStudent(AbstractStudent[Truth]):
    """He takes her to be the teacher of his depth."""

    model: ExactModel
    message_cost: float = 0.0

    def encode(self, context: Context) -> Truth:
        return context.lexicon

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def update(self, encoding: Truth, state: AgentState, message: Int[Array, ""]) -> AgentState:
        return AgentState(self.model.tables(encoding, state.belief)[1][:, message], active=state.active)

    def policy(self, state: AgentState, last: Bool[Array, ""]) -> Policy:
        waits = ~last & (jnp.max(state.belief) < 1 - self.message_cost - TIE)
        return jnp.append(jnp.where(waits, 0, state.belief), waits.astype(state.belief.dtype))


def argmax_random_ties(key: Key[Array, ""], values: Float[Array, " choices"]) -> Int[Array, ""]:
    """The best choice; one of them at random where several are tied."""
    tied = values >= jnp.max(values) - TIE
    return jnp.argmax(jnp.where(tied, jax.random.uniform(key, values.shape), -1))
