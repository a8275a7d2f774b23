"""FIDELITY.md and the paper line by line say what the code has: numbers that are cited, names that exist, presets."""

import ast
import re
from pathlib import Path

import pytest
from commands import PAGES, ROOT

from implicature.report.content import fidelity_section
from implicature.training.config import PRESETS

SOURCE = ROOT / "src" / "implicature"
LINES = (ROOT / "docs" / "paper-line-by-line.md").read_text(encoding="utf-8")
FIDELITY = (ROOT / "FIDELITY.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"\bF-\d\d\b")
NAMED = sorted(set(re.findall(r"`([\w/]+\.py):([\w.]+)`", LINES)))


def choices() -> list[str]:
    """The numbered rows of the list itself, not of the trials."""
    listed = FIDELITY.split("## The choices")[1].split("## Where the figures come from")[0]
    return re.findall(r"^\| (F-\d\d) \|", listed, re.MULTILINE)


def cited() -> set[str]:
    """Wherever a number is cited outside FIDELITY.md."""
    files = [*SOURCE.rglob("*.py"), *PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
    return {number for file in files for number in NUMBER.findall(file.read_text(encoding="utf-8"))}


def test_every_choice_that_is_cited_is_in_the_list_once():
    assert sorted(cited() - set(choices())) == []
    assert len(choices()) == len(set(choices()))


def test_every_choice_of_the_list_is_cited():
    assert sorted(set(choices()) - cited()) == []


def test_numbers_within_the_list_are_of_the_list():
    assert sorted(set(NUMBER.findall(FIDELITY)) - set(choices())) == []


def names(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """What a module or a class defines."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            # a, b = 1, 2 defines two.
            found |= {name.id: node for name in ast.walk(target or ast.Pass()) if isinstance(name, ast.Name)}
    return found


@pytest.mark.parametrize(("file", "name"), NAMED, ids=lambda value: value)
def test_the_paper_line_by_line_names_what_exists(file: str, name: str):
    defined: ast.stmt | None = None
    body = ast.parse((SOURCE / file).read_text(encoding="utf-8")).body
    for part in name.split("."):
        known = names(body)
        assert part in known, f"{file} has no {name}"
        defined = known[part]
        body = defined.body if isinstance(defined, ast.ClassDef) else []
    assert defined is not None


def test_every_row_of_the_paper_line_by_line_names_a_file():
    rows = [line for line in LINES.splitlines() if line.startswith("| ") and not line.startswith(("| paper", "| line"))]
    assert len(rows) > 100
    assert [row for row in rows if not re.search(r"`[\w/]+\.py:[\w.]+` \|$", row)] == []


def as_flag(name: str, value: object) -> str:
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{flag}" if value else f"--no-{flag}"
    values = value if isinstance(value, tuple) else (value,)
    return " ".join([f"--{flag}", *(f"{one:.15g}" if isinstance(one, int | float) else str(one) for one in values)])


def test_the_paper_line_by_line_has_every_setting_of_the_preset():
    preset = PRESETS["as-written"]["pragmatic"]
    assert [flag for name, value in preset.items() if (flag := f"`{as_flag(name, value)}`") not in LINES] == []


def test_the_report_shows_the_list_without_its_comments_and_without_the_ladder():
    [text] = fidelity_section().blocks
    assert isinstance(text, str)
    assert "<!--" not in text
    assert "reproduce ladder" not in text
    assert all(choice in text for choice in choices())


def test_every_link_of_the_list_leads_to_a_file():
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", FIDELITY)
    assert links
    assert [link for link in links if not (ROOT / Path(link)).exists()] == []
