"""A section of the report: text, tables and perhaps a figure."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from implicature.experiments.table import Table


@dataclass(frozen=True)
class Section:
    title: str
    blocks: Sequence[str | Table]
    """Text is Markdown."""
    figure: Figure | None = None

    def to_markdown(self) -> str:
        blocks = [block.to_markdown() if isinstance(block, Table) else block for block in self.blocks]
        return "\n\n".join([f"## {self.title}", *blocks])
