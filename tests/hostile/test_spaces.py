"""Files of spaces: whatever they contain, they are a space that a game can be played with, or one sentence."""

import io
import json
import os
import random
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hostility import CASES, JSON, NASTY, TEXT, assert_sentence, case, deadline, fuzz, mutated
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from implicature.spaces.io import read_space

EXAMPLES = Path(__file__).parents[2] / "examples"
REDRAWS = {chr(code) for code in (*range(32), *range(127, 160), 0x2028, 0x2029, *range(0x202A, 0x202F), 0x2066, 0xFEFF)}
"""What could redraw a terminal, or reverse the order of letters."""
FILES = sorted(path for path in EXAMPLES.iterdir() if path.suffix in (".csv", ".json"))


def load(kind: str, path: Path, content: bytes) -> None:
    """The space is whole and printable, or the error names the file; and the file does not change."""
    path.write_bytes(content)
    found = []
    sentence = case(kind, lambda: found.append(read_space(path)))
    if sentence is None:
        (space,) = found
        assert space.instances >= 2
        names = [*space.attributes, *(space.label(i) for i in range(space.instances))]
        assert all(name.strip() for name in names)
        assert not REDRAWS & set("".join(names))
    else:
        assert_sentence(sentence)
        assert sentence.startswith(f"{str(path)!r}: ")
    assert path.read_bytes() == content


@given(
    rows=st.lists(
        st.lists(TEXT | st.sampled_from(["0", "1", "0.5", "nan", "-1", "1e400", "(cost)"]), min_size=1, max_size=4),
        max_size=5,
    ),
    header=st.sampled_from(["name,big,small", "big", "name", "name,big,big", "(cost),big"]),
)
@fuzz("lexica")
def test_a_lexicon_of_any_cells(tmp_path: Path, rows, header):
    (tmp_path / "mine.lexicon.csv").write_text(
        "\n".join([header, *(",".join(row) for row in rows)]), "utf-8", "replace"
    )
    load("lexica", tmp_path / "mine.csv", b"name,a\nx,1\ny,0\n")


@given(
    rows=st.lists(st.lists(TEXT, min_size=1, max_size=4), max_size=5),
    delimiter=st.sampled_from(",;\t"),
    end=st.sampled_from(["\n", "\r\n", "\r", "\0\n"]),
    quoted=st.booleans(),
    bom=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "latin-1"]),
)
@fuzz("tables")
def test_a_table_of_any_cells(tmp_path: Path, rows, delimiter, end, quoted, bom, encoding):
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if quoted else text

    width = len(rows[0]) if rows else 0
    rows = [[*row, *["x"] * width][:width] for row in rows]
    text = end.join(delimiter.join(map(cell, row)) for row in rows)
    load("tables", tmp_path / "mine.csv", ("\ufeff" * bom + text).encode(encoding, "replace"))


MARKS = st.sampled_from(["", " (name)", " (category)", " (word)", "(name)", " (NAME)", " ()", " (name) (word)"])
CELLS = st.sampled_from(["0", "1", "true", "0.5", "-1e308", "nan", "inf", "٣", "1_0", "", "x", "y", "(name)"])


@given(
    header=st.lists(st.tuples(TEXT | st.just("a"), MARKS), min_size=1, max_size=4),
    rows=st.lists(st.lists(CELLS, min_size=4, max_size=4), max_size=7),
)
@fuzz("marked columns")
def test_a_table_of_marked_columns(tmp_path: Path, header, rows):
    lines = [[name + mark for name, mark in header], *(row[: len(header)] for row in rows)]
    text = "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in lines)
    load("marked columns", tmp_path / "mine.csv", text.encode("utf-8", "replace"))


@given(
    document=JSON | st.lists(st.lists(TEXT, max_size=3), max_size=4) | st.lists(st.dictionaries(TEXT, TEXT), max_size=4)
)
@fuzz("documents")
def test_any_document(tmp_path: Path, document: object):
    load("documents", tmp_path / "mine.json", json.dumps(document).encode("utf-8", "replace"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_examples_with_bytes_changed(tmp_path: Path, path: Path):
    content = path.read_bytes()
    for number in range(CASES["bytes of tables"] // len(FILES) + 1):
        load("bytes of tables", tmp_path / path.name, mutated(content, number))


def table_of_images(folder: Path, names: list[str]) -> Path:
    table = folder / "mine.json"
    table.write_text(json.dumps([{"kind": f"thing {i}", "image": name} for i, name in enumerate(names)]))
    return table


def test_images_with_bytes_changed(tmp_path: Path):
    pixels = np.random.default_rng(0).integers(0, 256, (9, 7, 3), np.uint8)
    kinds = {}
    for kind, mode in (("PNG", "RGB"), ("PNG", "P"), ("PNG", "RGBA"), ("JPEG", "L"), ("PNG", "I;16")):
        file = io.BytesIO()
        image = Image.fromarray(pixels) if mode != "I;16" else Image.fromarray(pixels[..., 0].astype(np.uint16) << 8)
        (image if mode == "I;16" else image.convert(mode)).save(file, kind)
        kinds[f"{mode.replace(';', '')}.{kind.lower()}"] = file.getvalue()
    Image.fromarray(pixels).save(tmp_path / "good.png")
    for number in range(CASES["images"]):
        name, content = random.Random(number).choice(sorted(kinds.items()))
        (tmp_path / name).write_bytes(mutated(content, number))
        table = table_of_images(tmp_path, ["good.png", name])
        sentence = case("images", lambda table=table: read_space(table))
        if sentence is not None:
            assert_sentence(sentence)
            assert "names the image" in sentence


@given(
    name=TEXT | st.sampled_from(["folder", "loop.png", "pipe.png", "zero.png", "out.png", "./good.png", "good.png/x"])
)
@fuzz("names of images")
def test_images_of_any_name(tmp_path: Path, name: str):
    if not (tmp_path / "good.png").exists():
        Image.new("RGB", (8, 8)).save(tmp_path / "good.png")
        (tmp_path / "folder").mkdir()
        (tmp_path / "loop.png").symlink_to("loop.png")
        (tmp_path / "zero.png").symlink_to("/dev/zero")
        (tmp_path / "out.png").symlink_to("/etc/passwd")
        os.mkfifo(tmp_path / "pipe.png")
    path = table_of_images(tmp_path, ["good.png", name])
    sentence = case("names of images", lambda: read_space(path))
    assert (sentence is None) == (name == "./good.png")
    if sentence:
        assert_sentence(sentence)


def test_what_is_no_file(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "folder.csv" / "a.csv").symlink_to("../pipe.csv")
    names = [
        "pipe.csv",
        "zero.csv",
        "loop.csv",
        "folder.csv",
        "missing.csv",
        "a\0b.csv",
        "x" * 300 + ".csv",
        "pipe.csv/a.csv",
    ]
    for name in [*names, *NASTY]:
        with deadline(5), pytest.raises(ValueError, match=": ") as refusal:
            read_space(tmp_path / "nowhere" / name if name in NASTY else tmp_path / name)
        assert_sentence(str(refusal.value))


def test_a_small_image_that_claims_to_be_huge_is_refused_unread(tmp_path: Path):
    Image.new("RGB", (8, 8)).save(tmp_path / "good.png")
    # Eight bytes that say PNG, four of a length, and a header that begins with width and height and ends in a checksum.
    good = (tmp_path / "good.png").read_bytes()
    head = b"IHDR" + struct.pack(">II", 20_000, 20_000) + good[24:29]
    (tmp_path / "bomb.png").write_bytes(good[:12] + head + struct.pack(">I", zlib.crc32(head)) + good[33:])
    with deadline(5), pytest.raises(ValueError, match=r"has more than 50,000,000 pixels: save it smaller\.$"):
        read_space(table_of_images(tmp_path, ["good.png", "bomb.png"]))
