"""What words mean is a table of its own: read, checked, and carried into contexts and games."""

import json
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from implicature.games.context import Context
from implicature.games.sampling import draw_games
from implicature.games.semantics import space_semantics
from implicature.spaces import Lexicon, Space, objects
from implicature.spaces.io import read_space
from implicature.spaces.lexicon import lexicon_from_words

SEA = "name,legs,fur\nwhale,0,0\ndolphin,0,0\nseal,0,1\n"
"""The whale and the dolphin are twins by their attributes."""


def folder_with(tmp_path: Path, lexicon: str, space: str = SEA) -> Path:
    (tmp_path / "space.csv").write_text(space)
    (tmp_path / "lexicon.csv").write_text(lexicon)
    return tmp_path


def test_by_default_the_words_are_the_attributes():
    space = objects()
    assert space.words == space.attributes
    assert space.words_are_attributes
    assert space.lexicon.free
    assert np.array_equal(space.lexicon.meaning, space.table)


def test_a_table_of_zeros_and_ones_is_boolean_and_a_graded_one_is_float():
    assert Lexicon(("a",), np.array([[1.0], [0.0]])).meaning.dtype == bool
    graded = Lexicon(("a", "b"), np.array([[1, 0.3], [0.5, 0]]))
    assert graded.meaning.dtype == np.float32
    assert graded.truth.tolist() == [[True, False], [True, False]]  # true from 0.5 on


@pytest.mark.parametrize("where", ["space.csv", "."])
def test_a_lexicon_beside_the_space_has_its_own_words_costs_and_categories(tmp_path: Path, where: str):
    lexicon = "name,big,swims\n(cost),0,0.25\n(category),size,life\nseal,,1\nwhale,1,1\ndolphin,0.4,1\n"
    space = read_space(folder_with(tmp_path, lexicon) / where)
    assert space.attributes == ("legs", "fur")
    assert space.words == ("big", "swims")
    np.testing.assert_allclose(space.lexicon.meaning, [[1, 1], [0.4, 1], [0, 1]])
    assert space.lexicon.costs.tolist() == [0, 0.25]
    assert space.lexicon.categories == ("size", "life")


def test_a_lexicon_without_names_is_in_the_order_of_the_space(tmp_path: Path):
    (tmp_path / "sea.csv").write_text(SEA)
    (tmp_path / "sea.lexicon.csv").write_text("big\n1\n0\n0\n")
    assert read_space(tmp_path / "sea.csv").lexicon.meaning.tolist() == [[True], [False], [False]]


def test_json_has_the_lexicon_the_costs_and_the_prior_beside_the_instances(tmp_path: Path):
    document = {
        "instances": {"some came": ["some"], "all came": ["some", "all"]},
        "lexicon": {"some": [1, 1], "all": {"all came": 1}, "few": [0.9, 0.1]},
        "costs": {"few": 0.5},
        "prior": {"all came": 3},
    }
    (tmp_path / "s.json").write_text(json.dumps(document))
    space = read_space(tmp_path / "s.json")
    assert space.words == ("some", "all", "few")
    np.testing.assert_allclose(space.lexicon.meaning, [[1, 0, 0.9], [1, 1, 0.1]])
    assert space.lexicon.costs.tolist() == [0, 0, 0.5]
    assert space.prior is not None
    assert space.prior.tolist() == [1, 3]


def test_a_column_prior_is_how_salient_each_instance_is(tmp_path: Path):
    (tmp_path / "s.csv").write_text("colour,prior\nblue,7\nred,2\ngreen,1\n")
    space = read_space(tmp_path / "s.csv")
    assert space.attributes == ("blue", "red", "green")
    assert space.prior is not None
    assert space.prior.tolist() == [7, 2, 1]


@pytest.mark.parametrize(
    ("lexicon", "sentence"),
    [
        (
            "name,big\nwhale,nan\ndolphin,1\nseal,0\n",
            "The word 'big' has the value nan for instance 1",
        ),
        ("name,big\nwhale,1.5\ndolphin,1\nseal,0\n", "The word 'big' has the value 1.5 for instance 1"),
        ("name,big\nwhale,-1\ndolphin,1\nseal,0\n", "The word 'big' has the value -1 for instance 1"),
        ("name,big\nwhale,yes\ndolphin,1\nseal,0\n", "Line 2 has 'yes', which is not a number"),
        ("name\nwhale\ndolphin\nseal\n", "A lexicon without words leaves nothing to say"),
        ("name,big,big\nwhale,1,1\ndolphin,1,1\nseal,0,0\n", "The word 'big' is in the lexicon twice: name it once."),
        ("name,big,\nwhale,1,1\ndolphin,1,1\nseal,0,0\n", "A word of the lexicon has no name"),
        ("name,big\nwhale,1\ndolphin,1\n", "There is no row for the instance 'seal'"),
        ("name,big\nwhale,1\ndolphin,1\nseals,0\n", "'seals' is not an instance of the space"),
        ("name,big\nwhale,1\nwhale,1\nseal,0\n", "Line 3 is of 'whale' again: give each instance one row."),
        ("big\n1\n1\n0\n0\n", "Line 5 is one more than the space has instances (3)"),
        ("name,big\nwhale,1,2\ndolphin,1\nseal,0\n", "Line 2 has 3 cells, but the header has 2"),
        ("name,big\n(cost),-1\nwhale,1\ndolphin,1\nseal,0\n", "The cost of 'big' is not a number from 0 on"),
        ("name,big\n(cost),inf\nwhale,1\ndolphin,1\nseal,0\n", "The cost of 'big' is not a number from 0 on"),
        ("", "A lexicon without words leaves nothing to say"),
    ],
)
def test_what_is_no_lexicon_is_refused_in_one_sentence(tmp_path: Path, lexicon: str, sentence: str):
    with pytest.raises(ValueError, match=r"lexicon\.csv.*: " + re.escape(sentence)) as error:
        read_space(folder_with(tmp_path, lexicon))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"lexicon": {"a": [1]}}, '"a" is not a list of 2 numbers'),
        ({"lexicon": {"a": {"nobody": 1}}}, "\"a\" has 'nobody', which is not an instance"),
        ({"lexicon": []}, '"lexicon" is not an object of words'),
        ({"costs": {"a": 1}}, 'It has "costs" but no "lexicon"'),
        ({"lexicon": {"a": [1, 0]}, "costs": {"b": 1}}, "'b' has a cost, but it is not a word"),
        ({"lexicon": {"a": [1, "x"]}}, "\"a\" has 'x', which is not a number"),
        ({"prior": [1, 0]}, "A prior is 2 weights above 0"),
        ({"prior": "x"}, '"prior" is not a list of 2 numbers'),
    ],
)
def test_json_that_is_no_lexicon_is_refused_in_one_sentence(tmp_path: Path, more: dict, sentence: str):
    (tmp_path / "s.json").write_text(json.dumps({"instances": {"x": ["a"], "y": ["b"]}, **more}))
    with pytest.raises(ValueError, match=re.escape(sentence)):
        read_space(tmp_path / "s.json")


def test_a_lexicon_of_other_instances_is_refused():
    with pytest.raises(ValueError, match="The lexicon has 3 rows, but space has 2 instances: give each one row"):
        Space(features=np.eye(2), lexicon=Lexicon(("a",), np.ones((3, 1))))


def test_features_and_a_lexicon_are_a_space():
    # A synonym, a negation, a word for everybody and one for nobody: five words, two features.
    words = lexicon_from_words({"left": [1, 0], "port": [1, 0], "not left": [0, 1], "thing": [1, 1], "yeti": [0, 0]})
    space = Space(features=np.eye(2), lexicon=words)
    assert space.attributes == ("feature 1", "feature 2")
    assert len(space.words) == 5
    assert space_semantics(space).meaning.shape == (2, 5)


def test_twins_are_instances_like_any_other(tmp_path: Path):
    (tmp_path / "s.csv").write_text("colour\nblue\nblue\nred\n")
    space = read_space(tmp_path / "s.csv")
    assert space.instances == 3
    assert space.table.tolist() == [[True, False], [True, False], [False, True]]


def test_the_same_candidate_may_be_given_twice():
    context = Context("blue,sphere", "blue,sphere", "red,cone")
    assert context.candidates == ("blue,sphere", "blue,sphere (2)", "red,cone")
    assert context.lexicon.astype(int).tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    assert context.position("blue,sphere (2)") == 1


def test_a_context_takes_names_a_lexicon_costs_a_prior_and_a_question():
    context = Context(
        "whale",
        "dolphin",
        "seal",
        lexicon={"big": [1, 0.4, 0]},
        costs={"big": 0.1},
        prior=[7, 2, 1],
        qud=["w", "d", "w"],
    )
    assert context.candidates == ("whale", "dolphin", "seal")
    np.testing.assert_allclose(context.lexicon, [[1], [0.4], [0]])
    np.testing.assert_allclose(context.prior, [0.7, 0.2, 0.1], rtol=1e-6)
    assert context.costs is not None
    assert context.cells is not None
    assert context.cells.tolist() == [0, 1, 0]
    named = Context("blue,sphere", "red,sphere", names=["left", "right"])
    assert named.candidates == ("left", "right")


def test_with_a_space_its_lexicon_costs_and_prior_are_the_contexts(tmp_path: Path):
    weighted = SEA.replace("\n", ",2\n").replace("fur,2", "fur,prior")
    folder_with(
        tmp_path,
        "name,big\n(cost),0.5\nwhale,1\ndolphin,0.4\nseal,0\n",
        weighted,
    )
    space = read_space(tmp_path)
    context = Context("seal", "dolphin", "dolphin", space=space)
    np.testing.assert_allclose(context.lexicon, [[0], [0.4], [0.4]])
    np.testing.assert_allclose(context.prior, [1 / 3] * 3, rtol=1e-6)
    assert context.costs is not None
    assert context.costs.tolist() == [0.5]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            lambda: Context("a", "b", lexicon={"w": [1, 0, 1]}),
            "The lexicon has 3 values for each word, but there are",
        ),
        (lambda: Context("a", "b", lexicon={"w": [1, 0], "v": [1]}), "The words have from 1 to 2 values"),
        (lambda: Context("a", "b", lexicon={"w": [1, float("nan")]}), "The word 'w' has the value nan for instance 2"),
        (lambda: Context("a", "b", costs={"c": 1}), "'c' has a cost, but it is not a word"),
        (lambda: Context("a", "b", costs=[0.1]), "1 costs for 2 words: give each word one."),
        (lambda: Context("a", "b", costs={"a": -1}), "The cost of 'a' is not a number from 0 on"),
        (lambda: Context("a", "b", qud=["x"]), "A question has 1 answers for 2 candidates"),
        (lambda: Context("a", "b", names=["x"]), "1 names for 2 candidates"),
    ],
)
def test_what_cannot_be_a_context_is_refused_in_one_sentence(wrong, sentence: str):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        wrong()


def test_targets_are_drawn_by_salience():
    # Two instances make every game; weights 3 to 1 mean the first in three of four games.
    games = draw_games(jax.random.key(0), 4_000, 2, 6, "train", salience=jnp.array([3.0, 1, 3, 1, 3, 1]))
    chosen = np.asarray(games.candidates)[np.arange(4_000), np.asarray(games.target)]
    mixed = (np.asarray(games.candidates) % 2).sum(axis=1) == 1
    assert abs((chosen[mixed] % 2 == 0).mean() - 0.75) < 0.03


def test_a_question_about_a_category_partitions_a_space():
    space = objects()
    assert len(set(space.cells("colour").tolist())) == 6
    assert len(set(space.cells("blue").tolist())) == 2
    with pytest.raises(ValueError, match="has no category 'taste' to ask about"):
        space.cells("taste")
