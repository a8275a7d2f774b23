"""Configs: flat names, presets as defaults, resolution, and settings without effect."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from implicature.games.registry import load_game
from implicature.training.checks import check_ignored
from implicature.training.config import GROUP_OF, PRESETS, Config, MethodConfig, NetworkConfig, OptimiserConfig
from implicature.training.resolve import resolve
from implicature.training.runs.run import start_run
from implicature.training.task import make_task


def resolved(**settings: Any) -> Config:
    config = Config.of(**settings)
    return resolve(config, *load_game(config.game.game, None, config.game.candidates))


# Names


def test_settings_have_flat_names_whatever_group_they_are_in():
    config = Config.of(game="numbers-7", iterations=500, width=8)
    assert (config.game.game, config.optimiser.iterations, config.network.width) == ("numbers-7", 500, 8)
    assert config.flat()["iterations"] == 500
    assert config.replace(iterations=5).optimiser.iterations == 5
    assert config.flat().keys() == GROUP_OF.keys()


def test_an_unknown_setting_is_refused():
    with pytest.raises(TypeError, match="speed is not a setting: choose among all_targets, beta, "):
        Config.of(speed=9)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (
            "network",
            "x",
            "--network is 'x': choose one of exchange, deep-sets, or name an object of your own as module:object.",
        ),
        ("iterations", "9", "--iterations is '9': give a whole number."),
        ("iterations", 0, "--iterations is 0: give a number from 1 to 1,000,000,000."),
        ("beta", "hot", "--beta is 'hot': give a number."),
        ("grounded", 1, "--grounded is 1: give true or false."),
        ("epsilon", [0.5, 0.5, 0.5], "--epsilon is [0.5, 0.5, 0.5]: give 2 numbers."),
        ("temperature", 0, "--temperature is 0: give a number from 1e-06 to 1,000,000."),
    ],
)
def test_a_value_of_another_type_or_out_of_range_is_refused(name: str, value: Any, sentence: str):
    for make in (lambda: Config.of(**{name: value}), lambda: Config().replace(**{name: value})):
        with pytest.raises(ValueError) as refused:  # noqa: PT011
            make()
        assert str(refused.value) == sentence


def test_a_config_made_of_its_groups_is_checked_too():
    for make, sentence in [
        (lambda: Config(network=NetworkConfig(network="foo")), "--network is 'foo': choose one of exchange, deep-sets"),
        (lambda: Config(optimiser=OptimiserConfig(iterations=0)), "--iterations is 0: give a number from 1"),
        (lambda: Config(method=MethodConfig(beta=float("nan"))), "--beta is nan: give a number from 0 to 10,000."),
    ]:
        with pytest.raises(ValueError) as refused:  # noqa: PT011
            make()
        assert str(refused.value).startswith(sentence)


def test_a_whole_number_does_for_any_number_a_list_for_two_and_a_path_for_a_name():
    assert Config.of(beta=3).method.beta == 3.0
    assert Config.of(beta=None).method.beta is None
    assert Config.of(epsilon=[1, 0.5]).method.epsilon == (1.0, 0.5)
    assert Config.of(space=Path("things.csv")).game.space == "things.csv"


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("train('numbers-4')", "'numbers-4' is not a config: make one with implicature.Config.of(…)."),
        (
            "Config(network='foo')",
            "Config(network=…) is 'foo': give a NetworkConfig, or settings by their own names with Config.of(…).",
        ),
    ],
)
def test_a_program_that_gives_anything_else_is_told_what_to_give(program: str, sentence: str):
    # In a process of its own: here types are checked before that.
    command = [sys.executable, "-c", f"import implicature; implicature.{program}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stderr.splitlines()[-1] == f"ValueError: {sentence}"


# Presets


def test_an_explicit_setting_wins_over_a_preset_and_the_rest_is_the_presets():
    config, preset = Config.of(preset="as-written", iterations=500), Config.of(preset="as-written")
    assert config.optimiser.iterations == 500
    assert preset.optimiser.iterations == 10_000
    assert config.replace(iterations=10_000) == preset
    assert (config.network.network, config.optimiser.candidate_sets) == ("deep-sets", 128)


def test_an_explicit_setting_wins_even_where_it_is_the_usual_default():
    assert Config.of(preset="as-written", candidate_sets=256).optimiser.candidate_sets == 256


@pytest.mark.parametrize("method", PRESETS["as-written"])
def test_a_preset_depends_on_the_method(method: str):
    config = Config.of(preset="as-written", method=method)
    assert config.method.method == method
    assert config.optimiser.iterations == (10_000 if method == "pragmatic" else 100_000)
    # Nothing in it is without effect.
    check_ignored(config, *load_game())


def test_an_unknown_preset_is_refused():
    with pytest.raises(ValueError, match="No preset is called 'quick': choose one of as-written"):
        Config.of(preset="quick")


# Resolution


SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "seven candidates": {"game": "numbers-7"},
    "objects": {"game": "objects-4"},
    "finetuned": {"game": "objects-4", "encoder": "finetuned"},
    "ungrounded": {"grounded": False},
    "several rounds": {"rounds": 3, "message_cost": 0.1},
    "deep-sets": {"network": "deep-sets"},
    "deep-sets, ungrounded": {"network": "deep-sets", "grounded": False},
    "la-2017": {"method": "la-2017"},
    "la-2018, ungrounded": {"method": "la-2018", "grounded": False},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_resolved_config_has_no_gaps_and_resolving_it_again_changes_nothing(settings: dict[str, Any]):
    config = resolved(**settings)
    assert {name for name, value in config.flat().items() if value is None} <= {"space", "images", "question"}
    assert resolve(config, *load_game(config.game.game, None, config.game.candidates)) == config
    for name, value in settings.items():
        assert config.flat()[name] == value


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"candidates": 4, "encoder": "none", "width": 16, "beta": 20.0, "calibration_alpha": 1.0}),
        ({}, {"freeze_semantics": True, "first_learner": "student", "pretraining_learning_rate": 3e-3}),
        ({"game": "numbers-7", "rounds": 2}, {"candidates": 7, "beta": 40.0}),
        ({"grounded": False}, {"freeze_semantics": False, "first_learner": "teacher", "calibration_alpha": 0.0}),
        ({"game": "objects-4"}, {"encoder": "frozen", "freeze_semantics": True}),
        ({"game": "objects-4", "encoder": "finetuned"}, {"freeze_semantics": False}),
        ({"network": "deep-sets"}, {"width": 64, "pretraining_learning_rate": 0.75e-3, "freeze_semantics": False}),
        ({"network": "deep-sets", "grounded": False}, {"pretraining_learning_rate": 3e-3}),
        ({"method": "la-2017"}, {"width": 64, "beta": 1.0, "pretraining_learning_rate": 3e-3}),
    ],
)
def test_defaults_that_depend_on_other_settings(settings: dict[str, Any], expected: dict[str, Any]):
    values = resolved(**settings).flat()
    assert {name: values[name] for name in expected} == expected


def test_a_task_has_the_resolved_config():
    config = Config.of(train_games=100)
    assert make_task(config).config == resolved(train_games=100)


# Settings without effect

IGNORED: dict[str, tuple[dict[str, Any], str]] = {
    "temperature": ({"temperature": 2.0}, "--temperature has no effect with --method pragmatic"),
    "entropy bonus": ({"entropy_bonus": 0.5}, "--entropy-bonus has no effect with --method pragmatic"),
    "filters": ({"method": "la-2018", "filters": 20}, "--filters has no effect with --method la-2018"),
    "beta": ({"method": "la-2017", "beta": 5.0}, "--beta has no effect with --method la-2017"),
    "rounds": ({"method": "la-2017", "rounds": 2}, "--rounds has no effect with --method la-2017"),
    "network": ({"method": "la-2018", "network": "deep-sets"}, "--network has no effect with --method la-2018"),
    "first learner": (
        {"method": "la-2018", "first_learner": "teacher"},
        "--first-learner has no effect with --method la-2018",
    ),
    "frozen semantics": (
        {"network": "deep-sets", "freeze_semantics": True},
        "--freeze-semantics has no effect with --network deep-sets",
    ),
    "frozen semantics, ungrounded": (
        {"grounded": False, "freeze_semantics": True},
        "--freeze-semantics has no effect with --no-grounded",
    ),
    "obverter weight": (
        {"feedback": "none", "obverter_weight": 2.0},
        "--obverter-weight has no effect with --feedback none",
    ),
    "REINFORCE baseline": (
        {"reinforce_baseline": "batch"},
        "--reinforce-baseline has no effect with --credit expected",
    ),
    "game": (
        {"game": "numbers-7", "space": "examples/kitchen.csv", "candidates": 3},
        "--game has no effect with --space",
    ),
    "images": (
        {"game": "objects-4", "encoder": "none", "images": "objects"},
        "--images has no effect with --encoder none",
    ),
    "gamma": ({"gamma": 0.6}, "--gamma has no effect with --rounds 1"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "sentence"), IGNORED.values(), ids=IGNORED)
def test_a_setting_without_effect_is_refused_with_both_flags(settings: dict[str, Any], sentence: str, tmp_path: Path):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        start_run(tmp_path / "run", Config.of(train_games=100, **settings))
    assert str(refused.value) == f"{sentence}: leave out one of them."
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_resolved_config_can_be_trained_as_it_is(settings: dict[str, Any]):
    config = resolved(**settings)
    check_ignored(config, *load_game(config.game.game, None, config.game.candidates))
