"""One game, phase by phase: what she would say of the target, and what he then believes (figure 2)."""

from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase

from implicature.agents.rollout import dialogue, greedily
from implicature.evaluation.held_out import held_out_games
from implicature.evaluation.teaching_dimension import levels
from implicature.games.sampling import Game
from implicature.spaces import Space
from implicature.training.algorithm1 import beta_of, views
from implicature.training.run import Run

SHOWN = 5
INK, SOFT, TARGET = "#222222", "#9db4d3", "#d1495b"


@dataclass(frozen=True)
class Thought:
    """The first round of a game after a phase."""

    phase: int
    speaking: Float[np.ndarray, " messages"]
    """The chance of each message, softmax(β Q)."""
    message: int
    belief: Float[np.ndarray, " candidates"]
    """His, after the message, in her order."""


def telling_game(run: Run, level: int = 1) -> Game:
    """A test game that needs reading between the lines: the target has this level, or the highest there is."""
    games = held_out_games(run.setting, 200, seed=1)
    truth = run.setting.world.truth[games.candidates]
    found = np.asarray(jax.vmap(levels)(truth))[np.arange(200), np.asarray(games.target)]
    pick = int(np.flatnonzero(found == level)[0]) if (found == level).any() else int(np.argmax(found))
    return jax.tree.map(lambda leaf: leaf[pick], games)


def as_shown(run: Run, game: Game) -> Game:
    """With looks for candidates: where instances have several pictures, the same one of each every time."""
    return run.setting.world.shown(jax.random.key(0), game)


def thoughts(run: Run, game: Game) -> list[Thought]:
    """Before the first phase and after each."""
    setting = run.setting
    shown = as_shown(run, game)
    beta = beta_of(setting.config, setting.rules)
    found = []
    for phase in range(setting.config.phases + 1):
        if not run.phase_file(phase).exists():
            continue
        pair = run.pair(phase)
        seen = views(shown, eqx.filter_jit(pair.sights)(setting.world.looks))
        played = eqx.filter_jit(dialogue)(
            jax.random.key(0), pair.teacher, pair.student, seen, setting.rules, greedily, greedily, told=False
        )
        speaking = np.asarray(jax.nn.softmax(beta * played.values[0]))
        found.append(Thought(phase, speaking, int(played.message[0]), np.asarray(played.after[0])))
    return found


def draw_game(run: Run, game: Game, found: list[Thought]) -> Figure:
    """One game as a figure of its own, in the pictures that it was played with."""
    looks = np.asarray(as_shown(run, game).candidates) % run.setting.world.variety
    size = 1.5 * len(game.candidates) + 2.5, 1.15 * (len(found) + 1) + 0.6
    figure = Figure(figsize=size, layout="constrained")
    draw_in(figure, run.setting.space, np.asarray(game.candidates), int(game.target), found, looks)
    return figure


def draw_in(
    place: FigureBase,
    space: Space,
    candidates: Int[np.ndarray, " candidates"],
    target: int,
    found: list[Thought],
    looks: Int[np.ndarray, " candidates"] | None = None,
) -> None:
    """A row a phase under the candidates: her words on the left, his belief below each candidate. `looks` tells which
    of its pictures each candidate is shown in, by default the first."""
    columns, rows = len(candidates) + 1, len(found) + 1
    axes = place.subplots(rows, columns, width_ratios=[1.6, *[1.0] * len(candidates)], squeeze=False)
    axes[0, 0].axis("off")
    told = "left: what she would\nsay of the target;\nbelow each candidate:\nwhat he then believes"
    axes[0, 0].text(0, 0.5, told, va="center", fontsize=8, color=INK, transform=axes[0, 0].transAxes)
    for i, axis in enumerate(axes[0, 1:]):
        show_instance(axis, space, int(candidates[i]), i == target, 0 if looks is None else int(looks[i]))
    for row, thought in zip(axes[1:], found, strict=True):
        show_words(row[0], space, thought)
        for i, axis in enumerate(row[1:]):
            show_belief(axis, float(thought.belief[i]), i == target, i == int(np.argmax(thought.belief)))


def show_instance(axis: Axes, space: Space, instance: int, is_target: bool, look: int) -> None:
    axis.set(xticks=[], yticks=[])
    if space.pictures is not None:
        axis.imshow(space.pictures[instance, look])
    else:
        words = space.labels[instance] if space.labels else "\n".join(wrapped(space.names(instance)))
        axis.text(
            0.5, 0.5, words, ha="center", va="center", fontsize=9, color=INK, transform=axis.transAxes, parse_math=False
        )
    for side in axis.spines.values():
        side.set(color=TARGET if is_target else "#bbbbbb", linewidth=2.5 if is_target else 0.8)
    if is_target:
        axis.set_title("target", fontsize=8, color=TARGET, pad=3)


def wrapped(names: list[str], letters: int = 14) -> list[str]:
    """Names with commas between, in lines."""
    lines = [""]
    for name in names:
        longer = f"{lines[-1]}, {name}" if lines[-1] else name
        lines[-1:] = [longer] if len(longer) <= letters or not lines[-1] else [lines[-1] + ",", name]
    return lines


def show_words(axis: Axes, space: Space, thought: Thought) -> None:
    best = np.argsort(-thought.speaking, kind="stable")[: min(SHOWN, len(thought.speaking))][::-1]
    colours = [TARGET if i == thought.message else SOFT for i in best]
    places = range(len(best))
    axis.barh(places, thought.speaking[best], color=colours, height=0.7)
    axis.set_yticks(places, [space.attributes[i] for i in best], parse_math=False)
    axis.set(xlim=(0, 1), xticks=[])
    axis.tick_params(axis="y", length=0, labelsize=7)
    axis.set_title("before" if thought.phase == 0 else f"after phase {thought.phase}", fontsize=8, loc="left", pad=3)
    axis.spines[["top", "right", "bottom"]].set_visible(False)


def show_belief(axis: Axes, belief: float, is_target: bool, is_answer: bool) -> None:
    axis.bar([0], [belief], color=TARGET if is_target else SOFT, width=0.6)
    weight = "bold" if is_answer else "normal"
    axis.text(0, belief + 0.05, f"{100 * belief:.0f} %", ha="center", fontsize=8, color=INK, weight=weight)
    axis.set(xlim=(-0.6, 0.6), ylim=(0, 1.3), xticks=[], yticks=[])
    axis.spines[["top", "right", "left"]].set_visible(False)
