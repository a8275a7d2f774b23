"""RUN/config.json: a config that can be trained, or a sentence that names the file."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hostility import CASES, JSON, NUMBERS, TEXT, assert_sentence, case, deadline, fuzz, mutated, refused
from hypothesis import given
from hypothesis import strategies as st

from implicature.training.checks import check_config
from implicature.training.config import GROUP_OF, GROUPS, Config
from implicature.training.runs.run import read_config
from implicature.training.runs.upgrade import FORMAT, RENAMED, upgrade_config

OLD = json.loads((Path(__file__).parents[1] / "training" / "old_run" / "config.json").read_text())["config"]


def content(config: object) -> bytes:
    return json.dumps({"format": FORMAT, "version": "0.2.0", "config": config}).encode("utf-8", "replace")


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


def expected(value: Any) -> Any:
    """JSON has no tuples."""
    return tuple(value) if isinstance(value, list) else value


@given(
    changes=st.dictionaries(st.sampled_from(sorted(GROUP_OF)), NUMBERS | JSON, max_size=3),
    group=st.sampled_from(sorted(GROUPS)),
    more=st.dictionaries(TEXT, JSON, max_size=1),
    missing=st.sets(st.sampled_from(sorted(GROUP_OF)), max_size=3),
)
@fuzz("configs")
def test_a_config_of_any_values(tmp_path: Path, changes: dict, group: str, more: dict, missing: set[str]):
    values = {name: value for name, value in (Config().flat() | changes).items() if name not in missing}
    nested = {own: {name: value for name, value in values.items() if GROUP_OF[name] == own} for own in GROUPS}
    nested[group] |= more
    config = read("configs", tmp_path, content(nested))
    if config is not None:
        # The config is what the file says, and nothing that would not end.
        assert {name: config.flat()[name] for name in values} == {k: expected(v) for k, v in values.items()}
        assert config.optimiser.phases <= 1_000
        assert config.optimiser.iterations <= 10**9


@given(
    changes=st.dictionaries(st.sampled_from(sorted(OLD)), NUMBERS | JSON, max_size=3),
    more=st.dictionaries(TEXT, JSON, max_size=1),
    missing=st.sets(st.sampled_from(sorted(OLD)), max_size=3),
)
@fuzz("old configs")
def test_an_old_config_of_any_values(tmp_path: Path, changes: dict, more: dict, missing: set[str]):
    values = {name: value for name, value in (OLD | changes | more).items() if name not in missing}
    config = read("old configs", tmp_path, json.dumps({"config": values}).encode("utf-8", "replace"))
    if config is not None:
        upgraded = upgrade_config(values)
        assert {name: config.flat()[name] for name in upgraded} == {k: expected(v) for k, v in upgraded.items()}


def test_every_old_setting_has_a_new_name():
    assert {RENAMED.get(name, name) for name in OLD} <= GROUP_OF.keys()


def test_configs_with_bytes_changed(tmp_path: Path):
    good = json.dumps({"format": FORMAT, "version": "0.2.0", "config": asdict(Config())}, indent=2).encode()
    assert read("bytes of configs", tmp_path, good) == Config()
    for number in range(CASES["bytes of configs"]):
        read("bytes of configs", tmp_path, mutated(good, number))


IN_METHOD = b'{"format": 2, "config": {"method": '
IN_OPTIMISER = b'{"format": 2, "config": {"optimiser": '
IN_GAME = b'{"format": 2, "config": {"game": '


@pytest.mark.parametrize(
    "content",
    [
        b"", b"null", b"[]", b"{}", b'{"config": null}', b'{"config": []}', b'{"config": "x"}', b"[" * 100_000,
        b'{"format": 2, "config": null}', b'{"format": 2, "config": []}', b'{"format": 2, "config": {"game": 1}}',
        b'{"format": [], "config": {}}', b'{"format": 3, "config": {}}', IN_GAME + b'{"seed": 1}}}',
        IN_OPTIMISER + b'{"phases": ' + b"9" * 5000 + b"}}}", b'{"config": ' * 50_000, b" " * 200_000, b"\xff\xfe{}",
        IN_METHOD + b'{"epsilon": [NaN, 1]}}}', IN_METHOD + b'{"epsilon": ["a", "b"]}}}',
        IN_OPTIMISER + b'{"phases": true}}}', IN_GAME + b'{"message_cost": NaN}}}', IN_METHOD + b'{"beta": Infinity}}}',
        IN_OPTIMISER + b'{"candidate_sets": 1000000000}}}', IN_GAME + b'{"candidates": 100000000}}}',
        IN_GAME + b'{"rounds": 100000000}}}', b'{"config": {"batch": 1000000000}}', b'{"config": {"width": 1e9}}',
        b'{"config": {"width": []}}', b'{"config": {"network": {}}}',
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
    sizes = (
        "--candidates 800",
        "--candidates 60 --candidate-sets 60000",
        "--candidates 4 --seeds 999 --replay-batches 9999",
        "--candidates 4 --width 1000 --seeds 1000",
    )
    for more in sizes:
        assert "do not fit into memory" in refused(tmp_path, *mine, *more.split())
    assert not (tmp_path / "new").exists()
