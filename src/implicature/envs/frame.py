"""A game in one frame that a person can read, as a picture or in words: the candidates, the one she means, what was
said, and what he picked."""

from dataclasses import dataclass
from textwrap import fill

import numpy as np

MEANT, PICKED, QUIET = "#1b7837", "#2166ac", "#9a9a9a"


@dataclass(frozen=True)
class Scene:
    """A moment of a game, candidates in the teacher's order."""

    labels: list[str]
    target: int
    messages: list[str]
    answer: int | None
    """A candidate; as many as there are: he waits; None: he has not acted."""
    over: bool
    gain: float
    pictures: np.ndarray | None = None
    """Of each candidate, as the teacher sees it."""

    @property
    def said(self) -> str:
        return "She says " + ", then ".join(f"“{word}”" for word in self.messages) if self.messages else "She thinks"

    @property
    def done(self) -> str:
        if self.answer is None:
            return "he listens." if self.messages else "of what to say."
        if self.answer == len(self.labels):
            return "he waits." if not self.over else "he waits to the end: no answer."
        right = "right" if self.answer == self.target else "wrong"
        return f"he picks {self.labels[self.answer]}: {right}."

    @property
    def headline(self) -> str:
        joint = "; " if self.messages else " "
        return f"{self.said}{joint}{self.done}" + (f" Both gain {self.gain:.2f}." if self.over else "")


def words(scene: Scene) -> str:
    """Lines for a terminal: → marks the target, ← the one he picked."""
    lines = [
        f"{'→' if i == scene.target else ' '} {label}{'  ←' if i == scene.answer else ''}"
        for i, label in enumerate(scene.labels)
    ]
    return "\n".join([*lines, scene.headline])


def frame(scene: Scene) -> np.ndarray:
    """A picture, height × width × 3: the target's frame is green, the one he picked is blue inside."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    number = len(scene.labels)
    columns = min(number, 4)
    rows = -(-number // columns)
    figure = Figure(figsize=(1.6 * columns + 0.4, 1.75 * rows + 0.9), dpi=100, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    figure.suptitle(fill(scene.headline, 18 * columns), fontsize=11, parse_math=False)
    grid = figure.subplots(rows, columns, squeeze=False)
    for i, axes in enumerate(grid.flat):
        axes.set(xticks=[], yticks=[])
        if i >= number:
            axes.axis("off")
            continue
        if scene.pictures is not None:
            axes.imshow(scene.pictures[i])
        else:
            label = fill(scene.labels[i].strip("{}"), 12)
            axes.text(0.5, 0.5, label, ha="center", va="center", fontsize=12, parse_math=False)
            axes.set_facecolor("#dbe9f6" if i == scene.answer else "white")
        meant, chosen = i == scene.target, i == scene.answer
        note = " ".join(["target"] * meant + ["picked"] * chosen)
        axes.set_xlabel(note, color=MEANT if meant else PICKED, fontsize=10)
        for side in axes.spines.values():
            side.set(color=MEANT if meant else PICKED if chosen else QUIET, linewidth=4 if meant or chosen else 1)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
