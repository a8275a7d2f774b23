"""A pair who sees plays with other pictures of the same things, and about things that training held out."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import Ask, Draw, Trained
from PIL import Image

from implicature.cli.main import main
from implicature.spaces.io import load_space
from implicature.training.run import open_run


@pytest.fixture(scope="module")
def seeing(squares: Path, draw_squares: Draw, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pair of the package's command, which learned from three quarters of the squares in pictures of its own."""
    folder = tmp_path_factory.mktemp("seeing")
    other = draw_squares(folder / "learned", asides=(1,))
    arguments = f"train --quiet --space {squares} --pictures {other} --candidates 3 --train-games 1000"
    arguments += " --instances 0.75 --batch 64 --width 8 --depth 2 --phases 0 --pretraining 250"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sys, "argv", ["implicature", *arguments.split(), "--learning-rate", "0.01", "--out", str(folder / "run")]
        )
        main()
    return folder / "run"


def test_training_with_other_pictures_sees_those(seeing: Path, squares: Path):
    setting = open_run(seeing).setting
    own = load_space(squares)
    assert setting.world.looks.shape == (24, 64, 64, 3)
    assert own.pictures is not None
    # Neither 0 nor 2 pixels aside, but 1.
    assert not any(np.array_equal(setting.world.looks[0], own.pictures[0, i]) for i in (0, 1))
    assert setting.space.attributes == own.attributes
    assert (seeing / "example.png").exists()


def test_a_pair_plays_with_other_pictures_and_with_many_of_each(
    seeing: Path, squares: Path, draw_squares: Draw, tmp_path: Path, ask: Ask
):
    def figures(*more: object) -> dict:
        code, said, _ = ask("evaluate", seeing, "--games", 300, "--json", *more)
        assert code == 0
        return json.loads(said)

    usual, aside = figures(), figures("--pictures", squares)
    assert "pictures" not in usual
    assert aside["pictures"] == str(squares)
    # Games of squares that training held out, words with their first meanings: far more than one in three is found.
    assert min(usual["accuracy"], aside["accuracy"]) > 0.5
    # The very pictures that it learned from, in another order of their table, are the same again.
    same = draw_squares(tmp_path / "same", asides=(1,), order=-1)
    assert figures("--pictures", same) == {**usual, "pictures": str(same)}
    # Where every picture is empty, nothing can be told apart: about one in three is found.
    blank = draw_squares(tmp_path / "blank")
    for path in blank.glob("*.png"):
        Image.new("RGB", (64, 64), (128, 128, 128)).save(path)
    assert figures("--pictures", blank)["accuracy"] < 0.5
    _, table, _ = ask("evaluate", seeing, "--games", 300, "--pictures", squares)
    assert "pictures of" in table


def test_novel_targets_are_those_that_training_held_out(seeing: Path, ask: Ask):
    code, said, _ = ask("evaluate", seeing, "--games", 300, "--novel", "--json")
    assert code == 0
    novel = json.loads(said)
    assert novel["novel"] is True
    assert novel["accuracy"] > 0.5
    out = seeing.parent / "novel.csv"
    assert ask("export", seeing, "--games", 100, "--novel", "--out", out)[0] == 0
    targets = {line.split('"')[1] for line in out.read_text().splitlines()[1:]}
    # A quarter of 24 squares; candidates beside them may be any.
    assert 1 < len(targets) <= 6


def test_what_cannot_be_seen_is_told_in_one_sentence(
    seeing: Path, squares: Path, whole_run: Trained, draw_squares: Draw, tmp_path: Path, ask: Ask
):
    fewer = draw_squares(tmp_path / "fewer")
    (fewer / "squares.csv").write_text("\n".join((fewer / "squares.csv").read_text().splitlines()[:-4]))
    large = draw_squares(tmp_path / "large", side=100)
    for arguments, sentence in [
        ([seeing, "--pictures", fewer], "has no pictures of 2 of 24 instances, {blue, large, lower-left} first"),
        ([seeing, "--pictures", "objects"], "The space objects has no pictures of 24 of 24 instances"),
        ([seeing, "--pictures", "numbers-10"], "The space numbers-10 has no pictures: name a folder of some."),
        ([seeing, "--pictures", tmp_path / "nowhere"], "There is no such file or folder"),
        ([seeing, "--pictures", large], "These agents see pictures of 64 × 64 pixels, but here they have 128"),
        ([whole_run.folder, "--pictures", squares], "These agents know candidates by their attributes"),
        (["--teacher", "exact", "--student", "exact", "--pictures", squares], "These agents know candidates by their"),
        ([whole_run.folder, "--novel"], "This pair has trained with all instances, so no target is novel"),
    ]:
        code, out, err = ask("evaluate", *arguments)
        assert (code, out) == (2, "")
        assert sentence in err
        assert err.count("\n") == 1
    for arguments, sentence in [
        (["--pictures", squares], "has no pictures of 385 of 385 instances, {0} first"),
        (["--game", "objects-4", "--pictures", squares], "has no pictures of 288 of 288 instances"),
        (["--game", "objects-4", "--pictures", squares, "--sight", "symbols"], "nobody sees --pictures"),
    ]:
        code, out, err = ask("train", *arguments, "--out", tmp_path / "none")
        assert (code, out) == (2, "")
        assert sentence in err
        assert not (tmp_path / "none").exists()
