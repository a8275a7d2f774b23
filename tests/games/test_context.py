"""A context is what a person can write down."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.games.context import Context
from implicature.games.registry import load_space
from implicature.spaces import objects
from implicature.spaces.space import space_from_sets


def test_three_objects_are_candidates_words_and_what_is_true_of_what():
    context = Context("blue,sphere", "red,sphere", "blue,cone")
    assert context.words == ("blue", "sphere", "red", "cone")
    assert context.candidates == ("blue,sphere", "red,sphere", "blue,cone")
    assert context.lexicon.astype(int).tolist() == [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]]
    assert np.array_equal(context.features, context.lexicon)
    assert context.prior.tolist() == pytest.approx([1 / 3] * 3)
    assert context.word("red") == 2


def test_numbers_are_sorted_by_size():
    assert Context("10,9", "2", ["9", "2"]).words == ("2", "9", "10")


def test_a_prior_is_normalised():
    assert Context("a", "b", prior=[1.0, 3.0]).prior.tolist() == [0.25, 0.75]


def test_with_a_space_all_its_words_can_be_said_and_instances_have_names():
    kitchen = load_space("examples/kitchen.csv")
    context = Context("saucepan", ",".join(kitchen.names(1)), space=kitchen)
    assert context.words == kitchen.attributes
    assert np.array_equal(context.lexicon, kitchen.table[:2])


def test_a_context_of_arrays_may_be_a_batch_and_passes_through_jit():
    features = jnp.zeros((3, 5, 7), jnp.float32)  # candidates × games × features
    lexicon = jnp.zeros((3, 4, 5), bool)  # candidates × words × games
    context = jax.jit(lambda context: context)(Context(features=features, lexicon=lexicon))
    assert context.prior.shape == (3, 5)
    assert context.words == ()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: Context("a"), "One candidate leaves nothing to guess: give two or more"),
        (lambda: Context(), "A game without candidates has nothing to guess: give two or more"),
        (lambda: Context("a,a", "b"), "The first candidate has the attribute 'a' twice: name it once."),
        (lambda: Context("a,", "b"), "The first candidate has an attribute without a name"),
        (lambda: Context("a", "b\x1b"), "The second candidate has characters that cannot be printed"),
        (lambda: Context("blue", "bleu", space=objects()), "The space objects has no attribute 'bleu': did you mean"),
        (lambda: Context("a", "b").word("c"), "'c' is not a word here: say one of 'a', 'b'."),
        (lambda: Context("a", "b", prior=[1.0, 2.0, 3.0]), "A prior is 2 weights from 0 on, one for each candidate"),
        (lambda: Context("a", "b", prior=[0.0, 0.0]), "A prior is 2 weights from 0 on"),
        (lambda: Context("a", "b", prior=[1.0, float("nan")]), "A prior is 2 weights from 0 on"),
        (lambda: Context("a", "b", space=space_from_sets("s", [["a"], ["c"]])), "The space s has no attribute 'b'"),
    ],
)
def test_what_cannot_be_a_game_is_refused_in_one_sentence(wrong, sentence: str):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}.*"):
        wrong()
