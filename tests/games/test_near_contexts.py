"""Near contexts: hand-worked similarities, the two ends of the temperature, exclusive splits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.api import sample_games
from implicature.games.contexts import Neighbours, gumbel, jaccard, neighbours
from implicature.games.sampling import draw_games
from implicature.games.splits import SPLITS, split_of
from implicature.spaces import SPACES, number_sets
from implicature.training.config import Config
from implicature.training.task import make_task

SPACE = number_sets(8, 3)


def test_similarity_is_shared_words_over_all_words():
    truth = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], bool)
    # {a, b} and {a, b, c} share 2 of 3; {d} shares nothing; without words there is nothing to share.
    expected = [[1, 2 / 3, 0, 0], [2 / 3, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(jaccard(truth), expected)


def test_at_temperature_0_the_candidates_are_one_of_them_and_its_nearest():
    near = neighbours(SPACE, "near", 0.0)
    games = draw_games(jax.random.key(0), 300, 5, SPACE.instances, "train", near=near)
    similarity = jaccard(SPACE.lexicon.truth)
    nearest = np.sort(similarity, axis=1)[:, ::-1][:, 1:5].sum(axis=1)  # without itself, which is 1

    for candidates in np.asarray(games.candidates):
        among = similarity[np.ix_(candidates, candidates)].sum(axis=1) - 1
        assert np.isclose(among, nearest[candidates]).any()  # the anchor, wherever it stands
        assert len(set(candidates.tolist())) == 5


def test_a_large_temperature_draws_every_instance_alike():
    near = neighbours(SPACE, "near", 1000.0)
    games = draw_games(jax.random.key(1), 8_000, 4, SPACE.instances, "train", near=near)
    counts = np.bincount(np.asarray(games.candidates).ravel(), minlength=SPACE.instances)
    expected = 8_000 * 4 / SPACE.instances
    assert np.abs(counts / expected - 1).max() < 6 / expected**0.5


def test_distractors_are_drawn_by_the_softmax_of_similarity():
    # Similarities 0.2 and 0 at τ = 0.1: exp(2) : exp(0), so the first with 7.389 / 8.389 = 0.881.
    near = Neighbours(jnp.array([[1.0, 0.2, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 1.0]]), 0.1)
    keys = jax.random.split(jax.random.key(0), 20_000)
    drawn = jax.vmap(lambda key: near.sample(key, jnp.asarray(0), jnp.arange(3), 2))(keys)
    assert np.mean(np.asarray(drawn[:, 1]) == 1) == pytest.approx(0.881, abs=0.01)


def test_hashed_noise_is_gumbel_noise():
    noise = np.asarray(jax.vmap(lambda key: gumbel(key, 200))(jax.random.split(jax.random.key(0), 500)))
    assert noise.mean() == pytest.approx(0.5772, abs=0.02)  # Euler's constant
    assert noise.var() == pytest.approx(np.pi**2 / 6, abs=0.05)


def test_no_near_candidate_set_is_in_two_splits():
    near = neighbours(SPACE, "near", 0.02)
    sets = [
        {tuple(sorted(row)) for row in np.asarray(games.candidates).tolist()}
        for split in SPLITS
        for games in [draw_games(jax.random.key(0), 400, 4, SPACE.instances, split, near=near)]
    ]
    assert len(sets[0] | sets[1] | sets[2]) == sum(map(len, sets))


def test_the_target_may_be_any_of_the_candidates_or_one_that_was_held_out():
    near, held_out = neighbours(SPACE, "near", 0.0), jnp.array([3, 50])
    games = draw_games(jax.random.key(0), 2_000, 4, SPACE.instances, "train", near=near)
    assert np.bincount(np.asarray(games.target)).min() > 430  # a quarter each is 500

    novel = draw_games(jax.random.key(0), 300, 4, SPACE.instances, "test", targets=held_out, near=near)
    targets = np.take_along_axis(np.asarray(novel.candidates), np.asarray(novel.target)[:, None], 1)
    assert set(targets.ravel().tolist()) <= {3, 50}


def test_a_split_that_no_near_context_falls_into_is_refused_with_the_way_out():
    space = number_sets(3, 2)  # 6 instances, 20 sets of 3
    near = Neighbours(jnp.kron(jnp.eye(2), jnp.ones((3, 3))), 0.0)  # two sets only
    halves = jnp.arange(6).reshape(2, 3)
    empty = (set(range(3)) - set(np.asarray(jax.vmap(split_of, (0, None))(halves, 0)).tolist())).pop()
    with pytest.raises(ValueError, match=f"No near context of 3 falls into the {SPLITS[empty]} split: raise --context"):
        draw_games(jax.random.key(0), 10, 3, space.instances, SPLITS[empty], near=near)


def test_emoji_have_words_that_at_least_two_share_and_no_two_have_the_same():
    space = SPACES["emoji"]()
    assert (space.instances, len(space.words)) == (1493, 1506)
    assert space.table.sum(axis=0).min() == 2
    assert len(np.unique(space.table, axis=0)) == space.instances
    assert space.labels is not None
    assert set(space.names(space.labels.index("🐙"))) >= {"animal", "ocean"}


def test_emoji_games_draw_near_contexts_and_flags_say_otherwise():
    task = make_task(Config.of(game="emoji-7", train_games=50))
    assert (task.config.game.contexts, task.config.game.context_temperature) == ("near", 0.02)
    random = make_task(Config.of(game="emoji-7", contexts="random", train_games=50))
    assert random.config.game.contexts == "random"
    similarity = jaccard(task.space.lexicon.truth)
    np.fill_diagonal(similarity, 0)  # of each to the others

    def mean_similarity(candidates: jax.Array) -> float:
        rows = np.asarray(candidates)
        return float(similarity[rows[:, :, None], rows[:, None]].mean())

    assert mean_similarity(task.data.games.candidates) > 10 * mean_similarity(random.data.games.candidates)
    assert sample_games("emoji-16", 20).candidates.shape == (20, 16)
