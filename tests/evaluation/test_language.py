"""Measures of language: against published packages where there are some, else worked out by hand."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from nltk.translate import AlignedSent, IBMModel1
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from sklearn.metrics import homogeneity_score, mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from implicature.agents.contracts import AbstractStudent, AbstractTeacher, Pair
from implicature.agents.custom import CustomStudent, CustomTeacher
from implicature.agents.exact import ExactModel, ExactStudent, ExactTeacher
from implicature.evaluation.held_out import feature_table
from implicature.evaluation.language import (
    categories_of,
    causal_influence,
    context_independence,
    edit_distance,
    explained_entropy,
    language,
    mutual_information,
    purity,
    topographic_similarity,
    translation,
)
from implicature.games.rules import Rules
from implicature.games.sampling import draw_games
from implicature.spaces import Space, objects
from implicature.spaces.numbers import number_sets

RANDOM = np.random.default_rng(0)
MESSAGES = RANDOM.integers(5, size=400)
CLASSES = (MESSAGES + RANDOM.integers(3, size=400)) % 4


def test_mutual_information_is_scikit_learns_in_bits():
    assert np.isclose(mutual_information(MESSAGES, CLASSES), mutual_info_score(MESSAGES, CLASSES) / np.log(2))
    # A message that reveals a coin toss: one bit. One that is always the same: none.
    assert np.isclose(mutual_information(np.array([0, 0, 1, 1]), np.array([5, 5, 7, 7])), 1)
    assert mutual_information(np.zeros(4, int), np.array([5, 5, 7, 7])) == 0


def test_the_explained_fraction_of_entropy_is_scikit_learns_homogeneity():
    # Homogeneity: 1 − H(class | cluster) / H(class), the class being what is explained.
    assert np.isclose(explained_entropy(MESSAGES, CLASSES), homogeneity_score(MESSAGES, CLASSES))
    assert explained_entropy(np.zeros(4, int), np.arange(4)) == 0


def test_purity_is_that_of_scikit_learns_contingency_matrix():
    attributes = np.eye(4, dtype=bool)[CLASSES]
    matrix = np.asarray(contingency_matrix(MESSAGES, CLASSES))
    assert np.isclose(purity(MESSAGES, attributes), matrix.max(axis=1).sum() / 400)
    # Attributes may meet: of two "0"s both have the first, of one "1" the second. 3 of 3.
    assert purity(np.array([0, 0, 1]), np.array([[1, 1], [1, 0], [0, 1]], bool)) == 1


def test_topographic_similarity_is_scipys_correlation_as_egg_has_it():
    # Words of one length that differ letter by letter have edit distances like EGG's own example, where language and
    # meaning are the same: 1.
    words = [[ord(letter) for letter in word] for word in ("cat", "dog", "pen", "ben", "ten")]
    letters = sorted({letter for word in words for letter in word})
    meanings = np.array([[np.eye(len(letters))[letters.index(x)] for x in word] for word in words], bool).reshape(5, -1)
    assert np.isclose(topographic_similarity(meanings, np.array(words)), 1)
    # Single symbols: their distance is 0 or 1.
    meanings, said = RANDOM.random((60, 8)) < 0.4, MESSAGES[:60, None]
    expected = spearmanr(pdist(meanings, "hamming"), pdist(said, lambda a, b: float(a[0] != b[0])))
    assert np.isclose(topographic_similarity(meanings, said), np.asarray(expected)[0])
    assert topographic_similarity(meanings, np.zeros((60, 1), int)) == 0


@pytest.mark.parametrize(
    ("first", "second", "changes"),
    [([1, 2, 3], [1, 2, 3], 0), ([1], [2], 1), ([1, 2], [2], 1), ([1, 2, 3], [2, 3, 4], 2), ([1, 2], [2, 1], 2)],
)
def test_edit_distances_are_changes_over_the_mean_length(first: list[int], second: list[int], changes: int):
    assert np.isclose(edit_distance(first, second), changes / ((len(first) + len(second)) / 2))


def test_translation_is_nltks_ibm_model_1():
    sources = [RANDOM.choice(5, size=RANDOM.integers(1, 4), replace=False) for _ in range(50)]
    targets = [RANDOM.choice(4, size=RANDOM.integers(1, 3), replace=False) for _ in range(50)]
    # NLTK's "mots" are the source of its alignments: it gives t(word | mot).
    model = IBMModel1(
        [AlignedSent([f"t{t}" for t in ts], [f"s{s}" for s in ss]) for ss, ts in zip(sources, targets, strict=True)], 7
    )
    often = [np.zeros((50, 5)), np.zeros((50, 4))]
    for i in range(50):
        np.add.at(often[0][i], sources[i], 1)
        np.add.at(often[1][i], targets[i], 1)
    found = translation(*often, iterations=7)
    expected = [[model.translation_table[f"t{t}"][f"s{s}"] for t in range(4)] for s in range(5)]
    assert np.allclose(found, expected, atol=1e-6)


def test_a_word_for_each_concept_is_context_independent_and_one_for_all_is_not():
    # One concept a game, each with a word of its own; the null word takes a share, as it fits as well at the start.
    one_each = np.eye(4)[np.tile(np.arange(4), 25)]
    clear = context_independence(one_each, one_each)
    muddled = context_independence(np.eye(4)[np.repeat(np.arange(4), 25)], one_each)
    assert clear > 0.99
    assert muddled < 0.1


def test_causal_influence_is_worked_out_by_hand():
    # Two candidates. A word that settles which: 1 bit; one that leaves him where he was: 0; half the games each: 1/2.
    settled, ignored = [[1.0, 0], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]
    assert causal_influence(np.array([settled])) == 1
    assert causal_influence(np.array([ignored])) == 0
    assert causal_influence(np.array([settled, ignored])) == 0.5
    # 3/4 and 1/4, either way: H(1/2) − H(1/4) = 1 − 0.8113.
    assert np.isclose(causal_influence(np.array([[[0.75, 0.25], [0.25, 0.75]]])), 1 - 0.8112781)


def test_values_of_a_category_are_numbered():
    of = categories_of(objects())
    assert {kind: len(np.unique(numbers)) for kind, numbers in of.items()} == {
        "colour": 6,
        "shape": 6,
        "size": 2,
        "place": 4,
    }
    assert len(categories_of(number_sets(6, 3))) == 6


# Whole pairs


def measure(teacher: AbstractTeacher, student: AbstractStudent, space: Space, rounds: int = 1) -> dict[str, Any]:
    games, pair = draw_games(jax.random.key(0), 600, 3, space.instances, "test"), Pair(teacher, student)
    return language(pair, feature_table(pair, space), space, games, Rules(3, rounds))


@pytest.mark.slow
def test_exact_players_speak_truly_and_are_understood():
    found = measure(ExactTeacher(ExactModel(2)), ExactStudent(ExactModel(2)), number_sets(6, 3), rounds=2)
    assert found["games"] == 600
    assert found["accuracy"] > 0.98
    # Every word is true of its target, so its commonest attribute is the target's always.
    assert found["purity"] == 1
    assert found["permuted"]["purity"] < 0.7
    assert 1.4 < found["causal_influence"] <= found["max_influence"] == np.log2(3)
    assert found["context_independence"] > found["permuted"]["context_independence"] + 0.2
    assert 0.05 < found["topographic_similarity"] < 1
    assert set(found["mutual_information"]) == set("012345")


def test_a_student_who_does_not_listen_is_not_influenced():
    found = measure(
        ExactTeacher(ExactModel(1)),
        CustomStudent(jax.jit(lambda observed: (jnp.sum(observed.candidates, axis=1), 0.0))),
        number_sets(6, 3),
    )
    assert found["causal_influence"] < 1e-6
    assert found["purity"] == 1


def test_a_constant_message_carries_no_information():
    found = measure(
        CustomTeacher(jax.jit(lambda observed: jnp.arange(6.0)), 6), ExactStudent(ExactModel(1)), number_sets(6, 3)
    )
    assert found["entropy"] == 0
    assert all(bits == 0 for bits in found["mutual_information"].values())
    for name in ("topographic_similarity", "speaker_consistency", "coordination"):
        assert found[name] == 0
    assert found["causal_influence"] < 1e-6
