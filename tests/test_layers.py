"""Data flows one way: a folder may import only from itself and from the folders to its left."""

import ast
from pathlib import Path

import pytest

import implicature

ORDER = ["__init__", "spaces", "games", "agents", "training", "evaluation", "experiments", "interfaces", "__main__"]
SOURCE = Path(implicature.__file__).parent


def wrong_imports(layer: str, text: str) -> list[str]:
    """What this text should not import, were it in that layer. Relative imports hide theirs, so none is right."""
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
    right = tuple(f"implicature.{other}." for other in ORDER[ORDER.index(layer) + 1 :])
    return [name for name in names if f"{name}.".startswith((".", *right))]


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: str(file.relative_to(SOURCE)))
def test_no_module_imports_from_its_right(file: Path):
    layer = file.relative_to(SOURCE).parts[0].removesuffix(".py")
    assert layer in ORDER, f"{layer} is not in the order of layers: find it a place there."
    assert wrong_imports(layer, file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "import implicature.training.losses",
        "from implicature.training.losses import gain",
        "from implicature import training",
        "def later():\n    from implicature.training import losses",
        "from ..training import losses",
    ],
)
def test_an_agent_that_imports_from_training_is_caught(line: str):
    assert len(wrong_imports("agents", line)) == 1
    assert wrong_imports("training", line.replace("..", "implicature.")) == []


def test_an_agent_may_import_from_agents_games_spaces_and_elsewhere():
    lines = [
        "from implicature.agents.exact import student",
        "import implicature.games",
        "from implicature import spaces",
    ]
    assert wrong_imports("agents", "\n".join([*lines, "import jax", "from training import x"])) == []
