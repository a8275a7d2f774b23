"""The learners of docs/environments.md, for fewer steps, where skrl is installed: pip install 'skrl[jax]'."""

import re
import subprocess
import sys

import pytest
from commands import ROOT, blocks

pytest.importorskip("skrl")


def test_independent_learners_play_from_nothing():
    (block,) = [block for block in blocks(ROOT / "docs" / "environments.md") if block.by and block.language == "sh"]
    install, run = block.lines
    assert install == "pip install 'implicature[env]' 'skrl[jax]'"
    done = subprocess.run([sys.executable, run.split()[1], "32"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.search(r"unseen pairs of things: \d+\.\d%", done.stdout)
