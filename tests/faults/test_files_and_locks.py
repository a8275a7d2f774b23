"""Faults found by an attack on the file system: each D-number of the list has its test."""

import csv
import errno
import os
import stat
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from implicature import compilation_cache
from implicature.compilation_cache import delete_oldest
from implicature.experiments.external import KEY, add_result, read_external
from implicature.experiments.results import Result, merge_results, read_results
from implicature.files import exclusive_lock, format_csv, private_folder, write_atomic
from implicature.runner import Event
from implicature.runner.progress import Progress
from implicature.runner.schedule import Durations
from implicature.runner.sweep import collect_results
from implicature.runner.tasks import claim_core
from implicature.spaces import images
from implicature.spaces.io import read_space

PYTHON = sys.executable
EXACT = ("--teacher", "exact", "--student", "exact")
NO_HOME = ("HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "JAX_COMPILATION_CACHE_DIR")


# D1: core claims


def test_d1_a_link_in_place_of_a_claim_does_not_empty_the_file_it_points_to(tmp_path: Path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    folder = private_folder("cores")
    (folder / "0").symlink_to(victim)
    # Core 0 cannot be claimed, so the other one is.
    assert claim_core([0, 7]) == 7
    assert victim.read_text() == "precious"


def test_d1_claims_are_made_in_the_private_folder_and_nothing_is_truncated(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    claim = private_folder("cores") / "5"
    claim.write_text("kept")
    assert claim_core([5]) == 5
    assert claim.read_text() == "kept"
    # It is locked, so another worker does not get it.
    with pytest.raises(ValueError, match="taken"), exclusive_lock(claim, "taken"):
        pass


def test_d1_claims_are_in_a_folder_that_only_the_user_may_enter(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = private_folder("cores")
    assert folder.is_relative_to(tmp_path)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder.stat().st_uid == os.getuid()


def test_d1_a_folder_that_is_a_link_is_not_used(tmp_path: Path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "runtime" / "implicature").mkdir(parents=True)
    (tmp_path / "runtime" / "implicature" / "cores").symlink_to(elsewhere)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert private_folder("cores").is_relative_to(tmp_path / "cache")


def test_d1_a_folder_that_others_may_enter_is_closed_to_them(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    private_folder("cores").chmod(0o777)
    assert stat.S_IMODE(private_folder("cores").stat().st_mode) == 0o700


@pytest.mark.parametrize("foreign", ["implicature", "implicature/cores"])
def test_d1_a_folder_of_another_user_is_not_used(foreign: str, tmp_path: Path, monkeypatch):
    """The folder above counts, too: its owner could put another folder in place of this one."""
    (tmp_path / "runtime" / "implicature" / "cores").mkdir(parents=True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    plain, theirs = os.lstat, tmp_path / "runtime" / foreign

    def owned_by_another(path):
        found = list(plain(path))
        found[stat.ST_UID] += Path(path) == theirs
        return os.stat_result(found)

    monkeypatch.setattr(os, "lstat", owned_by_another)
    assert private_folder("cores").is_relative_to(tmp_path / "cache")


# D6: results of two commands


WRITERS = {
    "reproduce": "merge_results(path, [{**dict.fromkeys(KEY, i), 'players': name}], KEY)",
    "evaluate --row": "add_result(path, {**dict.fromkeys(KEY, i), 'players': name})",
}
"""How each command adds a result."""


@pytest.mark.parametrize("command", WRITERS)
def test_d6_two_processes_that_add_results_to_one_file_lose_none(command: str, tmp_path: Path):
    program = (
        "import sys\nfrom pathlib import Path\nfrom implicature.experiments.results import merge_results\n"
        "from implicature.experiments.external import KEY, add_result\n"
        "path, name = Path(sys.argv[1]), sys.argv[2]\nprint('ready', flush=True)\nsys.stdin.readline()\n"
        f"for i in range(30):\n    {WRITERS[command]}"
    )
    path = tmp_path / "external.csv"
    both = [
        subprocess.Popen(
            [PYTHON, "-c", program, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in ("one", "other")
    ]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in both:
        process.communicate(timeout=120)
    assert [process.returncode for process in both] == [0, 0]
    results = [(row["players"], row["game"]) for row in read_results(path)]
    assert sorted(results) == sorted((name, str(i)) for name in ("one", "other") for i in range(30))


def test_d6_reproduce_keeps_what_another_command_writes_while_it_runs(tmp_path: Path):
    path, key = tmp_path / "pairs.csv", ("setting", "seed")
    tasks = [{"setting": "mine", "seed": seed} for seed in range(2)]

    def events() -> Generator[Event, None, None]:
        for index, task in enumerate(tasks):
            yield Event(index, "started", "here")
            # The other `reproduce` finishes a task of its own meanwhile.
            merge_results(path, [{"setting": "theirs", "seed": index, "accuracy": 1}], key)
            yield Event(index, "finished", "here", "", [{**task, "accuracy": 2}])

    results: list[Result] = []
    progress = Progress("pairs", tasks, tasks, Durations(results, key))
    collect_results(events(), progress, results, path, key, as_json=True)
    expected = [("theirs", "0"), ("mine", "0"), ("theirs", "1"), ("mine", "1")]
    assert [(row["setting"], row["seed"]) for row in read_results(path)] == expected
    assert len(results) == 4


def test_d6_results_of_the_same_task_are_replaced_and_others_stay(tmp_path: Path):
    path = tmp_path / "pairs.csv"
    merge_results(path, [{"setting": "a", "figure": 1}, {"setting": "b", "figure": 2}], ("setting",))
    # Another command, which has read the file before the first wrote it.
    merge_results(path, [{"setting": "b", "figure": 3}, {"setting": "c", "figure": 4}], ("setting",))
    assert [(row["setting"], row["figure"]) for row in read_results(path)] == [("a", "1"), ("b", "3"), ("c", "4")]


def test_d6_evaluate_row_merges_likewise(tmp_path: Path):
    path = tmp_path / "external.csv"
    row = dict.fromkeys(KEY, "x")
    add_result(path, {**row, "accuracy": 1})
    add_result(path, {**row, "players": "y", "accuracy": 2})
    add_result(path, {**row, "accuracy": 3})
    assert [(one["players"], one["accuracy"]) for one in read_external(path)] == [("y", "2"), ("x", "3")]


# D11: the compilation cache


def test_d11_the_oldest_entries_go_when_the_cache_is_too_large(tmp_path: Path):
    for i in range(5):
        entry = tmp_path / f"entry-{i}-cache"
        entry.write_bytes(bytes(100))
        os.utime(entry, (i, i))
    delete_oldest(tmp_path, 250)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["entry-3-cache", "entry-4-cache"]
    assert compilation_cache.MAX_BYTES == 2**30


def test_d11_the_limit_holds_whenever_the_cache_is_enabled(tmp_path: Path):
    for i in range(3):
        (tmp_path / f"entry-{i}-cache").write_bytes(bytes(100))
    program = (
        "import sys\nfrom implicature import compilation_cache\ncompilation_cache.MAX_BYTES = 250\n"
        "compilation_cache.enable_compilation_cache(sys.argv[1])"
    )
    subprocess.run([PYTHON, "-c", program, str(tmp_path)], check=True)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.slow
def test_d11_an_unreadable_entry_is_made_again_without_a_word(tmp_path: Path):
    program = (
        "import implicature\nimplicature.enable_compilation_cache()\nimport jax, jax.numpy as jnp\n"
        "print(jax.jit(lambda x: jnp.sin(x) @ x)(jnp.eye(3))[0, 0])"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run([PYTHON, "-c", program], env=environment, capture_output=True, text=True, check=True)

    first = run()
    folder = tmp_path / "implicature" / "jax"
    entries = [file for file in folder.iterdir() if file.name.endswith("-cache")]
    assert entries
    for file in entries:
        file.write_bytes(b"garbage")
    second = run()
    assert (second.stdout, second.stderr) == (first.stdout, "")
    assert all(file.read_bytes() != b"garbage" for file in entries if file.exists())
    # The third run finds them all readable.
    assert run().stderr == ""


# D12: images


def test_d12_a_folder_of_images_has_a_budget_that_is_checked_before_reading(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(images, "MAX_TOTAL_PIXELS", 100 * 100 * 3)
    lines = ["colour,image"]
    for i in range(4):
        Image.fromarray(np.full((100, 100, 3), 60 * i, np.uint8)).save(tmp_path / f"{i}.png")
        lines.append(f"c{i},{i}.png")
    (tmp_path / "things.csv").write_text("\n".join(lines))
    monkeypatch.setattr(images, "to_square", lambda *_: pytest.fail("an image was read"))
    with pytest.raises(ValueError, match="more than 30,000 pixels in all: save them smaller"):
        read_space(tmp_path / "things.csv")


def test_d12_what_decoding_costs_counts(tmp_path: Path):
    """A JPEG is decoded at a lower resolution, a progressive one after it was read whole."""
    pixels = {"a.png": 40_000, "b.jpg": 2_500, "c.jpg": 10_000}
    for name in pixels:
        Image.new("RGB", (200, 200)).save(tmp_path / name, progressive=name == "c.jpg")
    for name, expected in pixels.items():
        with images.open_image(tmp_path, name, "Line 2") as image:
            assert images.decoded_pixels(image) == expected


# D14: small things


def test_d14_the_package_and_the_command_work_without_home_and_passwd_entry(tmp_path: Path):
    environment = {name: value for name, value in os.environ.items() if name not in NO_HOME}
    # A user whom the system does not know, as in many containers.
    program = (
        "import pwd\ndef unknown(uid): raise KeyError(uid)\npwd.getpwuid = unknown\n"
        "import implicature, implicature.cli.main\nfrom implicature.files import private_folder\n"
        "private_folder('cores')\nfolder = implicature.enable_compilation_cache()\n"
        "import jax\nprint(jax.jit(lambda x: x + 1)(1), folder.is_dir())"
    )
    environment["TMPDIR"] = str(tmp_path)
    done = subprocess.run([PYTHON, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("2 True", "")


def test_d14_text_that_a_spreadsheet_would_run_gets_an_apostrophe():
    text = format_csv(["a", "b"], [["=cmd()", 1], ["@sum", -2.5], ["-3", "plain"], ["+1+1", "-x"]]).decode()
    assert text.splitlines() == ["a,b", "'=cmd(),1", "'@sum,-2.5", "-3,plain", "'+1+1,'-x"]


def test_d14_export_guards_words_of_a_space(ask, tmp_path: Path):
    space, out = tmp_path / "formulas.csv", tmp_path / "dialogues.csv"
    rows = [f"{word},{sign}" for word in ("=1+1", "@sum", "-x") for sign in "abc"]
    space.write_text("\n".join(["word,sign", *rows]), encoding="utf-8")
    code, _, said = ask("export", "--out", out, "--space", space, "--candidates", 3, "--games", 20, *EXACT)
    assert (code, said) == (0, "")
    cells = [cell for row in csv.reader(out.read_text(encoding="utf-8").splitlines()) for cell in row]
    assert any(cell.startswith("'=1+1") for cell in cells)
    assert not any(cell.startswith(("=", "@", "-x")) for cell in cells)


def test_d14_a_full_disk_is_told_with_the_files_name(tmp_path: Path, monkeypatch):
    (tmp_path / "old").write_bytes(b"old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as refused:
        write_atomic(tmp_path / "old", b"new")
    assert refused.value.filename == str(tmp_path / "old")
    monkeypatch.undo()
    assert (tmp_path / "old").read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize(
    ("writer", "named"),
    [
        ("metrics.append(Position(0, 1, 'student', i), {'reward': [0.5]}, 1.0)", "metrics.csv"),
        ("events.scalar('reward', 0.5, i)", "events"),
    ],
    ids=["metrics", "events"],
)  # fmt: skip
def test_d14_where_training_runs_out_of_room_the_file_is_named(writer: str, named: str, tmp_path: Path):
    """A limit on the size of files stands for the full disk; the system's error names no file, either."""
    program = (
        "import resource, sys\nfrom pathlib import Path\nfrom implicature.cli.errors import system_error\n"
        "from implicature.training.runs.metrics import MetricsFile, Position\n"
        "from implicature.training.runs.tensorboard import EventWriter\n"
        "folder = Path(sys.argv[1])\nevents = EventWriter(folder / 'events', 0)\n"
        "metrics = MetricsFile(folder / 'metrics.csv', 1)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
        f"try:\n    for i in range(1000):\n        {writer}\n"
        "except OSError as error:\n    print(system_error(error))"
    )
    done = subprocess.run([PYTHON, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stdout.startswith(f"{tmp_path / named} cannot be used (File too large): check"), done.stderr


def test_d14_the_folder_is_synced_after_a_write(tmp_path: Path, monkeypatch):
    synced: list[str] = []
    plain = os.fsync

    def noted(handle: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{handle}"))
        plain(handle)

    monkeypatch.setattr(os, "fsync", noted)
    write_atomic(tmp_path / "file", b"content")
    assert synced == [str(tmp_path / "file.partial"), str(tmp_path)]


def test_d14_report_in_an_empty_folder_says_that_there_is_nothing_to_report(ask, tmp_path: Path):
    code, _, said = ask("report", "--results", tmp_path, "--out", tmp_path / "report.html")
    assert code == 2
    assert "nothing to report" in said
    assert not (tmp_path / "report.html").exists()


# The lock itself


def test_a_lock_ends_with_a_killed_process(tmp_path: Path):
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom implicature.files import exclusive_lock\n"
        "with exclusive_lock(Path(sys.argv[1]), 'busy'):\n    print('held', flush=True)\n    time.sleep(600)"
    )
    path = tmp_path / "lock"
    with subprocess.Popen([PYTHON, "-c", program, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(ValueError, match="busy"), exclusive_lock(path, "busy"):
            pass
        process.kill()
    with exclusive_lock(path, "busy"):
        pass
