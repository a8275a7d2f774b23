"""`implicature space` tells what was read."""

import json
from pathlib import Path

import pytest
from conftest import Ask
from PIL import Image

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    """Two sheep that no word tells apart, a word for nobody and one for everybody."""
    lines = ["name,kind,[red],alive,flies", "Dolly,sheep,0,1,0", "Molly,sheep,0,1,0", "Rex,dog,1,1,0"]
    (tmp_path / "farm.csv").write_text("\n".join(lines))
    return tmp_path / "farm.csv"


def test_it_names_things_words_twins_and_words_that_say_nothing(farm: Path, ask: Ask):
    code, said, err = ask("space", farm)
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert lines == [
        "farm: 3 instances, 5 words",
        "kind: sheep, dog",
        "[red]: [red]",
        "alive: alive",
        "flies: flies",
        "no word tells apart: Dolly, Molly",
        "true of nothing: flies",
        "true of everything: alive",
        "sheep dog [red] alive flies",
        "Dolly ● · · ● ·",
        "Molly ● · · ● ·",
        "Rex · ● ● ● ·",
    ]


def test_json_has_the_same(farm: Path, ask: Ask):
    code, said, _ = ask("space", farm, "--json")
    summary = json.loads(said)
    assert code == 0
    assert summary["instances"][2] == {"name": "Rex", "words": ["dog", "[red]", "alive"]}
    assert summary["categories"]["kind"] == ["sheep", "dog"]
    assert summary["twins"] == [["Dolly", "Molly"]]
    assert (summary["fits_nobody"], summary["fits_everybody"]) == (["flies"], ["alive"])
    assert (summary["costs"], summary["prior"], summary["images"], summary["graded"]) == ({}, None, 0, False)


def test_a_lexicon_is_shown_with_its_values_and_costs(farm: Path, ask: Ask):
    farm.with_name("farm.lexicon.csv").write_text("name,woolly\n(cost),0.25\nDolly,1\nMolly,0.4\nRex,0\n")
    said = ask("space", farm)[1]
    assert "costs: woolly 0.25" in said
    assert "Molly  0.4" in " ".join(said.split("Dolly")[-1].splitlines()[1:2])
    assert json.loads(ask("space", farm, "--json")[1])["graded"] is True


def test_the_table_is_drawn_and_a_large_one_is_cut_on_the_terminal(ask: Ask, tmp_path: Path):
    code, said, _ = ask("space", "numbers-10", "--out", tmp_path / "table.png")
    assert code == 0
    assert "numbers-10: 385 instances, 10 words" in said
    assert "… and 345 instances and 0 words more: draw all with --out table.png." in said
    with Image.open(tmp_path / "table.png") as image:
        assert image.height > image.width > 200
    code, out, err = ask("space", "numbers-10", "--out", tmp_path / "table.jpg")
    assert (code, out) == (2, "")
    assert "is not a PNG file" in err


def test_a_question_about_the_file_is_one_sentence(ask: Ask, tmp_path: Path):
    (tmp_path / "mine.csv").write_text("shiny,kind\n0.7,a\n0.2,b\n")
    code, out, err = ask("space", tmp_path / "mine.csv")
    assert (code, out) == (2, "")
    assert "The column 'shiny' has numbers such as 0.7" in err
    assert err.count("\n") == 1


def test_the_space_of_a_run_is_its_own_copy(ask: Ask, whole_run):
    code, said, _ = ask("space", whole_run.folder)
    assert code == 0
    assert said.startswith("numbers-10: 385 instances, 10 words")
