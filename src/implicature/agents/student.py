"""The learned student: he updates his belief with each message and answers by it, or waits for another message.

    w = sigmoid(slope · H(b) + offset),   π_B(o | b) = (1 − w) · b(o),   π_B(Ξ | b) = w        (section 4, F-09)

In the last round there is nothing to wait for: w = 0. Where a cell is to be found, he answers by his belief in cells.
With channel noise he reckons with all that she may have sent (agents/channel.py).
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from implicature.agents.belief import belief_in_cells, entropy, update
from implicature.agents.channel import heard_likelihood
from implicature.agents.contracts import AbstractStudent, AgentState, Policy
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.nn.kernels import Index
from implicature.nn.likelihood import AbstractBeliefNet, Likelihood, apply_net


class LearnedStudent(AbstractStudent[Likelihood]):
    net: AbstractBeliefNet
    wait_slope: Float[Array, ""]
    wait_offset: Float[Array, ""]
    noise: float = eqx.field(static=True)
    """ε of the channel, as he knows it."""

    def __init__(self, net: AbstractBeliefNet, slope: float = 4.0, offset: float = -2.0, noise: float = 0.0):
        self.net, self.noise = net, noise
        # Explicitly float32: a weak type would become strong in the first step and compile every program twice.
        self.wait_slope, self.wait_offset = jnp.asarray(slope, jnp.float32), jnp.asarray(offset, jnp.float32)

    def encode(self, context: Context) -> Likelihood:
        return heard_likelihood(apply_net(self.net, context.features, context.word_ids, context.present), self.noise)

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior, context.cells)

    def update(self, encoding: Likelihood, state: AgentState, message: Index) -> AgentState:
        return replace(state, belief=update(encoding.log_likelihood, state.belief, message))

    def policy(self, state: AgentState, last: Bool[Array, ""]) -> Policy:
        # He learns to wait when uncertain, not to be uncertain in order to wait (F-09).
        uncertainty = jax.lax.stop_gradient(entropy(state.belief))
        wait = jnp.where(last, 0.0, jax.nn.sigmoid(self.wait_slope * uncertainty + self.wait_offset))
        return jnp.concatenate([(1 - wait) * belief_in_cells(state.belief, state.memory), wait[None]])
