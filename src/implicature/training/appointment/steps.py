"""A player's half of a phase in the appointment game: one iteration against a fixed partner (Algorithm 1, in turns).

    hears      −Σ_a π(a | d) log P(a | d)                     cross-entropy with what the partner says and does
    predicts   −Σ_c b(c | m) log b̂(c | m)                     the obverter loss: the partner's belief, as observed

Losses are expectations over the calendars of training games and over what is said; of games with two messages, some
first messages are sampled in every iteration (F-72).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from implicature.agents.appointment.learned import LearnedPlayer, posterior
from implicature.agents.appointment.player import Calendar, Point
from implicature.agents.appointment.worth import Belief
from implicature.training.appointment.partner import Partner, start, uniform
from implicature.training.optimiser import Metrics

EXPLORED = 0.2
"""The fraction of first messages that are sampled uniformly."""
EPSILON = 1e-9


class Losses(eqx.Module):
    hears: Float[Array, ""]
    predicts: Float[Array, ""]

    @property
    def total(self) -> Float[Array, ""]:
        return self.hears + self.predicts

    def metrics(self) -> Metrics:
        return {"hearing_loss": self.hears, "obverter_loss": self.predicts}


def hearing_loss(log_likelihood: Array, said: Array, weights: Belief) -> Float[Array, ""]:
    return -jnp.sum(weights[:, None] * jnp.where(said > 0, said * log_likelihood, 0.0))


def obverter_loss(expected: Array, belief: Array, messages: Float[Array, " messages"]) -> Float[Array, ""]:
    each = -jnp.sum(belief * jnp.log(expected + EPSILON), axis=0)
    return jnp.sum(messages * each) / jnp.sum(messages)


def sayable(known: Calendar, weights: Belief) -> Float[Array, " messages"]:
    """How many of the calendars may send each message."""
    return weights @ known.truth.astype(jnp.float32)


def half_losses(
    key: Key[Array, ""],
    player: LearnedPlayer,
    partner: Partner,
    begun: Float[Array, " messages"],
    known: Calendar,
    weights: Belief,
    messages: int,
    histories: int,
) -> Losses:
    """What a player learns from games that either of the two begins. `begun` is how often it begins with each."""
    root, prior = start(known, messages), uniform(known)
    heard = player.log_likelihood(player.hears, known, root)
    expected = player.expect(known, root)
    hears = hearing_loss(heard, partner.first, weights)
    predicts = obverter_loss(expected, partner.heard, sayable(known, weights))
    if messages == 1:
        return Losses(hears, predicts)
    left = jnp.asarray(messages - 1)
    heard_second, second = partner.heard_second, partner.second
    assert heard_second is not None
    expected, belief = jax.lax.stop_gradient((expected, posterior(heard, known, root)))

    def after_own(m: Int[Array, ""]) -> Float[Array, ""]:
        """I said m: what the partner says then."""
        point = Point(prior, expected[:, m], left)
        return hearing_loss(player.log_likelihood(player.hears, known, point), second[m], weights)

    def after_other(m: Int[Array, ""]) -> Float[Array, ""]:
        """The partner said m: what it believes after my message."""
        point = Point(prior, belief[:, m], left)
        return obverter_loss(player.expect(known, point), heard_second[m], sayable(known, weights))

    own_key, other_key = jax.random.split(key)
    own = sample_messages(own_key, begun, histories)
    other = sample_messages(other_key, weights @ partner.first[:, :-1], histories)
    return Losses(hears + jnp.mean(jax.vmap(after_own)(own)), predicts + jnp.mean(jax.vmap(after_other)(other)))


def sample_messages(key: Key[Array, ""], sent: Float[Array, " messages"], number: int) -> Int[Array, " histories"]:
    """First messages as they are sent, some of them at random."""
    probabilities = (1 - EXPLORED) * sent / jnp.sum(sent) + EXPLORED / len(sent)
    return jax.random.choice(key, len(sent), (number,), p=probabilities)
