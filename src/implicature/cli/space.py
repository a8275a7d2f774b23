"""`implicature space`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

if TYPE_CHECKING:
    from implicature.spaces import Space

MAX_ROWS = 40
MAX_WORDS = 24
"""So much of the table is shown on the terminal."""
MAX_DRAWN = 300
"""Rows, and columns, of the picture."""


def space(
    file: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="FILE")],
    out: Annotated[Path | None, tyro.conf.arg(metavar="PNG")] = None,
    json: bool = False,
) -> None:
    """Tell what was read from a file of instances: things, words by category, twins, words that say nothing, and the
    table itself. docs/own-objects.md has the format.

    Args:
        file: A CSV or JSON file, a folder of images with a CSV file, a run's folder, module:object, or one of
            numbers-10, numbers-12, objects.
        out: Draw the table into this PNG file.
        json: Print one JSON object instead.
    """
    import json as json_format

    from implicature.files import check_png
    from implicature.spaces.summary import summarize_space

    if out is not None:
        check_png(out, "--out")
    read = load(file)
    summary = summarize_space(read)
    if out is not None:
        draw_table(read, out)
    if json:
        print(json_format.dumps(summary))
        return
    print_space(read, summary)


def load(file: str) -> "Space":
    from implicature.games.registry import load_space

    if (Path(file) / "config.json").exists():
        from implicature.training.runs.run import read_config
        from implicature.training.runs.space_file import run_space

        return run_space(Path(file), read_config(Path(file)))[0]
    return load_space(file)


def print_space(space: "Space", summary: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False)

    views = f", {summary['images']} images of each" if summary["images"] else ""
    say(f"{space.name}: {space.instances:,} instances, {len(space.words):,} words{views}")
    for category, words in summary["categories"].items():
        say(f"  {category or 'without a category'}: {listed(words)}")
    if not summary["categories"]:
        say(f"  words: {listed(summary['words'])}")
    if summary["costs"]:
        say(f"  costs: {listed([f'{word} {cost:g}' for word, cost in summary['costs'].items()])}")
    for group in summary["twins"][:MAX_ROWS]:
        say(f"  no word tells apart: {listed(group)}")
    for key, what in (("fits_nobody", "true of nothing"), ("fits_everybody", "true of everything")):
        if summary[key]:
            say(f"  {what}: {listed(summary[key])}")
    table = Table("", *(escape(word) for word in space.words[:MAX_WORDS]), padding=(0, 1), box=None)
    for i in range(min(space.instances, MAX_ROWS)):
        table.add_row(escape(space.label(i)), *(cell(value) for value in space.lexicon.meaning[i, :MAX_WORDS]))
    console.print(table)
    hidden = space.instances - MAX_ROWS, len(space.words) - MAX_WORDS
    if max(hidden) > 0:
        more = [f"{max(0, number):,} {what}" for number, what in zip(hidden, ("instances", "words"), strict=True)]
        say(f"… and {' and '.join(more)} more: draw all with --out table.png.")


def cell(value: Any) -> str:
    return "●" if value == 1 else "·" if value == 0 else f"{value:.2g}"


def listed(names: list[str]) -> str:
    more = f" … and {len(names) - MAX_WORDS:,} more" if len(names) > MAX_WORDS else ""
    return ", ".join(names[:MAX_WORDS]) + more


def draw_table(space: "Space", out: Path) -> None:
    """Instances × words, dark where a word is true."""
    from io import BytesIO

    from matplotlib.figure import Figure

    from implicature.files import write_atomic

    rows, columns = min(space.instances, MAX_DRAWN), min(len(space.words), MAX_DRAWN)
    figure = Figure(figsize=(2 + 0.25 * columns, 1.5 + 0.22 * rows), layout="constrained")
    axes = figure.subplots()
    axes.imshow(space.lexicon.meaning[:rows, :columns].astype(float), cmap="Blues", vmin=0, vmax=1, aspect="auto")
    # Names are no formulas.
    axes.set_xticks(range(columns), [word[:30].replace("$", r"\$") for word in space.words[:columns]], rotation=90)
    axes.set_yticks(range(rows), [space.label(i)[:40].replace("$", r"\$") for i in range(rows)])
    axes.xaxis.tick_top()
    content = BytesIO()
    figure.savefig(content, format="png", dpi=90)
    write_atomic(out, content.getvalue())
