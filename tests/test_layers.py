"""Data flows one way: a folder imports only from those above it in this list."""

import ast
from pathlib import Path

import pytest

import implicature

ORDER: list[tuple[str, ...]] = [
    ("__init__",), ("array_api", "files", "compilation_cache", "extensions", "profiling"), ("spaces",), ("games",),
    ("nn",), ("agents",), ("training",), ("evaluation",), ("experiments",), ("explanation",),
    ("envs", "runner", "report", "web"), ("api",), ("cli",),
]  # fmt: skip
"""Folders on one line do not know each other."""
SOURCE = Path(implicature.__file__).parent


def wrong_imports(layer: str, text: str) -> list[str]:
    """What this text must not import, were it in that layer. Relative imports hide theirs, so none is allowed."""
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
    level = next(i for i, layers in enumerate(ORDER) if layer in layers)
    others = [other for layers in ORDER[level:] for other in layers if other != layer]
    return [name for name in names if f"{name}.".startswith((".", *(f"implicature.{other}." for other in others)))]


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: str(file.relative_to(SOURCE)))
def test_no_module_imports_from_below(file: Path):
    layer = file.relative_to(SOURCE).parts[0].removesuffix(".py")
    assert any(layer in layers for layers in ORDER), f"{layer} is not in the order of layers: find it a place there."
    assert wrong_imports(layer, file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "import implicature.training.losses",
        "from implicature.training.losses import teacher_loss",
        "from implicature import training",
        "def later():\n    from implicature.training import losses",
        "from ..training import losses",
    ],
)
def test_an_agent_that_imports_from_training_is_caught(line: str):
    assert len(wrong_imports("agents", line)) == 1
    assert wrong_imports("training", line.replace("..", "implicature.")) == []


def test_the_page_does_not_know_the_environments():
    assert len(wrong_imports("web", "from implicature.envs.frame import frame")) == 1


def test_an_agent_may_import_from_agents_games_spaces_and_elsewhere():
    lines = ["from implicature.agents.rsa import literal_teacher", "import implicature.games"]
    assert wrong_imports("agents", "\n".join([*lines, "import jax", "from training import x"])) == []
