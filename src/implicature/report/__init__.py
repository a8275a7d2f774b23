"""All results as one HTML page, as Markdown, or between two marks of a Markdown file."""

from pathlib import Path

from implicature.experiments.beyond import recovery
from implicature.experiments.registry import Folders
from implicature.experiments.results import Result, read_results
from implicature.files import read_text, write_atomic
from implicature.report.content import fidelity_section, no_results, readme_table, result_sections
from implicature.report.page import html_page


def markdown_report(folders: Folders, images_from: Path | None = None) -> str:
    """All results, without the fidelity list; with a folder, links from there to the images of figures."""
    sections = result_sections(folders, images_from=images_from)
    return "\n\n".join(section.to_markdown() for section in sections)


def write_page(path: Path, folders: Folders) -> None:
    """One HTML file, with figures and the fidelity list."""
    page = html_page([*result_sections(folders, figures=True), fidelity_section()], folders.smoke)
    write_atomic(path, page.encode())


def write_docs(path: Path, folders: Folders) -> None:
    """All results between <!-- results --> and <!-- /results -->."""
    replace_between_marks(path, "results", markdown_report(folders, path.parent))


def write_readme(path: Path, folders: Folders) -> None:
    """A small table between <!-- summary --> and <!-- /summary -->."""
    text = readme_table(folders).to_markdown() if folders.read("pairs") else no_results(folders)
    replace_between_marks(path, "summary", text)


def write_people(path: Path, folders: Folders) -> None:
    """Players against people between <!-- people --> and <!-- /people -->, simulated participants between the marks
    recovery."""
    tables = {"people": folders.render("people"), "recovery": recovery.render(recovery_results(folders))}
    for mark, found in tables.items():
        text = "\n\n".join(table.to_markdown() for table in found if table.rows)
        replace_between_marks(path, mark, text or no_results(folders))


def recovery_results(folders: Folders) -> list[Result]:
    return read_results(folders.results / "recovery.csv", recovery.KEY)


def replace_between_marks(path: Path, mark: str, text: str) -> None:
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    try:
        before = read_text(path)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if before.count(begin) != 1 or before.count(end) != 1 or before.index(begin) > before.index(end):
        raise ValueError(f"{path} has no place for the results: mark it once with {begin} and {end}.")
    head, rest = before.split(begin)
    tail = rest.split(end)[1]
    write_atomic(path, f"{head}{begin}\n{text}\n{end}{tail}".encode())
