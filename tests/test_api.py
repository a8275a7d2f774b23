"""What a user needs is importable from `implicature`, light until it is used, typed, and does what its examples say."""

import ast
import doctest
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Trained

import implicature

ROOT = Path(__file__).parents[1]
NAMES = implicature.__all__


def test_importing_the_package_imports_neither_jax_nor_numpy():
    light = "import implicature, sys; assert dir(implicature); print('jax' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", light], capture_output=True, text=True).stdout == "False\n"


IMPORT_ALL = """
import importlib, json, os, pkgutil, signal, sys, warnings
import jax

def host():
    config = {name: str(value) for name, value in jax.config.values.items()}
    handlers = [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]
    # Three variables that crc32c, gymnasium and PettingZoo set for themselves.
    theirs = {"CRC32C_SW_MODE", "PYGAME_HIDE_SUPPORT_PROMPT", "SDL_AUDIODRIVER"}
    environment = {name: value for name, value in os.environ.items() if name not in theirs}
    return [environment, config, handlers, repr(warnings.showwarning), list(sys.path)]

before = host()
import implicature
modules = [module.name for module in pkgutil.walk_packages(implicature.__path__, "implicature.")]
for name in modules:
    if not name.startswith("implicature.cli"):
        importlib.import_module(name)
after = host()
folder = str(implicature.enable_compilation_cache())
print(json.dumps([len(modules), before, after, folder, jax.config.jax_compilation_cache_dir]))
"""


@pytest.mark.slow
def test_importing_changes_nothing_in_the_host_process(tmp_path: Path):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    environment = {**clean, "XDG_CACHE_HOME": str(tmp_path)}
    asked = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=True, env=environment
    )
    modules, before, after, folder, cache = json.loads(asked.stdout)
    assert modules > 80
    assert after == before
    # Not set unless the host asks for it.
    assert before[1]["jax_compilation_cache_dir"] == "None"
    assert folder == cache == str(tmp_path / "implicature" / "jax")


def test_type_checkers_see_the_same_names():
    stub = ast.parse((ROOT / "src" / "implicature" / "__init__.pyi").read_text(encoding="utf-8"))
    declared = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert declared == {name: f"{getattr(implicature, name).__module__}.{name}" for name in NAMES}


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        implicature.nonsense  # noqa: B018  # pyright: ignore


@pytest.mark.slow
def test_every_name_does_what_its_examples_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In one folder, in the order of the names: what `train` made is opened by `open_run`."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    documented = {name: getattr(implicature, name) for name in NAMES} | {"Config": implicature.Config.of}
    for name, thing in documented.items():
        found = doctest.DocTestFinder(recurse=False).find(thing, name, globs={"implicature": implicature})
        assert any(test.examples for test in found), f"{name} has no example"
        for test in found:
            runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.slow
def test_figures_are_those_of_the_command(whole_run: Trained, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    from implicature.cli.main import main

    for command, function in (("evaluate", implicature.evaluate), ("language", implicature.language)):
        asked = ["implicature", command, str(whole_run.folder), "--games", "300", "--json"]
        monkeypatch.setattr(sys, "argv", asked)
        main()
        assert json.loads(capsys.readouterr().out) == function(whole_run.folder, games=300)


def test_runs_functions_and_classes_play_either_role(whole_run: Trained):
    class Student:
        def __call__(self, observation: Any) -> tuple[Any, float]:
            return observation.candidates[:, observation.messages[0]] + 1e-6, 0.0

    run = implicature.open_run(str(whole_run.folder))
    rows = implicature.dialogues(run, Student, games=50)
    for row in rows:
        # A literal student: after a true word he believes equally in all candidates that have it.
        fits = [row["message"] in row[f"candidate_{i}"] for i in range(1, 5)]
        if row["valid"]:
            beliefs = np.array([row[f"belief_{i}"] for i in range(1, 5)])
            assert beliefs == pytest.approx(np.array(fits) / sum(fits), abs=1e-4)
    assert len(rows) == 50
