"""The report as one HTML page that needs no other file."""

import base64
import io
import re
from html import escape
from importlib.resources import files

from markdown_it import MarkdownIt
from matplotlib.figure import Figure

from implicature.experiments.results import version
from implicature.experiments.smoke import WARNING
from implicature.experiments.table import Table
from implicature.report.section import Section

MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
MARKDOWN.add_render_rule("table_open", lambda *_: '<div class="wide prose" tabindex="0"><table>')
MARKDOWN.add_render_rule("table_close", lambda *_: "</table></div>")


def html_page(sections: list[Section], is_smoke: bool) -> str:
    style = (files("implicature.report") / "page.css").read_text(encoding="utf-8")
    menu = "".join(f'<li><a href="#{anchor(one.title)}">{escape(one.title)}</a></li>' for one in sections)
    body = "".join(
        f'<section id="{anchor(one.title)}"><h2>{escape(one.title)}</h2>{section_html(one)}</section>'
        for one in sections
    )
    warning = f'<p class="smoke" role="note">{escape(WARNING)}</p>' if is_smoke else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>implicature: results</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body>{warning}<header><h1>implicature: results</h1>"
        "<p>Every table and figure of <i>Emergence of Pragmatics from Referential Game between Theory of Mind "
        "Agents</i> (Yuan et al., arXiv 2001.07752), reproduced beside the paper's figures. Written by "
        f"implicature {escape(version())}.</p></header>"
        f"<nav><ol>{menu}</ol></nav><main>{body}</main></body></html>\n"
    )


def anchor(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def text_html(text: str) -> str:
    """Markdown as HTML. Links within its repository lead nowhere from this page, so only their text remains."""
    return re.sub(r'<a href="(?!https?:)[^"]*">(.*?)</a>', r"\1", MARKDOWN.render(text))


def section_html(section: Section) -> str:
    """Text and tables in order; below a figure, its tables are folded."""
    if section.figure is None:
        blocks = (block.to_html() if isinstance(block, Table) else text_html(block) for block in section.blocks)
        return "".join(blocks)
    text = "".join(text_html(block) for block in section.blocks if isinstance(block, str))
    tables = "".join(block.to_html() for block in section.blocks if isinstance(block, Table))
    image = f'<img alt="{escape(section.title)}" src="{data_url(section.figure)}">'
    return (
        f'{text}<figure class="wide" tabindex="0">{image}</figure>'
        f"<details><summary>In numbers</summary>{tables}</details>"
    )


def data_url(figure: Figure) -> str:
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=130, metadata={"Software": None})
    return f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}"
