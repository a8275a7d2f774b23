"""Pairs that see images play with other images of the same instances, and with targets that training held out."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import Ask, Draw, Trained
from PIL import Image

from implicature.cli.main import main
from implicature.spaces.io import read_space
from implicature.training.runs.run import open_run


@pytest.fixture(scope="module")
def image_run(squares: Path, draw_squares: Draw, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pair trained on three quarters of the squares, in images of its own."""
    folder = tmp_path_factory.mktemp("image-run")
    other = draw_squares(folder / "learned", asides=(1,))
    arguments = f"train --quiet --space {squares} --images {other} --candidates 3 --train-games 1000"
    arguments += " --train-instance-fraction 0.75 --candidate-sets 64 --width 8 --layers 2 --q-hidden 16 --phases 0"
    arguments += " --pretraining-iterations 250"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sys, "argv", ["implicature", *arguments.split(), "--learning-rate", "0.01", "--out", str(folder / "run")]
        )
        main()
    return folder / "run"


@pytest.mark.slow
def test_training_with_other_images_sees_those(image_run: Path, squares: Path):
    task = open_run(image_run).task
    own = read_space(squares)
    assert task.data.observations.shape == (24, 64, 64, 3)
    assert own.images is not None
    # Neither 0 nor 2 pixels aside, but 1.
    assert not any(np.array_equal(task.data.observations[0], own.images[0, i]) for i in (0, 1))
    assert task.space.attributes == own.attributes
    assert (image_run / "example.png").exists()


@pytest.mark.slow
def test_a_pair_plays_with_other_images_and_with_several_of_each(
    image_run: Path, squares: Path, draw_squares: Draw, tmp_path: Path, ask: Ask
):
    def figures(*more: object) -> dict:
        code, said, _ = ask("evaluate", image_run, "--games", 300, "--json", *more)
        assert code == 0
        return json.loads(said)

    usual, shifted = figures(), figures("--images", squares)
    assert "images" not in usual
    assert shifted["images"] == str(squares)
    # Games of squares that training held out, words with their first meanings: far more than one in three is found.
    assert min(usual["accuracy"], shifted["accuracy"]) > 0.5
    # The very images that it was trained on, in another order of their table, are the same again.
    same = draw_squares(tmp_path / "same", asides=(1,), order=-1)
    assert figures("--images", same) == {**usual, "images": str(same)}
    # Blank images are all the same: about one in three is found.
    blank = draw_squares(tmp_path / "blank")
    for path in blank.glob("*.png"):
        Image.new("RGB", (64, 64), (128, 128, 128)).save(path)
    assert figures("--images", blank)["accuracy"] < 0.5
    _, table, _ = ask("evaluate", image_run, "--games", 300, "--images", squares)
    assert "images of" in table


@pytest.mark.slow
def test_novel_targets_are_those_that_training_held_out(image_run: Path, ask: Ask):
    code, said, _ = ask("evaluate", image_run, "--games", 300, "--novel", "--json")
    assert code == 0
    novel = json.loads(said)
    assert novel["novel"] is True
    assert novel["accuracy"] > 0.5
    out = image_run.parent / "novel.csv"
    assert ask("export", image_run, "--games", 100, "--novel", "--out", out)[0] == 0
    targets = {line.split('"')[1] for line in out.read_text().splitlines()[1:]}
    # A quarter of 24 squares; candidates beside them may be any.
    assert 1 < len(targets) <= 6


@pytest.mark.slow
def test_what_cannot_be_seen_is_refused_in_one_sentence(
    image_run: Path, squares: Path, whole_run: Trained, draw_squares: Draw, tmp_path: Path, ask: Ask
):
    fewer = draw_squares(tmp_path / "fewer")
    (fewer / "squares.csv").write_text("\n".join((fewer / "squares.csv").read_text().splitlines()[:-4]))
    large = draw_squares(tmp_path / "large", side=100)
    for arguments, sentence in [
        ([image_run, "--images", fewer], "has no images of 2 of 24 instances, {blue, large, lower-left} first"),
        ([image_run, "--images", "objects"], "The space objects has no images of 24 of 24 instances"),
        ([image_run, "--images", "numbers-10"], "The space numbers-10 has no images: name a folder of some."),
        ([image_run, "--images", tmp_path / "nowhere"], "There is no such file or folder"),
        ([image_run, "--images", large], "These agents see images of 64 × 64 pixels, but here they have 128"),
        ([whole_run.folder, "--images", squares], "These agents know candidates by their attributes"),
        (["--teacher", "exact", "--student", "exact", "--images", squares], "These agents know candidates by their"),
        ([whole_run.folder, "--novel"], "This pair was trained with all instances, so no target is novel"),
    ]:
        code, out, err = ask("evaluate", *arguments)
        assert (code, out) == (2, "")
        assert sentence in err
        assert err.count("\n") == 1
    for arguments, sentence in [
        (["--images", squares], "has no images of 385 of 385 instances, {0} first"),
        (["--game", "objects-4", "--images", squares], "has no images of 288 of 288 instances"),
        (
            ["--game", "objects-4", "--images", "objects", "--encoder", "none"],
            "--images has no effect with --encoder none: leave out one of them.",
        ),
    ]:
        code, out, err = ask("train", *arguments, "--out", tmp_path / "none")
        assert (code, out) == (2, "")
        assert sentence in err
        assert not (tmp_path / "none").exists()
