"""A game in one frame that a person can read, as an image or as text: candidates, target, messages and answer."""

from dataclasses import dataclass
from textwrap import fill

import numpy as np

TARGET_COLOUR, ANSWER_COLOUR, OTHER_COLOUR = "#1b7837", "#2166ac", "#9a9a9a"


@dataclass(frozen=True)
class Scene:
    """A moment of a game, candidates in the teacher's order."""

    labels: list[str]
    target: int
    messages: list[str]
    answer: int | None
    """A candidate; as many as there are: he waits; None: he has not acted."""
    over: bool
    episode_return: float
    images: np.ndarray | None = None
    """Of each candidate, as the teacher sees it."""

    @property
    def messages_text(self) -> str:
        return "She says " + ", then ".join(f"“{word}”" for word in self.messages) if self.messages else "She thinks"

    @property
    def action_text(self) -> str:
        if self.answer is None:
            return "he listens." if self.messages else "of what to say."
        if self.answer == len(self.labels):
            return "he waits." if not self.over else "he waits to the end: no answer."
        right = "right" if self.answer == self.target else "wrong"
        return f"he picks {self.labels[self.answer]}: {right}."

    @property
    def headline(self) -> str:
        joint = "; " if self.messages else " "
        return f"{self.messages_text}{joint}{self.action_text}" + (
            f" Return {self.episode_return:.2f}." if self.over else ""
        )


def render_text(scene: Scene) -> str:
    """Lines for a terminal: → marks the target, ← the one he picked."""
    lines = [
        f"{'→' if i == scene.target else ' '} {label}{'  ←' if i == scene.answer else ''}"
        for i, label in enumerate(scene.labels)
    ]
    return "\n".join([*lines, scene.headline])


def render_image(scene: Scene) -> np.ndarray:
    """An image, height × width × 3: the target is framed in green, the answer in blue."""
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
        if scene.images is not None:
            axes.imshow(scene.images[i])
        else:
            label = fill(scene.labels[i].strip("{}"), 12)
            axes.text(0.5, 0.5, label, ha="center", va="center", fontsize=12, parse_math=False)
            axes.set_facecolor("#dbe9f6" if i == scene.answer else "white")
        is_target, is_answer = i == scene.target, i == scene.answer
        note = " ".join(["target"] * is_target + ["picked"] * is_answer)
        axes.set_xlabel(note, color=TARGET_COLOUR if is_target else ANSWER_COLOUR, fontsize=10)
        for side in axes.spines.values():
            side.set(
                color=TARGET_COLOUR if is_target else ANSWER_COLOUR if is_answer else OTHER_COLOUR,
                linewidth=4 if is_target or is_answer else 1,
            )
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
