"""The learned teacher: she predicts what the student would believe after each message and values it.

    π_A(m | O, o*, b) = softmax(β Q(O, o*, b, m))                                                      (equation 2)
    Q(O, o*, b, m)    = value of (the predicted belief f_A(O, b, m), the target)                        (equation 3)

Q reads what the paper's reads and, by default, the predicted belief in the target (F-08), which a sum of embeddings
does not determine when candidates are many; it then starts as that belief, less what the word costs. Its head has a
hidden layer or none (F-37). Where a cell is to be found, the belief is that in the target's cell; with channel noise,
it is expected over what he may hear (agents/channel.py). In a truthful game she chooses among words that are true of
the target (F-60).
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.belief import Belief, belief_in_target, entropy, posterior, update
from implicature.agents.channel import heard_likelihood
from implicature.agents.contracts import AbstractTeacher, AgentState, MessageProbabilities, Values
from implicature.agents.utility import through_channel
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.nn.kernels import Index, dot, leaky_relu, materialize, take_one_hot
from implicature.nn.likelihood import AbstractBeliefNet, Features, Likelihood, Present, Table, apply_net
from implicature.nn.linear import Linear


class LearnedTeacher(AbstractTeacher[Likelihood]):
    """A belief network and a Q head; `encode` once a game, the rest in every round."""

    net: AbstractBeliefNet
    q_hidden: Linear
    """The first layer of Q, on what the network knows of (target, message),"""
    q_belief: Float[Array, "2 hidden"] | None
    """and on the predicted belief: its value at the target, and its entropy."""
    q_out: Linear | None
    """None where Q is a single layer, as in appendix B (F-37)."""
    beta: float = eqx.field(static=True)
    noise: float = eqx.field(static=True)
    """ε of the channel, as she knows it."""
    truthful: bool = eqx.field(static=True)
    """Whether the rules let her say true words only."""

    def __init__(
        self,
        net: AbstractBeliefNet,
        hidden: int,
        key: Key[Array, ""],
        reads_belief: bool = True,
        beta: float = 10.0,
        out_init_scale: float = 0.0,
        noise: float = 0.0,
        truthful: bool = False,
    ):
        hidden_key, out_key = jax.random.split(key)
        self.net = net
        size = net.q_feature_size
        first = Linear(size + 2 * reads_belief, max(1, hidden), hidden_key, 1.0 if hidden else out_init_scale)
        self.q_hidden = eqx.tree_at(lambda layer: layer.weight, first, first.weight[:size])
        self.q_belief = first.weight[size:] if reads_belief else None
        self.q_out = Linear(hidden, 1, out_key, out_init_scale) if hidden else None
        self.beta, self.noise, self.truthful = beta, noise, truthful

    def encode(self, context: Context) -> Likelihood:
        sayable = context.lexicon > 0 if self.truthful else None
        return self.encode_features(
            context.features, context.costs, context.cells, sayable, context.word_ids, context.present
        )

    def encode_features(
        self,
        features: Features,
        costs: Float[Array, "messages *#games"] | None = None,
        cells: Int[Array, "candidates *#games"] | None = None,
        sayable: Bool[Array, "candidates messages *#games"] | None = None,
        words: Int[Array, "messages *#games"] | None = None,
        present: Present | None = None,
    ) -> Likelihood:
        heard = heard_likelihood(apply_net(self.net, features, words, present), self.noise)
        return replace(heard, costs=costs, cells=cells, sayable=sayable)

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
        if self.noise == 0:
            return update(encoding.log_likelihood, belief, message)
        return take_one_hot(self.predict_all(encoding, belief), message)

    def predict_all(self, encoding: Likelihood, belief: Belief) -> Table:
        """f_A(O, b, m) for every message."""
        return through_channel(posterior(encoding.log_likelihood, belief), self.noise)

    def q_values(self, encoding: Likelihood, target: Index, belief: Belief, message: Index | None = None) -> Values:
        """Q of every message, or of one alone."""
        if message is None:
            expected = self.predict_all(encoding, belief)
        else:
            expected = self.predict(encoding, belief, message)[:, None]
        hidden = self.net.q_features(self.q_hidden, encoding, target, expected, message)
        at_target = jnp.zeros(())
        if self.q_belief is not None:
            at_target = belief_in_target(jnp.swapaxes(expected, 0, 1), target, encoding.cells)
            target_weight, entropy_weight = self.q_belief.reshape(2, -1, *[1] * at_target.ndim)
            hidden = hidden + target_weight * at_target + entropy_weight * entropy(expected)
        start = at_target
        if (costs := encoding.costs) is not None:
            start = at_target - (costs if message is None else take_one_hot(costs, message)[None])
        if self.q_out is None:
            values = materialize(start + hidden[0])
        else:
            values = materialize(start + dot(self.q_out.weight[:, 0], leaky_relu(hidden)) + self.q_out.bias)
        if message is not None or encoding.sayable is None:
            return values
        return among_sayable(values, encoding.sayable, target)


def among_sayable(values: Values, sayable: Bool[Array, "candidates messages *#games"], target: Index) -> Values:
    """−∞ for words that she may not say of the target; where she may say none, she may say any."""
    allowed = take_one_hot(jnp.swapaxes(sayable, 0, 1), target) > 0
    return jnp.where(allowed | ~jnp.any(allowed, axis=0), values, -jnp.inf)
