"""The baselines: a speaker and a listener without a model of each other (Lazaridou et al. 2017, 2018).

speaker of 2018   π(m | o*) from an LSTM that starts from the target's encoding and says one symbol; she sees no
                  distractor                                                              (Lazaridou et al. 2018)
speaker of 2017   every number of the target's embedding passes, beside those of the distractors, through filters that
                  all numbers share; their maps are put together to scores of the symbols (Lazaridou et al. 2017)
listener          π(o | m) ∝ exp(e_o · v_m / τ): he embeds each candidate by itself and the symbol, and compares  (both)

A network gives its whole table at once, candidates × messages, as our belief networks do: what a speaker would say of
each candidate were it the target, or how well each message fits each candidate. Games come last (see `implicature.nn`).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from implicature.agents.belief import update
from implicature.agents.contracts import (
    AbstractStudent,
    AbstractTeacher,
    AgentState,
    MessageProbabilities,
    Policy,
    Values,
)
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.nn.kernels import Index, leaky_relu, matmul, select
from implicature.nn.likelihood import Features, Likelihood, Table
from implicature.nn.linear import Linear


def log_probabilities(logits: Float[Array, "messages candidates *#games"], temperature: float) -> Likelihood:
    """log π(m | o) for every candidate as the target."""
    table = jax.nn.log_softmax(jnp.swapaxes(logits, 0, 1) / temperature, axis=1)
    return Likelihood(table, table, table)


class ContextFree(eqx.Module):
    """An LSTM over the vocabulary that says one symbol: a single step, from an empty cell and the start symbol, so that
    there is nothing to forget and the start symbol is the gates' bias."""

    encoder: Linear
    gates: Linear
    out: Linear
    temperature: float = eqx.field(static=True)

    def __init__(self, features: int, messages: int, key: Key[Array, ""], width: int, temperature: float):
        encoder, gates, out = jax.random.split(key, 3)
        self.encoder, self.gates = Linear(features, width, encoder), Linear(width, 3 * width, gates)
        self.out, self.temperature = Linear(width, messages, out), temperature

    def __call__(self, features: Features) -> Likelihood:
        hidden = leaky_relu(self.encoder(jnp.moveaxis(features, -1, 0)))
        write, new, show = jnp.split(self.gates(hidden), 3)
        cell = jax.nn.sigmoid(write) * jnp.tanh(new)
        return log_probabilities(self.out(jax.nn.sigmoid(show) * jnp.tanh(cell)), self.temperature)


def mean_and_max_of_others(each: list[Array]) -> tuple[list[Array], list[Array]]:
    """For each of several: the mean of the others, and the largest of them."""
    total, number = sum(each), len(each)
    before, after = [each[0]], [each[-1]]
    for i in range(1, number - 1):
        before.append(jnp.maximum(before[-1], each[i]))
        after.append(jnp.maximum(after[-1], each[-1 - i]))
    after = after[::-1]
    both = [jnp.maximum(before[i - 1], after[i]) for i in range(1, number - 1)]
    return [(total - one) / (number - 1) for one in each], [after[0], *both, before[-1]]


class Informed(eqx.Module):
    """The informed sender: filters across candidates, the same for every number of an embedding. Where the original had
    a weight for its one distractor, all distractors have one here for their mean and one for their largest (F-32)."""

    encoder: Linear
    filters: Linear
    readout: Linear
    out: Linear
    temperature: float = eqx.field(static=True)

    def __init__(self, features: int, messages: int, key: Key[Array, ""], width: int, filters: int, temperature: float):
        encoder, across, readout, out = jax.random.split(key, 4)
        self.encoder, self.filters = Linear(features, width, encoder), Linear(3, filters, across, 3.0)
        self.readout, self.out = Linear(filters, 1, readout, 3.0), Linear(width, messages, out, 3.0)
        self.temperature = temperature

    def __call__(self, features: Features) -> Likelihood:
        embedded = self.encoder(jnp.moveaxis(features, -1, 0))
        each = [embedded[:, i] for i in range(embedded.shape[1])]
        inputs = jnp.stack([jnp.stack(one, axis=1) for one in (each, *mean_and_max_of_others(each))])
        maps = jax.nn.sigmoid(self.filters(inputs))
        return log_probabilities(self.out(jax.nn.sigmoid(self.readout(maps)[0])), self.temperature)


class Matching(eqx.Module):
    """How well each message fits each candidate, by itself: a product of embeddings."""

    encoder: tuple[Linear, Linear]
    messages: Float[Array, "messages width"]
    temperature: float = eqx.field(static=True)

    def __init__(self, features: int, messages: int, key: Key[Array, ""], width: int, temperature: float):
        first, second, vectors = jax.random.split(key, 3)
        self.encoder = Linear(features, width, first), Linear(width, width, second)
        self.messages = jax.random.normal(vectors, (messages, width)) / width**0.5
        self.temperature = temperature

    def __call__(self, features: Features) -> Likelihood:
        embedded = self.encoder[1](leaky_relu(self.encoder[0](jnp.moveaxis(features, -1, 0))))
        table: Table = jnp.swapaxes(matmul(self.messages.T, embedded), 0, 1) / self.temperature
        return Likelihood(table, table, table)


class Speaker(AbstractTeacher[Likelihood]):
    """She samples from π(m | o*, O), without modelling the listener."""

    net: ContextFree | Informed
    """What she would say of each candidate if it were the target."""

    def encode(self, context: Context) -> Likelihood:
        return self.net(context.features)

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def values(self, encoding: Likelihood, target: Index, state: AgentState) -> Values:
        """log π(m | o*, O)."""
        return select([encoding.log_likelihood[i] for i in range(len(encoding.log_likelihood))], target)

    def observe(self, encoding: Likelihood, state: AgentState, message: Index) -> AgentState:
        """She has no expectation of the listener's belief: it stays the prior."""
        return state

    def message_probabilities(self, values: Values) -> MessageProbabilities:
        return jnp.exp(values)


class Listener(AbstractStudent[Likelihood]):
    """He samples the candidate that the message fits, at once: he never waits."""

    net: Matching

    def encode(self, context: Context) -> Likelihood:
        return self.net(context.features)

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def update(self, encoding: Likelihood, state: AgentState, message: Index) -> AgentState:
        return AgentState(update(encoding.log_likelihood, state.belief, message), active=state.active)

    def policy(self, state: AgentState, last: Bool[Array, ""]) -> Policy:
        return jnp.concatenate([state.belief, jnp.zeros_like(state.belief[:1])])
