"""Live words: hand-worked games, the exact players' tables with and without them, and a small pair that learns so."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.contracts import Pair
from implicature.agents.exact import ExactModel, ExactStudent, ExactTeacher
from implicature.agents.perspectives import FeatureTable, perspectives
from implicature.agents.teacher import LearnedTeacher
from implicature.evaluation.ceiling import exact_success, game_lexicon
from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import play_games
from implicature.evaluation.transcripts import transcribe
from implicature.games.live import LiveWords, bucket, live_bucket, live_words, most_live, true_words
from implicature.games.rules import Rules
from implicature.games.sampling import draw_games
from implicature.games.semantics import Semantics, space_semantics
from implicature.nn import games_last
from implicature.nn.likelihood import apply_net
from implicature.nn.live_exchange import LiveExchangeNet
from implicature.spaces import SPACES, number_sets
from implicature.spaces.space import Space
from implicature.training.config import Config
from implicature.training.resolve import batch_size, resolve
from implicature.training.runs.run import open_run, start_run
from implicature.training.seeds import n_chunks
from implicature.training.task import make_task

SMALL = number_sets(20, 2)  # 210 instances, 20 words


def semantics_of(space: Space, size: int) -> Semantics:
    return replace(space_semantics(space), live=live_words(space, size))


def test_the_words_of_a_game_are_those_true_of_some_candidate_and_decoys():
    meaning = np.zeros((3, 12), bool)
    meaning[0, [2, 5]], meaning[1, [5, 7]], meaning[2, 11] = True, True, True
    live = LiveWords(jnp.asarray(true_words(meaning)), 5, 12)
    np.testing.assert_array_equal(live.true, [[2, 5], [5, 7], [11, 12]])  # 12: no word

    words = np.asarray(live.of(jnp.array([1, 0]))).tolist()
    assert words[:3] == [2, 5, 7]
    assert len(set(words)) == 5  # two decoys, which are not live and not the same
    assert set(words[3:]) <= set(range(12)) - {2, 5, 7}
    assert words == np.asarray(live.of(jnp.array([0, 1]))).tolist()  # whatever the order


def test_words_of_many_games_are_those_of_each():
    live = live_words(SMALL, 8)
    assert live is not None
    candidates = jax.random.randint(jax.random.key(0), (3, 2, 7), 0, SMALL.instances)
    together = live.of(candidates)
    for i, j in ((0, 0), (1, 6)):
        np.testing.assert_array_equal(together[:, i, j], live.of(candidates[:, i, j]))


def test_a_bucket_grows_where_games_need_more_words():
    live = live_words(SMALL, 4)
    assert live is not None
    pairs = np.flatnonzero(SMALL.table.sum(axis=1) == 2)
    disjoint = np.array([[next(i for i in pairs if SMALL.table[i, [2 * j, 2 * j + 1]].all()) for j in range(3)]])
    assert most_live(np.asarray(live.true), disjoint, 20) == 6  # three sets of two
    assert live.fit(disjoint).size == bucket(6) == 8
    assert live.fit(disjoint[:, :2]) is live  # four words, as it is


def test_small_vocabularies_and_words_that_are_no_attributes_are_played_whole():
    assert live_bucket(SMALL, 4, None) == 0
    many = number_sets(300, 1)
    assert live_bucket(many, 4, None) == 8  # four words are live, always; 1.15 times as many, in steps of 8
    named = Space(features=np.eye(300, dtype=bool), lexicon=many.lexicon)
    assert live_bucket(named, 4, None) == 0
    for config in (Config(), Config.of(game="numbers-7"), Config.of(network="deep-sets")):
        resolved = resolve(config, SPACES["numbers-10"](), 4)
        assert (resolved.data.live_words, resolved.optimiser.candidate_sets) == (0, 256)


def test_batches_shrink_with_the_cells_of_a_game():
    assert batch_size(512) == 256
    assert batch_size(50 * 232) == 8  # 131,072 / 11,600 = 11.3
    assert batch_size(10**9) == 8
    assert n_chunks(2_000, 84) == 1
    assert n_chunks(2_000, 50 * 232) == 50  # 40 games of 11,600 cells are 464,000, 50 of them would be 580,000


@pytest.mark.parametrize("depth", [0, 3])
def test_exact_players_do_the_same_with_live_words(depth: int):
    games = draw_games(jax.random.key(0), 200, 3, SMALL.instances, "test")
    rows = jnp.asarray(SMALL.features, jnp.float32)
    pair = Pair(ExactTeacher(ExactModel(depth)), ExactStudent(ExactModel(depth)))

    whole = play_games(pair, FeatureTable(rows, rows), semantics_of(SMALL, 0), games, Rules(3))
    live = play_games(pair, FeatureTable(rows, rows), semantics_of(SMALL, 8), games, Rules(3))
    np.testing.assert_array_equal(whole.success, live.success)
    np.testing.assert_array_equal(whole.n_valid, live.n_valid)
    np.testing.assert_array_equal(whole.level, live.level)
    np.testing.assert_allclose(whole.hardness, live.hardness, rtol=1e-6)

    both = semantics_of(SMALL, 0), semantics_of(SMALL, 8)
    success = [exact_success(game_lexicon(one, games.candidates), games.target, 3) for one in both]
    np.testing.assert_allclose(success[0], success[1], atol=1e-6)
    said = [transcribe(pair, FeatureTable(rows, rows), one, games, Rules(3)).message for one in both]
    np.testing.assert_array_equal(said[0], said[1])  # words of the vocabulary, not of the game


def test_the_network_gives_a_word_the_same_start_whatever_its_place_in_the_game():
    net = LiveExchangeNet(20, jax.random.key(0), width=4, layers=2)
    games = draw_games(jax.random.key(1), 5, 3, SMALL.instances, "train")
    rows = jnp.asarray(SMALL.features, jnp.float32)
    seen = perspectives(games_last(games), FeatureTable(rows, rows), semantics_of(SMALL, 8))
    context = seen.teacher
    assert context.word_ids is not None
    assert context.features.shape == (3, 5, 8)
    table = apply_net(net, context.features, context.word_ids)
    reordered = apply_net(net, context.features[..., ::-1], context.word_ids[::-1])
    np.testing.assert_allclose(table.log_likelihood, reordered.log_likelihood[:, ::-1], atol=1e-4)

    # By hand: e_o from the sum of the embeddings of the attributes that o has; logits from e_o · v_m.
    game = 2
    attributes = SMALL.table[np.asarray(games.candidates)[game, 0]]
    hidden = np.asarray(net.encoder[0].weight)[attributes].sum(axis=0)
    hidden = np.where(hidden > 0, hidden, hidden / 100)
    vector = hidden @ np.asarray(net.encoder[1].weight)
    logits = vector @ np.asarray(net.messages)[np.asarray(context.word_ids)[:, game]].T
    np.testing.assert_allclose(table.literal[0, :, game], jax.nn.log_softmax(logits), atol=1e-3)


def test_one_message_has_the_q_value_that_it_has_among_all():
    net = LiveExchangeNet(20, jax.random.key(0), width=4, layers=2)

    teacher = LearnedTeacher(net, 8, jax.random.key(1), out_init_scale=1.0)
    features = jax.random.bernoulli(jax.random.key(2), 0.4, (3, 1, 5, 8)).astype(jnp.float32)
    words = jnp.broadcast_to(jnp.arange(8)[:, None, None], (8, 1, 5))
    encoding = teacher.encode_features(features, words=words)
    target, belief = jnp.tile(jnp.arange(3)[:, None], 5), jnp.full((3, 3, 5), 1 / 3)
    message = jax.random.randint(jax.random.key(3), (3, 5), 0, 8)
    every, one = teacher.q_values(encoding, target, belief), teacher.q_values(encoding, target, belief, message)
    expected = jnp.take_along_axis(every, message[None], axis=0)
    np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_pair_learns_words_of_a_large_vocabulary(tmp_path):

    space = "test_live_words:words_in_twos"
    config = Config.of(
        space=space, candidates=3, candidate_sets=32, train_games=2_000, pretraining_iterations=300, iterations=50,
        phases=1, width=8, layers=2,
    )  # fmt: skip
    run = start_run(tmp_path / "run", config)
    assert run.config.data.live_words == 8
    for _ in run.train():
        pass
    games = held_out_games(run.task, 300, 0)
    results = play_pair(open_run(run.folder).pair(), run.task, games)
    assert results.success.mean() > 0.8  # chance is a third
    assert results.n_valid.mean() > 0.9


def words_in_twos() -> Space:
    """300 words, 300 instances with two neighbouring words each."""
    table = np.eye(300, dtype=bool)
    return Space("twos", tuple(f"w{i}" for i in range(300)), table | np.roll(table, 1, axis=1))


def test_the_task_of_a_large_vocabulary_has_live_words():
    task = make_task(Config.of(space="test_live_words:words_in_twos", candidates=3, train_games=50))
    assert task.config.data.live_words == 8  # six words at most, and 1.15 times as many is 6.9
    assert task.data.n_messages == 8
    assert make_task(Config.of(game="numbers-4", train_games=50)).data.live is None
