"""The learned teacher: she predicts what the student would believe after each message and values it.

    π_A(m | O, o*, b) = softmax(β Q(O, o*, b, m))                                                      (equation 2)
    Q(O, o*, b, m)    = value of (the predicted belief f_A(O, b, m), the target)                        (equation 3)

Q reads what the paper's reads, and the predicted belief in the target (F-08), which a sum of embeddings does not
determine when candidates are many.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from implicature.agents.belief import Belief, entropy, posterior, update
from implicature.agents.contracts import AbstractTeacher, AgentState, MessageProbabilities, Values
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.nn.kernels import Index, dot, leaky_relu, materialize, take_one_hot
from implicature.nn.likelihood import AbstractBeliefNet, Likelihood
from implicature.nn.linear import Linear


class LearnedTeacher(AbstractTeacher[Likelihood]):
    """A belief network and a Q head; `encode` once a game, the rest in every round."""

    net: AbstractBeliefNet
    q_hidden: Linear
    """The first layer of Q, on what the network knows of (target, message),"""
    q_belief: Float[Array, "2 hidden"] | None
    """and on the predicted belief: its value at the target, and its entropy."""
    q_out: Linear
    beta: float = eqx.field(static=True)

    def __init__(
        self, net: AbstractBeliefNet, hidden: int, key: Key[Array, ""], reads_belief: bool = True, beta: float = 10.0
    ):
        hidden_key, out_key = jax.random.split(key)
        self.net = net
        size = net.q_feature_size
        first = Linear(size + 2 * reads_belief, hidden, hidden_key)
        self.q_hidden = eqx.tree_at(lambda layer: layer.weight, first, first.weight[:size])
        self.q_belief = first.weight[size:] if reads_belief else None
        self.q_out = Linear(hidden, 1, out_key, 0.0)
        self.beta = beta

    def encode(self, context: Context) -> Likelihood:
        return self.net(context.features)

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def values(self, encoding: Likelihood, target: Index, state: AgentState) -> Values:
        return self.q_values(encoding, target, state.belief)

    def observe(self, encoding: Likelihood, state: AgentState, message: Index) -> AgentState:
        return AgentState(self.predict(encoding, state.belief, message), active=state.active)

    def message_probabilities(self, values: Values) -> MessageProbabilities:
        return jax.nn.softmax(self.beta * values, axis=0)

    def predict(self, encoding: Likelihood, belief: Belief, message: Index) -> Belief:
        """f_A(O, b, m): the student's belief after the message, as she expects it."""
        return update(encoding.log_likelihood, belief, message)

    def q_values(self, encoding: Likelihood, target: Index, belief: Belief, message: Index | None = None) -> Values:
        """Q of every message, or of one alone."""
        if message is None:
            expected = posterior(encoding.log_likelihood, belief)
        else:
            expected = self.predict(encoding, belief, message)[:, None]
        hidden = self.net.q_features(self.q_hidden, encoding, target, expected, message)
        at_target = jnp.zeros(())
        if self.q_belief is not None:
            at_target = take_one_hot(jnp.swapaxes(expected, 0, 1), target)
            target_weight, entropy_weight = self.q_belief.reshape(2, -1, *[1] * at_target.ndim)
            hidden = hidden + target_weight * at_target + entropy_weight * entropy(expected)
        return materialize(at_target + dot(self.q_out.weight[:, 0], leaky_relu(hidden)) + self.q_out.bias)
