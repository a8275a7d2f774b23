"""`implicature render` makes a folder that is a space, and the very sheet that ships with the package."""

import csv
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from implicature.cli.main import main
from implicature.spaces import objects
from implicature.spaces.images import object_images
from implicature.spaces.io import read_space
from implicature.spaces.rendering.renderer import ObjectRenderer


def render(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["implicature", "render", "--quiet", *map(str, arguments)])
    main()


def refusal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as end:
        render(monkeypatch, *arguments)
    said = capsys.readouterr()
    assert end.value.code == 2
    assert said.out == ""
    return said.err.removeprefix("implicature: ")


def gl_name() -> bytes:
    with closing(ObjectRenderer(16)):
        from OpenGL import GL

        return GL.glGetString(GL.GL_RENDERER) or b""


@pytest.mark.slow
@pytest.mark.usefixtures("can_draw")
def test_the_shipped_images_are_rendered_again_as_a_space(monkeypatch: pytest.MonkeyPatch, capsys, tmp_path: Path):
    out = tmp_path / "new" / "folder"
    render(monkeypatch, "--out", out)
    assert f"288 images in {out}, contact sheet {out / 'sheet.png'}\n" in capsys.readouterr().out
    space, shipped = read_space(out), objects()
    assert (space.name, space.attributes, space.categories) == ("objects", shipped.attributes, shipped.categories)
    assert np.array_equal(space.table, shipped.table)
    assert space.images is not None
    assert space.images.shape == (288, 1, 128, 128, 3)
    differences = np.abs(space.images[:, 0].astype(int) - object_images())
    assert differences.mean() < 0.3  # with any GL: edges and shadows are cut a little otherwise
    if b"llvmpipe" in gl_name():
        # The GL they were rendered with; a processor without fused products rounds 14 values otherwise.
        assert differences.max() <= 1
        assert (differences > 0).sum() <= 100
    # 24 × 12 images of 128 + 2 pixels
    assert Image.open(out / "sheet.png").size == (3120, 1560)


@pytest.mark.slow
@pytest.mark.usefixtures("can_draw")
def test_a_jittered_set_has_several_images_of_each_object(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    sheet = tmp_path / "elsewhere" / "sheet.png"
    render(monkeypatch, "--out", tmp_path / "out", "--per-object", 2, "--jitter", "--size", 32, "--sheet", sheet)
    with (tmp_path / "out" / "objects.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 576
    assert rows[1] == {
        "image": "images/blue-box-small-upper-left-2.png",
        "colour": "blue",
        "shape": "box",
        "size": "small",
        "place": "upper-left",
    }
    assert Image.open(tmp_path / "out" / rows[1]["image"]).size == (32, 32)
    space = read_space(tmp_path / "out")
    assert space.images is not None
    assert space.images.shape == (288, 2, 64, 64, 3)
    assert np.array_equal(space.table, objects().table)
    assert not (tmp_path / "out" / "sheet.png").exists()
    # 48 × 12 images of 32 + 2 pixels
    assert Image.open(sheet).size == (1632, 408)


def test_what_cannot_be_rendered_is_refused_and_leaves_no_folder(monkeypatch: pytest.MonkeyPatch, capsys, tmp_path):
    out = tmp_path / "out"
    for arguments, sentence in [
        (["--per-object", 2], "Without jitter all 2 images of an object are the same: add --jitter."),
        (["--per-object", 100, "--jitter"], "100 images of each object are more than a space holds: ask for 34"),
        (["--per-object", 0], "0 images of each object are none"),
        (["--size", 4], "Images of 4 × 4 pixels: ask for 16 to 1024."),
        (["--sheet", "sheet.gif"], "The contact sheet 'sheet.gif' is not a PNG file"),
        (["--seed", -1], "The seed -1 is negative"),
    ]:
        assert refusal(monkeypatch, capsys, "--out", out, *arguments).startswith(sentence)
        assert not out.exists()


@pytest.mark.usefixtures("can_draw")
def test_nothing_is_written_over(monkeypatch: pytest.MonkeyPatch, capsys, tmp_path: Path):
    (tmp_path / "mine.txt").touch()
    there = f"{str(tmp_path)!r} is not an empty folder: name another with --out.\n"
    assert refusal(monkeypatch, capsys, "--out", tmp_path) == there
    for out in (tmp_path / "mine.txt", tmp_path / "mine.txt" / "out"):
        said = f"{out} is no folder that can be written to: name another with --out.\n"
        assert refusal(monkeypatch, capsys, "--out", out) == said
