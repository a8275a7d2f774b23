"""Faults of run folders found by an attack: each D-number of the list has its test."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import Ask
from safetensors.numpy import load_file

import implicature
from implicature import __version__
from implicature.files import exclusive_lock
from implicature.spaces import Space
from implicature.training.algorithm1 import Progress
from implicature.training.config import Config
from implicature.training.runs.checkpoint import load_tree, read_whole, save_tree, sort_header
from implicature.training.runs.environment import recorded_environment
from implicature.training.runs.run import LOCK, Run, open_run, start_run
from implicature.training.runs.space_file import FILE, space_hash

COMMAND = str(Path(sys.executable).with_name("implicature"))
SMALL = Config.of(
    pretraining_iterations=10, iterations=10, phases=1, candidate_sets=16, width=4, layers=1, train_games=200
)


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small") / "run"
    for _ in start_run(folder, SMALL).train():
        pass
    return folder


@pytest.fixture
def run_copy(small_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_run, tmp_path / "run"))


def edit_config(folder: Path, group: str, name: str, value: object) -> None:
    content = json.loads((folder / "config.json").read_text())
    content["config"][group][name] = value
    (folder / "config.json").write_text(json.dumps(content))


# D4: another number of devices


@pytest.mark.slow
def test_d4_a_run_records_devices_versions_and_platform(small_run: Path):
    recorded = json.loads((small_run / "config.json").read_text())["environment"]
    assert recorded["devices"] == 2  # tests/conftest.py
    assert {"jax", "jaxlib", "platform"} <= recorded.keys()


@pytest.mark.slow
def test_d4_resuming_on_another_number_of_devices_is_told_before_it_goes_on(run_copy: Path):
    content = json.loads((run_copy / "config.json").read_text())
    here = dict(content["environment"])
    content["version"] = "0.1.9"
    content["environment"] |= {"devices": 8, "jax": "0.4.1", "jaxlib": "0.4.2", "platform": "gpu"}
    (run_copy / "config.json").write_text(json.dumps(content))
    (run_copy / "phase-1.safetensors").unlink()
    said: list[str] = []
    next(open_run(run_copy).train(said.append))
    assert said == [
        f"This run was started with {then}, here it is {now}. Training goes on, but not bit-identically."
        for then, now in [
            ("implicature 0.1.9", __version__), ("devices 8", 2), ("JAX 0.4.1", here["jax"]),
            ("jaxlib 0.4.2", here["jaxlib"]), ("platform gpu", "cpu"),
        ]
    ]  # fmt: skip


def test_d4_a_record_that_would_redraw_the_terminal_is_not_shown(tmp_path: Path):
    content = {"version": "\x1b[2J", "environment": {"jax": "0" * 1000, "devices": 4}}
    (tmp_path / "config.json").write_text(json.dumps(content))
    assert recorded_environment(tmp_path) == {"devices": 4}


@pytest.mark.slow
def test_d4_the_command_resumes_with_the_devices_that_the_run_was_started_with(tiny: list[str], tmp_path: Path):
    short = [*tiny, "--pretraining-iterations", "250", "--iterations", "500"]

    def run(devices: str | None, *arguments: str) -> str:
        environment = {**os.environ, "JAX_NUM_CPU_DEVICES": devices or ""}
        if devices is None:
            del environment["JAX_NUM_CPU_DEVICES"]
        done = subprocess.run([COMMAND, *arguments], env=environment, capture_output=True, text=True, check=True)
        return done.stderr

    run("1", *short, "--out", str(tmp_path / "whole"))
    run("1", *short, "--out", str(tmp_path / "halved"), "--phases", "0")
    # As if it had been stopped after pretraining: one device then, all cores now.
    shutil.copy(tmp_path / "whole" / "config.json", tmp_path / "halved")
    assert (tmp_path / "halved" / "phase-0.safetensors").exists()
    said = run(None, "train", "--resume", str(tmp_path / "halved"), "--quiet")
    assert "bit-identically" not in said
    first, second = (load_file(tmp_path / name / "phase-1.safetensors") for name in ("whole", "halved"))
    assert all(np.array_equal(first[name], second[name]) for name in first)


# D5: weights are bound to their config and space


@pytest.mark.slow
@pytest.mark.parametrize(
    ("group", "name", "value", "sentence"),
    [
        ("optimiser", "learning_rate", 0.01, "was trained with learning_rate 0.003, but config.json says 0.01"),
        ("optimiser", "seed", 7, "was trained with seed 0, but config.json says 7"),
        ("data", "split_seed", 3, "was trained with split_seed 0, but config.json says 3"),
    ],
)
def test_d5_an_edited_config_is_noticed_and_named(run_copy: Path, group: str, name: str, value: object, sentence: str):
    edit_config(run_copy, group, name, value)
    with pytest.raises(ValueError, match="was trained with") as refused:
        open_run(run_copy).pair()
    assert sentence in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("finished", [True, False])
def test_d5_an_edited_config_is_refused_by_resume_and_nothing_is_lost(run_copy: Path, ask, finished: bool):
    if not finished:
        (run_copy / "phase-1.safetensors").unlink()
    edit_config(run_copy, "optimiser", "learning_rate", 0.01)
    before = {path.name: path.read_bytes() for path in run_copy.glob("*.*")}
    code, _, said = ask("train", "--resume", run_copy, "--quiet")
    name = "phase-1" if finished else "checkpoint"
    sentence = "was trained with learning_rate 0.003, but config.json says 0.01: restore it."
    assert (code, said) == (2, f"implicature: {run_copy / name}.safetensors {sentence}\n")
    assert {path.name: path.read_bytes() for path in run_copy.glob("*.*")} == before


def test_d5_weights_under_the_name_of_another_phase_are_noticed(run_copy: Path):
    shutil.copy(run_copy / "phase-0.safetensors", run_copy / "phase-1.safetensors")
    with pytest.raises(ValueError, match="holds the pairs after phase 0"):
        open_run(run_copy).pair(1)


@pytest.fixture(scope="module")
def own_space_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with things.csv and a run on it. Not to be changed: copy it."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "things.csv").write_text("\n".join(["colour,shape", *THINGS]))
    config = SMALL.replace(space=str(folder / "things.csv"), candidates=3)
    for _ in start_run(folder / "run", config).train():
        pass
    return folder


THINGS = [f"c{i % 3},s{i // 3}" for i in range(8)]


@pytest.mark.slow
def test_d5_a_run_gives_the_same_figures_whatever_becomes_of_its_file(
    own_space_run: Path, tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
):
    folder = Path(shutil.copytree(own_space_run, tmp_path / "own"))
    table = folder / "things.csv"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    def evaluate(run: str = "../own/run") -> tuple[str, str]:
        code, figures, said = ask("evaluate", run, "--games", "200", "--json")
        assert code == 0
        return figures, said

    before, said = evaluate()
    assert said == ""
    # Another spelling of the same table is no change.
    table.write_text("\r\n".join(["colour;shape", *(row.replace(",", "; ") for row in THINGS)]))
    assert evaluate() == (before, "")
    table.write_text("\n".join(["colour,shape", *THINGS[::-1]]))
    assert evaluate() == (
        before,
        "implicature: ../own/things.csv has changed since this run was trained. ../own/run keeps to its own copy.\n",
    )
    table.write_text("colour,shape")
    assert evaluate()[0] == before
    assert "things.csv can no longer be read as a space." in evaluate()[1]
    table.unlink()
    assert evaluate() == (before, "")
    (folder / "run").rename(tmp_path / "moved")
    assert evaluate("../moved") == (before, "")


@pytest.mark.slow
def test_d5_without_its_copy_a_run_reads_the_file_and_notices_that_it_was_reordered(
    own_space_run: Path, tmp_path: Path
):
    # As a run of an earlier version: the config names the file.
    run = Path(shutil.copytree(own_space_run / "run", tmp_path / "run"))
    (run / FILE).unlink()
    assert open_run(run).pair() is not None
    table = tmp_path / "things.csv"
    edit_config(run, "game", "space", str(table))
    changes = {
        "reordered": THINGS[::-1],
        # The same attributes in the same order.
        "two rows swapped": [*THINGS[:4], THINGS[5], THINGS[4], *THINGS[6:]],
        "a cell": [*THINGS[:-1], "c2,s2"],
        "a name": [row.replace("c0", "c9") for row in THINGS],
    }
    for changed in changes.values():
        table.write_text("\n".join(["colour,shape", *changed]))
        with pytest.raises(ValueError, match="was trained on another space: things has other instances"):
            open_run(run).pair()


@pytest.mark.slow
def test_d5_a_copy_that_is_damaged_or_of_another_run_is_noticed(own_space_run: Path, run_copy: Path, tmp_path: Path):
    run = Path(shutil.copytree(own_space_run / "run", tmp_path / "own"))
    whole = (run / FILE).read_bytes()
    (run / FILE).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ValueError, match=r"space\.safetensors is damaged"):
        open_run(run)
    shutil.copy(own_space_run / "run" / FILE, run / FILE)
    notes, arrays = read_whole(run / FILE)
    own_notes = {name: note for name, note in notes.items() if name not in ("checksum", "format")}
    save_tree(run / FILE, {"table": arrays["['table']"][::-1]}, own_notes)
    with pytest.raises(ValueError, match=r"space\.safetensors does not hold the space that its hash is of: restore it"):
        open_run(run)
    shutil.copy(run_copy / FILE, run / FILE)
    with pytest.raises(ValueError, match=r"was trained on another space.* Restore .*space\.safetensors\."):
        open_run(run).pair()


def test_d5_a_space_with_other_images_is_another_space():
    images = np.zeros((2, 1, 64, 64, 3), np.uint8)
    space = Space("two", ("red", "blue"), np.eye(2, dtype=bool), images=images)
    assert space_hash(space) == space_hash(replace(space, images=images.copy()))
    assert space_hash(space) != space_hash(replace(space, images=images + 1))


def test_d5_a_later_version_is_named(run_copy: Path):
    run = open_run(run_copy)
    notes = {"phase": "1", "version": "9.1.0"}
    save_tree(run.phase_file(1), run.pairs, notes)
    with pytest.raises(ValueError, match=r"was written by the later version 9\.1\.0"):
        run.pair()


# D7: one process a run folder


def test_d7_a_folder_that_is_being_trained_is_not_trained_by_another(run_copy: Path):
    (run_copy / "phase-1.safetensors").unlink()
    lines = (run_copy / "metrics.csv").read_text()
    with (
        exclusive_lock(run_copy / LOCK, "busy"),
        pytest.raises(ValueError, match="is being trained by another process"),
    ):
        next(open_run(run_copy).train())
    assert (run_copy / "metrics.csv").read_text() == lines


@pytest.mark.slow
def test_d7_a_killed_process_leaves_no_lock_behind(tiny: list[str], tmp_path: Path):
    folder = tmp_path / "run"
    with subprocess.Popen([COMMAND, *tiny, "--out", str(folder)], stderr=subprocess.DEVNULL) as process:
        while not (folder / "checkpoint.safetensors").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGSTOP)  # or it might end before the second begins
        second = subprocess.run(
            [COMMAND, "train", "--resume", str(folder)], capture_output=True, text=True, check=False
        )
        assert second.returncode == 2
        assert "is being trained by another process" in second.stderr
        process.send_signal(signal.SIGKILL)
    subprocess.run([COMMAND, "train", "--resume", str(folder), "--quiet"], capture_output=True, check=True)


# D9: equal runs have equal files


def test_d9_the_same_weights_and_notes_make_the_same_bytes(tmp_path: Path):
    tree = {name: jnp.arange(float(i)) for i, name in enumerate("zyxabc", 1)}
    notes = {name: name for name in "qwertyuiop"}
    for name in ("one", "other"):
        save_tree(tmp_path / name, tree, dict(reversed(notes.items())) if name == "other" else notes)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    assert all(np.array_equal(leaf, tree[name]) for name, leaf in load_tree(tmp_path / "one", tree).items())


@pytest.mark.slow
def test_d9_equal_runs_have_equal_files(small_run: Path, tmp_path: Path):
    for _ in start_run(tmp_path / "run", SMALL).train():
        pass
    names = sorted(path.name for path in small_run.glob("*.safetensors"))
    stems = ["checkpoint", "phase-0", "phase-1", "previous", "space"]
    assert names == [f"{stem}.safetensors" for stem in stems]
    for name in names:
        assert (tmp_path / "run" / name).read_bytes() == (small_run / name).read_bytes()


def test_d9_exported_dialogues_have_a_sorted_header(ask, tmp_path: Path):
    out = tmp_path / "dialogues.safetensors"
    code, _, said = ask("export", "--out", out, "--games", 20, "--teacher", "exact", "--student", "exact")
    assert (code, said) == (0, "")
    content = out.read_bytes()
    assert content == sort_header(content)
    assert load_file(out)["labels"].shape == (20,)


# D13: training that diverges


def collect(run: Run, chunks: list[Progress]) -> None:
    for progress in run.train():
        chunks.append(progress)


@pytest.mark.slow
@pytest.mark.parametrize("spoiled", ["metrics", "weights"])
def test_d13_training_stops_at_the_first_chunk_that_is_not_finite_and_keeps_the_last_finite_checkpoint(
    spoiled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A chunk's last step may spoil weights that no loss has seen."""
    from implicature.training import algorithm1

    folder = tmp_path / "run"
    monkeypatch.setattr(algorithm1, "CHUNK", 5)
    run, chunks = start_run(folder, SMALL), list[Progress]()
    plain = algorithm1.scan_steps

    def diverge(**given):
        states, metrics = plain(**given)
        if given["stage"].phase > 0 and int(given["start"]) >= 5:
            if spoiled == "metrics":
                return states, {name: value * jnp.nan for name, value in metrics.items()}
            return jax.tree.map(lambda leaf: leaf * jnp.nan if eqx.is_inexact_array(leaf) else leaf, states), metrics
        return states, metrics

    monkeypatch.setattr(algorithm1, "scan_steps", diverge)
    with pytest.raises(
        ValueError, match=r"Training diverged \(phase 1, student, iteration 10: .* (is|are) not finite\)"
    ):
        collect(run, chunks)
    assert len(chunks) == 5  # two of each pretraining, one of phase 1
    monkeypatch.setattr(algorithm1, "scan_steps", plain)
    # Resuming goes on from there, to the end.
    resumed = open_run(folder)
    first = next(progress := resumed.train())
    assert (first.stage.phase, first.stage.agent, first.iteration) == (1, "student", 10)
    for _ in progress:
        pass
    assert resumed.finished


@pytest.mark.parametrize(
    ("name", "value"), [("calibration_alpha", 1e6), ("obverter_weight", 1e6), ("beta", 1e6), ("entropy_bonus", 1e6)]
)
def test_d13_weights_that_must_diverge_are_refused_at_once(tmp_path: Path, name: str, value: float):
    method = "la-2018" if name == "entropy_bonus" else "pragmatic"
    with pytest.raises(ValueError, match=f"--{name.replace('_', '-')} is 1,000,000.0: give a number from 0 to"):
        start_run(tmp_path / "run", Config().replace(method=method, **{name: value}))


# Resuming with more phases


@pytest.mark.slow
def test_a_run_that_goes_on_with_more_phases_ends_as_one_that_had_them_from_the_start(
    run_copy: Path, tmp_path: Path, ask: Ask
):
    for _ in start_run(tmp_path / "whole", SMALL.replace(phases=2)).train():
        pass
    (run_copy / "example.png").touch()
    code, said, err = ask("train", "--resume", run_copy, "--phases", "2", "--quiet")
    assert (code, err) == (0, "")
    assert "accuracy" in said
    assert (run_copy / "example.png").stat().st_size > 0  # drawn again, with the new phase
    for name in ("phase-0", "phase-1", "phase-2"):
        first, second = (load_file(folder / f"{name}.safetensors") for folder in (run_copy, tmp_path / "whole"))
        assert all(first[weight].tobytes() == second[weight].tobytes() for weight in second)
    continued, whole = (
        [line.rsplit(",", 1)[0] for line in (folder / "metrics.csv").read_text().splitlines()]  # all but the seconds
        for folder in (run_copy, tmp_path / "whole")
    )
    assert continued == whole


def test_a_run_that_is_being_trained_gets_no_more_phases(run_copy: Path):
    config = (run_copy / "config.json").read_bytes()
    with (
        exclusive_lock(run_copy / LOCK, "busy"),
        pytest.raises(ValueError, match="is being trained by another process"),
    ):
        implicature.train(resume=run_copy, phases=2)
    assert (run_copy / "config.json").read_bytes() == config
