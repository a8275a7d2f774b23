"""The commands of docs/clusters.md on a real Ray cluster: two nodes of one CPU each, on loopback, on a free port. The
experiment is a shorter one, and one worker is measured for a moment."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import ROOT, blocks
from loopback import LOOPBACK, PATIENCE, started_with

from implicature.experiments.results import read_results

pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.cluster]
NODE = "--num-cpus 1 --object-store-memory 80000000 --node-ip-address 127.0.0.1"
SHORTER = {
    "ray start": f"ray start {NODE}",
    "reproduce pairs": "reproduce ceilings --games 50 --only numbers-4",
    "/shared/runs": "runs",
    "bench --workers 2": "bench --workers 1 --seconds 0.1",
}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def commands(port: int) -> list[str]:
    lines = [line for block in blocks(ROOT / "docs" / "clusters.md") if block.by for line in block.lines]
    shorter = {**SHORTER, "10.0.0.1:6379": f"127.0.0.1:{port}", "--port 6379": f"--port {port}"}
    for old, new in shorter.items():
        assert any(old in line for line in lines), f"{old} is no longer on the page"
        lines = [line.replace(old, new) for line in lines]
    return lines


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Everything started with it is found by its temporary folder, and ended."""
    folder = tempfile.mkdtemp(prefix="ray-")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    yield {**os.environ, **LOOPBACK, "RAY_TMPDIR": folder, "PATH": path, "COLUMNS": "120"}
    for number in started_with(f"RAY_TMPDIR={folder}"):
        os.kill(number, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def test_the_commands_of_the_page_start_a_cluster_and_work_on_it(tmp_path: Path, environment: dict[str, str]):
    port, said = free_port(), []
    environment["RAY_ADDRESS"] = f"127.0.0.1:{port}"
    for line in commands(port):
        words = shlex.split(line, comments=True)
        # Ray's switch for loopback only would also forbid it to start a second node.
        mine = {**environment, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1"} if words[0] == "ray" else environment
        done = subprocess.run(
            words, cwd=tmp_path, env=mine, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        said.append(done.stdout)
    assert [line.split()[0] for line in commands(port)] == ["ray", "ray", "implicature", "implicature", "implicature"]
    assert {one["game"] for one in read_results(tmp_path / "results" / "ceilings.csv")} == {"numbers-4"}
    assert all("speed-up" in table for table in said[-2:])
