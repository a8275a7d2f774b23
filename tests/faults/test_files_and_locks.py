"""Faults found by an attack on the file system: each D-number of the list has its test."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from implicature import compilation_cache
from implicature.compilation_cache import delete_oldest
from implicature.experiments.external import KEY, add_result, read_external
from implicature.experiments.results import merge_results, read_results
from implicature.files import exclusive_lock, format_csv, private_folder, write_atomic
from implicature.runner.tasks import claim_core
from implicature.spaces import images
from implicature.spaces.io import read_space

PYTHON = sys.executable


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


# D6: results of two commands


def test_d6_two_processes_that_add_results_to_one_file_lose_none(tmp_path: Path):
    program = (
        "import sys\nfrom pathlib import Path\nfrom implicature.experiments.results import merge_results\n"
        "for i in range(30):\n"
        "    result = {'setting': sys.argv[2], 'seed': i, 'accuracy': 1.0}\n"
        "    merge_results(Path(sys.argv[1]), [result], ('setting', 'seed'))"
    )
    path = tmp_path / "pairs.csv"
    both = [subprocess.Popen([PYTHON, "-c", program, str(path), name]) for name in ("one", "other")]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    results = read_results(path)
    assert len(results) == 60
    assert {(row["setting"], row["seed"]) for row in results} == {
        (s, str(i)) for s in ("one", "other") for i in range(30)
    }


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


# D14: small things


def test_d14_the_package_and_the_command_work_without_home_and_passwd_entry(tmp_path: Path):
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    # A user whom the system does not know, as in many containers.
    program = (
        "import pwd\ndef unknown(uid): raise KeyError(uid)\npwd.getpwuid = unknown\n"
        "import implicature, implicature.cli.main\nfolder = implicature.enable_compilation_cache()\n"
        "import jax\nprint(jax.jit(lambda x: x + 1)(1), folder.is_dir())"
    )
    environment["TMPDIR"] = str(tmp_path)
    done = subprocess.run([PYTHON, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("2 True", "")


def test_d14_text_that_a_spreadsheet_would_run_gets_an_apostrophe():
    text = format_csv(["a", "b"], [["=cmd()", 1], ["@sum", -2.5], ["-3", "plain"], ["+1+1", "-x"]]).decode()
    assert text.splitlines() == ["a,b", "'=cmd(),1", "'@sum,-2.5", "-3,plain", "'+1+1,'-x"]


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
