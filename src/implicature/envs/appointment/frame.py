"""The appointment game in one frame that a person can read, as an image or as text: both calendars and the dialogue."""

from dataclasses import dataclass

import numpy as np

from implicature.envs.frame import ANSWER_COLOUR, OTHER_COLOUR, TARGET_COLOUR
from implicature.games.appointment import answer_name, calendar_name

BUSY_COLOUR, FREE_COLOUR, WRONG_COLOUR = "#5f6b7a", "#ffffff", "#b2182b"


@dataclass(frozen=True)
class AppointmentScene:
    """A moment of a game."""

    players: tuple[str, ...]
    calendars: np.ndarray
    """Players × slots, true where busy."""
    messages: tuple[str, ...]
    answer: int | None
    """A slot, or, after the last, "none"."""
    over: bool
    right: bool
    episode_return: float

    @property
    def lines(self) -> list[str]:
        """What was said and answered, a line for each turn."""
        told = [f"{self.players[i % 2]} says “{message}”" for i, message in enumerate(self.messages)]
        if self.answer is not None:
            mover, name = self.players[len(self.messages) % 2], answer_name(self.answer, self.calendars.shape[1])
            told.append(f"{mover} answers “{name}”: {'right' if self.right else 'wrong'}")
        elif self.over:
            told[-1] += ", against the rules"
        return [*told, f"return {self.episode_return:.2f}"] if self.over else told


def render_text(scene: AppointmentScene) -> str:
    """Lines for a terminal: ■ busy, □ free."""
    held = [f"{player} {calendar_name(own)}" for player, own in zip(scene.players, scene.calendars, strict=True)]
    return "\n".join([*held, *scene.lines])


def render_image(scene: AppointmentScene) -> np.ndarray:
    """An image, height × width × 3: a row of slots for each player; the slot that was answered is framed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    slots = scene.calendars.shape[1]
    figure = Figure(figsize=(5.6, 1.7 + 0.22 * len(scene.lines)), dpi=100, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.subplots()
    for row, calendar in enumerate(scene.calendars):
        for slot, busy in enumerate(calendar):
            colour = BUSY_COLOUR if busy else FREE_COLOUR
            axes.add_patch(Rectangle((slot, row), 0.92, 0.9, facecolor=colour, edgecolor=OTHER_COLOUR))
    if scene.answer is not None and scene.answer < slots:
        colour = TARGET_COLOUR if scene.right else WRONG_COLOUR
        frame = Rectangle((scene.answer - 0.04, -0.07), 1, 2.04, fill=False, edgecolor=colour, linewidth=4)
        axes.add_patch(frame)
    axes.set(xlim=(-0.1, slots + 0.05), ylim=(2.1, -0.15), aspect="equal")
    axes.set_xticks(np.arange(slots) + 0.46, [str(slot + 1) for slot in range(slots)])
    axes.set_yticks([0.45, 1.45], scene.players)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    ending = TARGET_COLOUR if scene.right else WRONG_COLOUR
    axes.set_title("\n".join(scene.lines), fontsize=10, loc="left", color=ending if scene.over else ANSWER_COLOUR)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
