"""What a user needs is importable from `implicature`, light until it is used, typed, and does what its examples say."""

import ast
import doctest
import json
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


def test_type_checkers_are_told_of_the_same_names():
    stub = ast.parse((ROOT / "src" / "implicature" / "__init__.pyi").read_text(encoding="utf-8"))
    told = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == {name: f"{getattr(implicature, name).__module__}.{name}" for name in NAMES}


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        implicature.nonsense  # noqa: B018  # pyright: ignore


def test_every_name_does_what_its_examples_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In one folder, in the order of the names: what `train` made is opened by `open_run`."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    for name in NAMES:
        found = doctest.DocTestFinder(recurse=False).find(
            getattr(implicature, name), name, globs={"implicature": implicature}
        )
        if name != "Config":  # whose fields are the command's help
            assert any(test.examples for test in found), f"{name} has no example"
        for test in found:
            runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_figures_are_those_of_the_command(whole_run: Trained, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    from implicature.cli.main import main

    for command, function in (("evaluate", implicature.evaluate), ("language", implicature.language)):
        asked = ["implicature", command, str(whole_run.folder), "--games", "300", "--json"]
        monkeypatch.setattr(sys, "argv", asked)
        main()
        assert json.loads(capsys.readouterr().out) == function(whole_run.folder, games=300)


def test_runs_functions_and_classes_sit_on_either_side(whole_run: Trained):
    class Student:
        def __call__(self, sees: Any) -> tuple[Any, float]:
            return sees.candidates[:, sees.messages[0]] + 1e-6, 0.0

    run = implicature.open_run(str(whole_run.folder))
    rows = implicature.dialogues(run, Student, games=50)
    for row in rows:
        # He knows literal meanings alone: of a true word he believes in all whom it fits, and in these alike.
        fits = [row["message"] in row[f"candidate_{i}"] for i in range(1, 5)]
        if row["true"]:
            beliefs = np.array([row[f"belief_{i}"] for i in range(1, 5)])
            assert beliefs == pytest.approx(np.array(fits) / sum(fits), abs=1e-4)
    assert len(rows) == 50
