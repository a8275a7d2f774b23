"""The command line answers at once, and a mistake is one sentence."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from implicature import __version__
from implicature.cli.errors import UsageError, raise_usage_error
from implicature.cli.main import COMMANDS, main

# Runs in a process of its own: what `--help` says, what it imported and the processor time it took.
HELP = """
import contextlib, io, json, resource, sys
from implicature.cli.main import main

said = io.StringIO()
with contextlib.redirect_stdout(said):
    try:
        main()
        code = None
    except SystemExit as end:
        code = end.code
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([code, said.getvalue(), sorted(sys.modules), used.ru_utime + used.ru_stime]))
"""


def ask_for_help(*arguments: str) -> tuple[int | None, str, list[str], float]:
    asked = subprocess.run([sys.executable, "-c", HELP, *arguments], capture_output=True, text=True, check=True)
    return json.loads(asked.stdout)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["implicature", *arguments])
    main()


@pytest.mark.parametrize("arguments", [["--help"], []])
def test_help_needs_neither_jax_nor_numpy_and_names_every_command(arguments: list[str]):
    code, said, modules, _ = ask_for_help(*arguments)
    assert code == 0
    assert all(command in said for command in COMMANDS)
    assert not {"jax", "numpy", "equinox", "matplotlib", "scipy"} & set(modules)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_without_jax(command: str):
    code, said, modules, _ = ask_for_help(command, "--help")
    assert code == 0
    assert f"implicature {command}" in said
    assert not {"jax", "numpy"} & set(modules)


def test_help_takes_less_than_half_a_second_of_processor_time():
    assert min(ask_for_help("--help")[3] for _ in range(3)) < 0.5


def test_the_version_is_the_packages(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    run(monkeypatch, "--version")
    assert capsys.readouterr().out == f"{__version__}\n"


def test_a_mistake_is_one_sentence_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    (tmp_path / "taken").touch()
    for arguments, sentence in [
        (["nonsense"], "No experiment is called 'nonsense': choose one of "),
        (["ceilings", "--games", "3"], "3 games are too few to mean anything: ask for 10 or more."),
        (["ceilings", "--out", str(tmp_path / "taken")], "taken is a file, but results go into a folder: "),
    ]:
        with pytest.raises(SystemExit) as end:
            run(monkeypatch, "reproduce", *arguments)
        said = capsys.readouterr()
        assert end.value.code == 2
        assert said.out == ""
        assert said.err.startswith("implicature: ")
        assert sentence in said.err
        assert said.err.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nonsense"], "No command is called 'nonsense'; there are explain, space, "),
        (["--foo"], "This command does not take --foo: see `implicature --help`."),
        (["train", "--foo", "1"], "This command does not take --foo 1: see `implicature train --help`."),
        (["train", "--iterations", "x"], "--iterations takes a whole number: see `implicature train --help`."),
        (["train", "--candidates", "x"], "--candidates takes a whole number: see "),
        (["train", "--epsilon", "0.5"], "--epsilon takes two numbers: see "),
        (["train", "--method", "foo"], "--method is 'foo': choose one of pragmatic, la-2017, la-2018, or name "),
        (["train", "--first-learner", "foo"], "--first-learner is 'foo', not one of student, teacher: see "),
        (["train", "--out"], "--out takes a value: see "),
        (["watch"], "This command needs RUN: see `implicature watch --help`."),
        (["export", "--foo"], "This command needs --out, and it does not take --foo: see "),
        (["--"], "These arguments are not understood: see `implicature --help`."),
    ],
)
def test_arguments_that_cannot_be_parsed_are_one_sentence(
    arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as end:
        run(monkeypatch, *arguments)
    said = capsys.readouterr()
    assert (end.value.code, said.out) == (2, "")
    assert said.err.startswith(f"implicature: {sentence}")
    assert said.err.count("\n") == 1


def test_an_unknown_parse_error_is_described_in_general_terms():
    class MissingArgs:
        """tyro's event of another version, with other fields."""

    for event in (MissingArgs(), object()):
        with pytest.raises(UsageError, match="These arguments are not understood"):
            raise_usage_error(event)


def test_the_page_of_the_appointment_game_takes_no_run(monkeypatch: pytest.MonkeyPatch, capsys):
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, "play", "runs/mine", "--game", "appointment")
    assert "A run has no effect in the appointment game" in capsys.readouterr().err
