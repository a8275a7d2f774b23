"""`implicature report`."""

from pathlib import Path
from typing import Annotated

import tyro


def report(
    out: Path | None = None,
    markdown: bool = False,
    docs: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    readme: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    people: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
    results: Path = Path("results"),
    smoke: bool = False,
) -> None:
    """Write all results as one page: every table beside the paper's figures, every figure, and what is missing.

    Args:
        out: The page, an HTML file that needs no other file; by default report.html.
        markdown: Print the tables as Markdown instead.
        docs: Instead, rewrite what stands between <!-- results --> and <!-- /results --> in this file: all tables.
        readme: Instead, rewrite what stands between <!-- summary --> and <!-- /summary --> in this file: a small table.
        people: Instead, rewrite what stands between the marks people and recovery in this file: players against people,
            and simulated participants.
        results: The folder that `implicature reproduce` wrote results to.
        smoke: Show the results of `reproduce --smoke`.
    """
    from implicature.experiments.registry import EXPERIMENTS, Folders
    from implicature.files import check_file
    from implicature.report import markdown_report, write_docs, write_page, write_people, write_readme

    if sum([out is not None, markdown, docs is not None, readme is not None, people is not None]) > 1:
        raise ValueError("Write one thing at a time: name one of --out, --markdown, --docs, --readme and --people.")
    if results.exists() and not results.is_dir():
        raise ValueError(f"{results} is a file, but results are in a folder: name it with --results.")
    folders = Folders(results, Path("runs"), smoke)
    if smoke and (docs or readme or people):
        raise ValueError("Smoke runs are not results, so no document shows them: leave out --smoke.")
    if not any(folders.results_file(name).exists() for name in EXPERIMENTS):
        raise ValueError(f"There is nothing to report in {results}: `implicature reproduce all` makes results.")
    if markdown:
        print(markdown_report(folders))
        return
    if docs is not None:
        path, option, write = docs, "--docs", write_docs
    elif people is not None:
        path, option, write = people, "--people", write_people
    elif readme is not None:
        path, option, write = readme, "--readme", write_readme
    else:
        path, option, write = out or Path("report.html"), "--out", write_page
        if path.suffix != ".html":
            raise ValueError(f"{path} is not a page: name a file that ends in .html with --out.")
    check_file(path, option)
    write(path, folders)
    print(f"{path} shows the results in {folders.results}.")
