"""Training with word costs, priors, channel noise, questions and several words: hand-worked values and tiny runs."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.belief import belief_in_cells, belief_in_target
from implicature.agents.channel import mishear
from implicature.agents.contracts import AgentState
from implicature.agents.perspectives import FeatureTable, perspectives
from implicature.agents.rollout import argmax, boltzmann, categorical, rollout, truthful_epsilon_boltzmann
from implicature.agents.student import LearnedStudent
from implicature.agents.teacher import LearnedTeacher
from implicature.agents.utility import through_channel
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.games.semantics import Semantics
from implicature.nn.deep_sets import DeepSetsNet
from implicature.nn.exchange import ExchangeNet
from implicature.training.config import Config
from implicature.training.losses import expected_credit, sampled_credit
from implicature.training.pretraining import belief_loss, speaker_loss
from implicature.training.replay import transitions
from implicature.training.runs.run import start_run
from implicature.training.task import GameData, make_task, systematic_sample

# Two candidates, two messages: P(m | o) = 3/4 and 1/4 for the first candidate, 1/4 and 3/4 for the second.
TABLE = jnp.array([[0.75, 0.25], [0.25, 0.75]])
HALF = jnp.array([0.5, 0.5])


def net_with(table: jax.Array) -> DeepSetsNet:
    """A network that gives this table for one-hot candidates, as in test_losses.py."""
    size = len(table)
    net = DeepSetsNet(size, table.shape[1], jax.random.key(0), size, 0, "softmax", 0.0)
    return eqx.tree_at(lambda net: (net.encoder.weight, net.messages), net, (jnp.eye(size), jnp.log(table).T))


def teacher_with(table: jax.Array, noise: float = 0.0) -> LearnedTeacher:
    return LearnedTeacher(net_with(table), 4, jax.random.key(1), noise=noise)


# Costs


def test_q_starts_as_the_predicted_belief_less_what_the_word_costs():
    # Target 0: he would believe 3/4 after the first word, 1/4 after the second; they cost 0.2 and 0.05.
    context = Context(features=jnp.eye(2), lexicon=jnp.ones((2, 2), bool), costs=jnp.array([0.2, 0.05]))
    teacher = teacher_with(TABLE)
    encoding = teacher.encode(context)
    values = teacher.values(encoding, jnp.asarray(0), AgentState(HALF))
    assert np.allclose(values, [0.55, 0.2], atol=1e-6)
    one = teacher.q_values(encoding, jnp.asarray(0), HALF, jnp.asarray(1))
    assert np.allclose(one, [0.2], atol=1e-6)


# True words only


def test_a_truthful_teacher_chooses_among_true_words_and_among_all_where_none_is():
    # Word 0 is true of candidate 0 only, word 1 of both, and of the third no word is.
    lexicon = jnp.array([[1, 1], [0, 1], [0, 0]], bool)
    context = Context(features=jnp.eye(3), lexicon=lexicon)
    table = jnp.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]])
    free = LearnedTeacher(net_with(table), 4, jax.random.key(1), beta=1.0)
    bound = LearnedTeacher(net_with(table), 4, jax.random.key(1), beta=1.0, truthful=True)
    third = AgentState(jnp.full(3, 1 / 3))
    for target, said in ((0, [True, True]), (1, [False, True]), (2, [True, True])):
        values = bound.values(bound.encode(context), jnp.asarray(target), third)
        assert np.isfinite(values).tolist() == said
        expected = free.values(free.encode(context), jnp.asarray(target), third)
        assert np.allclose(values, np.where(said, expected, -np.inf))
        assert np.isclose(bound.message_probabilities(values).sum(), 1)
    # In the middle of exploring, at ε = 1, she still says what is true: word 1 of candidate 1.
    values = bound.values(bound.encode(context), jnp.asarray(1), third)
    speak = truthful_epsilon_boltzmann(jnp.asarray(1.0), 1.0)
    assert {int(speak(key, values)) for key in jax.random.split(jax.random.key(0), 50)} == {1}
    values = bound.values(bound.encode(context), jnp.asarray(0), third)
    said = [int(speak(key, values)) for key in jax.random.split(jax.random.key(0), 400)]
    assert 150 < sum(said) < 250  # both words of candidate 0, about equally often


@pytest.mark.slow
def test_a_truthful_pair_sends_true_words_at_a_low_rationality(tmp_path: Path):
    """At β = 1 a teacher who may say anything of 10 numbers would send many that are untrue."""
    config = Config.of(
        beta=1.0, truthful=True, layers=1, pretraining_iterations=2, iterations=2, phases=1, candidate_sets=16,
        train_games=1_000,
    )  # fmt: skip
    run = start_run(tmp_path / "run", config)
    for _ in run.train():
        pass
    pair, task = run.pair(1), run.task
    features = pair.encode_all(task.data.observations)
    seen = task.data.perspectives(task.data.sample(jax.random.key(2), 64, True), features)
    played = rollout(jax.random.key(3), pair.teacher, pair.student, seen, task.rules, boltzmann(1.0), categorical)
    assert np.asarray(seen.teacher.lexicon)[seen.target, np.asarray(played.message[0]), 0, np.arange(64)].all()


# Channel noise


def test_the_channel_mixes_a_word_with_all_others():
    # ε = 0.2 of three words: 0.8 · 0.6 + 0.1 · (0.3 + 0.1) = 0.52 and so on.
    assert np.allclose(through_channel(jnp.array([[0.6, 0.3, 0.1]]), 0.2), [[0.52, 0.31, 0.17]], atol=1e-6)


def test_with_noise_he_reckons_with_what_she_may_have_sent_and_she_with_what_he_may_hear():
    # ε = 0.2, two words. He: P̃ = 0.8 · 3/4 + 0.2 · 1/4 = 0.65 against 0.35, so he believes 0.65 after the first word.
    # She: heard with 0.8 he believes 0.65, else 0.35, so 0.8 · 0.65 + 0.2 · 0.35 = 0.59 is what she may expect.
    context = Context(features=jnp.eye(2), lexicon=jnp.ones((2, 2), bool))
    student = LearnedStudent(net_with(TABLE), noise=0.2)
    heard = student.update(student.encode(context), AgentState(HALF), jnp.asarray(0))
    assert np.allclose(heard.belief, [0.65, 0.35], atol=1e-6)
    teacher = teacher_with(TABLE, noise=0.2)
    encoding = teacher.encode(context)
    assert np.allclose(teacher.predict(encoding, HALF, jnp.asarray(0)), [0.59, 0.41], atol=1e-6)
    assert np.allclose(teacher.values(encoding, jnp.asarray(0), AgentState(HALF)), [0.59, 0.41], atol=1e-6)


def test_words_are_misheard_as_often_as_the_noise_says_each_other_word_alike():
    heard = mishear(jax.random.key(0), jnp.ones(20_000, int), 4, 0.3)
    frequencies = np.bincount(np.asarray(heard), minlength=4) / 20_000
    assert np.allclose(frequencies, [0.1, 0.7, 0.1, 0.1], atol=0.012)  # four standard errors


# Priors


def test_targets_are_as_frequent_as_the_prior_has_it():
    # Four targets of each set with a prior of 0.7, 0.2, 0.1: the first 2.8 times, so 2 or 3 times.
    prior = jnp.tile(jnp.array([[0.7], [0.2], [0.1]]), 5_000)
    target = np.asarray(systematic_sample(jax.random.key(0), prior, 4))
    assert target.shape == (4, 5_000)
    assert np.allclose([(target == i).mean() for i in range(3)], [0.7, 0.2, 0.1], atol=0.01)
    assert set((target == 0).sum(axis=0)) == {2, 3}


def test_a_batch_has_each_target_once_without_salience_and_by_the_prior_with_it():
    games = jax.vmap(lambda target: Game(jnp.arange(3), target, jnp.arange(3)))(jnp.zeros(10, int))
    data = GameData(jnp.eye(3), jnp.eye(3, dtype=bool), games)
    assert data.sample(jax.random.key(0), 8, True).target.tolist() == [[0] * 8, [1] * 8, [2] * 8]
    salient = replace(data, salience=jnp.array([98.0, 1.0, 1.0]))
    assert np.mean(np.asarray(salient.sample(jax.random.key(0), 200, True).target) == 0) > 0.9
    assert salient.sample(jax.random.key(0), 200, False).target.shape == (1, 200)


def test_the_first_belief_of_both_is_the_prior():
    semantics = Semantics(jnp.eye(3, dtype=bool), salience=jnp.array([7.0, 2.0, 1.0]))
    game = Game(jnp.arange(3), jnp.asarray(0), jnp.array([2, 0, 1]))
    seen = perspectives(game, FeatureTable(jnp.eye(3), jnp.eye(3)), semantics)
    teacher, student = teacher_with(jnp.eye(3) + 0.1), LearnedStudent(net_with(jnp.eye(3) + 0.1))
    assert np.allclose(teacher.init_state(seen.teacher, Rules(3)).belief, [0.7, 0.2, 0.1])
    assert np.allclose(student.init_state(seen.student, Rules(3)).belief, [0.1, 0.7, 0.2])


# Graded meanings


def test_pretraining_fits_graded_meanings_in_proportion():
    # ⟦·⟧ = 1, 0.5 and 0, 0.5: S_0 = 2/3, 1/3 and 0, 1. A network that says so has the least losses: the entropies.
    meaning = jnp.array([[1.0, 0.5], [0.0, 0.5]])
    fitted, other = jnp.log(jnp.array([[2 / 3, 1 / 3], [1e-9, 1.0]])), jnp.log(jnp.array([[0.5, 0.5], [1e-9, 1.0]]))
    key = jax.random.key(0)
    # (H(2/3, 1/3) + 0) / 2 = 0.318257.
    assert np.isclose(speaker_loss(key, fitted, meaning), 0.318257, atol=1e-5)
    assert speaker_loss(key, fitted, meaning) < speaker_loss(key, other, meaning)
    assert belief_loss(key, fitted, meaning) < belief_loss(key, other, meaning)


# Questions


def test_where_a_cell_is_to_be_found_beliefs_are_summed_over_it():
    # Cells {0, 2} and {1}: 0.3 + 0.25 against 0.45.
    belief, cells = jnp.array([0.3, 0.45, 0.25]), jnp.array([0, 1, 0])
    assert np.isclose(belief_in_target(belief, jnp.asarray(2), cells), 0.55)
    assert np.allclose(belief_in_cells(belief, cells), [0.55, 0.45, 0])
    assert belief_in_cells(belief, None) is belief
    several = belief_in_cells(jnp.tile(belief[:, None, None], (1, 2, 4)), jnp.tile(cells[:, None, None], (1, 1, 4)))
    assert np.allclose(several[:, 1, 3], [0.55, 0.45, 0])


def played_question(key: jax.Array, table: jax.Array, target: int):
    cells = jnp.array([0, 1, 0])
    semantics = Semantics(jnp.ones(table.shape, bool), cells=cells)
    game = Game(jnp.arange(3), jnp.asarray(target), jnp.arange(3))
    seen = perspectives(game, FeatureTable(jnp.eye(3), jnp.eye(3)), semantics)
    student = LearnedStudent(net_with(table))
    played = rollout(key, teacher_with(table), student, seen, Rules(3), argmax, categorical)
    return played, cells


def test_an_answer_in_the_targets_cell_is_right_and_credited_as_such():
    # One word of which P(m | o) is 0.3, 0.45, 0.25: the belief. He answers 0 for its cell, and the target is 2.
    table = jnp.array([[0.3, 0.7], [0.45, 0.55], [0.25, 0.75]])
    target = jnp.asarray(2)

    def expected(table: jax.Array) -> jax.Array:
        played, cells = played_question(jax.random.key(0), table, 2)
        return expected_credit(played, target, 1.0, "belief", cells)[0]

    def sampled(table: jax.Array, key: jax.Array) -> jax.Array:
        played, cells = played_question(key, table, 2)
        return sampled_credit(played, target, 1.0, "belief", cells)[0]

    exact = jax.grad(expected)(table)
    keys = jax.random.split(jax.random.key(1), 20_000)
    estimated = jnp.mean(jax.jit(jax.vmap(jax.grad(sampled), (None, 0)))(table, keys), axis=0)
    assert np.allclose(exact, estimated, atol=0.03)
    assert np.any(np.abs(exact) > 0.2)


# Several words in a message


def test_he_answers_after_the_last_word_and_a_repeated_word_is_free():
    # She says word 0 twice: the second time it costs nothing. Return 1 − 0.1.
    semantics = Semantics(jnp.eye(2, dtype=bool))
    game = Game(jnp.arange(2), jnp.asarray(0), jnp.arange(2))
    seen = perspectives(game, FeatureTable(jnp.eye(2), jnp.eye(2)), semantics)
    rules = Rules(2, rounds=2, message_cost=0.1, words=2)
    student = LearnedStudent(net_with(TABLE), offset=-1e9)  # he would never wait of his own accord
    played = rollout(jax.random.key(0), teacher_with(TABLE), student, seen, rules)
    assert played.action.tolist() == [2, 0]
    # Belief after each word: 3/4, then 9/10.
    assert np.allclose(played.after[:, 0], [0.75, 0.9], atol=1e-6)
    assert np.isclose(played.episode_return, 0.9)
    two = rollout(jax.random.key(0), teacher_with(TABLE), student, seen, rules, forced_messages=jnp.array([1, 0]))
    assert np.isclose(jnp.sum(two.reward - two.right), -0.2)


def test_within_a_message_a_word_is_also_worth_what_he_would_make_of_it_alone():
    # She says word 0 twice; he believes 3/4 and then 9/10 in the target and finds it. With γ = 0.6 the first word is
    # worth 0.4 · 3/4 − 0.1 at once; the second, which is free, 1.
    rules = Rules(2, rounds=2, message_cost=0.1, words=2)
    game = Game(jnp.arange(2)[:, None, None], jnp.zeros((1, 1), int), jnp.arange(2)[:, None, None])
    seen = perspectives(game, FeatureTable(jnp.eye(2), jnp.eye(2)), Semantics(jnp.eye(2, dtype=bool)))
    student = LearnedStudent(net_with(TABLE), offset=-1e9)
    played = rollout(jax.random.key(0), teacher_with(TABLE), student, seen, rules)
    new = transitions(game, played, 0.6, True, rules)
    assert np.allclose(new.r_t[:, 0], [0.2, 1.0], atol=1e-6)
    assert np.allclose(new.discount_t[:, 0], [0.6, 0.0])


def test_rounds_are_whole_messages():
    with pytest.raises(ValueError, match="3 rounds are no whole number of messages of up to 2 words"):
        Rules(2, rounds=3, words=2)
    assert Config.of(words=2, rounds=3).game.rules(4).rounds == 6


# Tasks


def write_animals(folder: Path) -> Path:
    """Eight instances, three features, five words: more words than features, one graded, one true of everybody."""
    instances = list(product((0, 1), repeat=3))
    table = [f"a{i},{big},{furry},{swims}" for i, (big, furry, swims) in enumerate(instances)]
    (folder / "space.csv").write_text("\n".join(["name,big,furry,swims", *table]))
    words = ["name,big,small,furry,swims,animal", "(cost),0,0,0.1,0,0"]
    words += [f"a{i},{0.8 * b + 0.1},{1 - b},{f},{s},1" for i, (b, f, s) in enumerate(instances)]
    (folder / "lexicon.csv").write_text("\n".join(words))
    return folder / "space.csv"


def tiny(**values: object) -> Config:
    small = {"iterations": 20, "pretraining_iterations": 20, "phases": 1, "candidate_sets": 8, "train_games": 200}
    return Config.of(**{**small, "layers": 1, "width": 4, **values})


def test_a_question_is_a_category_of_the_space():
    task = make_task(Config.of(space="shapes-costs", candidates=3, question="colour", train_games=200))
    assert len(set(np.asarray(task.data.cells).tolist())) == 4
    with pytest.raises(ValueError, match="has no category 'smell' to ask about"):
        make_task(Config.of(space="shapes-costs", candidates=3, question="smell", train_games=200))
    with pytest.raises(ValueError, match="--feedback correct"):
        make_task(Config.of(space="shapes-costs", candidates=3, question="colour", feedback="correct"))


@pytest.mark.slow
def test_pairs_train_with_more_words_than_features_costs_grades_noise_two_words_and_a_question(tmp_path: Path):
    config = tiny(space=str(write_animals(tmp_path)), candidates=3, noise=0.1, words=2, question="swims")
    run = start_run(tmp_path / "run", config)
    last = [*run.train()][-1]
    assert all(np.isfinite(value).all() for value in last.metrics.values())
    pair = run.pair()
    assert isinstance(pair.teacher, LearnedTeacher)
    assert isinstance(pair.student, LearnedStudent)
    assert isinstance(pair.teacher.net, ExchangeNet)
    assert pair.teacher.net.messages.shape[0] == len(run.task.words) == 5
    assert pair.teacher.net.encoder[0].weight.shape[0] == 3
    assert (pair.teacher.noise, pair.student.noise, run.task.rules.noise) == (0.1, 0.1, 0.1)
