"""`implicature report`: all rows as one page, as Markdown, or as a part of README."""

from pathlib import Path

from implicature.cli.reproduce import Folders
from implicature.files import check_file, read_text, write_atomic
from implicature.report.content import lines_for_readme, sections
from implicature.report.page import page

BEGIN, END = "<!-- rows -->", "<!-- /rows -->"


def report(rows: Path, quick: bool, out: Path | None, markdown: bool, readme: Path | None) -> None:
    if (out is not None) + markdown + (readme is not None) > 1:
        raise ValueError("A page, Markdown or a README: name one of --out, --markdown and --readme.")
    if rows.exists() and not rows.is_dir():
        raise ValueError(f"{rows} is a file, but rows are in a folder: name it with --rows.")
    out = out or Path("report.html")
    if out.suffix != ".html":
        raise ValueError(f"{out} is not a page: name a file that ends in .html with --out.")
    if not markdown:
        check_file(readme or out, "--readme" if readme else "--out")
    folders = Folders(rows, Path("runs"), quick)
    if markdown:
        print("\n\n".join(section.markdown() for section in sections(folders)))
    elif readme is not None:
        if quick:
            raise ValueError("Quick rows are no results, so README does not tell them: leave out --quick.")
        rewrite(readme, lines_for_readme(folders))
    else:
        text = page(sections(folders, pictures=True), quick)
        write_atomic(out, text.encode())
        print(f"{out}, {len(text) / 1e6:.1f} MB, needs nothing beside it.")


def rewrite(readme: Path, text: str) -> None:
    """Put the text between the two marks."""
    try:
        before = read_text(readme)
    except ValueError as problem:
        raise ValueError(f"{readme}: {problem}") from None
    if before.count(BEGIN) != 1 or before.count(END) != 1 or before.index(BEGIN) > before.index(END):
        raise ValueError(f"{readme} has no place for the tables: mark it once with {BEGIN} and {END}.")
    head, rest = before.split(BEGIN)
    tail = rest.split(END)[1]
    write_atomic(readme, f"{head}{BEGIN}\n{text}\n{END}{tail}".encode())
    print(f"{readme} tells what the rows say.")
