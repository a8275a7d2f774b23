"""Partners of a novice: what each says in a game. Two of them know the novice's beliefs, the others do not.

    ℓ(θ; O, o*, m) = −log b_θ(o* | m, O)                      what the novice loses by the word m

    understood   argmin_m ℓ(θ; O, o*, m)                      tailored   argmax_m ∇ℓ(θ; O, o*, m) · ∇L(θ)

A step along −∇ℓ(m) lowers L by that much, to first order. L is how far his beliefs are from what words mean, on other
games: L_b of Bayesian pretraining (F-79).
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.belief import belief_in_target, posterior
from implicature.agents.contracts import AbstractTeacher, Pair
from implicature.agents.exact import ExactModel, ExactTeacher
from implicature.agents.perspectives import FeatureTable, perspectives
from implicature.agents.rollout import categorical
from implicature.agents.rsa import normalize
from implicature.evaluation.held_out import feature_table
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.games.semantics import Semantics
from implicature.nn.likelihood import AbstractBeliefNet
from implicature.training.pretraining import belief_loss
from implicature.training.task import Task

PARTNERS = {
    "random": "random true words",
    "literal": "literal teacher",
    "exact": "exact teacher, depth 3",
    "run": "the run's teacher",
    "understood": "what he understands best",
    "tailored": "what teaches him most",
}
DEPTHS = {"literal": 0, "exact": 3}
"""Exact teachers, who respond to the student of this depth."""
CHUNK = 1_024


class Lessons(eqx.Module):
    """Games, games last, with what the partner and the run's teacher say in each."""

    features: Float[Array, "candidates games features"]
    """As the novice sees the candidates."""
    target: Int[Array, " games"]
    meaning: Bool[Array, "candidates messages games"]
    said: Float[Array, "messages games"]
    """How likely the partner is to say each word; where she goes by his beliefs, the true words."""
    of_run: Int[Array, " games"]
    """What the run's teacher says, greedily."""

    def take(self, rows: Int[Array, " some"]) -> "Lessons":
        return Lessons(
            self.features[:, rows], self.target[rows], self.meaning[..., rows], self.said[:, rows], self.of_run[rows]
        )

    @property
    def true(self) -> Bool[Array, "messages games"]:
        return jnp.take_along_axis(self.meaning, self.target[None, None], axis=0)[0]


Choose = Callable[[Key[Array, ""], AbstractBeliefNet, Lessons, Lessons], Int[Array, " games"]]
"""The partner's words in some games; the last argument is other games, to see what the novice knows."""


def beliefs(net: AbstractBeliefNet, games: Lessons) -> Float[Array, "candidates messages games"]:
    """What the novice believes after each word."""
    candidates = len(games.features)
    return posterior(net(games.features).log_likelihood, jnp.full((candidates, len(games.target)), 1 / candidates))


def losses(net: AbstractBeliefNet, games: Lessons) -> Float[Array, "messages games"]:
    """ℓ of every word."""
    return -jnp.log(belief_in_target(jnp.swapaxes(beliefs(net, games), 0, 1), games.target, None) + 1e-9)


def say_fixed(key: Key[Array, ""], net: AbstractBeliefNet, games: Lessons, probe: Lessons) -> Int[Array, " games"]:
    return categorical(key, games.said)


def say_understood(key: Key[Array, ""], net: AbstractBeliefNet, games: Lessons, probe: Lessons) -> Int[Array, " games"]:
    return jnp.argmin(jnp.where(games.true, losses(net, games), jnp.inf), axis=0)


def say_tailored(key: Key[Array, ""], net: AbstractBeliefNet, games: Lessons, probe: Lessons) -> Int[Array, " games"]:
    """∇ℓ(m) · ∇L of every word at once. Σ_m u_m ∇ℓ(m) · ∇L is linear in u, and its gradient is what is asked for: the
    networks' kernels have no forward mode."""
    weights, rest = eqx.partition(net, eqx.is_inexact_array)

    def distance(weights: AbstractBeliefNet) -> Array:
        return jnp.mean(belief_loss(key, eqx.combine(weights, rest)(probe.features).log_likelihood, probe.meaning))

    towards = jax.grad(distance)(weights)
    each, pull_back = jax.vjp(lambda weights: losses(eqx.combine(weights, rest), games), weights)

    def along(u: Float[Array, "messages games"]) -> Array:
        return jax.tree.reduce(jnp.add, jax.tree.map(jnp.vdot, pull_back(u)[0], towards))

    lowered = jax.grad(along)(jnp.zeros_like(each))
    return jnp.argmax(jnp.where(games.true, lowered, -jnp.inf), axis=0)


CHOOSE: dict[str, Choose] = {"understood": say_understood, "tailored": say_tailored}
"""Partners who know the novice's beliefs; the others say what they would say to anybody."""


def teacher_of(name: str, run_pair: Pair) -> AbstractTeacher | None:
    """A partner who does not know the novice; None says any true word."""
    if name in DEPTHS:
        return ExactTeacher(ExactModel(DEPTHS[name]))
    return run_pair.teacher if name == "run" else None


@eqx.filter_jit
def says(
    teacher: AbstractTeacher, features: FeatureTable, semantics: Semantics, rules: Rules, games: Game
) -> Float[Array, "games messages"]:
    """How likely she is to say each word in each game."""

    def one(game: Game) -> Array:
        seen = perspectives(game, features, semantics, features.views_per_instance)
        encoding, state = teacher.encode(seen.teacher), teacher.init_state(seen.teacher, rules)
        return teacher.message_probabilities(teacher.values(encoding, seen.target, state))

    return jax.lax.map(one, games, batch_size=CHUNK)


def make_lessons(name: str, pair: Pair, task: Task, games: Game) -> Lessons:
    features, semantics = feature_table(pair, task.space), task.data.semantics
    views = features.sample_views(jax.random.key(0), games.candidates)
    viewed = eqx.tree_at(lambda game: game.candidates, games, views)
    instances = games.candidates.T
    meaning = jnp.moveaxis(semantics.meaning[instances] > 0, -1, 1)
    of_run = says(pair.teacher, features, semantics, task.rules, viewed)
    true = jnp.take_along_axis(meaning, games.target[None, None], axis=0)[0]
    teacher = teacher_of(name, pair)
    said = normalize(true.astype(jnp.float32), axis=0)
    if teacher is not None:
        said = of_run.T if name == "run" else says(teacher, features, semantics, task.rules, viewed).T
    return Lessons(features.student[viewed.candidates.T], games.target, meaning, said, jnp.argmax(of_run, axis=1))
