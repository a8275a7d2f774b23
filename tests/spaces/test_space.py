import re
from dataclasses import replace

import numpy as np
import pytest

from implicature.spaces import SPACES, Space, number_sets, objects
from implicature.spaces.objects import CATEGORIES
from implicature.spaces.space import check_images, space_from_sets, with_images

TWO = np.array([[True, False], [True, True]])


def test_ten_symbols_in_sets_of_up_to_four_are_385_instances():
    # 10 + 45 + 120 + 210
    assert SPACES["numbers-10"]().table.shape == (385, 10)


def test_twelve_symbols_in_sets_of_up_to_five_are_1585_instances():
    # 12 + 66 + 220 + 495 + 792
    assert SPACES["numbers-12"]().table.shape == (1585, 12)


def test_small_number_sets_are_all_there_smaller_ones_first():
    space = number_sets(symbols=3, largest=2)
    assert [space.label(i) for i in range(space.instances)] == ["{0}", "{1}", "{2}", "{0, 1}", "{0, 2}", "{1, 2}"]
    assert space.categories is None
    assert space.category_numbers() == [0, 0, 0]


@pytest.mark.parametrize(("symbols", "largest"), [(0, 0), (3, 0), (3, 4), (-1, 1), (40, 20)])
def test_number_sets_that_cannot_be_are_refused(symbols: int, largest: int):
    with pytest.raises(ValueError, match=r"symbols.*\.$"):
        number_sets(symbols, largest)


def test_objects_are_288_instances_with_18_attributes():
    # 6 colours × 6 shapes × 2 sizes × 4 places, and 6 + 6 + 2 + 4
    assert objects().table.shape == (288, 18)


def test_an_object_has_one_attribute_of_each_category():
    space = objects()
    assert space.categories is not None
    for category in CATEGORIES:
        columns = [i for i, own in enumerate(space.categories) if own == category]
        assert np.all(space.table[:, columns].sum(axis=1) == 1)
    assert space.category_numbers() == [0] * 6 + [1] * 6 + [2] * 2 + [3] * 4
    assert space.label(0) == "{blue, box, small, upper-left}"


@pytest.mark.parametrize("name", SPACES)
def test_every_registered_space_is_named_and_its_instances_differ(name: str):
    space = SPACES[name]()
    assert space.name == name
    assert len(np.unique(space.features, axis=0)) == space.instances


def test_an_instance_is_labelled_by_its_attributes_unless_it_has_a_label():
    assert Space("two", ("round", "red"), TWO).label(1) == "{round, red}"
    assert Space("two", ("round", "red"), TWO, labels=("plum", "cherry")).label(1) == "cherry"


def test_attributes_of_sets_keep_their_first_order():
    space = space_from_sets("worlds", [["some"], ["all", "some"]])
    assert space.attributes == ("some", "all")
    assert space.table.tolist() == TWO.tolist()


@pytest.mark.parametrize(
    ("attributes", "table", "categories", "labels", "sentence"),
    [
        (("a", "b"), np.zeros((0, 2), bool), None, None, "The space s has no instances: give it at least two."),
        (("a",), TWO, None, None, "2 columns but 1 attribute names: name each column once."),
        (("a", " "), TWO, None, None, "The space s has an attribute without a name: every attribute needs one."),
        (("a", "a"), TWO, None, None, "The attribute 'a' is named twice: attribute names must differ."),
        (("a", "b"), TWO, ("c",), None, "1 categories for 2 attributes: give each attribute one."),
        (("a", "b"), TWO, None, ("x",), "1 labels for 2 instances: give each instance one."),
    ],
)
def test_what_is_no_space_is_refused_in_one_sentence(attributes, table, categories, labels, sentence: str):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        Space("s", attributes, table, categories, labels)


@pytest.mark.parametrize(
    ("shape", "kind", "sentence"),
    [
        ((2, 8, 8, 3), np.uint8, "Images of shape (2, 8, 8, 3) and type uint8: give bytes in an array"),
        ((2, 1, 8, 8, 4), np.uint8, "Images of shape (2, 1, 8, 8, 4) and type uint8: give bytes in an array"),
        ((2, 1, 8, 8, 3), float, "Images of shape (2, 1, 8, 8, 3) and type float64: give bytes in an array"),
        ((3, 1, 8, 9, 3), np.uint8, "1 images of 3 instances, 8 × 9 pixels, for 2 instances: give each at least one"),
        ((2, 0, 8, 8, 3), np.uint8, "0 images of 2 instances, 8 × 8 pixels, for 2 instances: give each at least one"),
    ],
)
def test_what_are_no_images_of_the_instances_is_refused_in_one_sentence(shape, kind, sentence: str):
    # As Space does itself: while tests run, its types refuse most of these first.
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}.*\\.$"):
        check_images(np.zeros(shape, kind), instances=2)


def test_a_space_checks_its_images():
    with pytest.raises(ValueError, match="0 images of 2 instances"):
        Space("s", ("a", "b"), TWO, images=np.zeros((2, 0, 8, 8, 3), np.uint8))


def space_with_images(sets: list[list[str]], shade: int = 0) -> Space:
    """Two images of each instance, all of one grey: ten times its number."""
    grey = np.repeat(10 * np.arange(len(sets), dtype=np.uint8) + shade, 2).reshape(-1, 2, 1, 1, 1)
    return replace(space_from_sets("things", sets), images=np.broadcast_to(grey, (len(sets), 2, 4, 4, 3)))


def test_other_images_are_found_by_attributes_whatever_their_order():
    space = space_from_sets("mine", [["blue", "box"], ["red", "box"], ["red", "cone"]])
    # Theirs are 0: red cone, 10: something else, 20: box red, 30: blue box.
    theirs = space_with_images([["red", "cone"], ["green", "cone"], ["box", "red"], ["blue", "box"]])
    found = with_images(space, theirs)
    assert (found.name, found.attributes) == ("mine", space.attributes)
    assert found.images is not None
    assert found.images.shape == (3, 2, 4, 4, 3)
    assert found.images[:, 0, 0, 0, 0].tolist() == [30, 20, 0]


def test_images_of_other_things_are_refused():
    space = space_from_sets("mine", [["blue", "box"], ["red", "box"], ["red", "cone"]])
    with pytest.raises(ValueError, match=r"no images of 2 of 3 instances, \{box, red\} first"):
        with_images(space, space_with_images([["blue", "box"], ["green", "cone"]]))
    with pytest.raises(ValueError, match="mine has no images"):
        with_images(space, space)
