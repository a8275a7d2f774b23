"""RUN/config.json: a config that can be trained, or a sentence that names the file."""

import json
import os
from dataclasses import asdict, fields
from pathlib import Path

import pytest
from hostility import CASES, JSON, NUMBERS, TEXT, assert_sentence, case, deadline, fuzz, mutated, refused
from hypothesis import given
from hypothesis import strategies as st

from implicature.training.checks import MOST, check_config, read_config
from implicature.training.config import Config

GOOD = json.dumps({"version": "0.1.0", "config": asdict(Config())}, indent=2).encode()
NAMES = [field.name for field in fields(Config)]


def read(kind: str, folder: Path, content: bytes) -> Config | None:
    path = folder / "config.json"
    path.write_bytes(content)
    found: list[Config] = []
    sentence = case(kind, lambda: found.append(read_config(folder)))
    assert path.read_bytes() == content
    if sentence is None:
        check_config(found[0])
        return found[0]
    assert str(path) in sentence
    assert_sentence(sentence.encode("unicode_escape").decode())
    return None


@given(
    changes=st.dictionaries(st.sampled_from(NAMES), NUMBERS | JSON, max_size=3),
    more=st.dictionaries(TEXT, JSON, max_size=1),
    missing=st.sets(st.sampled_from(NAMES), max_size=3),
)
@fuzz("configs")
def test_a_config_of_any_values(tmp_path: Path, changes: dict, more: dict, missing: set[str]):
    values = {name: value for name, value in (asdict(Config()) | changes | more).items() if name not in missing}
    config = read("configs", tmp_path, json.dumps({"config": values}).encode("utf-8", "replace"))
    if config is not None:
        # What is trained is what is written there, and nothing that would not end.
        given_ = {name: getattr(config, name) for name in values}
        assert given_ == {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        assert all(getattr(config, name) <= most for name, most in MOST.items())


def test_configs_with_bytes_changed(tmp_path: Path):
    for number in range(CASES["bytes of configs"]):
        read("bytes of configs", tmp_path, mutated(GOOD, number))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"null", b"[]", b"{}", b'{"config": null}', b'{"config": []}', b'{"config": "x"}', b"[" * 100_000,
        b'{"config": {"phases": ' + b"9" * 5000 + b"}}", b'{"config": ' * 50_000, b" " * 200_000, b"\xff\xfe{}",
        b'{"config": {"epsilon": [NaN, 1]}}', b'{"config": {"epsilon": ["a", "b"]}}', b'{"config": {"phases": true}}',
        b'{"config": {"message_cost": NaN}}', b'{"config": {"beta": Infinity}}', b'{"config": {"batch": 1000000000}}',
        b'{"config": {"candidates": 100000000}}', b'{"config": {"rounds": 100000000}}', b'{"config": {"width": 1e9}}',
    ],
    ids=lambda content: repr(content[:40]),
)  # fmt: skip
def test_a_config_that_cannot_be_one_is_refused(tmp_path: Path, content: bytes):
    assert read("configs", tmp_path, content) is None


def test_commands_refuse_what_is_no_run(tmp_path: Path):
    for name in ("pipe", "zero", "folder", "loop"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "pipe" / "config.json")
    (tmp_path / "zero" / "config.json").symlink_to("/dev/zero")
    (tmp_path / "folder" / "config.json").mkdir()
    (tmp_path / "loop" / "config.json").symlink_to("config.json")
    (tmp_path / "taken").touch()
    for name in ("pipe", "zero", "folder", "loop", "taken", "missing", "\x1b[31m", "[/red]", "a\nb", "x" * 300):
        for arguments in (["watch"], ["evaluate"], ["language"], ["train", "--resume"], ["play", "--port", "0"]):
            with deadline(30):
                refused(tmp_path, *arguments, name)


def test_batches_that_do_not_fit_into_memory_are_refused_before_anything_is_made(tmp_path: Path):
    space = tmp_path / "many.csv"
    space.write_text("\n".join(["name,a,b", *(f"thing {i},{i % 90},x{i // 90}" for i in range(900))]))
    mine = ["train", "--space", str(space), "--train-games", "100", "--out", "new"]
    for more in ("--candidates 800", "--candidates 60 --batch 60000", "--candidates 4 --seeds 999 --replay 9999",
                 "--candidates 4 --width 1000 --seeds 1000"):  # fmt: skip
        assert "do not fit into memory" in refused(tmp_path, *mine, *more.split())
    assert not (tmp_path / "new").exists()
