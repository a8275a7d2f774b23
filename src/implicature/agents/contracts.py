"""What a teacher and a student are. Whoever follows these two classes is trained, evaluated, cross-played, shown on the
page and compared with people: the learned pair, the exact players, the baselines, yours.

    teacher   encoding = encode(context)              once a game
              state    = init_state(context, rules)   her estimate of the student's belief, and what else she keeps
              values   = values(encoding, target, state)
              state    = observe(encoding, state, message)      after she has sent the message
    student   encoding = encode(context);  state = init_state(context, rules)
              state    = update(encoding, state, message)       after he has received the message
              policy   = policy(state, last)                    candidates, and waiting at the end

`agents/rollout.py` plays them. Arrays may have games as last axes (see `implicature.nn`) if both agents support that;
agents that take one game at a time are batched with `vmap`.
"""

from abc import abstractmethod
from typing import Generic, TypeVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PyTree

from implicature.agents.belief import Belief
from implicature.agents.perspectives import FeatureTable
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.nn.image_encoder import ImageEncoder, Observations, encode_all
from implicature.nn.kernels import Index

Values = Float[Array, "messages *#games"]
MessageProbabilities = Float[Array, "messages *#games"]
Policy = Float[Array, "actions *#games"]
"""A probability for each candidate, and for waiting at the end."""
Encoding = TypeVar("Encoding")
"""What an agent makes of a context before anything is said."""


class AgentState(eqx.Module):
    """What an agent keeps between rounds."""

    belief: Belief
    """The student's own, or the teacher's estimate of it, each in its own order of candidates."""
    memory: PyTree = None
    """Whatever else the agent keeps."""
    active: Bool[Array, "*#games"] = eqx.field(default_factory=lambda: jnp.asarray(True))
    """Whether the game goes on; what an agent computes after its end does not count."""


class AbstractTeacher(eqx.Module, Generic[Encoding]):
    """She knows the target and sends a message."""

    @abstractmethod
    def encode(self, context: Context) -> Encoding: ...

    @abstractmethod
    def init_state(self, context: Context, rules: Rules) -> AgentState: ...

    @abstractmethod
    def values(self, encoding: Encoding, target: Index, state: AgentState) -> Values:
        """Q of every message."""

    @abstractmethod
    def observe(self, encoding: Encoding, state: AgentState, message: Index) -> AgentState:
        """Her state after sending the message: what she expects the student to believe now."""

    @abstractmethod
    def message_probabilities(self, values: Values) -> MessageProbabilities:
        """π_A(m | …): how likely she is to send each message."""


class AbstractStudent(eqx.Module, Generic[Encoding]):
    """He receives a message and answers or waits."""

    @abstractmethod
    def encode(self, context: Context) -> Encoding: ...

    @abstractmethod
    def init_state(self, context: Context, rules: Rules) -> AgentState: ...

    @abstractmethod
    def update(self, encoding: Encoding, state: AgentState, message: Index) -> AgentState: ...

    @abstractmethod
    def policy(self, state: AgentState, last: Bool[Array, ""]) -> Policy:
        """How likely he is to answer each candidate, or to wait; in the last round he cannot wait."""


class Pair(eqx.Module):
    """Two agents, each with an image encoder where it sees images."""

    teacher: AbstractTeacher
    student: AbstractStudent
    teacher_encoder: ImageEncoder | None = None
    student_encoder: ImageEncoder | None = None

    def encode_all(self, observations: Observations) -> FeatureTable:
        return FeatureTable(
            encode_all(self.teacher_encoder, observations), encode_all(self.student_encoder, observations)
        )
