"""Arguments of every command: what is out of range or not there is refused in a sentence before anything is done."""

import os
import random
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hostility import CASES, NASTY, TEXT, case, command, fuzz, refused
from hypothesis import given
from hypothesis import strategies as st

from implicature.cli.main import COMMANDS

LARGE = ["1000000000000", "9" * 30, "9" * 5000]
NO_NUMBER = ["", " ", "nan", "inf", "1e3", "0x10", "one", "½", "1,000", "--", "\x1b[31m", "[red]", "None5", "1.5"]
COUNTS = ["0", "-1", "-" + "9" * 30, *LARGE, *NO_NUMBER]
FRACTIONS = ["nan", "inf", "-inf", "1e308", "-1e308", "-0.5", "1.5", "", "one", "\x1b[31m"]
WEIGHTS = [number for number in FRACTIONS if number != "1.5"]
SEEDS = ["-1", "2147483648", *LARGE, *NO_NUMBER]
CHOICES = ["", "Paper", "PAPER", "[red]", "\x1b[31m", "🦄", "0"]
GAMES = [name for name in NASTY if not name.startswith("-")]
FILES = ["missing.csv", "folder", "taken", "pipe.csv", "zero.csv", "loop.csv", "\x1b.csv", "x" * 300, "taken/x.csv"]
PLAYERS = [
    "missing", "taken", "exact:0", "os:path", "os:nothing", "no_module:x", ":x", "x:", "::", "leaves:teacher",
    "taken:x", "builtins:object.x.y", "[/red]", "\x1b[31m:a", "a\nb:c", "x" * 300, "folder:9999",
    "json:decoder.JSONDecodeError",
]  # fmt: skip
FOLDERS = ["taken", "taken/x", "/dev/null", "/dev/null/x", "x" * 300]
MATCHUP = {
    "games": ["1", "9", *COUNTS], "seed": SEEDS, "phase": NO_NUMBER, "candidates": ["1", "386", *COUNTS], "game": GAMES,
    "rounds": ["101", *COUNTS], "message-cost": FRACTIONS, "space": FILES, "teacher": PLAYERS, "student": PLAYERS,
    "images": [*FILES, "objects", "numbers"], "noise": FRACTIONS, "qud": ["", "taste", "\x1b[31m"],
}  # fmt: skip
COUNTED = [
    "iterations", "candidate-sets", "seeds", "width", "layers", "q-hidden", "filters", "replay-batches",
    "target-update", "train-games",
]  # fmt: skip
BAD: dict[str, dict[str, list[str]]] = {
    "explain": {
        "target": ["0", "-1", "4", *LARGE, *NO_NUMBER], "depth": ["-1", "101", *LARGE, *NO_NUMBER],
        "beta": ["nan", "-1", "1e308", "", "one"], "alpha": ["nan", "-1", "1", "one"], "start": CHOICES,
        "utility": CHOICES, "prior": ["", "1", "x,y,z", "0,0,0", "nan,1,1"], "costs": ["", "a", "z=1", "a=-1"],
        "noise": FRACTIONS, "qud": ["", "x", "x,y"], "max-words": ["9", *COUNTS], "player": PLAYERS, "space": FILES,
    },
    "space": {"out": ["x.pdf", "missing/x.png", "folder", "taken/x.png"]},
    "teach": {"games": COUNTS, "seeds": COUNTS, "partner": PLAYERS, "phase": NO_NUMBER, "out": ["x.pdf", "folder"]},
    "people": {
        "data": ["missing", "missing.csv", "pipe.csv", "zero.csv", "[red]"], "halves": ["1001", *COUNTS],
        "out": ["x.txt", "folder", "taken/x.png"],
    },
    "ask": {
        "target": ["0", "4", "z", ""], "said": ["z", "", "a,z"], "prior": ["1", "x,y,z"], "costs": ["a", "z=1"],
        "qud": ["x"], "max-words": ["9", *COUNTS], "space": FILES, "phase": NO_NUMBER,
    },
    "train": {
        **dict.fromkeys(COUNTED, COUNTS),
        **dict.fromkeys(["phases", "pretraining-iterations"], COUNTS[1:]),
        **dict.fromkeys(["seed", "split-seed"], SEEDS),
        **dict.fromkeys(["beta", "obverter-weight", "calibration-alpha", "entropy-bonus"], WEIGHTS),
        **dict.fromkeys(["lapse-rate", "gamma", "learning-rate", "pretraining-learning-rate"], FRACTIONS),
        **dict.fromkeys(["message-cost", "train-instance-fraction"], FRACTIONS),
        **dict.fromkeys(["method", "encoder", "network", "likelihood", "first-learner", "credit"], CHOICES),
        **dict.fromkeys(["grounding-target", "preset"], CHOICES),
        "temperature": ["0", *WEIGHTS], "rounds": ["101", *COUNTS], "candidates": ["1", "386", *COUNTS], "game": GAMES,
        "space": FILES, "images": FILES, "out": FOLDERS, "resume": ["missing", "taken", "folder"],
    },
    "evaluate": {**MATCHUP, "row": ["x.pdf", "x", "folder", "taken/x.csv", "pipe.csv", "zero.csv", ""]},
    "strangers": {
        "games": ["1", "9", *COUNTS], "seed": SEEDS, "phase": NO_NUMBER, "partners": PLAYERS,
        "out": ["x.pdf", "missing/x.png", "folder", "taken/x.png"],
    },
    "language": MATCHUP,
    "export": {**MATCHUP, "out": ["x.pdf", "x", "missing/x.csv", "folder", "taken/x.csv", "", "x" * 300 + ".csv"]},
    "watch": {"games": ["1", *COUNTS], "out": ["x.pdf", "missing/x.png", "folder", "taken/x.png"]},
    "reproduce": {
        "games": ["9", *COUNTS], "jobs": COUNTS, "out": FOLDERS, "runs": FOLDERS, "engine": CHOICES, "plan": COUNTS,
        "gpus": ["nan", "-1", "inf", ""], "address": ["", "here:1", "\x1b"],
    },
    "report": {
        "out": ["x.pdf", "missing/x.html", "folder", "taken", "taken/x.html", "x" * 300 + ".html"],
        "readme": ["missing", "folder", "taken", "pipe.csv", "zero.csv", "loop.csv", "text.sqlite"],
        "docs": ["missing", "folder", "taken", "pipe.csv"], "results": ["taken"],
    },
    "bench": {"workers": COUNTS, "engine": CHOICES, "plot": ["x.pdf", "missing/x.png", "folder", "taken/x.png"]},
    "render": {
        "per-object": COUNTS, "size": ["15", "1025", *COUNTS], "seed": ["-1", *NO_NUMBER], "out": FOLDERS,
        "sheet": ["x.pdf", "folder", ""],
    },
    "play": {
        "port": ["-1", "65536", *LARGE, *NO_NUMBER], "host": ["", " ", "x" * 70], "consent": ["x"],
        "record": ["folder", "taken/x", "text.sqlite", "/dev/zero"], "teacher": PLAYERS, "student": PLAYERS,
    },
    "study": {"csv": ["anywhere"], "json": [""]},
}  # fmt: skip
"""For every option what is always refused."""
TWO = ["--teacher", "exact", "--student", "exact", "--games", "10"]
USUAL: dict[str, list[str]] = {
    "explain": ["a", "b,c", "c"], "ask": ["exact", "a", "b,c", "c"], "people": ["literal"],
    "space": ["three-objects"], "teach": ["missing"],
    "evaluate": TWO, "language": TWO, "strangers": ["missing"], "export": [*TWO, "--out", "new.csv"],
    "watch": ["missing"], "reproduce": ["ceilings"], "play": ["--no-browser", "--port", "0"], "study": ["missing"],
    "train": ["--out", "new"], "render": ["--out", "new"], "bench": [], "report": [],
}  # fmt: skip
"""What else a command is given; with something bad it must not begin."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "folder").mkdir()
    (folder / "taken").write_text("taken\n")
    (folder / "text.sqlite").write_text("not a database, but long enough to be taken for one" * 10)
    (folder / "leaves.py").write_text("raise SystemExit(7)\n")
    os.mkfifo(folder / "pipe.csv")
    (folder / "zero.csv").symlink_to("/dev/zero")
    (folder / "loop.csv").symlink_to("loop.csv")
    return folder


def without(arguments: list[str], option: str) -> list[str]:
    """The usual arguments but for one that is given otherwise."""
    flag = f"--{option}"
    place = arguments.index(flag) if flag in arguments else len(arguments)
    return arguments[:place] + arguments[place + 2 :]


def bad_cases() -> list[tuple[str, str, str]]:
    """Every option of every command with something bad in turn, as many as are to be tried."""
    every = [
        (name, option, value) for name, options in BAD.items() for option, values in options.items() for value in values
    ]
    random.Random(0).shuffle(every)
    first = list({(name, option): (name, option, value) for name, option, value in every}.values())
    return [*first, *(one for one in every if one not in first)][: CASES["options"]]


def test_every_command_and_option_has_its_cases():
    assert BAD.keys() == COMMANDS.keys() == USUAL.keys()
    assert len(bad_cases()) == CASES["options"]


@pytest.mark.parametrize("name", BAD)
def test_every_option_exists(name: str, folder: Path):
    # Else it would be refused for that alone.
    shown = command(folder, name, "--help").out
    assert [option for option in BAD[name] if f"--{option}" not in shown] == []


def test_what_is_out_of_range_or_not_there_is_refused_before_anything_is_done(folder: Path):
    there = sorted(path.name for path in folder.iterdir())
    for name, option, value in bad_cases():
        usual = without(USUAL[name], option)
        assert case("options", lambda: refused(folder, name, *usual, f"--{option}={value}")) is None  # noqa: B023
        assert sorted(path.name for path in folder.iterdir()) == there, (name, option, value)
    assert (folder / "taken").read_text() == "taken\n"


@given(
    words=st.lists(TEXT.filter(lambda word: "\0" not in word), max_size=4), name=st.sampled_from([*COMMANDS, ""]) | TEXT
)
@fuzz("words")
def test_any_words(folder: Path, name: str, words: list[str]):
    arguments = [name.replace("\0", ""), *words, "--no-such-option"]
    if not {"-h", "--help", "--version", "-V"} & set(arguments):
        assert case("words", lambda: refused(folder, *arguments)) is None
    else:
        assert case("words", lambda: command(folder, *arguments)) is None


@given(words=st.lists(st.lists(TEXT, min_size=1, max_size=3).map(",".join), max_size=4))
@fuzz("candidates")
def test_any_candidates_are_explained_or_refused(folder: Path, words: list[str]):
    words = [word.replace("\0", "").encode("utf-8", "replace").decode() for word in words if not word.startswith("-")]

    def explain() -> None:
        ended = command(folder, "explain", *words)
        assert "\x1b" not in ended.out

    assert case("candidates", explain) is None


def process(folder: Path, *arguments: str | bytes, **more) -> subprocess.CompletedProcess:
    """A command as a shell runs it, with a gigabyte and a half of data at most."""
    few = 3 * 2**29
    start = [str(Path(sys.executable).with_name("implicature"))]
    return subprocess.run(
        [*start, *arguments], cwd=folder, capture_output=True, timeout=300, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (few, few)), **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([b"explain", b"\xff\xfe,a", b"b"], 2),
        ([b"train", b"--out", b"taken/\xff"], 2),
        (["evaluate", "--teacher", "exact", "--student", "exact", "--games", "1000000000000"], 2),
        (["explain", "blue,[red]", "b", "--json"], 0),
    ],
)
def test_a_process_ends_in_one_sentence_too(folder: Path, arguments: list[str | bytes], code: int):
    ended = process(folder, *arguments)
    assert ended.returncode == code, ended
    if code == 2:
        assert ended.stderr.startswith(b"implicature: ")
        assert ended.stderr.count(b"\n") == 1
        assert ended.stdout == b""
