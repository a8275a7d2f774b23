"""Novices learn online, a step every few games, and are tested on held-out games in between.

θ ← Adam(θ, mean of ∇ℓ(θ; O, o*, m) over a few games),      m said by the partner, o* revealed
"""

from collections.abc import Iterator
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from implicature.evaluation.held_out import held_out_games
from implicature.evaluation.novices.courses import Lesson
from implicature.evaluation.novices.partners import (
    CHOOSE,
    PARTNERS,
    Choose,
    Lessons,
    beliefs,
    losses,
    make_lessons,
    say_fixed,
    say_understood,
)
from implicature.nn.kernels import take_one_hot
from implicature.nn.likelihood import AbstractBeliefNet
from implicature.training.config import Config, OptimiserConfig
from implicature.training.optimiser import Learner, apply_gradients, init_learner
from implicature.training.pairs import new_belief_net
from implicature.training.resolve import resolve
from implicature.training.runs.run import Run

BATCH = 8
"""Games between two steps of the novice."""
EVERY = 20
"""Steps between two tests."""
POOL, TEST_GAMES, PROBE = 20_000, 1_000, 64
MAX_GAMES, MAX_SEEDS = 10_000_000, 100


def test_novice(choose: Choose, key: Key[Array, ""], net: AbstractBeliefNet, games: Lessons) -> dict[str, Array]:
    """The three tests: how often he picks the right candidate."""
    guess = jnp.argmax(beliefs(net, games), axis=0)
    own = games.meaning & (jnp.sum(games.meaning, axis=0, keepdims=True) == 1)
    only, single = jnp.argmax(own, axis=0), jnp.any(own, axis=0)
    answer = say_fixed if choose is say_fixed else say_understood
    right = {
        name: take_one_hot(guess, word) == games.target
        for name, word in (("own", answer(key, net, games, games)), ("run", games.of_run))
    }
    return {"words": jnp.sum((guess == only) & single) / jnp.sum(single), **jax.tree.map(jnp.mean, right)}


@eqx.filter_jit
def teach_some(
    choose: Choose, config: OptimiserConfig, keys: Key[Array, " seeds"], learners: Learner, pool: Lessons, test: Lessons
) -> tuple[Learner, dict[str, Float[Array, " seeds"]]]:
    """Some more games for each novice, and then the tests."""

    def step(learner: Learner, key: Array) -> tuple[Learner, None]:
        row_key, say_key, probe_key = jax.random.split(key, 3)
        size = len(pool.target)
        games = pool.take(jax.random.randint(row_key, (BATCH,), 0, size))
        probe = pool.take(jax.random.randint(probe_key, (PROBE,), 0, size))
        word = choose(say_key, learner.model, games, probe)
        gradient = eqx.filter_grad(lambda net: jnp.mean(take_one_hot(losses(net, games), word)))(learner.model)
        return apply_gradients(learner, gradient, config, EVERY), None

    def one(key: Array, learner: Learner) -> tuple[Learner, dict[str, Array]]:
        learn_key, test_key = jax.random.split(key)
        learner = jax.lax.scan(step, learner, jax.random.split(learn_key, EVERY))[0]
        return learner, test_novice(choose, test_key, learner.model, test)

    return eqx.filter_vmap(one)(keys, learners)


def novice_config(run: Run) -> Config:
    """The run's network, but nothing of it is known or frozen."""
    task = run.task
    config = run.config.replace(grounded=False, freeze_semantics=None, schedule="constant")
    return resolve(config, task.space, task.rules.candidates)


def check_teachable(run: Run) -> None:
    if not run.config.grounding.grounded:
        raise ValueError(
            f"The words of {run.folder} mean nothing that a novice could be told truly: name a run that is grounded."
        )
    if run.task.data.cells is not None:
        raise ValueError(f"{run.folder} asks a question, but novices learn to find the target: name another run.")


def teach(run: Run, partner: str, games: int, seeds: int, phase: int | None = None) -> Iterator[Lesson]:
    """Novices, one for each seed, learn from a partner; tests every few games, the first before any."""
    if partner not in PARTNERS:
        raise ValueError(f"No partner is called {partner!r:.40}: choose one of {', '.join(PARTNERS)}.")
    check_teachable(run)
    task, pair, config = run.task, run.pair(phase), novice_config(run)
    # All of the largest size, where training games have several.
    mixed = task.data.mixed
    games_known = held_out_games(task, POOL, seed=0, split="train") if mixed else task.data.games
    pool = jax.tree.map(lambda leaf: leaf[:POOL], games_known)
    test = make_lessons(partner, pair, task, held_out_games(task, TEST_GAMES, seed=0))
    lessons = make_lessons(partner, pair, task, pool)
    choose = CHOOSE.get(partner, say_fixed)
    size, messages = lessons.features.shape[-1], lessons.said.shape[0]

    def new(key: Array) -> Learner:
        return init_learner(new_belief_net(config, size, messages, key), config.optimiser, EVERY)

    init_keys, keys = (jax.vmap(partial(fold, i))(jnp.arange(seeds)) for i in range(2))
    learners = eqx.filter_vmap(new)(init_keys)
    figures = eqx.filter_vmap(lambda key, one: test_novice(choose, key, one.model, test))(keys, learners)
    yield Lesson(partner, 0, jax.tree.map(np.asarray, figures))
    for chunk in range(-(-games // (BATCH * EVERY))):
        now = jax.vmap(partial(jax.random.fold_in, data=chunk))(keys)
        learners, figures = teach_some(choose, config.optimiser, now, learners, lessons, test)
        yield Lesson(partner, (chunk + 1) * BATCH * EVERY, jax.tree.map(np.asarray, figures))


def fold(purpose: int, seed: Int[Array, ""]) -> Key[Array, ""]:
    return jax.random.fold_in(jax.random.key(purpose), seed)
