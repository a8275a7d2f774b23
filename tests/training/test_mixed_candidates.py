"""Games of several sizes in one batch, and layers that share their weights."""

from collections import Counter
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from implicature.agents.perspectives import FeatureTable
from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.matchup import load_matchup
from implicature.evaluation.matchup_args import MatchupArgs
from implicature.games.sampling import ABSENT
from implicature.games.splits import SPLITS, split_of
from implicature.nn.exchange import ExchangeNet, RepeatedLayer, at_depth
from implicature.nn.live_exchange import LiveExchangeNet
from implicature.training.config import Config
from implicature.training.optimiser import Step
from implicature.training.pretraining import belief_loss, speaker_loss
from implicature.training.runs.run import Run, open_run, start_run, with_layers
from implicature.training.seeds import Setup, step_at_random_depth
from implicature.training.stages import Stage
from implicature.training.task import Task, make_task

TINY = Config.of(
    candidates=5, min_candidates=2, share_layers=True, layers=4, train_games=400, candidate_sets=8, iterations=6,
    pretraining_iterations=6, phases=1, width=4, q_hidden=4,
)  # fmt: skip
WORDS = 6


@pytest.fixture(scope="module")
def task() -> Task:
    return make_task(TINY)


def sizes(candidates: Array) -> np.ndarray:
    return np.asarray((candidates != ABSENT).sum(axis=-1))


def test_training_games_have_every_number_of_candidates_equally_often_and_keep_to_the_split_of_their_own(task: Task):
    games = task.data.games
    assert Counter(sizes(games.candidates).tolist()) == {2: 100, 3: 100, 4: 100, 5: 100}
    for candidates, order in zip(games.candidates[::40], games.order[::40], strict=True):
        n = int(sizes(candidates))
        assert set(candidates[n:].tolist()) <= {ABSENT}
        assert SPLITS[int(split_of(candidates[:n], 0))] == "train"
        assert sorted(order[:n].tolist()) == list(range(n))


def test_every_candidate_that_is_there_is_the_target_equally_often_and_no_other_ever(task: Task):
    counts = np.zeros((6, 5))
    for i in range(40):
        games = task.data.sample(jax.random.key(i), 64, all_targets=True)
        number = sizes(games.candidates[:, 0].T)
        for n, targets in zip(number, games.target.T, strict=True):
            counts[n] += np.bincount(targets, minlength=5)
    for n in range(2, 6):
        assert not counts[n, n:].any()
        share = counts[n, :n] / counts[n].sum()
        assert np.abs(share - 1 / n).max() < 0.03


@pytest.mark.parametrize("live", [False, True])
def test_absent_candidates_change_nothing(live: bool):
    key, present = jax.random.key(0), jnp.array([True, True, True, False, False])
    features = jax.random.bernoulli(key, 0.5, (5, WORDS)).astype(jnp.float32)
    if live:
        net, words = LiveExchangeNet(WORDS, key, 8, 3, freeze_semantics=True), jnp.arange(WORDS)
        alone, padded = net.with_words(features[:3], words), net.with_words(features, words, present)
    else:
        net = ExchangeNet(WORDS, WORDS, key, 8, 3)
        alone, padded = net(features[:3]), net.with_present(features, present)
    assert np.allclose(padded.log_likelihood[:3], alone.log_likelihood, atol=1e-5)
    assert np.allclose(padded.embedding[:, :3], alone.embedding, atol=1e-5)


def test_nobody_believes_in_an_absent_candidate_and_nothing_is_true_of_it(task: Task):
    pair = task_pair(task)
    games = task.data.sample(jax.random.key(1), 64, all_targets=True)
    features = FeatureTable(task.data.observations, task.data.observations)
    seen = task.data.perspectives(games, features)
    absent = np.asarray(games.candidates == ABSENT)
    assert absent.any()
    assert not np.asarray(seen.teacher.lexicon)[np.broadcast_to(absent[:, None], seen.teacher.lexicon.shape)].any()
    state = pair.student.init_state(seen.student, task.rules)
    encoding = pair.student.encode(seen.student)
    after = pair.student.update(encoding, state, jnp.zeros(games.target.shape, jnp.int32)).belief
    assert np.asarray(after)[np.broadcast_to(absent, after.shape)].max() < 1e-6
    assert np.allclose(after.sum(axis=0), 1, atol=1e-5)


def test_absent_candidates_do_not_count_in_pretraining():
    # Two candidates and an absent one, of which nothing is true, beside the two alone: the same prior is drawn for them
    # up to normalisation, so that the belief loss is the same; the speaker's is summed over two of three.
    meaning = jnp.array([[True, False], [True, True], [False, False]])
    table = jnp.log(jnp.array([[0.7, 0.3], [0.4, 0.6], [0.5, 0.5]]))
    key, present = jax.random.key(0), jnp.array([True, True, False])
    moved = table.at[2].set(jnp.log(jnp.array([0.9, 0.1])))
    for loss in (belief_loss, speaker_loss):
        assert np.allclose(loss(key, table, meaning, present), loss(key, moved, meaning, present), atol=1e-6)
    # S_0 of the first is its one word, of the second each of its two with 1/2.
    by_hand = -(np.log(0.7) + 0.5 * np.log(0.4) + 0.5 * np.log(0.6)) / 3
    assert np.allclose(speaker_loss(key, table, meaning, present), by_hand, atol=1e-6)


# Shared layers


def task_pair(task: Task):
    run = Run(Path("nowhere"), task)
    return jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, run.pairs)


def test_a_repeated_layer_has_one_layers_weights_and_any_depth_is_so_many_applications():
    key = jax.random.key(0)
    four, two = (ExchangeNet(WORDS, WORDS, key, 8, layers, shared=True) for layers in (5, 3))
    features = jax.random.bernoulli(key, 0.5, (4, WORDS)).astype(jnp.float32)
    assert [leaf.shape for leaf in jax.tree.leaves(four)] == [leaf.shape for leaf in jax.tree.leaves(two)]
    two = jax.tree.unflatten(jax.tree.structure(two), jax.tree.leaves(four))
    shallow = at_depth(four, jnp.asarray(2))
    table = np.asarray(two(features).log_likelihood)
    assert np.allclose(shallow(features).log_likelihood, table, atol=1e-6)
    assert np.abs(four(features).log_likelihood - table).max() > 1e-4
    assert jax.tree.structure(at_depth(shallow, None)) == jax.tree.structure(four)


def test_both_agents_are_trained_at_the_same_depth_which_varies(task: Task):
    pair = task_pair(task)
    setup, stage = Setup(task.config, task.rules, task.data), Stage(1, "student", 1)

    def tell_depth(stage: Stage, setup: Setup, pair: object, features: object) -> Step:
        (partner,) = depths(pair.teacher)  # type: ignore[attr-defined]
        return lambda key, state: (state, {"partner": 1.0 * partner, "own": 1.0 * depths(state)[0]})

    features = FeatureTable(task.data.observations, task.data.observations)
    step = step_at_random_depth(tell_depth, stage, setup, pair, features)
    met = [step(jax.random.key(i), pair.student) for i in range(30)]
    assert {int(metrics["own"]) for _, metrics in met} == {
        2,
        3,
    }  # 4 layers: the first, and the shared one up to 3 times
    assert all(int(metrics["own"]) == int(metrics["partner"]) for _, metrics in met)
    assert depths(met[0][0]) == [None]  # what is kept has no depth


def depths(tree: object) -> list:
    nodes = jax.tree.leaves(tree, is_leaf=lambda node: isinstance(node, RepeatedLayer))
    return [node.depth for node in nodes if isinstance(node, RepeatedLayer)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = start_run(tmp_path_factory.mktemp("runs") / "mixed", TINY)
    for _ in run.train():
        pass
    return open_run(run.folder)


@pytest.mark.slow
def test_a_mixed_pair_is_trained_and_plays_with_any_number_of_candidates_and_layers(run: Run):
    for candidates in (2, 7):
        games = held_out_games(run.task, 50, seed=0, candidates=candidates)
        assert (np.asarray(games.candidates) != ABSENT).all()
        assert play_pair(run.pair(), run.task, games).success.mean() > 0.5 / candidates
    name = str(run.folder)
    usual, deep, same = (
        load_matchup(name, name, MatchupArgs(games=50, layers=layers)).pairs[0] for layers in (None, 9, 4)
    )
    assert [depth.net.layers[0].times for depth in (usual.student, deep.student, same.student)] == [3, 8, 3]  # type: ignore
    for one, other in zip(jax.tree.leaves(usual), jax.tree.leaves(deep), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.slow
def test_layers_of_their_own_cannot_be_applied_more_often(run: Run):
    own = Run(run.folder, make_task(TINY.replace(share_layers=False)))
    with pytest.raises(ValueError, match="have weights of their own: leave out --layers"):
        with_layers(own, 5)
    with pytest.raises(ValueError, match="--layers is of runs"):
        load_matchup("exact", "exact", MatchupArgs(games=50, layers=3))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"min_candidates": 6}, "--min-candidates is 6, but --candidates is 5"),
        ({"network": "deep-sets", "share_layers": False}, "--min-candidates needs the exchange network"),
        ({"layers": 1}, "--share-layers with one layer"),
        ({"game": "objects-4", "grounded": False}, "--min-candidates with images needs a grounded pair"),
    ],
)
def test_what_cannot_be_mixed_is_refused_with_the_way_out(changes: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        make_task(TINY.replace(**changes))
