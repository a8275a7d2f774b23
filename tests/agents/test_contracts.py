"""The contract of teachers and students, kept by every kind of player."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from implicature.agents.contracts import Pair
from implicature.agents.custom import CustomStudent, CustomTeacher, StudentObservation, TeacherObservation
from implicature.agents.exact import ExactModel, ExactStudent, ExactTeacher
from implicature.agents.perspectives import FeatureTable, perspectives
from implicature.agents.rollout import Rollout, categorical, rollout
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.training.config import Config
from implicature.training.pairs import NETWORKS, NEW_PAIR

GAMES, CANDIDATES, MESSAGES = 8, 4, 6
RULES = Rules(CANDIDATES, rounds=2, message_cost=0.1)


def some_games() -> Array:
    """Candidates that differ, and have an attribute each."""
    rows = np.array([[bool(number >> bit & 1) for bit in range(MESSAGES)] for number in range(1, 2**MESSAGES)])
    chosen = [np.random.default_rng(i).choice(len(rows), CANDIDATES, replace=False) for i in range(GAMES)]
    return jnp.asarray(rows[np.array(chosen)], jnp.float32)


def learned(method: str, **settings: Any) -> Pair:
    config = Config.of(method=method, width=8, layers=2, q_hidden=8, beta=20.0, **settings)
    return NEW_PAIR[method](jax.random.key(0), config, jnp.eye(MESSAGES), MESSAGES)


def exact(depth: int) -> Pair:
    model = ExactModel(jnp.asarray(depth))
    return Pair(ExactTeacher(model), ExactStudent(model, RULES.message_cost))


def rarest_true_word(observation: TeacherObservation) -> np.ndarray:
    candidates = np.asarray(observation.candidates)
    return candidates[observation.target] * (2 - candidates.mean(axis=0))


def candidates_that_fit(observation: StudentObservation) -> tuple[np.ndarray, float]:
    fits = np.asarray(observation.candidates)[:, [m for m in observation.messages if m >= 0]].all(axis=1)
    return np.where(fits, 1.0, 0.01), 0.5


class CompiledStudent(eqx.Module):
    def __call__(self, observation: StudentObservation) -> tuple[Array, Array]:
        return observation.candidates[:, observation.messages[0]] + 0.01, jnp.asarray(0.5)


PLAYERS: dict[str, Callable[[], Pair]] = {
    **{
        f"learned, {network}": lambda network=network: learned("pragmatic", network=network, freeze_semantics=False)
        for network in NETWORKS
    },
    "learned, frozen semantics": lambda: learned("pragmatic", freeze_semantics=True),
    **{method: lambda method=method: learned(method) for method in NEW_PAIR if method != "pragmatic"},
    "exact": lambda: exact(3),
    "literal": lambda: exact(0),
    "custom": lambda: Pair(CustomTeacher(rarest_true_word, MESSAGES), CustomStudent(candidates_that_fit)),
    "custom, compiled": lambda: Pair(
        CustomTeacher(jax.jit(lambda observation: observation.candidates[observation.target]), MESSAGES),
        CustomStudent(CompiledStudent()),
    ),
}


@pytest.fixture(scope="module", params=PLAYERS)
def pair(request: pytest.FixtureRequest) -> Pair:
    return PLAYERS[request.param]()


def context(features: Array) -> Context:
    return Context(features=features, lexicon=features > 0)


def values_of(pair: Pair, features: Array, target: Array) -> tuple[Array, Array]:
    """Her values of all messages and how likely she is to send each."""
    seen = context(features)
    values = pair.teacher.values(pair.teacher.encode(seen), target, pair.teacher.init_state(seen, RULES))
    return values, pair.teacher.message_probabilities(values)


def beliefs_and_policies(pair: Pair, features: Array, last: bool) -> tuple[Array, Array]:
    """His belief and his policy after each message, messages first."""
    seen = context(features)
    encoding, start = pair.student.encode(seen), pair.student.init_state(seen, RULES)

    def after(message: Array) -> tuple[Array, Array]:
        state = pair.student.update(encoding, start, message)
        return state.belief, pair.student.policy(state, jnp.asarray(last))

    return jax.vmap(after)(jnp.arange(MESSAGES))


@pytest.mark.slow
def test_values_are_finite_and_message_probabilities_sum_to_one_under_jit_and_vmap(pair: Pair):
    games, targets = some_games(), jnp.arange(GAMES) % CANDIDATES
    values, probabilities = jax.jit(jax.vmap(lambda game, target: values_of(pair, game, target)))(games, targets)
    assert values.shape == probabilities.shape == (GAMES, MESSAGES)
    assert np.isfinite(values).all()
    assert (np.asarray(probabilities) >= 0).all()
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    for i in range(2):
        assert np.allclose(values_of(pair, games[i], targets[i])[0], values[i], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("last", [False, True])
def test_beliefs_and_policies_sum_to_one_and_nobody_waits_in_the_last_round(pair: Pair, last: bool):
    beliefs, policies = jax.jit(jax.vmap(lambda game: beliefs_and_policies(pair, game, last)))(some_games())
    assert beliefs.shape == (GAMES, MESSAGES, CANDIDATES)
    assert policies.shape == (GAMES, MESSAGES, CANDIDATES + 1)
    assert (np.asarray(policies) >= 0).all()
    assert np.allclose(beliefs.sum(axis=2), 1, atol=1e-5)
    assert np.allclose(policies.sum(axis=2), 1, atol=1e-5)
    if last:
        assert not np.asarray(policies)[..., -1].any()


@pytest.mark.slow
def test_permuting_candidates_permutes_beliefs_and_leaves_values(pair: Pair):
    order = np.array([2, 0, 3, 1])
    for game in some_games()[:3]:
        plain, permuted = (beliefs_and_policies(pair, features, False)[0] for features in (game, game[order]))
        assert np.allclose(plain[:, order], permuted, atol=1e-5)
        # The target, candidate 3, is third in the new order.
        before, after = (
            values_of(pair, features, jnp.asarray(target))[0] for features, target in ((game, 3), (game[order], 2))
        )
        assert np.allclose(before, after, atol=1e-5)


@pytest.mark.slow
def test_a_game_is_played_to_its_end(pair: Pair):
    @jax.jit
    @jax.vmap
    def play(key: Array, features: Array, target: Array) -> Rollout:
        game = Game(jnp.arange(CANDIDATES), target, jnp.arange(CANDIDATES)[::-1])
        seen = perspectives(game, FeatureTable(features, features), features > 0)
        return rollout(key, pair.teacher, pair.student, seen, RULES, answer=categorical)

    played = play(jax.random.split(jax.random.key(0), GAMES), some_games(), jnp.arange(GAMES) % CANDIDATES)
    assert np.asarray(played.active)[:, 0].all()
    assert (np.asarray(played.action)[:, -1] != RULES.wait).all()
    assert (np.asarray(played.message) >= 0).all()
    assert (np.asarray(played.message) < MESSAGES).all()
