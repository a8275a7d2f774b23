"""The same rows come out of every engine, whoever is killed on the way; with real processes and a real Ray cluster of
two nodes on loopback."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from implicature.experiments.results import Row, read_rows
from implicature.runner import ENGINES, Job, Options, jobs
from implicature.runner.ray import Common, make, unfit, versions

HERE = Path(__file__).parent
PATIENCE = 600
LOOPBACK = {
    "PYTHONPATH": str(HERE),
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray's own switch for using loopback only, where machines are not to be reached from outside.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[dict[str, str]]:
    """What a command must have in its environment to find the cluster."""
    folder = tempfile.mkdtemp(prefix="ray-")  # Short, as Ray's sockets have their names from it.
    environment = {**os.environ, **LOOPBACK, "RAY_TMPDIR": folder}
    with subprocess.Popen(
        [sys.executable, HERE / "two_nodes.py"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as nodes:
        try:
            assert nodes.stdout is not None
            assert nodes.stdout.readline().startswith("127.0.0.1:")
            yield environment
        finally:
            nodes.communicate(timeout=60)
            end = time.monotonic() + 20
            while (left := started_with(f"RAY_TMPDIR={folder}")) and time.monotonic() < end:
                time.sleep(0.5)
            for number in left:
                os.kill(number, signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)
    assert left == []


def started_with(variable: str) -> list[int]:
    """Processes that have this in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


@dataclass(frozen=True)
class Sweep:
    """What a whole command with a kill left behind."""

    events: list[dict[str, Any]]
    rows: list[Row]
    code: int
    said: str
    kept: bool
    """Whether what the killed worker had made was used, not made again."""


def command(out: Path, experiment: str, *arguments: str) -> list[str]:
    start = [sys.executable, str(HERE / "tiny.py"), "reproduce", experiment, "--games", "300", *arguments]
    return [*start, "--out", str(out), "--runs", str(out / "runs")]


@contextmanager
def running(arguments: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A command that is killed if it takes too long."""
    with subprocess.Popen(
        arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        alarm = threading.Timer(PATIENCE, process.kill)
        alarm.start()
        try:
            yield process
        finally:
            alarm.cancel()
            process.kill()


def sweep(out: Path, victim: int, environment: dict[str, str], *arguments: str) -> Sweep:
    """Run the tiny experiment, and kill the worker that has this seed in the middle of training."""
    events, made, start = [], 0, out / "runs" / f"small-0-{victim}" / "phase-0.safetensors"
    metrics = start.with_name("metrics.csv")
    with running(command(out, "tiny", "--json", *arguments), environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            events.append(event := json.loads(line))
            if event.get("state") == "began" and event["task"]["seed"] == victim and not made:
                while not metrics.exists() or len(metrics.read_text().splitlines()) < 3:
                    assert process.poll() is None
                    time.sleep(0.002)
                made = start.stat().st_mtime_ns
                os.kill(int(event["where"].split()[1]), signal.SIGKILL)
        _, said = process.communicate()
    return Sweep(events, read_rows(out / "tiny.csv"), process.returncode, said, start.stat().st_mtime_ns == made)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    return sweep(tmp_path_factory.mktemp("local"), 0, {**os.environ, **LOOPBACK}, "--jobs", "2")


@pytest.fixture(scope="module")
def ray(local: Sweep, ray_cluster: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """After the other, so that all programs are compiled."""
    return sweep(tmp_path_factory.mktemp("ray"), 1, ray_cluster, "--engine", "ray")


def of(events: list[dict[str, Any]], seed: int) -> list[str]:
    return [event["state"] for event in events if "state" in event and event["task"]["seed"] == seed]


def test_both_engines_give_the_same_rows_whichever_task_lost_its_worker(local: Sweep, ray: Sweep):
    def results(sweep: Sweep) -> list[Row]:
        told = ("seconds", "command")
        rows = [{name: cell for name, cell in row.items() if name not in told} for row in sweep.rows]
        return sorted(rows, key=lambda row: row["seed"])

    assert [row["seed"] for row in results(ray)] == ["0", "1"]
    assert len({row["weights"] for row in ray.rows}) == 2
    assert results(local) == results(ray)
    assert all("--engine ray" in row["command"] for row in ray.rows)


@pytest.mark.parametrize(("engine", "victim"), [("local", 0), ("ray", 1)])
def test_a_killed_worker_costs_a_retry_from_the_last_checkpoint(engine: str, victim: int, request):
    done: Sweep = request.getfixturevalue(engine)
    assert of(done.events, victim) == ["began", "lost", "began", "ended"]
    assert done.kept
    assert of(done.events, 1 - victim) == ["began", "ended"]
    killed, *others = [e["where"] for e in done.events if e.get("state") == "began" and e["task"]["seed"] == victim]
    assert killed not in others


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_task_that_fails_is_one_sentence_and_the_others_go_on(engine: str, request):
    done: Sweep = request.getfixturevalue(engine)
    (failure,) = [event for event in done.events if event.get("state") == "failed"]
    assert failure["task"]["setting"] == "impossible"
    assert failure["sentence"] == "--batch 0 is too small: ask for 1 or more."
    assert done.events[-1]["failed"] == 1
    assert done.code == 1
    assert done.said == "implicature: tasks failed: 1; the same command tries them again.\n"


def test_tasks_of_a_cluster_run_side_by_side(ray: Sweep):
    assert max(event["running"] for event in ray.events if "running" in event) == 2


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_control_c_keeps_the_rows_and_ends_the_workers(engine: str, ray_cluster: dict[str, str], tmp_path: Path):
    mark = {"IMPLICATURE_TEST": str(tmp_path)}
    with running(command(tmp_path, "naps", "--json", "--engine", engine), {**ray_cluster, **mark}) as process:
        assert process.stdout is not None
        seen: list[tuple[str, str]] = []
        while not {("a wink", "ended"), ("a winter", "began")} <= set(seen):
            event = json.loads(process.stdout.readline())
            seen.append((event["task"]["setting"], event["state"]))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert read_rows(tmp_path / "naps.csv") == [{"setting": "a wink", "games": "300"}]
    assert f"Rows so far are in {tmp_path / 'naps.csv'}: the same command goes on." in said
    assert "Traceback" not in said
    assert list((tmp_path / "runs").glob("*")) == list((tmp_path / "runs").glob(".*")) == []
    end = time.monotonic() + 20
    while started_with(f"IMPLICATURE_TEST={tmp_path}"):
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_job_that_takes_every_worker_with_it_fails_in_the_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(jobs, "TRIES", 3)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "deadly.py").write_text("import os\ndef run(task, games, runs): os._exit(0)")
    events = list(ENGINES["local"]([jobs.Job("deadly", {}, 10, tmp_path, ["implicature"])], Options(jobs=2)))
    assert [event.state for event in events] == ["began", "lost", "began", "lost", "began", "failed"]
    assert events[-1].sentence.startswith("3 workers were lost over it, the last of them process ")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="there are no cores to choose from")
def test_workers_side_by_side_have_a_core_each(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # Where cores are held: nobody else's here.
    monkeypatch.syspath_prepend(tmp_path)
    lines = ["import os, time", "def run(task, games, runs):", "    time.sleep(1)"]
    lines += ["    devices = os.environ['JAX_NUM_CPU_DEVICES']"]
    lines += ["    return [{'cores': list(os.sched_getaffinity(0)), 'devices': devices}]"]
    (tmp_path / "where.py").write_text("\n".join(lines))
    handed = [Job("where", {}, 10, tmp_path, ["implicature"])] * 2
    rows = [row for event in ENGINES["local"](handed, Options(jobs=2)) for row in event.rows]
    assert [len(row["cores"]) for row in rows] == [1, 1]
    assert [row["devices"] for row in rows] == ["1", "1"]
    if len(os.sched_getaffinity(0)) > 1:
        assert rows[0]["cores"] != rows[1]["cores"]


# What is in the way of a cluster


@pytest.fixture
def deaf() -> Iterator[int]:
    """A port where somebody answers who is not Ray."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            line, _ = server.accept()
            line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            line.close()

        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1]


def test_a_cluster_that_cannot_be_reached_is_one_sentence_at_once(
    deaf: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    job = Job("tiny", {"setting": "small", "split": 0, "seed": 0}, 10, tmp_path, [])
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    begun = time.monotonic()
    for address, sentence in [
        (
            "127.0.0.1:1",
            "Nobody answers at 127.0.0.1:1: start a cluster there with `ray start --head`, or name another.",
        ),
        (f"127.0.0.1:{deaf}", f"Something other than Ray answers at 127.0.0.1:{deaf}: "),
        ("somewhere", "'somewhere' is no address of a Ray cluster: it reads HOST:PORT, as `ray start` tells it."),
        ("127.0.0.1:99999999", "Nobody answers at 127.0.0.1:99999999: "),
        (None, "No Ray cluster runs here: start one with `ray start --head`, or name one with --address."),
    ]:
        with pytest.raises(ValueError) as refused:  # noqa: PT011
            ENGINES["ray"]([job], Options(address=address))
        assert sentence in str(refused.value)
        assert "\n" not in str(refused.value)
    assert time.monotonic() - begun < 30
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_without_graphics_processors_cannot_give_one(ray_cluster: dict[str, str], tmp_path: Path):
    done = subprocess.run(
        command(tmp_path, "naps", "--engine", "ray", "--gpus", "1"),
        env=ray_cluster,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "implicature: Each task asks for 1 GPU, but the cluster has 0.\n"


def test_without_ray_a_cluster_needs_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"^Clusters need Ray: pip install 'implicature\[cluster\]'\.$"):
        ENGINES["ray"]([Job("tiny", {}, 10, tmp_path, [])], Options())


def test_this_machine_has_no_address():
    with pytest.raises(ValueError, match="belong to a cluster: say --engine ray, too"):
        ENGINES["local"]([], Options(address="10.0.0.1:6379"))


def test_a_node_must_see_the_runs_and_have_the_same_versions(tmp_path: Path):
    token = tmp_path / ".shared-0"
    assert f"does not see {tmp_path}: name a folder that all nodes share with --runs." in str(
        unfit(Common(token, versions()))
    )
    token.touch()
    assert unfit(Common(token, versions())) is None
    other = {**versions(), "jaxlib": "0.0.1"}
    assert "where the command has 0.0.1: install the same on all nodes." in str(unfit(Common(token, other)))


def test_runs_need_a_folder_that_can_be_written_to(tmp_path: Path):
    (tmp_path / "taken").touch()
    with pytest.raises(ValueError, match=r"taken cannot be written to \(.+\): name another with --runs\."):
        make(tmp_path / "taken" / ".shared-0")
