"""What the columns of a table are read as, and what is asked instead of guessed."""

from pathlib import Path

import pytest

from implicature.spaces import Space
from implicature.spaces.io import read_space


def load(folder: Path, content: str) -> Space:
    (folder / "mine.csv").write_text(content)
    return read_space(folder / "mine.csv")


def test_a_column_of_zeros_and_ones_among_categories_is_one_word(tmp_path: Path):
    space = load(tmp_path, "colour,striped,shape\nblue,1,sphere\nred,0,sphere\nblue,,cone\n")
    assert space.attributes == ("blue", "red", "striped", "sphere", "cone")
    assert space.categories == ("colour", "colour", "striped", "shape", "shape")
    # blue striped sphere, red sphere, blue cone
    assert space.table.astype(int).tolist() == [[1, 0, 1, 1, 0], [0, 1, 0, 1, 0], [1, 0, 0, 0, 1]]


def test_a_word_that_is_also_a_value_keeps_its_name(tmp_path: Path):
    space = load(tmp_path, "pattern,striped\nstriped,1\nplain,true\n")
    assert space.attributes == ("pattern:striped", "plain", "striped")


def test_a_mark_in_the_header_says_what_a_column_is(tmp_path: Path):
    space = load(tmp_path, "doors (category),id (name),weight (category)\n1,a,1.5\n0,b,2.5\n1,c,1.5\n0,d,0.5\n1,e,2\n")
    assert space.labels == ("a", "b", "c", "d", "e")
    assert space.attributes == ("1", "0", "1.5", "2.5", "0.5", "2")
    assert set(space.categories or ()) == {"doors", "weight"}
    assert load(tmp_path, "size (cm),kind\nbig,x\nsmall,y\n").categories == ("size (cm)",) * 2 + ("kind",) * 2


ROWS = "\n".join(f"c{i % 2},n{i}" for i in range(5))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            "shiny,kind\n0.7,a\n0.2,b\n1,c\n",
            "The column 'shiny' has numbers such as 0.7: is a word more or less true, put it into a lexicon beside the "
            "table; is each number a word, write 'shiny (category)' in the header.",
        ),
        (
            f"colour,id\n{ROWS}\n",
            "The column 'id' has another value in every row: does it name the rows, write 'id (name)' in the header; "
            "is each value a word, write 'id (category)' in the header.",
        ),
        (
            "red (word),kind\n1,a\nmaybe,b\n",
            "The column 'red' is marked as a word but has 'maybe': write 0 and 1 in it, or take the mark out.",
        ),
        ("a (name),b (name)\nx,y\nz,w\n", "Two columns name the rows: leave one of them."),
        ("name,b (name)\nx,y\nz,w\n", "Two columns name the rows: leave one of them."),
        ("a,a (word)\n1,0\n0,1\n", "Column 1 and column 2 have the same name: they must differ."),
    ],
)
def test_what_could_be_meant_otherwise_is_asked_in_one_sentence(tmp_path: Path, content: str, sentence: str):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        load(tmp_path, content)
    assert str(refused.value) == f"{str(tmp_path / 'mine.csv')!r}: {sentence}"


@pytest.mark.parametrize(
    "content",
    [
        f"colour,id (category)\n{ROWS}\n",  # marked
        "colour,id\nc0,n0\nc1,n1\n",  # too few rows to tell
        "id\n" + "\n".join(f"n{i}" for i in range(9)),  # nothing else to say
        "colour,doors\n" + "\n".join(f"c{i},{i % 3}" for i in (1, 1, 2, 2, 3)),  # whole numbers are names
    ],
)
def test_what_can_only_be_meant_so_is_read(tmp_path: Path, content: str):
    assert load(tmp_path, content).instances >= 2
