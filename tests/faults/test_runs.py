"""Faults of run folders found by an attack: each D-number of the list has its test."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file

from implicature.files import exclusive_lock
from implicature.training.algorithm1 import Progress
from implicature.training.checkpoint import load_tree, save_tree
from implicature.training.config import Config
from implicature.training.run import LOCK, Run, open_run, start_run

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
    content["environment"]["devices"] = 8
    (run_copy / "config.json").write_text(json.dumps(content))
    (run_copy / "phase-1.safetensors").unlink()
    said: list[str] = []
    for _ in open_run(run_copy).train(said.append):
        assert said == ["This run was started with devices 8, here it is 2. Training goes on, but not bit-identically."]


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
    (tmp_path / "halved" / "config.json").write_bytes((tmp_path / "whole" / "config.json").read_bytes())
    shutil.copy(tmp_path / "whole" / "config.json", tmp_path / "halved")
    for name in ("phase-0.safetensors",):
        assert (tmp_path / "halved" / name).exists()
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


def test_d5_weights_under_the_name_of_another_phase_are_noticed(run_copy: Path):
    shutil.copy(run_copy / "phase-0.safetensors", run_copy / "phase-1.safetensors")
    with pytest.raises(ValueError, match="holds the pairs after phase 0"):
        open_run(run_copy).pair(1)


@pytest.mark.slow
def test_d5_a_reordered_or_edited_space_is_noticed(tmp_path: Path):
    table = tmp_path / "things.csv"
    rows = [f"c{i % 3},s{i // 3}" for i in range(9)]
    table.write_text("\n".join(["colour,shape", *rows]))
    config = SMALL.replace(space=str(table), candidates=3)
    for _ in start_run(tmp_path / "run", config).train():
        pass
    table.write_text("\n".join(["colour,shape", *rows[::-1]]))
    with pytest.raises(ValueError, match="was trained on another space: things has other instances"):
        open_run(tmp_path / "run").pair()


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


# D13: training that diverges


def collect(run: Run, chunks: list[Progress]) -> None:
    for progress in run.train():
        chunks.append(progress)


@pytest.mark.slow
def test_d13_training_stops_at_the_first_chunk_that_is_not_finite_and_keeps_the_last_finite_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from implicature.training import algorithm1

    folder = tmp_path / "run"
    monkeypatch.setattr(algorithm1, "CHUNK", 5)
    run, chunks = start_run(folder, SMALL), list[Progress]()
    plain = algorithm1.scan_steps

    def diverge(**given):
        states, metrics = plain(**given)
        if given["stage"].phase > 0 and int(given["start"]) >= 5:
            metrics = {name: value * jnp.nan for name, value in metrics.items()}
        return states, metrics

    monkeypatch.setattr(algorithm1, "scan_steps", diverge)
    with pytest.raises(ValueError, match=r"Training diverged \(phase 1, student, iteration 10: .* is not finite\)"):
        collect(run, chunks)
    assert len(chunks) == 5  # two of each pretraining, one of phase 1
    saved = (folder / "checkpoint.safetensors").read_bytes()
    monkeypatch.setattr(algorithm1, "scan_steps", plain)
    # Resuming goes on from there, to the end.
    resumed = open_run(folder)
    first = next(progress := resumed.train())
    assert (first.stage.phase, first.stage.agent, first.iteration) == (1, "student", 10)
    assert saved
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
