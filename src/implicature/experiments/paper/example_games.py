"""One game, phase by phase: what the teacher would say of the target, and what the student then believes (figure 2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from matplotlib.font_manager import FontProperties, findfont, get_font

from implicature.agents.contracts import Pair
from implicature.agents.perspectives import Perspectives
from implicature.agents.rollout import Rollout, rollout
from implicature.evaluation.ceiling import game_lexicon
from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.teaching_dimension import levels
from implicature.games.sampling import Game
from implicature.spaces import Space
from implicature.spaces.images import instance_image
from implicature.training.runs.run import Run
from implicature.training.task import GameData

MAX_WORDS = 5
"""The most likely words that a row shows."""
CANDIDATE_GAMES = 200
"""An example is picked from so many test games."""
INK, SOFT, TARGET = "#222222", "#9db4d3", "#d1495b"
LEGEND = "left: what she would\nsay of the target;\nbelow each candidate:\nwhat he then believes"


@dataclass(frozen=True)
class FirstRound:
    """The first round of a game, as played after a phase."""

    phase: int
    message_probabilities: Float[np.ndarray, " messages"]
    """softmax(β Q)"""
    message: int
    belief: Float[np.ndarray, " candidates"]
    """The student's after the message, in the teacher's order."""


def pick_game(run: Run, level: int = 1) -> Game:
    """A test game that takes pragmatic inference: its target has this level, or the highest there is. Where there is
    one, a game that the pair gets wrong before the first phase and right after the last."""
    games = held_out_games(run.task, CANDIDATE_GAMES, seed=1)
    lexicon = game_lexicon(run.task.data.semantics, games.candidates)
    found = np.asarray(jax.vmap(levels)(lexicon))[np.arange(CANDIDATE_GAMES), np.asarray(games.target)]
    learned = np.zeros(CANDIDATE_GAMES, bool)
    if run.phase_file(0).exists():
        before, after = (play_pair(run.pair(phase), run.task, games).success for phase in (0, None))
        learned = (before == 0) & (after == 1)
    return pick_learned(games, found, learned, level)


def pick_learned(
    games: Game, levels: Int[np.ndarray, " games"], learned: Bool[np.ndarray, " games"], level: int = 1
) -> Game:
    """The first game that was learned and has this level, or the highest there is; else the first with either."""
    wanted = levels == level if (levels == level).any() else levels == levels.max()
    pick = int(np.argmax(2 * learned + wanted))
    return jax.tree.map(lambda leaf: leaf[pick], games)


def with_views(run: Run, game: Game) -> Game:
    """The game with observations for candidates: of several images of an instance the same one every time."""
    return run.task.data.with_views(jax.random.key(0), game)


@eqx.filter_jit
def both_sides(pair: Pair, data: GameData, game: Game) -> Perspectives:
    """A game as each agent of a pair sees it: of several images of an instance the same one every time."""
    return data.perspectives(data.with_views(jax.random.key(0), game), pair.encode_all(data.observations))


def play_example(
    run: Run, pair: Pair, game: Game
) -> tuple[Rollout, Float[np.ndarray, " messages"], Int[np.ndarray, " rounds"]]:
    """One game played, how likely each word was in the first round, and which words were said."""
    seen = both_sides(pair, run.task.data, game)
    played = eqx.filter_jit(rollout)(jax.random.key(0), pair.teacher, pair.student, seen, run.task.rules)
    probabilities = eqx.filter_jit(pair.teacher.message_probabilities)(played.values[0])
    likely = jnp.zeros(len(run.task.space.words)).at[seen.said(jnp.arange(len(probabilities)))].set(probabilities)
    return jax.device_get((played, likely, seen.said(played.message)))


def beliefs_by_phase(run: Run, game: Game) -> list[FirstRound]:
    """The first round before the first phase and after each."""
    rounds = []
    for phase in range(run.config.optimiser.phases + 1):
        if run.phase_file(phase).exists():
            played, probabilities, said = play_example(run, run.pair(phase), game)
            rounds.append(FirstRound(phase, probabilities, int(said[0]), np.asarray(played.after[0])))
    return rounds


def draw_game(run: Run, game: Game, rounds: list[FirstRound]) -> Figure:
    """One game as a figure of its own, with the images it was played with."""
    views = np.asarray(with_views(run, game).candidates) % run.task.data.views_per_instance
    size = 1.5 * len(game.candidates) + 2.5, 1.15 * (len(rounds) + 1) + 0.6
    figure = Figure(figsize=size, layout="constrained")
    draw_rounds(figure, run.task.space, np.asarray(game.candidates), int(game.target), rounds, views, run.task.words)
    return figure


def draw_rounds(
    figure: FigureBase,
    space: Space,
    candidates: Int[np.ndarray, " candidates"],
    target: int,
    rounds: list[FirstRound],
    views: Int[np.ndarray, " candidates"] | None = None,
    words: Sequence[str] | None = None,
) -> None:
    """A row for each phase under the candidates: the teacher's words on the left, the student's belief below each
    candidate. `views` are the images that candidates are shown in, by default the first of each; `words` are the names
    of the messages, by default the attributes."""
    columns = len(candidates) + 1
    axes = figure.subplots(len(rounds) + 1, columns, width_ratios=[1.6, *[1.0] * len(candidates)], squeeze=False)
    axes[0, 0].axis("off")
    axes[0, 0].text(0, 0.5, LEGEND, va="center", fontsize=8, color=INK, transform=axes[0, 0].transAxes)
    for i, axis in enumerate(axes[0, 1:]):
        draw_instance(axis, space, int(candidates[i]), i == target, 0 if views is None else int(views[i]))
    for row, one in zip(axes[1:], rounds, strict=True):
        draw_words(row[0], words or space.attributes, one)
        for i, axis in enumerate(row[1:]):
            draw_belief(axis, float(one.belief[i]), i == target, i == int(np.argmax(one.belief)))


def draw_instance(axis: Axes, space: Space, instance: int, is_target: bool, view: int) -> None:
    axis.set(xticks=[], yticks=[])
    if space.images is not None:
        axis.imshow(instance_image(space, instance, view))
    else:
        label = space.labels[instance] if space.labels else ""
        words = label if label and has_glyphs(label) else "\n".join(wrap_names(space.names(instance)))
        axis.text(
            0.5, 0.5, words, ha="center", va="center", fontsize=9, color=INK, transform=axis.transAxes, parse_math=False
        )
    for side in axis.spines.values():
        side.set(color=TARGET if is_target else "#bbbbbb", linewidth=2.5 if is_target else 0.8)
    if is_target:
        axis.set_title("target", fontsize=8, color=TARGET, pad=3)


def has_glyphs(text: str) -> bool:
    """Whether the figure's font can write it: it has no emoji, which are then shown by their words."""
    font = get_font(findfont(FontProperties()))
    return all(font.get_char_index(ord(character)) for character in text)


def wrap_names(names: list[str], letters: int = 14) -> list[str]:
    """Names with commas between, in lines."""
    lines = [""]
    for name in names:
        longer = f"{lines[-1]}, {name}" if lines[-1] else name
        lines[-1:] = [longer] if len(longer) <= letters or not lines[-1] else [lines[-1] + ",", name]
    return lines


def draw_words(axis: Axes, words: Sequence[str], played: FirstRound) -> None:
    probabilities = played.message_probabilities
    best = np.argsort(-probabilities, kind="stable")[: min(MAX_WORDS, len(probabilities))][::-1]
    colours = [TARGET if i == played.message else SOFT for i in best]
    places = range(len(best))
    axis.barh(places, probabilities[best], color=colours, height=0.7)
    axis.set_yticks(places, [words[int(i)] for i in best], parse_math=False)
    axis.set(xlim=(0, 1), xticks=[])
    axis.tick_params(axis="y", length=0, labelsize=7)
    axis.set_title("before" if played.phase == 0 else f"after phase {played.phase}", fontsize=8, loc="left", pad=3)
    axis.spines[["top", "right", "bottom"]].set_visible(False)


def draw_belief(axis: Axes, belief: float, is_target: bool, is_answer: bool) -> None:
    axis.bar([0], [belief], color=TARGET if is_target else SOFT, width=0.6)
    weight = "bold" if is_answer else "normal"
    axis.text(0, belief + 0.05, f"{100 * belief:.0f} %", ha="center", fontsize=8, color=INK, weight=weight)
    axis.set(xlim=(-0.6, 0.6), ylim=(0, 1.3), xticks=[], yticks=[])
    axis.spines[["top", "right", "left"]].set_visible(False)
