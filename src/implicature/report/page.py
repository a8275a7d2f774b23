"""One HTML page of Markdown sections and pictures, with nothing outside itself."""

import base64
import io
import re
from html import escape
from importlib.resources import files

from markdown_it import MarkdownIt
from matplotlib.figure import Figure

from implicature.experiments import smoke as quick_rows
from implicature.report.status import Section

MARKDOWN = MarkdownIt("zero").enable(["backticks", "link", "emphasis", "escape"])
COMPARED = re.compile(r"([\d.]+) ± ([\d.]+) ([▲▽]) \(([\d.]+)\)")
PLAIN = re.compile(r"([\d.]+) ± ([\d.]+)")
NUMBER = re.compile(r"[+−-]?[\d.<]+( |$)")
LEFT = ' class="text"'

KINDS = {"ours": "ours", "exact": "exact", "best response": "exact", "no-clash": "exact"}
"""How lines that name these are set."""


def page(sections: list[Section], quick: bool) -> str:
    style = (files("implicature.report") / "page.css").read_text(encoding="utf-8")
    menu = "".join(f'<li><a href="#{anchor(one.title)}">{escape(one.title)}</a></li>' for one in sections)
    body = "".join(
        f'<section id="{anchor(one.title)}"><h2>{escape(one.title)}</h2>{told(one)}</section>' for one in sections
    )
    title = "implicature: the paper, told again"
    warning = f'<p class="quick" role="note">{escape(quick_rows.WARNING)}</p>' if quick else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body>{warning}<header><h1>Reading between the lines</h1>"
        "<p>Every table and figure of <i>Emergence of Pragmatics from Referential Game between Theory of Mind "
        f"Agents</i> (Yuan et al., arXiv 2001.07752): ours beside theirs.</p></header><nav><ol>{menu}</ol></nav>"
        f"<main>{body}</main></body></html>\n"
    )


def anchor(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def inline(text: str) -> str:
    """A line of Markdown; links to files beside it lead nowhere from a page by itself."""
    return re.sub(r'<a href="(?!https?:|#)[^"]*">(.*?)</a>', r"\1", MARKDOWN.renderInline(text))


def told(section: Section) -> str:
    """Paragraphs and tables; beside a picture, tables are to be opened."""
    parts = [(part, part.startswith("|")) for part in re.split(r"\n\s*\n", section.text)]
    prose = "".join(f"<p>{inline(part)}</p>" for part, is_table in parts if not is_table)
    if section.picture is not None:
        tables = "".join(table(part) for part, is_table in parts if is_table)
        return f"{prose}{picture(section)}<details><summary>In numbers</summary>{tables}</details>"
    return "".join(table(part) if is_table else f"<p>{inline(part)}</p>" for part, is_table in parts)


def cells_of(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def table(text: str) -> str:
    """The first column names the line; where names have the same beginning ("hard: …"), it stands above them once."""
    head, _, *lines = map(cells_of, text.splitlines())
    grouped = len(lines) > 1 and all(": " in line[0] for line in lines)
    texts = {i for i in range(1, len(head)) if not any(NUMBER.match(line[i]) for line in lines if i < len(line))}
    above, rows = "", []
    for name, *cells in lines:
        group, _, short = name.partition(": ") if grouped else ("", "", name)
        if group != above:
            rows.append(f'<tr class="group"><th colspan="{len(head)}" scope="rowgroup">{inline(group)}</th></tr>')
            above = group
        kind = next((kind for word, kind in KINDS.items() if word in short), "")
        inner = "".join(cell(text, number in texts) for number, text in enumerate(cells, 1))
        rows.append(f'<tr class="{kind}"><th scope="row">{inline(short)}</th>{inner}</tr>')
    columns = "".join(f'<th scope="col"{LEFT * (i in texts)}>{inline(name)}</th>' for i, name in enumerate(head))
    prose = " prose" if max(len(cell) for line in lines for cell in line) > 120 else ""
    return (
        f'<div class="wide{prose}" tabindex="0"><table><thead><tr>{columns}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def cell(text: str, is_text: bool = False) -> str:
    if found := COMPARED.fullmatch(text):
        mean, std, mark, theirs = found.groups()
        kind, said = ("win", "at least the paper's") if mark == "▲" else ("miss", "below the paper's")
        return (
            f'<td class="{kind}"><b>{mean}</b> <small>± {std}</small><br>'
            f'<span class="mark" role="img" aria-label="{said}">{mark}</span> <small>paper {theirs}</small></td>'
        )
    if found := PLAIN.fullmatch(text):
        return f"<td><b>{found[1]}</b> <small>± {found[2]}</small></td>"
    if text == "–":
        return '<td class="none" title="no rows so far">–</td>'
    return f"<td{LEFT * is_text}>{inline(text)}</td>"


def picture(section: Section) -> str:
    if section.picture is None:
        return ""
    return (
        f'<figure class="wide" tabindex="0"><img alt="{escape(section.title)}" src="{data(section.picture)}"></figure>'
    )


def data(figure: Figure) -> str:
    kept = io.BytesIO()
    figure.savefig(kept, format="png", dpi=130, metadata={"Software": None})
    return f"data:image/png;base64,{base64.b64encode(kept.getvalue()).decode()}"
