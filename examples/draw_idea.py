"""Draw the idea of the package in one figure: three objects, one word, and what two students make of it.

python examples/draw_idea.py docs/images/idea.png
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle, Ellipse, FancyBboxPatch, Polygon

import implicature

CANDIDATES = ("blue,sphere", "red,sphere", "blue,cone")
BLUE, RED, INK, GREY, TEACHER, STUDENT = "#2f6fdf", "#d64535", "#22272e", "#8b949e", "#b04f1d", "#1c6b70"
COLUMNS = (4.75, 6.75, 8.75)
"""The centres of the three objects; text stands to their left."""
SIDE, BAR = 1.5, 1.05
"""The side of an object's card, and the height of a bar of 100 %."""


def shade(
    ax: Axes, patch: Circle | Polygon, colour: str, light: np.ndarray, extent: tuple[float, float, float, float]
) -> None:
    """Fill a patch with a colour that gets lighter where `light` is 1."""
    base = np.array(to_rgb(colour))
    pixels = base + (1 - base) * 0.75 * np.clip(light, 0, 1)[..., None] - 0.3 * base * np.clip(-light, 0, 1)[..., None]
    ax.add_patch(patch)
    patch.set(facecolor="none", edgecolor="none")
    ax.imshow(pixels, extent=extent, origin="lower", zorder=3, clip_path=patch, clip_on=True, aspect="auto")


def draw_object(ax: Axes, name: str, x: float, y: float) -> None:
    """A sphere or a cone with its shadow, around (x, y)."""
    colour, shape = name.split(",")
    colour = {"blue": BLUE, "red": RED}[colour]
    across, up = np.meshgrid(np.linspace(-1, 1, 200), np.linspace(-1, 1, 200))
    ax.add_patch(Ellipse((x + 0.08, y - 0.43), 1.0, 0.2, color="#d0d4d8", zorder=2))
    extent = (x - 0.5, x + 0.5, y - 0.5, y + 0.5)
    if shape == "sphere":
        light = 1 - 1.5 * np.hypot(across + 0.35, up - 0.4)
        shade(ax, Circle((x, y), 0.47), colour, light, extent)
    else:
        rim = [(x + 0.44 * np.cos(a), y - 0.38 + 0.1 * np.sin(a)) for a in np.linspace(-np.pi, 0, 40)]
        shade(ax, Polygon([(x, y + 0.52), *rim]), colour, 0.9 - 2.2 * np.abs(across + 0.25), extent)


def draw_card(ax: Axes, name: str, x: float, y: float, is_target: bool) -> None:
    box = FancyBboxPatch(
        (x - SIDE / 2, y - SIDE / 2), SIDE, SIDE, boxstyle="round,pad=0,rounding_size=0.12", facecolor="#f6f7f8",
        edgecolor=TEACHER if is_target else "#d5d9de", linewidth=2.2 if is_target else 1,
    )  # fmt: skip
    ax.add_patch(box)
    draw_object(ax, name, x, y + 0.12)
    ax.text(x, y - 0.6, name.replace(",", " "), ha="center", va="center", fontsize=10, color=INK)
    if is_target:
        ax.text(
            x, y + SIDE / 2, "target", ha="center", va="center", fontsize=9, color="white", zorder=5,
            bbox={"boxstyle": "round,pad=0.3", "facecolor": TEACHER, "edgecolor": "none"},
        )  # fmt: skip


def draw_beliefs(ax: Axes, beliefs: list[float], y: float, colour: str) -> None:
    """A bar for each candidate, standing on y."""
    for x, belief in zip(COLUMNS, beliefs, strict=True):
        ax.plot([x - 0.5, x + 0.5], [y, y], color="#c3c9d0", linewidth=1, zorder=1)
        ax.add_patch(FancyBboxPatch((x - 0.3, y), 0.6, BAR * belief, boxstyle="square,pad=0", color=colour, zorder=2))
        bold = "bold" if belief > 0.5 else "normal"
        ax.text(
            x, y + BAR * belief + 0.06, f"{100 * belief:.0f} %", ha="center", va="bottom", fontsize=11, fontweight=bold
        )


def draw_line(ax: Axes, y: float, title: str, text: str, colour: str) -> None:
    ax.text(0.15, y, title, fontsize=13, fontweight="bold", color=colour, va="bottom")
    ax.text(0.15, y - 0.06, text, fontsize=11, color=INK, va="top", linespacing=1.4)


def draw_idea(path: Path) -> None:
    explanation = implicature.explain(*CANDIDATES, depth=1)
    blue = explanation.messages.index("blue")
    literal, pragmatic = (tables.student[blue] for tables in explanation.depths)
    figure, ax = plt.subplots(figsize=(9.9, 5.2))
    ax.set(xlim=(0, 9.9), ylim=(0, 5.2))
    ax.axis("off")
    for x, name in zip(COLUMNS, CANDIDATES, strict=True):
        draw_card(ax, name, x, 4.15, is_target=name == CANDIDATES[0])
    ax.text(0.15, 4.55, "Teacher", fontsize=13, fontweight="bold", color=TEACHER, va="bottom")
    ax.text(
        0.3, 3.98, "“blue”", fontsize=24, fontweight="bold", color=TEACHER, va="center",
        bbox={"boxstyle": "round,pad=0.4", "facecolor": "#fbe9df", "edgecolor": "none"},
    )  # fmt: skip
    draw_line(ax, 2.3, "Literal student", "“Two of them are blue.”", GREY)
    draw_beliefs(ax, literal, 1.85, GREY)
    draw_line(ax, 0.75, "Pragmatic student", "“For the cone, she would\nhave said ‘cone’.”", STUDENT)
    draw_beliefs(ax, pragmatic, 0.2, STUDENT)
    ax.text(
        COLUMNS[2], 0.92, "“cone”", fontsize=14, color="#d9a98d", va="center", ha="center",
        bbox={"boxstyle": "round,pad=0.35", "facecolor": "none", "edgecolor": "#d9a98d", "linestyle": "--"},
    )  # fmt: skip
    figure.savefig(path, dpi=150, bbox_inches="tight", pad_inches=0.1, facecolor="white")
    plt.close(figure)


if __name__ == "__main__":
    draw_idea(Path(sys.argv[1] if len(sys.argv) > 1 else "idea.png"))
