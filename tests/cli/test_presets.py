"""A preset is a set of defaults, an explicit option wins, and an option without effect is an error."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Ask, Trained

from implicature.training.config import Config

SMALL = ["--train-games", "500", "--phases", "0", "--width", "8", "--candidate-sets", "16", "--quiet"]


def stored_config(folder: Path) -> dict[str, Any]:
    groups = json.loads((folder / "config.json").read_text())["config"]
    return {name: value for group in groups.values() for name, value in group.items()}


@pytest.mark.slow
def test_explicit_options_win_over_a_preset(ask: Ask, tmp_path: Path):
    for i, preset in enumerate((["--preset", "as-written"], ["--preset=as-written"])):
        out = tmp_path / str(i)
        assert ask("train", *preset, "--iterations", 500, *SMALL, "--out", out)[0] == 0
        config = stored_config(out)
        assert (config["iterations"], config["phases"], config["candidate_sets"]) == (500, 0, 16)
        # What was not given is the paper's.
        assert (config["network"], config["likelihood"], config["credit"]) == ("deep-sets", "sigmoid", "sampled")
        assert (config["learning_rate"], config["grounded"], config["all_targets"]) == (1e-4, False, False)
        assert Config.of("as-written", iterations=500).flat().items() >= {"iterations": 500, "q_hidden": 0}.items()


def test_an_option_wins_even_if_it_is_given_as_the_usual_default(ask: Ask, tmp_path: Path):
    usual = str(Config().optimiser.iterations)
    assert ask("train", "--preset", "as-written", "--iterations", usual, *SMALL, "--out", tmp_path / "run")[0] == 0
    assert stored_config(tmp_path / "run")["iterations"] == int(usual)


@pytest.mark.slow
def test_a_preset_depends_on_the_method(ask: Ask, tmp_path: Path):
    out = tmp_path / "run"
    assert ask("train", "--preset", "as-written", "--method", "la-2017", *SMALL, "--out", out)[0] == 0
    config = stored_config(out)
    assert (config["iterations"], config["temperature"], config["grounded"]) == (100_000, 10.0, False)


def test_help_shows_the_defaults_of_the_preset(ask: Ask):
    def default(text: str, option: str) -> str:
        after = " ".join(text.split(option)[-1].replace("│", " ").split())
        return after.split("(default: ")[1].split(")")[0]

    _, usual, _ = ask("train", "--help")
    _, paper, _ = ask("train", "--preset", "as-written", "--help")
    _, baseline, _ = ask("train", "--preset", "as-written", "--method", "la-2018", "--help")
    shown = [[default(text, f"{option} ") for option in ("--iterations", "--network", "--credit")] for text in
             (usual, paper, baseline)]  # fmt: skip
    assert shown == [
        ["1000", "exchange", "expected"],
        ["10000", "deep-sets", "sampled"],
        ["100000", "exchange", "sampled"],
    ]


@pytest.mark.parametrize(
    ("arguments", "first", "second"),
    [
        (["--temperature", "2"], "--temperature", "--method pragmatic"),
        (["--method", "la-2017", "--beta", "5"], "--beta", "--method la-2017"),
        (["--method", "la-2018", "--filters", "5"], "--filters", "--method la-2018"),
        (["--network", "deep-sets", "--freeze-semantics", "True"], "--freeze-semantics", "--network deep-sets"),
        (["--no-grounded", "--freeze-semantics", "True"], "--freeze-semantics", "--no-grounded"),
        (["--feedback", "none", "--obverter-weight", "2"], "--obverter-weight", "--feedback none"),
        (["--reinforce-baseline", "batch"], "--reinforce-baseline", "--credit expected"),
        (["--gamma", "0.5"], "--gamma", "--rounds 1"),
        (["--preset", "as-written", "--method", "la-2017", "--network", "deep-sets"], "--network", "--method la-2017"),
    ],
)
def test_an_option_without_effect_is_an_error_that_names_both(
    arguments: list[str], first: str, second: str, ask: Ask, tmp_path: Path
):
    code, out, err = ask("train", *arguments, "--train-games", "100", "--out", tmp_path / "run")
    assert (code, out) == (2, "")
    assert err == f"implicature: {first} has no effect with {second}: leave out one of them.\n"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--iterations", "5"], "--iterations 5 is not what {run} was started with (2500), and a resumed run keeps to"),
        # The usual default, which is not this run's.
        (["--width", "16"], "--width 16 is not what {run} was started with (4), "),
        (["--phases", "0"], "--phases is 0, but {run} has 1 already: ask for more, or train another."),
        (["--preset", "as-written"], "--preset has no effect with --resume"),
        (["--out", "elsewhere"], "--out has no effect with --resume"),
    ],
)
def test_a_resumed_run_keeps_its_config(arguments: list[str], sentence: str, ask: Ask, whole_run: Trained):
    code, out, err = ask("train", "--resume", whole_run.folder, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"implicature: {sentence.format(run=whole_run.folder)}")


def test_a_run_plays_its_own_game_and_only_a_run_has_phases(ask: Ask, whole_run: Trained):
    exact = ["--teacher", "exact", "--student", "exact"]
    for arguments, sentence in [
        ([whole_run.folder, "--game", "numbers-7"], "--game has no effect with a run, which plays its own game."),
        ([whole_run.folder, "--rounds", "2"], "--rounds has no effect with a run"),
        ([*exact, "--phase", "1"], "--phase has no effect without a run"),
    ]:
        for command in ("evaluate", "language"):
            code, out, err = ask(command, *arguments)
            assert (code, out) == (2, "")
            assert sentence in err
