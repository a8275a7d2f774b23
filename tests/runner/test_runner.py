"""Every engine gives the same results, whichever worker is killed on the way; with real processes and a real Ray
cluster of two nodes on loopback."""

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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from loopback import LOOPBACK, PATIENCE, started_with

from implicature.experiments.results import Result, read_results
from implicature.runner import ENGINES, Job, Options, tasks
from implicature.runner.ray import Requirements, create_token, installed_versions, node_error

HERE = Path(__file__).parent


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


@dataclass(frozen=True)
class Sweep:
    """The outcome of a command one of whose workers was killed."""

    events: list[dict[str, Any]]
    results: list[Result]
    code: int
    stderr: str
    resumed: bool
    """Whether the files of the killed worker were used, not written again."""


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
    events, written, start = [], 0, out / "runs" / f"small-0-{victim}" / "phase-0.safetensors"
    metrics = start.with_name("metrics.csv")
    with running(command(out, "tiny", "--json", *arguments), environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            events.append(event := json.loads(line))
            if event.get("state") == "started" and event["task"]["seed"] == victim and not written:
                while not metrics.exists() or len(metrics.read_text().splitlines()) < 3:
                    assert process.poll() is None
                    time.sleep(0.002)
                written = start.stat().st_mtime_ns
                os.kill(int(event["worker"].split()[1]), signal.SIGKILL)
        _, stderr = process.communicate()
    resumed = start.stat().st_mtime_ns == written
    return Sweep(events, read_results(out / "tiny.csv"), process.returncode, stderr, resumed)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    return sweep(tmp_path_factory.mktemp("local"), 0, {**os.environ, **LOOPBACK}, "--jobs", "2")


@pytest.fixture(scope="module")
def ray(local: Sweep, ray_cluster: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """After the local one, so that all programs are compiled."""
    return sweep(tmp_path_factory.mktemp("ray"), 1, ray_cluster, "--engine", "ray")


def states(events: list[dict[str, Any]], seed: int) -> list[str]:
    return [event["state"] for event in events if "state" in event and event["task"]["seed"] == seed]


@pytest.mark.slow
def test_both_engines_give_the_same_results_whichever_task_lost_its_worker(local: Sweep, ray: Sweep):
    def comparable(sweep: Sweep) -> list[Result]:
        differ = ("seconds", "command")
        results = [{name: cell for name, cell in one.items() if name not in differ} for one in sweep.results]
        return sorted(results, key=lambda one: one["seed"])

    assert [one["seed"] for one in comparable(ray)] == ["0", "1"]
    assert len({one["weights"] for one in ray.results}) == 2
    assert comparable(local) == comparable(ray)
    assert all("--engine ray" in one["command"] for one in ray.results)


@pytest.mark.parametrize(("engine", "victim"), [("local", 0), ("ray", 1)])
def test_a_killed_worker_costs_a_retry_from_the_last_checkpoint(engine: str, victim: int, request):
    done: Sweep = request.getfixturevalue(engine)
    assert states(done.events, victim) == ["started", "lost", "started", "finished"]
    assert done.resumed
    assert states(done.events, 1 - victim) == ["started", "finished"]
    killed, *others = [e["worker"] for e in done.events if e.get("state") == "started" and e["task"]["seed"] == victim]
    assert killed not in others


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_task_that_fails_is_one_sentence_and_the_others_go_on(engine: str, request):
    done: Sweep = request.getfixturevalue(engine)
    (failure,) = [event for event in done.events if event.get("state") == "failed"]
    assert failure["task"]["setting"] == "impossible"
    assert failure["message"] == "--candidate-sets is 0: give a number from 1 to 65,536."
    assert done.events[-1]["failed"] == 1
    assert done.code == 1
    assert done.stderr == "implicature: tasks failed: 1; the same command tries them again.\n"


def test_tasks_of_a_cluster_run_side_by_side(ray: Sweep):
    assert max(event["running"] for event in ray.events if "running" in event) == 2


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_control_c_keeps_the_results_and_ends_the_workers(engine: str, ray_cluster: dict[str, str], tmp_path: Path):
    mark = {"IMPLICATURE_TEST": str(tmp_path)}
    with running(command(tmp_path, "naps", "--json", "--engine", engine), {**ray_cluster, **mark}) as process:
        assert process.stdout is not None
        seen: list[tuple[str, str]] = []
        while not {("short", "finished"), ("endless", "started")} <= set(seen):
            event = json.loads(process.stdout.readline())
            seen.append((event["task"]["setting"], event["state"]))
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
    assert process.returncode == 130
    assert read_results(tmp_path / "naps.csv") == [{"setting": "short", "games": "300"}]
    assert f"Results so far are in {tmp_path / 'naps.csv'}: the same command continues." in stderr
    assert "Traceback" not in stderr
    assert list((tmp_path / "runs").glob("*")) == list((tmp_path / "runs").glob(".*")) == []
    end = time.monotonic() + 20
    while started_with(f"IMPLICATURE_TEST={tmp_path}"):
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.slow
def test_a_job_that_takes_every_worker_with_it_fails_in_the_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(tasks, "MAX_LOSSES", 3)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "deadly.py").write_text("import os\ndef run(task, games, runs): os._exit(0)")
    events = list(ENGINES["local"]([Job("deadly", {}, 10, tmp_path, ["implicature"])], Options(jobs=2)))
    assert [event.state for event in events] == ["started", "lost", "started", "lost", "started", "failed"]
    assert events[-1].message.startswith("3 workers were lost while running it, the last of them process ")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="there are no cores to choose from")
def test_workers_side_by_side_have_a_core_each(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # Where cores are claimed: nobody else's here.
    monkeypatch.syspath_prepend(tmp_path)
    lines = ["import os, time", "def run(task, games, runs):", "    time.sleep(1)"]
    lines += ["    devices = os.environ['JAX_NUM_CPU_DEVICES']"]
    lines += ["    return [{'cores': list(os.sched_getaffinity(0)), 'devices': devices}]"]
    (tmp_path / "where.py").write_text("\n".join(lines))
    jobs = [Job("where", {}, 10, tmp_path, ["implicature"])] * 2
    results = [one for event in ENGINES["local"](jobs, Options(jobs=2)) for one in event.results]
    assert [len(one["cores"]) for one in results] == [1, 1]
    assert [one["devices"] for one in results] == ["1", "1"]
    if len(os.sched_getaffinity(0)) > 1:
        assert results[0]["cores"] != results[1]["cores"]


# What is in the way of a cluster


@pytest.fixture
def not_ray() -> Iterator[int]:
    """A port where something other than Ray answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            line, _ = server.accept()
            line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            line.close()

        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1]


def test_a_cluster_that_cannot_be_reached_is_one_sentence_at_once(
    not_ray: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    job = Job("tiny", {"setting": "small", "split": 0, "seed": 0}, 10, tmp_path, [])
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    begun = time.monotonic()
    for address, sentence in [
        (
            "127.0.0.1:1",
            "Nothing answers at 127.0.0.1:1: start a cluster there with `ray start --head`, or name another.",
        ),
        (f"127.0.0.1:{not_ray}", f"Something other than Ray answers at 127.0.0.1:{not_ray}: "),
        ("somewhere", "'somewhere' is not the address of a Ray cluster: give HOST:PORT, as `ray start` prints it."),
        ("127.0.0.1:99999999", "Nothing answers at 127.0.0.1:99999999: "),
        (None, "No Ray cluster runs here: start one with `ray start --head`, or name one with --address."),
    ]:
        with pytest.raises(ValueError) as refused:  # noqa: PT011
            ENGINES["ray"]([job], Options(address=address))
        assert sentence in str(refused.value)
        assert "\n" not in str(refused.value)
    assert time.monotonic() - begun < 30
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_cluster_without_gpus_cannot_give_one(ray_cluster: dict[str, str], tmp_path: Path):
    done = subprocess.run(
        command(tmp_path, "naps", "--engine", "ray", "--gpus", "1"),
        env=ray_cluster,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "implicature: Each task needs 1 GPU, but the cluster has 0.\n"


def test_without_ray_a_cluster_needs_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"^Clusters need Ray: pip install 'implicature\[cluster\]'\.$"):
        ENGINES["ray"]([Job("tiny", {}, 10, tmp_path, [])], Options())


def test_this_machine_has_no_address():
    with pytest.raises(ValueError, match="belong to a cluster: add --engine ray"):
        ENGINES["local"]([], Options(address="10.0.0.1:6379"))


def test_a_node_must_see_the_runs_and_have_the_same_versions(tmp_path: Path):
    token = tmp_path / ".shared-0"
    assert f"does not see {tmp_path}: name a folder that all nodes share with --runs." in str(
        node_error(Requirements(token, installed_versions()))
    )
    token.touch()
    assert node_error(Requirements(token, installed_versions())) is None
    other = {**installed_versions(), "jaxlib": "0.0.1"}
    assert "where the command has 0.0.1: install the same on all nodes." in str(node_error(Requirements(token, other)))


def test_runs_need_a_folder_that_can_be_written_to(tmp_path: Path):
    (tmp_path / "taken").touch()
    with pytest.raises(ValueError, match=r"taken cannot be written to \(.+\): name another with --runs\."):
        create_token(tmp_path / "taken" / ".shared-0")
