"""The documentation is a site without broken links or resources from elsewhere, and every command and program on it
works.

Commands run as they stand on the page, in a folder with the examples, the committed results and a small run called RUN,
except for what a comment changes (tests/commands.py) and for `pip install`, which is a dry run for our own package,
from the wheel, without a network.
"""

import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from urllib.request import Request, urlopen

import pytest
from commands import PAGES, ROOT, blocks, inline_commands

from implicature.cli.main import COMMANDS, main

pytestmark = pytest.mark.slow

DECISION = {
    "settings": {"game": "three-objects"},
    "answer": 0,
    "participant": {"consent": True, "code": "P07", "session": "s1", "reaction_time_ms": 900},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(ROOT / "docs"), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert (built.returncode, built.stderr) == (0, "")
    return folder


class Loaded(HTMLParser):
    """URLs that a browser fetches by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("script", "img", "iframe", "source") or (tag == "link" and given.get("rel") != "canonical"):
            self.found += [address for name in ("src", "href", "srcset") if (address := given.get(name))]


def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(site: Path):
    pages = list(site.rglob("*.html"))
    assert {"index.html", "own-objects.html", "api.html"} <= {page.name for page in pages}
    for page in pages:
        seen = Loaded()
        seen.feed(page.read_text(encoding="utf-8"))
        assert [address for address in seen.found if re.match(r"(https?:)?//", address)] == []
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", style.read_text(encoding="utf-8"))


def test_every_page_can_be_reached_and_the_api_page_has_every_name(site: Path):
    import implicature

    index = (site / "index.html").read_text(encoding="utf-8")
    assert [page.stem for page in PAGES if f'href="{page.stem}.html"' not in index and page.stem != "index"] == []
    api = (site / "api.html").read_text(encoding="utf-8")
    assert [name for name in implicature.__all__ if f'id="implicature.{name}"' not in api] == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(ROOT / "results", tmp_path / "results")
    shutil.copy(ROOT / "constraints.txt", tmp_path)
    return tmp_path


def check_pip_install(words: list[str], wheel: Path) -> None:
    """Fail unless pip could install our package with these extras."""
    ours = [word.replace("implicature", str(wheel)) for word in words[2:] if word.startswith("implicature")]
    assert ours
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--no-index", *ours]
    asked = subprocess.run(command, capture_output=True, text=True)
    assert asked.returncode == 0
    assert "does not provide the extra" not in asked.stderr


def run_line(line: str, monkeypatch: pytest.MonkeyPatch, wheel: Path) -> None:
    words = shlex.split(line, comments=True)
    if words[0] == "cd":
        monkeypatch.chdir(words[1])
    elif words[0] == "implicature":
        monkeypatch.setattr(sys, "argv", words)
        try:
            main()
        except SystemExit as end:
            pytest.fail(f"{line} ends with {end.code}")
    elif words[0] == "python" and words[1].endswith(".py"):
        monkeypatch.setattr(sys, "argv", words[1:])
        runpy.run_path(words[1], run_name="__main__")
    elif words[:2] == ["pip", "install"]:
        check_pip_install(words, wheel)
    else:
        subprocess.run(line, shell=True, check=True)


def check_page(line: str, serving: Callable[..., Any]) -> None:
    """The page answers; where decisions are recorded, it records one."""
    with serving(*shlex.split(line)[2:]) as server:
        for path in ("", "api/about"):
            with urlopen(urljoin(server.address, path), timeout=60) as answer:
                assert answer.status == 200
        if "--record" in line:
            headers = {"content-type": "application/json"}
            asked = Request(urljoin(server.address, "api/student"), json.dumps(DECISION).encode(), headers)
            with urlopen(asked, timeout=120) as answer:
                assert json.load(answer)["recorded"] is True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_works(
    page: Path, folder: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch, serving: Callable[..., Any], request: Any
):
    found = blocks(page)
    if any("implicature render" in line for block in found for line in block.lines):
        request.getfixturevalue("can_draw")
    if any(" RUN" in line for block in found for line in block.lines):
        shutil.copytree(request.getfixturevalue("whole_run").folder, folder / "RUN")
    known: dict[str, Any] = {"__name__": "page"}
    for block in found:
        if block.by is not None:
            assert page.name in (ROOT / block.by).read_text(encoding="utf-8")
            continue
        monkeypatch.chdir(folder)
        for line in block.lines:
            if block.language == "python":
                exec(line, known)
            elif block.serve and line.startswith("implicature play"):
                check_page(line, serving)
            else:
                run_line(line, monkeypatch, wheel)


FLAGS: dict[str, str] = {}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_commands_within_sentences_name_commands_and_options_that_exist(page: Path, capsys: Any, monkeypatch: Any):
    for command in inline_commands(page):
        name = command.split()[1]
        assert name in COMMANDS, command
        if name not in FLAGS:
            monkeypatch.setattr(sys, "argv", ["implicature", name, "--help"])
            with pytest.raises(SystemExit):
                main()
            FLAGS[name] = capsys.readouterr().out
        for flag in re.findall(r"--[a-z-]+", command):
            assert flag in FLAGS[name], command
