"""A folder of images and a table of attributes is a space with images; whatever is wrong with it is one sentence."""

import io
import os
import struct
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from implicature.spaces import images as limits
from implicature.spaces.io import read_space
from implicature.spaces.space import Space

RED, BLUE, GREEN, WHITE = (200, 10, 10), (10, 10, 200), (10, 200, 10), (255, 255, 255)
TABLE = "image,colour,shape\na.png,red,box\nb.png,blue,box\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two instances with an image each, 40 × 40."""
    Image.new("RGB", (40, 40), RED).save(tmp_path / "a.png")
    Image.new("RGB", (40, 40), BLUE).save(tmp_path / "b.png")
    (tmp_path / "things.csv").write_text(TABLE)
    return tmp_path


def images_of(space: Space) -> np.ndarray:
    assert space.images is not None
    return space.images


def refusal(folder: Path, table: str = TABLE) -> str:
    (folder / "things.csv").write_text(table)
    with pytest.raises(ValueError, match=r"\.$") as caught:
        read_space(folder)
    assert type(caught.value) is ValueError
    assert str(caught.value).isprintable()
    return str(caught.value).removeprefix(f"{str(folder / 'things.csv')!r}: ")


@pytest.mark.parametrize("name", ["", "things.csv"])
def test_a_folder_or_its_table_is_a_space_with_images(folder: Path, name: str):
    space = read_space(folder / name)
    assert space.name == "things"
    assert space.attributes == ("red", "blue", "box")
    assert space.categories == ("colour", "colour", "shape")
    assert images_of(space).shape == (2, 1, 64, 64, 3)
    assert images_of(space)[0, 0, 32, 32].tolist() == list(RED)
    assert images_of(space)[1, 0, 32, 32].tolist() == list(BLUE)


def test_older_tables_call_the_column_picture(folder: Path):
    (folder / "things.csv").write_text(TABLE.replace("image", "Picture"))
    assert images_of(read_space(folder)).shape == (2, 1, 64, 64, 3)


def test_a_table_without_a_column_of_images_has_none(folder: Path):
    (folder / "things.csv").write_text("colour,shape\nred,box\nblue,box\n")
    assert read_space(folder).images is None


def test_a_folder_with_two_tables_is_not_guessed_at(folder: Path):
    (folder / "more.csv").write_text(TABLE)
    (folder / ".hidden.csv").write_text(TABLE)
    with pytest.raises(ValueError, match=r"This folder has 2 \.csv files: leave one in it, or name a file\.$"):
        read_space(folder)


def test_rows_that_differ_only_in_their_image_are_images_of_one_instance(folder: Path):
    (folder / "sub").mkdir()
    Image.new("RGB", (40, 40), GREEN).save(folder / "sub" / "c.png")
    Image.new("RGB", (40, 40), WHITE).save(folder / "d.png")
    lines = [
        "name,colour,Image,shape",
        "x,red,a.png,box",
        "y,blue,b.png,box",
        "x,red,sub/c.png,box",
        "x,red,d.png,box",
    ]
    (folder / "things.csv").write_text("\n".join(lines))
    space = read_space(folder)
    assert space.labels == ("x", "y")
    middles = images_of(space)[:, :, 32, 32].tolist()
    # The second has one image only, which stands in for the two that are missing.
    assert middles == [[list(RED), list(GREEN), list(WHITE)], [list(BLUE)] * 3]


def test_rows_of_json_and_columns_of_zeros_and_ones_may_have_images_too(folder: Path):
    (folder / "rows.json").write_text('[{"image": "a.png", "red": 1}, {"image": "b.png", "red": 0}]')
    space = read_space(folder / "rows.json")
    assert space.attributes == ("red",)
    assert images_of(space).shape == (2, 1, 64, 64, 3)


def test_the_largest_file_decides_between_64_and_128_pixels_and_nothing_is_cropped(folder: Path):
    Image.new("RGB", (400, 200), RED).save(folder / "a.png")
    a, b = images_of(read_space(folder))[:, 0]
    assert a.shape == b.shape == (128, 128, 3)
    # Twice as wide as tall: white above and below, from a quarter to three quarters red.
    assert (a[:32] == WHITE).all()
    assert (a[32:96] == RED).all()
    assert (a[96:] == WHITE).all()
    assert (b == BLUE).all()


def test_images_of_the_right_size_are_not_changed(folder: Path):
    noise = np.random.default_rng(0).integers(0, 256, (2, 128, 128, 3), np.uint8)
    for name, pixels in zip(("a.png", "b.png"), noise, strict=True):
        Image.fromarray(pixels).save(folder / name)
    assert np.array_equal(images_of(read_space(folder))[:, 0], noise)


def test_images_of_every_kind_are_seen_as_people_see_them(folder: Path):
    turned = Image.Exif()
    turned[0x0112] = 3  # upside down
    half = Image.new("RGB", (64, 64), RED)
    half.paste(BLUE, (0, 32, 64, 64))
    half.save(folder / "photo.jpg", exif=turned, quality=95)
    half.convert("CMYK").save(folder / "print.jpg", quality=95)
    half.quantize(4).save(folder / "palette.png")
    glass = Image.new("RGBA", (64, 64), (*RED, 0))
    glass.paste((*BLUE, 255), (0, 32, 64, 64))
    glass.save(folder / "glass.png")
    Image.fromarray(np.repeat([0x1234, 0xABCD], 32).astype(np.uint16)[:, None].repeat(64, 1)).save(folder / "grey.png")
    names = ["photo.jpg", "print.jpg", "palette.png", "glass.png", "grey.png"]
    (folder / "things.csv").write_text("image,kind\n" + "".join(f"{name},{name[:-4]}\n" for name in names))
    shown = images_of(read_space(folder))[:, 0, [8, 56], 32].astype(int)
    grey = [[0x12] * 3, [0xAB] * 3]
    for (above, below), want in zip(shown, [(BLUE, RED), (RED, BLUE), (RED, BLUE), (WHITE, BLUE), grey], strict=True):
        assert np.abs(above - want[0]).max() < 8
        assert np.abs(below - want[1]).max() < 8


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("image,colour\na.png,red\n,blue\n", "Line 3 names no image: give every row one"),
        ("image,colour\na.png,red\na.png,blue\n", "Line 2 and line 3 have the same image"),
        ("image,colour\na.png,red\nc.png,blue\n", "Line 3 names the image 'c.png', which is not a file"),
        ("image,colour\na.png,red\nb.png,red\n", "It has only one instance"),
        ("image\na.png\nb.png\n", "Its instances have no attributes"),
        ("name,image,colour\nx,a.png,red\nx,b.png,blue\n", "Line 2 and line 3 have the same name"),
        ("image,colour\na.png,red\n../b.png,blue\n", "Line 3 names the image '../b.png', which lies outside"),
        ("image,colour\na.png,red\n/etc/passwd,blue\n", "Line 3 names the image '/etc/passwd', which lies outside"),
        ("image,colour\na.png,red\n.,blue\n", "Line 3 names the image '.', which is not a file"),
        ("image,colour\na.png,red\n\x1b[2J,blue\n", "Line 3 names the image '\\x1b[2J', which is not a file"),
        (f"image,colour\na.png,red\n{'long' * 100},blue\n", "Line 3 names the image 'longlong"),
        (
            "image,colour\na.png,red\nthings.csv,blue\n",
            "Line 3 names the image 'things.csv', which is no PNG or JPEG",
        ),
    ],
)
def test_a_bad_table_of_images_is_refused_in_one_sentence(folder: Path, table: str, sentence: str):
    assert refusal(folder, table).startswith(sentence)


def test_links_pipes_and_folders_lead_nowhere(folder: Path, tmp_path_factory: pytest.TempPathFactory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "secret.png"
    (folder / "a.png").rename(elsewhere)
    (folder / "a.png").symlink_to(elsewhere)
    assert refusal(folder).startswith("Line 2 names the image 'a.png', which lies outside")
    (folder / "a.png").unlink()
    os.mkfifo(folder / "a.png")
    assert refusal(folder).startswith("Line 2 names the image 'a.png', which is not a file")
    (folder / "a.png").unlink()
    (folder / "a.png").symlink_to(folder / "a.png")
    assert refusal(folder).startswith("Line 2 names the image 'a.png', which ")


def png(width: int, height: int, data: bytes) -> bytes:
    """A PNG file that claims any size, whatever it holds."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [8_000, 12_000, 60_000])
@pytest.mark.filterwarnings("error")
def test_a_decompression_bomb_is_refused_unread(folder: Path, side: int):
    (folder / "a.png").write_bytes(png(side, side, zlib.compress(bytes(10_000_000))))
    began = time.monotonic()
    assert "'a.png', which has more than 50,000,000 pixels: save it smaller." in refusal(folder)
    assert time.monotonic() - began < 1


def test_too_large_a_file_is_refused_unread(folder: Path):
    os.truncate(folder / "a.png", 100_000_000)
    assert "'a.png', which has more than 50,000,000 bytes: save it smaller." in refusal(folder)


def test_more_images_than_fit_memory_are_refused_unread(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "MAX_IMAGES", 1)
    assert refusal(folder).startswith("2 instances with up to 1 images each are more than 1: keep fewer.")


def test_an_image_that_breaks_off_is_refused(folder: Path):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    for suffix in ("png", "jpg"):
        Image.fromarray(noise).save(folder / f"a.{suffix}")
        whole = (folder / f"a.{suffix}").read_bytes()
        (folder / f"a.{suffix}").write_bytes(whole[: len(whole) // 2])
        assert f"'a.{suffix}', which is damaged: save it again." in refusal(
            folder, TABLE.replace("a.png", f"a.{suffix}")
        )


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_image_with_its_bytes_changed_is_an_image_or_a_sentence(folder: Path, kind: str, data):
    file = io.BytesIO()
    Image.fromarray(np.arange(3072, dtype=np.uint8).reshape(32, 32, 3)).save(file, kind)
    content = bytearray(file.getvalue())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (folder / "a.png").write_bytes(content)
    try:
        assert images_of(read_space(folder)).shape[0] == 2
        return
    except ValueError as caught:
        error = caught
    assert type(error) is ValueError
    assert "Line 2 names the image 'a.png', which" in str(error)
    assert str(error).isprintable()
