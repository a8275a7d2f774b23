"""The wheel has everything that commands need, and does the job of README's first command away from the source tree.

That command, also on docs/first-ten-minutes.md, makes an environment, installs the package and trains. Here the package
is installed from its wheel into a folder of its own, beside the libraries that are installed already, and trains for
less long.
"""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from commands import ROOT

COMMAND = "python3 -m venv .venv && .venv/bin/pip install -q -c constraints.txt . && .venv/bin/implicature train"


def test_readme_and_the_first_page_begin_with_the_same_command():
    for page in ("README.md", "docs/first-ten-minutes.md"):
        assert f"```sh\n{COMMAND}\n```" in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_wheel_has_images_page_pair_results_and_types_and_no_tests(wheel: Path):
    held = set(ZipFile(wheel).namelist())
    there = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "implicature").rglob("*")
        if path.is_file()
    }
    there = {name for name in there if "__pycache__" not in name} | {"implicature/FIDELITY.md"}
    assert {name for name in held if ".dist-info/" not in name} == there
    for name in (
        "py.typed",
        "__init__.pyi",
        "spaces/objects.png",
        "experiments/paper-results.json",
        "web/static/index.html",
        "training/pretrained/numbers-4/phase-3.safetensors",
    ):
        assert f"implicature/{name}" in held
    assert any(name.endswith("licenses/LICENSE") for name in held)


@pytest.mark.slow
def test_installed_from_the_wheel_it_trains_in_another_folder(wheel: Path, tiny: list[str], tmp_path: Path):
    target = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*install, str(wheel)], check=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    # First on the path, so that this one is found and not the source tree's.
    found = {**os.environ, "PYTHONPATH": str(target)}
    where = [sys.executable, "-c", "import implicature; print(implicature.__file__)"]
    said = subprocess.run(where, cwd=elsewhere, env=found, capture_output=True, text=True, check=True)
    assert Path(said.stdout.strip()).is_relative_to(target)
    short = [*tiny, "--pretraining-iterations", "20", "--iterations", "10"]
    command = [sys.executable, str(target / "bin" / "implicature"), *short]
    done = subprocess.run(command, cwd=elsewhere, env=found, capture_output=True, text=True, check=True)
    assert "exact, depth 10" in done.stdout
    assert "One game: " in done.stdout
    (run,) = (elsewhere / "runs").iterdir()
    assert (run / "phase-1.safetensors").exists()
