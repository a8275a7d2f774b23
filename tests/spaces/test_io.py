import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from implicature.spaces import Space
from implicature.spaces.io import MAX_ATTRIBUTES, MAX_BYTES, MAX_INSTANCES, read_space

EXAMPLES = Path(__file__).parents[2] / "examples"
FUZZ = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
GOOD = {
    ".csv": "name,colour,shape\nball,blue,sphere\nhat,blue,cone\n",
    ".json": '{"instances": {"x": ["a"], "y": ["a", "b"]}, "categories": {"a": "c", "b": "c"}}',
}


def load(folder: Path, content: str | bytes, name: str = "mine.csv") -> Space:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_space(path)


def refusal(path: Path | str) -> str:
    """The sentence with which a file is refused, after the file's name."""
    with pytest.raises(ValueError, match=r"\.$") as caught:
        read_space(path)
    message = str(caught.value)
    assert type(caught.value) is ValueError
    assert message.isprintable()  # which a line break is not
    return message.removeprefix(f"{str(path)!r}: ")


def test_the_papers_three_objects():
    space = read_space(EXAMPLES / "three-objects.csv")
    assert space.name == "three-objects"
    assert space.attributes == ("blue", "red", "sphere", "cone")
    assert space.categories == ("colour", "colour", "shape", "shape")
    # blue sphere, red sphere, blue cone
    assert space.table.astype(int).tolist() == [[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]]
    assert space.label(2) == "{blue, cone}"


def test_where_all_came_some_came_too():
    space = read_space(str(EXAMPLES / "some-all.json"))
    worlds = {space.label(i): space.names(i) for i in range(space.instances)}
    assert worlds["some but not all of the boys came"] == ["some"]
    assert worlds["all of the boys came"] == ["some", "all"]
    assert worlds["none of the boys came"] == ["none"]


def test_twelve_kitchen_things_with_one_attribute_of_each_of_four_categories():
    space = read_space(EXAMPLES / "kitchen.csv")
    assert space.instances == 12
    assert space.categories is not None
    assert len(set(space.categories)) == 4
    assert (space.table.sum(axis=1) == 4).all()
    assert space.label(0) == "saucepan"


@pytest.mark.parametrize(
    "content",
    ["round,red\n1,0\ntrue,TRUE\n", "round;red\r\n1;\r\n1;1\r\n", "\ufeff\nround\tred\n 1\tfalse\n\n\t\n1\t1"],
)
def test_columns_of_zeros_and_ones_are_attributes(tmp_path: Path, content: str):
    space = load(tmp_path, content)
    assert space.attributes == ("round", "red")
    assert space.table.astype(int).tolist() == [[1, 0], [1, 1]]
    assert space.categories is None


def test_a_value_of_two_columns_is_named_with_its_column(tmp_path: Path):
    space = load(tmp_path, 'fruit,colour,size\norange,orange,big\n"lime",green,small\norange,,small\n')
    assert space.attributes == ("fruit:orange", "lime", "colour:orange", "green", "big", "small")
    assert space.names(0) == ["fruit:orange", "colour:orange", "big"]
    assert space.names(2) == ["fruit:orange", "small"]


def test_spaces_and_spellings_that_look_the_same_are_the_same(tmp_path: Path):
    # é as one letter and as e with an accent; a no-break space, and a line break inside quotes
    space = load(tmp_path, 'place,heat\ncafé\u00a0bar,hot\n"cafe\u0301\nbar", cold\n')
    assert space.attributes == ("café bar", "hot", "cold")


@pytest.mark.parametrize(
    ("document", "attributes", "categories", "labels"),
    [
        ([["a"], ["a", "b"]], ("a", "b"), None, None),
        ([[7], [7, 1.5]], ("7", "1.5"), None, None),
        ([{"a": True}, {"a": 1, "b": "1"}], ("a", "b"), None, None),
        ([{"a": 7, "name": "x"}, {"name": "y", "a": 7, "b": 8}], ("7", "8"), ("a", "b"), ("x", "y")),
        ({"instances": [["a"], ["b", "a"]], "attributes": ["a", "b"]}, ("a", "b"), None, None),
        (
            {"instances": {"x": ["a"], "y": ["a", "b"]}, "categories": {"b": "c", "a": "d"}},
            ("a", "b"),
            ("d", "c"),
            ("x", "y"),
        ),
    ],
)
def test_json_says_the_same_in_several_ways(tmp_path: Path, document, attributes, categories, labels):
    space = load(tmp_path, json.dumps(document), "mine.json")
    assert (space.attributes, space.categories, space.labels) == (attributes, categories, labels)
    assert space.table.astype(int).tolist() == [[1, 0], [1, 1]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "It has no instances"),
        ("a,b\n", "It has no instances"),
        ("a,b\nx,y\n", "It has only one instance"),
        ("a,b\nx,y\nz\n", "Line 3 has 1 cells, but the header has 2"),
        ("a,b\nx,y,z\n", "Line 2 has 3 cells, but the header has 2"),
        ("a,,b\nx,y,z\n", "Column 2 has no name in the header"),
        ("a,b, a\nx,y,z\n", "Column 1 and column 3 have the same name"),
        ("name\nx\ny\n", "Its instances have no attributes"),
        ("name,a\nx,1\nx,0\n", "Line 2 and line 3 have the same name"),
        ("name,a\nx,1\n,0\n", "Line 3 has no name"),
        ('a,b\nx,"y\n', "Line 2 is not CSV"),
        ("a,b\nx,b:y\ny,y\n", "The attribute 'b:y' is named twice"),
        ("a,b\nx,\x1by\n", "Line 2 has characters that cannot be printed"),
        (f"a,b\nx,{'y' * 201}\n", "Line 2 has a name of 201 letters"),
        ("a,b\nx,caf\u00e9\n".encode("latin-1"), "Line 2 is not UTF-8"),
        ("a,b\nx,y\n".encode("utf-16"), "It holds NUL bytes"),
        (b"\x7fELF\x02\x01\x00", "It holds NUL bytes"),
        ("a\n" + "\n".join(map(str, range(MAX_ATTRIBUTES + 1))), "4,097 attributes are more than 4,096"),
        ("a,b\n" + "x,y\n" * (MAX_INSTANCES + 1), "100,001 instances are more than 100,000"),
        ("a," * MAX_ATTRIBUTES + "a\n", "4,097 columns are more than 4,096"),
        ("a\n" + "x" * 1_000_000, "Line 2 is not CSV"),
    ],
)
def test_a_bad_csv_file_is_refused_in_one_sentence(tmp_path: Path, content: str | bytes, sentence: str):
    path = tmp_path / "bad.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert refusal(path).startswith(sentence)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "Line 1 is not JSON"),
        ('[["a"],\n["b"]', "Line 2 is not JSON"),
        ("[" * 100_000, "Its brackets nest too deeply"),
        ("[]", "It has no instances"),
        ("{}", "It has no instances"),
        ("null", "It has no instances"),
        ('{"instances": "ab"}', "It has no instances"),
        ('[["a"]]', "It has only one instance"),
        ('["ab", "cd"]', "Instance 1 is not a list of names"),
        ('[["a"], {"b": 1}]', "Instance 2 is not a list of names"),
        ('[["a"], [["b"]]]', "Instance 2 is not a list of names"),
        ('[["a"], [NaN]]', "Instance 2 is not a list of names"),
        ('[{"a": 1}, {"a": {}}]', "Instance 2 is not a list of names"),
        ('[["a"], [null]]', "The space bad has an attribute without a name"),
        ("[[], [1" + "0" * 5000 + "]]", "Instance 2 has a name of 5,001 letters"),
        (r'[["a"], ["\ud800"]]', "Instance 2 has characters that cannot be printed"),
        ('{"instances": {"x": ["a"], "x": ["b"]}}', "'x' is written twice in one object"),
        ('{"instances": {"x": ["a"], " x": ["b"]}}', "Instance 1 and instance 2 have the same name"),
        ('{"instances": [["a"], ["b"]], "category": {}}', "Its 'category' is not instances"),
        ('{"instances": [["a"], ["b"]], "attributes": ["a"]}', "Instance 2 has an attribute that is not among"),
        ('{"instances": [["a"], []], "attributes": ["a", "a"]}', "The attribute 'a' is named twice"),
        ('{"instances": [["a"], []], "attributes": "a"}', '"attributes" is not a list of names'),
        ('{"instances": [["a"], ["b"]], "categories": {"a": "c"}}', '"categories" is not an object with each'),
        ('{"instances": [["a"], []], "categories": {"a": []}}', '"categories" is not a list of names'),
        ("[" + ",".join(f'{{"k{i}": 1}}' for i in range(5000)) + "]", "25,000,000 cells are more than 20,000,000"),
        ("[[]" + ",[]" * MAX_INSTANCES + "]", "100,001 instances are more than 100,000"),
    ],
)
def test_a_bad_json_file_is_refused_in_one_sentence(tmp_path: Path, content: str, sentence: str):
    path = tmp_path / "bad.json"
    path.write_text(content)
    assert refusal(path).startswith(sentence)


def test_what_is_no_readable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert refusal(tmp_path / "missing.csv").startswith("It cannot be read (No such file or directory)")
    assert refusal(tmp_path).startswith("This folder has no .csv files: leave one in it")
    os.mkfifo(tmp_path / "pipe.csv")
    assert refusal(tmp_path / "pipe.csv").startswith("This is a pipe or a device")
    assert refusal(tmp_path / ("long" * 100)).startswith("It cannot be read (File name too long)")
    (tmp_path / "two\nlines.csv").write_text("a,b\n")
    assert refusal(tmp_path / "two\nlines.csv").startswith("It has no instances")
    (tmp_path / "table.xlsx").write_text("a,b\n")
    assert refusal(tmp_path / "table.xlsx").startswith("A space is read from .csv, .tsv, .txt, .json")
    (tmp_path / "secret.csv").write_text("a\nx\ny\n")

    def refuse(*_: object) -> None:  # the tests may run as root, whom no file refuses
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert refusal(tmp_path / "secret.csv").startswith("It cannot be read (Permission denied)")


def test_a_hundred_megabytes_are_refused_unread(tmp_path: Path):
    path = tmp_path / "huge.csv"
    path.touch()
    os.truncate(path, 100_000_000)
    began = time.monotonic()
    assert refusal(path).startswith(f"100,000,000 bytes are more than {MAX_BYTES:,}")
    assert time.monotonic() - began < 0.5


def space_or_sentence(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        space = read_space(path)
    except ValueError as error:
        caught = error
    else:
        assert space.instances >= 2
        return
    assert type(caught) is ValueError
    assert str(caught).isprintable()


@pytest.mark.parametrize("suffix", GOOD)
@given(content=st.binary(max_size=200))
@FUZZ
def test_any_bytes_are_a_space_or_a_sentence(tmp_path: Path, suffix: str, content: bytes):
    space_or_sentence(tmp_path / f"any{suffix}", content)


@pytest.mark.parametrize("suffix", GOOD)
@given(data=st.data())
@FUZZ
def test_a_good_file_with_its_letters_changed_is_a_space_or_a_sentence(tmp_path: Path, suffix: str, data):
    text = GOOD[suffix]
    for _ in range(data.draw(st.integers(1, 4))):
        start, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 8))
        text = text[:start] + data.draw(st.text('[]{}",:;\n\r\t01aé\u2028\x1b', max_size=6)) + text[start + length :]
    space_or_sentence(tmp_path / f"changed{suffix}", text.encode())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("ab") | st.text(), inner, max_size=4),
)
parts = st.fixed_dictionaries({"instances": values}, optional={"attributes": values, "categories": values})


@pytest.mark.slow
@given(document=values | parts | st.lists(st.dictionaries(st.sampled_from(["name", "a", "b"]), values), max_size=4))
@FUZZ
def test_any_json_is_a_space_or_a_sentence(tmp_path: Path, document: object):
    space_or_sentence(tmp_path / "any.json", json.dumps(document).encode())
