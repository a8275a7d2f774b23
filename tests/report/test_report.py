"""The report: one page that needs no other file, Markdown, the results page and README's table; of no results, of some,
of smoke runs."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from implicature.cli.report import report
from implicature.experiments import smoke
from implicature.experiments.paper import pairs
from implicature.experiments.registry import Folders, is_figure
from implicature.experiments.results import Result, write_results
from implicature.report import markdown_report, write_docs, write_page, write_people, write_readme
from implicature.report.content import ABOUT, fidelity_list, readme_table

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
SETTING = "exchange, ungrounded, numbers-4"


class Reader(HTMLParser):
    """What a page refers to, its headings, and whether every tag is closed in turn."""

    VOID = frozenset(("meta", "br", "img", "hr"))

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


def one_run(accuracy: float = 99.0, hard: float = 98.0, **more: str) -> list[Result]:
    """A pair that is above the paper's 98.9 in all games and below its 98.1 in hard ones, trained for 100 seconds."""
    figures: Result = dict.fromkeys(("valid", "sampled_accuracy", "equivalent_accuracy"), "")
    figures |= {"accuracy": accuracy, "hard_accuracy": hard, "exact_same_depth": 99.7, "exact_depth_10": 99.8}
    levels = {f"level_{level}": "" for level in pairs.LEVELS}
    provenance = {"seconds": 100, "games": 1000, "version": "0.1.0-abc", "command": "implicature reproduce pairs"}
    return [{"setting": SETTING, "split": 10, "seed": 1001, "phase": 3, **figures, **levels, **provenance, **more}]


def folders(results: Path, is_smoke: bool = False) -> Folders:
    return Folders(results, Path("runs"), is_smoke)


def between(path: Path, mark: str) -> str:
    return path.read_text(encoding="utf-8").split(f"<!-- {mark} -->\n")[1].split(f"\n<!-- /{mark} -->")[0]


def test_the_results_page_is_what_the_results_say(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    expected = markdown_report(folders(Path("results")), Path("docs"))
    assert between(ROOT / "docs" / "results.md", "results") == expected, "implicature report --docs docs/results.md"


def test_readme_is_what_the_results_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    written = tmp_path / "README.md"
    written.write_bytes((ROOT / "README.md").read_bytes())
    write_readme(written, folders(Path("results")))
    assert written.read_bytes() == (ROOT / "README.md").read_bytes(), "implicature report --readme README.md"


def test_the_page_about_people_is_what_the_results_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    written = tmp_path / "people.md"
    written.write_bytes((ROOT / "docs" / "people.md").read_bytes())
    write_people(written, folders(Path("results")))
    command = "implicature report --people docs/people.md"
    assert written.read_bytes() == (ROOT / "docs" / "people.md").read_bytes(), command


@pytest.mark.parametrize(
    ("write", "mark", "first"), [(write_docs, "results", "## Summary"), (write_readme, "summary", "| accuracy, % |")]
)
def test_only_what_stands_between_the_marks_is_rewritten(
    tmp_path: Path, write: Callable[[Path, Folders], None], mark: str, first: str
):
    write_results(tmp_path / "results" / "pairs.csv", one_run())
    document = tmp_path / "document.md"
    document.write_text(f"# Mine\n<!-- {mark} -->\noutdated\n<!-- /{mark} -->\nrest\n", encoding="utf-8")
    for _ in range(2):
        write(document, folders(tmp_path / "results"))
        text = document.read_text(encoding="utf-8")
        assert text.startswith(f"# Mine\n<!-- {mark} -->\n{first}")
        assert text.endswith(f"\n<!-- /{mark} -->\nrest\n")
        assert "outdated" not in text
    document.write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="mark it once"):
        write(document, folders(tmp_path / "results"))


def test_no_document_shows_smoke_runs(tmp_path: Path):
    for options in ({"docs": tmp_path / "results.md"}, {"readme": tmp_path / "README.md"}):
        with pytest.raises(ValueError, match="not results"):
            report(results=tmp_path, smoke=True, docs=options.get("docs"), readme=options.get("readme"))


def test_what_is_above_below_and_missing_is_reported_from_one_run(tmp_path: Path):
    write_results(tmp_path / "pairs.csv", one_run())
    text = markdown_report(folders(tmp_path))
    assert f"1 of {len(pairs.tasks())} runs are done (2 min of training, one core each)" in text  # 100 s
    assert "1 of 2 of ours, 0 of 0 of the baselines'" in text
    assert "| table-1, hard: ours, exchange network, numbers-4 | 98.00 ± 0.00 ▽ (98.1) |" in text
    assert "| total: ours, exchange network | 99.00 ± 0.00 ▲ (98.9) | – | – | – | 0 to 1 of 6 |" in text
    assert f"| pairs | {SETTING} | 5 |" in text
    assert "| pairs | la-2018, grounded, objects-7 | 6 |" in text
    assert f"| {SETTING} | 1 | 2 min | 2 min |" in text
    assert "| pairs.csv | 1 | 10 | 1001 | 1000 | 0.1.0-abc |" in text
    assert "No results so far: run `implicature reproduce table-3`." in text
    first = readme_table(folders(tmp_path)).to_markdown().splitlines()[2]
    assert first == "| numbers-4, ungrounded: total / hard | 99.00 / 98.00 | – / – | – / – | 98.9 / 98.1 | 99.80 / – |"


def test_no_results_are_one_sentence(tmp_path: Path):
    text = markdown_report(folders(tmp_path / "none"))
    sentence = f"There are no results in {tmp_path / 'none'}: run `implicature reproduce all`."
    assert text == f"## No results so far\n\n{sentence}"
    write_page(tmp_path / "report.html", folders(tmp_path / "none"))
    Reader((tmp_path / "report.html").read_text(encoding="utf-8"))
    # The command has nothing to report (tests/faults, D14).
    with pytest.raises(ValueError, match="nothing to report"):
        report(readme=tmp_path / "README.md", results=tmp_path / "none")


@pytest.mark.slow
def test_the_page_needs_no_other_file_and_lists_every_choice(tmp_path: Path):
    out = tmp_path / "report.html"
    command = [Path(sys.executable).with_name("implicature"), "report", "--results", RESULTS, "--out", out]
    subprocess.run(command, check=True, capture_output=True)
    text = out.read_text(encoding="utf-8")
    found = Reader(text)
    assert all(address.startswith(("#", "data:image/png;base64,", "https://")) for address in found.addresses)
    assert not re.search(r"@import|url\(|<script|<link", text)
    # Every figure that has results is drawn, and every entry of the menu leads somewhere.
    drawn = [name for name in ABOUT if is_figure(name) and any(table.rows for table in folders(RESULTS).render(name))]
    assert sum(address.startswith("data:") for address in found.addresses) == len(drawn)
    assert {address[1:] for address in found.addresses if address.startswith("#")} == set(found.ids)
    choices = set(re.findall(r"\bF-\d\d\b", fidelity_list()))
    assert len(choices) > 30
    assert all(choice in text.split('id="fidelity"')[1] for choice in choices)
    assert "SMOKE" not in text


def test_smoke_results_are_kept_apart_and_marked(tmp_path: Path):
    write_results(tmp_path / "pairs.csv", one_run(99.0))
    write_results(tmp_path / "smoke" / "pairs.csv", one_run(44.0, smoke="yes"))
    full, small = (markdown_report(folders(tmp_path, is_smoke)) for is_smoke in (False, True))
    assert "99.00 ± 0.00" in full
    assert "44.00 ± 0.00" not in full
    assert "44.00 ± 0.00" in small
    assert "99.00 ± 0.00" not in small
    report(out=tmp_path / "smoke.html", results=tmp_path, smoke=True)
    assert smoke.WARNING in (tmp_path / "smoke.html").read_text(encoding="utf-8")


def test_the_list_of_choices_comes_with_an_installed_package():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    inside = wheel["wheel"]["force-include"]
    assert inside == {"FIDELITY.md": "implicature/FIDELITY.md"}
    assert (ROOT / "FIDELITY.md").read_text(encoding="utf-8") == fidelity_list()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--markdown", "--readme", "README.md"], "name one of"),
        (["--results", "file.csv"], "is a file"),
        (["--out", "nowhere/report.html"], "cannot be written"),
        (["--out", "report.txt"], "ends in .html"),
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
