"""Exact players as a teacher and a student of the one rollout, for games of any number of rounds.

    student of depth t   b'(o) = L_t(o | m) with prior b     his teacher   Q(o*, b, m) = U(m | o*) of L_t, true m only

Without learning, the value of a further message is unknown: he assumes that it will make him certain, and waits while
his best guess is worth less than that, max b < 1 − c_m.

Depth is an array, so that one compiled program serves all depths; candidates with prior 0 change nothing, so that
padding serves smaller games, too. With weights of depths, each player is a mixture: Σ_t w_t S_t+1 and Σ_t w_t L_t.
"""

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.belief import belief_in_cells
from implicature.agents.contracts import (
    AbstractStudent,
    AbstractTeacher,
    AgentState,
    MessageProbabilities,
    Policy,
    Values,
)
from implicature.agents.exact_model import UNTRUE as UNTRUE
from implicature.agents.exact_model import ExactModel
from implicature.agents.rsa import TIE
from implicature.games.context import Context
from implicature.games.rules import Rules

DYNAMIC, STATIC = ("depth", "beta", "share"), ("utility", "noise", "depth_weights")
"""The fields of a model that may be arrays in a compiled program, and those that belong to the program."""


def _flatten(model: ExactModel) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return tuple(getattr(model, name) for name in DYNAMIC), tuple(getattr(model, name) for name in STATIC)


def _unflatten(static: tuple[Any, ...], dynamic: Iterable[Any]) -> ExactModel:
    """Without checks: JAX puts other things than numbers into a tree."""
    model = object.__new__(ExactModel)
    for name, value in zip((*DYNAMIC, *STATIC), (*dynamic, *static), strict=True):
        object.__setattr__(model, name, value)
    return model


jax.tree_util.register_pytree_node(ExactModel, _flatten, _unflatten)


class ExactTeacher(AbstractTeacher[Context]):
    """She knows what he makes of every message, and sends only true ones."""

    model: ExactModel

    def encode(self, context: Context) -> Context:
        return context

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def values(self, encoding: Context, target: Int[Array, ""], state: AgentState) -> Values:
        return self.model.values(encoding, state.belief, target)

    def observe(self, encoding: Context, state: AgentState, message: Int[Array, ""]) -> AgentState:
        return AgentState(self.model.beliefs(encoding, state.belief)[:, message], active=state.active)

    def message_probabilities(self, values: Values) -> MessageProbabilities:
        return self.model.message_probabilities(values)


class ExactStudent(AbstractStudent[Context]):
    """He takes her to be the teacher of his depth."""

    model: ExactModel
    message_cost: float = 0.0

    def encode(self, context: Context) -> Context:
        return context

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior, context.cells)

    def update(self, encoding: Context, state: AgentState, message: Int[Array, ""]) -> AgentState:
        return AgentState(self.model.beliefs(encoding, state.belief)[:, message], encoding.cells, state.active)

    def policy(self, state: AgentState, last: Bool[Array, ""]) -> Policy:
        answers = belief_in_cells(state.belief, state.memory)
        waits = ~last & (jnp.max(answers) < 1 - self.message_cost - TIE)
        return jnp.append(jnp.where(waits, 0, answers), waits.astype(answers.dtype))


def argmax_random_ties(key: Key[Array, ""], values: Float[Array, " choices"]) -> Int[Array, ""]:
    """The best choice; one of them at random where several are tied."""
    tied = values >= jnp.max(values) - TIE
    return jnp.argmax(jnp.where(tied, jax.random.uniform(key, values.shape), -1))
