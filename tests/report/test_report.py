"""The report: one page that needs nothing beside it, Markdown, README's tables; of no rows, of some, of quick ones."""

import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from implicature.cli.reproduce import Folders
from implicature.experiments import pairs, quick
from implicature.experiments.results import Row, write_rows
from implicature.report import BEGIN, END, report
from implicature.report.content import fidelity_list, lines_for_readme, sections
from implicature.report.page import cell, page, table

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
SETTING = "exchange, ungrounded, numbers-4"


class Reader(HTMLParser):
    """What a page refers to, its headings, and whether every tag is closed in turn."""

    VOID = frozenset(("meta", "br", "img"))

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset")]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def one_run(accuracy: float = 99.0, hard: float = 98.0, **more: str) -> list[Row]:
    """A pair that is above the paper's 98.9 in all games and below its 98.1 in hard ones, trained for 100 seconds."""
    figures: Row = dict.fromkeys(("valid", "sampled_accuracy", "equivalent_accuracy"), "") | {"ceiling": 99.8}
    levels = {f"level_{level}": "" for level in pairs.LEVELS}
    made = {"seconds": 100, "games": 1000, "version": "0.1.0-abc", "command": "implicature reproduce pairs"}
    run = {"setting": SETTING, "split": 0, "seed": 1, "phase": 3, "accuracy": accuracy, "hard_accuracy": hard}
    return [{**run, **figures, **levels, "exact": 99.7, **made, **more}]


def said(rows: Path, quick: bool = False) -> str:
    return "\n\n".join(section.markdown() for section in sections(Folders(rows, Path("runs"), quick)))


def test_readme_is_what_the_rows_say():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    between = text.split(BEGIN)[1].split(END)[0].strip()
    assert between == lines_for_readme(Folders(RESULTS, Path("runs"))), "implicature report --readme README.md"


def test_only_what_stands_between_the_marks_is_rewritten(tmp_path: Path):
    write_rows(tmp_path / "rows" / "pairs.csv", one_run())
    readme = tmp_path / "README.md"
    readme.write_text(f"# Mine\n{BEGIN}\nold\n{END}\nrest\n", encoding="utf-8")
    for _ in range(2):
        report(tmp_path / "rows", False, None, False, readme)
        text = readme.read_text(encoding="utf-8")
        assert text.startswith(f"# Mine\n{BEGIN}\nPercent")
        assert text.endswith(f"\n{END}\nrest\n")
        assert "old" not in text
    readme.write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="mark it once"):
        report(tmp_path / "rows", False, None, False, readme)
    with pytest.raises(ValueError, match="no results"):
        report(tmp_path / "rows", True, None, False, readme)


def test_wins_misses_and_what_is_missing_are_told_from_one_run(tmp_path: Path):
    write_rows(tmp_path / "pairs.csv", one_run())
    text = said(tmp_path)
    every = len(pairs.tasks())
    assert f"1 of {every} runs are done (2 min of training, a core each)" in text  # 100 s
    assert "1 of 2 of ours, 0 of 0 of the baselines'" in text
    assert "| table-1, hard: ours, exchange network, numbers-4 | 98.00 ± 0.00 ▽ (98.1) |" in text
    assert "| total: ours, exchange network | 99.00 ± 0.00 ▲ (98.9) | – | – | – | 0 to 1 of 6 |" in text
    assert f"| pairs | {SETTING} | 5 |" in text
    assert "| pairs | la-2018, grounded, objects-7 | 6 |" in text
    assert f"| {SETTING} | 1 | 2 min | 2 min |" in text
    assert "| pairs.csv | 1 | 0 | 1 | 1000 | 0.1.0-abc |" in text
    assert "No rows so far: `implicature reproduce table-3` makes them." in text


def test_no_rows_are_one_sentence(tmp_path: Path):
    assert said(tmp_path).startswith(
        f"## No rows so far\n\nThere are no rows in {tmp_path}: `implicature reproduce all` makes them.\n"
    )
    assert lines_for_readme(Folders(tmp_path, Path("runs"))).count(".") >= 1
    Reader(page(sections(Folders(tmp_path, Path("runs")), pictures=True), quick=False))


def test_the_page_is_whole_in_itself_and_tells_every_choice(tmp_path: Path):
    out = tmp_path / "report.html"
    command = [Path(sys.executable).with_name("implicature"), "report", "--rows", RESULTS, "--out", out]
    subprocess.run(command, check=True, capture_output=True)
    text = out.read_text(encoding="utf-8")
    found = Reader(text)
    assert all(address.startswith(("#", "data:image/png;base64,", "https://")) for address in found.addresses)
    assert not re.search(r"@import|url\(|<script|<link", text)
    # Figure 3 is drawn from the pairs' rows, and every entry of the menu leads somewhere.
    assert any(address.startswith("data:") for address in found.addresses)
    assert {address[1:] for address in found.addresses if address.startswith("#")} == set(found.ids)
    assert all(f">{number}</th>" in text for number in re.findall(r"^\| (F-\d\d) ", fidelity_list(), re.MULTILINE))
    assert "QUICK" not in text


def test_quick_rows_are_told_apart_and_marked(tmp_path: Path):
    write_rows(tmp_path / "pairs.csv", one_run(99.0))
    write_rows(tmp_path / "quick" / "pairs.csv", one_run(44.0, quick="yes"))
    assert "99.00 ± 0.00" in said(tmp_path)
    assert "44.00 ± 0.00" not in said(tmp_path)
    small = said(tmp_path, quick=True)
    assert "44.00 ± 0.00" in small
    assert "99.00 ± 0.00" not in small
    report(tmp_path, True, tmp_path / "quick.html", False, None)
    assert quick.WARNING in (tmp_path / "quick.html").read_text(encoding="utf-8")


def test_a_cell_is_marked_by_whether_it_reaches_the_papers():
    assert cell("99.92 ± 0.01 ▲ (98.9)").startswith('<td class="win"><b>99.92</b>')
    assert "paper 79.3" in cell("71.62 ± 0.62 ▽ (79.3)")
    assert cell("71.62 ± 0.62 ▽ (79.3)").startswith('<td class="miss">')
    assert cell("<b>&") == "<td>&lt;b&gt;&amp;</td>"


def test_lines_with_the_same_beginning_have_it_above_them_once():
    told = table("| t | a |\n|---|---|\n| hard: x | 1 |\n| hard: y | 2 |\n| easy: x | 3 |")
    assert re.findall(r'rowgroup">(\w+)<', told) == ["hard", "easy"]
    assert re.findall(r'scope="row">(\w+)<', told) == ["x", "y", "x"]
    # A bar that is part of a cell does not end it.
    assert "1/|o|</td>" in table("| t | a |\n|---|---|\n| x | 1/\\|o\\| |")


def test_the_list_of_choices_comes_with_an_installed_package():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    inside = wheel["wheel"]["force-include"]
    assert inside == {"FIDELITY.md": "implicature/FIDELITY.md"}
    assert (ROOT / "FIDELITY.md").read_text(encoding="utf-8") == fidelity_list()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--markdown", "--readme", "README.md"], "name one of"),
        (["--rows", "file.csv"], "is a file"),
        (["--out", "nowhere/report.html"], "cannot be written"),
        (["--readme", "nowhere.md"], "cannot be read"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path: Path, arguments: list[str], sentence: str):
    (tmp_path / "file.csv").write_text("", encoding="utf-8")
    shutil.copytree(RESULTS, tmp_path / "results")
    command = [Path(sys.executable).with_name("implicature"), "report", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
