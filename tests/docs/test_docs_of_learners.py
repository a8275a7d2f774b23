"""The learners of docs/environments.md, for fewer steps."""

import re
import subprocess
import sys

import pytest
from commands import ROOT, blocks


@pytest.mark.slow
def test_independent_learners_play_from_random_initialisation():
    (block,) = [block for block in blocks(ROOT / "docs" / "environments.md") if block.by and block.language == "sh"]
    install, run = block.lines
    assert install == "pip install 'implicature[learners]'"
    done = subprocess.run([sys.executable, run.split()[1], "32"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.search(r"pairs not trained on: accuracy \d+\.\d%", done.stdout)
