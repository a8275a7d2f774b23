"""`implicature train` shows what a pair can do, and `implicature evaluate` its figures."""

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Ask
from rich.console import Console

from implicature.cli.training.summary import print_example
from implicature.experiments.paper.published import paper_figures
from implicature.games.registry import load_game
from implicature.training.config import Config
from implicature.training.runs.run import read_config, start_run

FIGURES = {"accuracy", "hard_accuracy", "valid", "by_level", "messages", "return", "games"}


def test_training_ends_with_a_table_and_a_dialogue(whole_run):
    lines = whole_run.said.splitlines()
    cells = {line.split("│")[1].strip(): line.split("│")[2:6] for line in lines if line.startswith("│")}
    assert {"accuracy", "hard accuracy", "messages true of the target"} < cells.keys()
    assert any(name.startswith("level 0 (") for name in cells)
    start, ours, paper, exact = (float(cell) for cell in cells["accuracy"])
    # Five seconds of training: better than one in four, not better than exact reasoning. The paper's, from its table 2.
    assert 25 < ours < exact
    assert 99 < exact <= 100
    assert 20 < start < exact
    assert paper == 100 * paper_figures(Config())["accuracy"]
    said = " ".join(whole_run.said.split())
    before, after = said.index("before: she says “"), said.index("after: she says “")
    assert said.index("One game: ") < before < after
    assert "←target" in said
    for dialogue in (said[before:after], said[after:]):
        assert "he believes" in dialogue
        assert "picks {" in dialogue
        assert ": right" in dialogue or ": wrong" in dialogue
    assert f"The run is in {whole_run.folder}: " in lines[-1]


def test_the_figures_of_one_pair_have_these_names_and_are_those_of_the_report(whole_run, ask: Ask):
    code, said, _ = ask("evaluate", str(whole_run.folder), "--json", "--games", "10000")
    figures = json.loads(said)
    assert code == 0
    assert figures.keys() == FIGURES
    assert figures["games"] == 10_000
    figures_of_a_level = {"accuracy", "fraction", "messages", "multi_message", "return"}
    assert all(figures_of_a_level == level.keys() for level in figures["by_level"].values())
    row = next(line for line in whole_run.said.splitlines() if line.startswith("│ accuracy "))
    assert f"{100 * figures['accuracy']:.1f}" in row
    # Without --json the same as a table.
    _, table, _ = ask("evaluate", str(whole_run.folder), "--games", "10000")
    assert f"{100 * figures['accuracy']:.2f} %" in table


@pytest.mark.slow
def test_the_figures_of_several_pairs_are_means_with_each_beside_them(two_pairs: Path, ask: Ask):
    code, said, _ = ask("evaluate", str(two_pairs), "--json", "--games", "300")
    figures = json.loads(said)
    assert code == 0
    assert figures.keys() == FIGURES | {"std", "pairs", "each"}
    assert (figures["pairs"], len(figures["each"]), figures["games"]) == (2, 2, 300)
    one, other = (each["accuracy"] for each in figures["each"])
    assert figures["accuracy"] == pytest.approx((one + other) / 2)
    assert figures["std"]["accuracy"] == pytest.approx(abs(one - other) / 2)
    assert all(each.keys() == FIGURES for each in figures["each"])
    _, table, _ = ask("evaluate", str(two_pairs), "--games", "300")
    assert f"{100 * figures['accuracy']:.2f} % ± {50 * abs(one - other):.2f}" in table


def test_another_seed_draws_other_games_and_the_same_seed_the_same(whole_run, ask: Ask):
    first, again, other = (
        ask("evaluate", str(whole_run.folder), "--json", "--games", "300", "--seed", seed)[1] for seed in "001"
    )
    assert first == again
    assert first != other


@pytest.mark.slow
def test_a_profile_says_where_all_of_the_time_went(whole_run, ask: Ask, tmp_path: Path):
    small = ["--train-games=500", "--pretraining-iterations=5", "--iterations=5", "--phases=1", "--candidate-sets=16"]
    small += ["--width=4", "--layers=1", "--q-hidden=8", "--out", str(tmp_path / "run")]
    code, said, err = ask("train", *small, "--profile", "--json")
    found = json.loads(said)
    assert (code, err) == (0, "")
    assert found["run"] == str(tmp_path / "run")
    assert found["start"].keys() == found["trained"].keys() == FIGURES
    assert 0.9 < found["exact"]["hard_accuracy"] <= found["exact"]["accuracy"] <= 1
    profile = found["profile"]
    named = {"imports", "drawing games", "tracing", "compiling", "training", "validating", "saving", "evaluating"}
    assert named < profile["seconds"].keys()
    assert profile["total"] == pytest.approx(sum(profile["seconds"].values()), abs=0.01)
    assert profile["in_threads"]["compiling"] > 0
    # The same of a run that is finished, as a table: nothing is trained.
    code, said, _ = ask("train", "--resume", tmp_path / "run", "--profile")
    assert code == 0
    assert "where the time went" in said
    assert "training" not in said.split("where the time went")[1]


@pytest.mark.slow
def test_pairs_play_with_other_numbers_of_candidates_and_in_equivalent_games(whole_run, ask: Ask):
    changed = ["--candidates", "2", "--equivalent", "--phase", "0"]
    code, said, _ = ask("evaluate", str(whole_run.folder), "--json", "--games", "300", *changed)
    assert code == 0
    assert json.loads(said).keys() == FIGURES


def test_what_cannot_be_evaluated_is_one_sentence_and_exit_code_2(whole_run, ask: Ask, tmp_path: Path):
    start_run(tmp_path / "begun", read_config(whole_run.folder))
    for arguments, sentence in [
        ([str(tmp_path / "begun")], "begun has no pair after phase 1: it is not trained so far, or has fewer phases."),
        ([str(tmp_path)], "is not a run: it has no config.json."),
        ([str(tmp_path / "nowhere")], "nowhere is not a run: it has no config.json."),
        ([str(whole_run.folder), "--phase", "7"], "has no pair after phase 7: "),
        ([str(whole_run.folder), "--games", "3"], "3 games are too few to mean anything: ask for 10 or more."),
        ([str(whole_run.folder), "--candidates", "1"], "1 candidates leave nothing to guess: ask for 2 or more."),
        ([str(whole_run.folder), "--seed", str(2**40)], "is not a seed: "),
    ]:
        code, out, err = ask("evaluate", *arguments)
        assert (code, out) == (2, "")
        assert err.startswith("implicature: ")
        assert sentence in err
        assert err.count("\n") == 1


def test_a_run_is_not_written_over_and_a_mistake_leaves_nothing(whole_run, tiny: list[str], ask: Ask, tmp_path: Path):
    for arguments, sentence in [
        ([*tiny, "--out", str(whole_run.folder)], "holds a run already: go on with --resume, or choose another --out."),
        (
            [*tiny, "--out", str(tmp_path / "new"), "--candidate-sets", "0"],
            "--candidate-sets is 0: give a number from 1",
        ),
        (["train", "--resume", str(tmp_path)], "is not a run: it has no config.json."),
    ]:
        code, out, err = ask(*arguments)
        assert (code, out) == (2, "")
        assert sentence in err
        assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_names_are_printed_as_they_are(whole_run, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    # "[red]" is a fine attribute, and "[/bold]" a fine name: neither is markup. Number sets, renamed.
    path = tmp_path / "space.json"
    names = ["[red]", "[/red]", "[bold]", "[/bold]", "[link]", "[/]", "[0]", "[x]", "[y]", "[z]"]
    sets = [[names[i] for i in np.flatnonzero(row)] for row in load_game("numbers-4")[0].table]
    path.write_text(json.dumps({"instances": {f"[/{' '.join(each)}": each for each in sets}}))
    changed = {"game": "numbers-4", "space": str(path), "phases": 0, "pretraining_iterations": 1}
    run = start_run(tmp_path / "run", read_config(whole_run.folder).replace(**changed))
    assert len(list(run.train())) > 0
    print_example(run, Console(width=500))
    said = capsys.readouterr().out
    assert "One game: [/[" in said
    assert "she says “[" in said
    assert "picks [/[" in said
