"""The commands on the documentation's pages. A comment before a block says how tests shorten them:

    <!-- test: append --games 200 -->            each `implicature` command of the block also gets these arguments
    <!-- test: replace pairs with ceilings -->   text to replace in each of its lines
    <!-- test: serve -->                         `implicature play` is started, asked once and stopped
    <!-- test: by tests/test_wheel.py -->        that file runs the block

Several are separated by semicolons.
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"(?:<!-- test: (?P<how>[^>]*?) -->\n)?```(?P<language>sh|python)\n(?P<text>.*?)```", re.DOTALL)
INLINE = re.compile(r"`(implicature [a-z][^`]*)`")


class Block(NamedTuple):
    language: str
    lines: list[str]
    """As the test runs them."""
    serve: bool
    by: str | None
    """The test file that runs them instead."""


def parse_block(found: re.Match[str]) -> Block:
    text, more, serve, by = found["text"], "", False, None
    for part in (found["how"] or "").split(";"):
        what, _, rest = part.strip().partition(" ")
        if what == "append":
            more = f" {rest}"
        elif what == "replace":
            old, new = rest.split(" with ", 1)
            text = text.replace(old, new)
        elif what == "serve":
            serve = True
        elif what == "by":
            by = rest
        elif what:
            raise ValueError(f"{part!r} is not something a test can do: append, replace, serve or by.")
    lines = [line for line in text.splitlines() if line.strip()] if found["language"] == "sh" else [text]
    shortened = [re.sub(r"^(implicature [^#]*[^# ])", rf"\1{more}", line) for line in lines]
    return Block(found["language"], shortened, serve, by)


def blocks(page: Path) -> list[Block]:
    return [parse_block(found) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def inline_commands(page: Path) -> list[str]:
    """Commands within sentences."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(command.split()) for command in INLINE.findall(text)]
