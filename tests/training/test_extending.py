"""Networks, losses, methods and games of one's own: each example trains a tiny run, and the run opens again."""

import json
import sys
from pathlib import Path
from typing import Any, get_type_hints

import jax
import jax.numpy as jnp
import pytest

from implicature.games.registry import load_space
from implicature.training.config import Config, MethodConfig, NetworkConfig
from implicature.training.fields import Registered, parts
from implicature.training.losses import LOSSES
from implicature.training.methods import METHODS
from implicature.training.pairs import NETWORKS
from implicature.training.runs.run import open_run, start_run

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL: dict[str, Any] = {
    "pretraining_iterations": 10, "iterations": 10, "phases": 1, "candidate_sets": 16, "width": 4, "layers": 1,
    "train_games": 200,
}  # fmt: skip
OWN: dict[str, dict[str, Any]] = {
    "network": {"network": "my_network:new_network"},
    "loss": {"loss": "my_loss:focal_loss"},
    "method": {"method": "my_method:exact_gradient", "grounded": False},
    "game": {"space": "my_game:clock", "candidates": 3},
}


@pytest.mark.parametrize("file", ["my_network.py", "my_loss.py", "my_method.py", "my_game.py"])
def test_an_example_has_at_most_40_lines(file: str):
    assert len((EXAMPLES / file).read_text().splitlines()) <= 40


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "own"), OWN.items(), ids=OWN)
def test_each_example_trains_and_its_run_opens_again(
    kind: str, own: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(EXAMPLES)
    run = start_run(tmp_path / "run", Config.of(**SMALL, **own))
    before = jax.tree.leaves(run.pairs)
    metrics = [progress.metrics for progress in run.train()]
    assert run.finished
    assert all(jnp.isfinite(jnp.asarray(each["accuracy"])).all() for each in metrics)
    assert any((a != b).any() for a, b in zip(before, jax.tree.leaves(run.pairs), strict=True))
    again = open_run(tmp_path / "run")
    assert again.config == run.config
    assert json.loads((tmp_path / "run" / "config.json").read_text())["config"]
    for one, other in zip(jax.tree.leaves(run.pair()), jax.tree.leaves(again.pair()), strict=True):
        assert jnp.array_equal(one, other)


def test_a_run_whose_module_is_gone_says_so_but_one_whose_space_was_made_by_a_program_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(EXAMPLES)
    short = {**SMALL, "phases": 0, "grounded": False}
    start_run(tmp_path / "network", Config.of(**short, **OWN["network"]))
    start_run(tmp_path / "game", Config.of(**short, **OWN["game"]))
    monkeypatch.chdir(tmp_path)
    for module in ("my_network", "my_game"):
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(ValueError, match=r"^my_network:new_network cannot be imported \(ModuleNotFoundError: "):
        open_run("network")
    space = open_run("game").task.space
    assert (space.name, space.instances, space.words[0]) == ("clock", 24, "morning")
    assert space.label(13) == "13:00"


def test_the_names_that_help_lists_are_those_of_the_registries():
    for hints, name, registry in [
        (get_type_hints(NetworkConfig, include_extras=True), "network", NETWORKS),
        (get_type_hints(MethodConfig, include_extras=True), "method", METHODS),
        (get_type_hints(MethodConfig, include_extras=True), "loss", LOSSES),
    ]:
        _, registered, _ = parts(hints[name])
        assert registered == Registered(tuple(registry))
        assert f"{{{','.join(registry)}}}|MODULE:OBJECT" == hints[name].__metadata__[1].metavar


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        ({"network": "nowhere:net"}, "nowhere:net cannot be imported (ModuleNotFoundError: "),
        ({"network": "json:nothing"}, "json:nothing cannot be imported (AttributeError: "),
        ({"network": "builtins:print"}, "builtins:print gives NoneType, not a belief network: derive it from Abstract"),
        ({"method": "json:dumps"}, "json:dumps is function, not a method: make it a Method"),
        ({"space": "json:loads", "candidates": 3}, "json:loads cannot be called (TypeError: "),
        ({"space": "sys:path", "candidates": 3}, "sys:path is list, not a space: give an implicature.spaces.Space."),
    ],
)
def test_what_is_none_of_these_is_one_sentence(own: dict[str, Any], sentence: str, tmp_path: Path):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        start_run(tmp_path / "run", Config.of(**SMALL, **own))
    assert str(refused.value).startswith(sentence)
    assert not (tmp_path / "run").exists()


def test_a_file_with_a_colon_in_its_name_is_still_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my:things.csv").write_text("colour\nred\nblue\n")
    assert load_space("my:things.csv").instances == 2
