"""Ceilings: how well players that compute pragmatics exactly do in the paper's four games, test games, no learning."""

from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.rsa import Recursion, greedy_accuracy, hard_recursion, no_clash, soft_recursion
from implicature.evaluation.difficulty import hard_games, hardness
from implicature.evaluation.teaching_dimension import levels
from implicature.experiments.results import Row, command, version
from implicature.games.sampling import GAMES, draw_games, named_game

SEED = 0
DEPTHS = (0, 1, 2, 3, 6, 10)
Truth = Bool[Array, "candidates messages"]

RECURSIONS: dict[str, Callable[[Truth], Recursion]] = {
    "share β=10": lambda truth: soft_recursion(truth, DEPTHS[-1], 10.0, "share"),
    "share β=20": lambda truth: soft_recursion(truth, DEPTHS[-1], 20.0, "share"),
    "share β=100": lambda truth: soft_recursion(truth, DEPTHS[-1], 100.0, "share"),
    "indicator β=10": lambda truth: soft_recursion(truth, DEPTHS[-1], 10.0, "indicator"),
    "best response": lambda truth: hard_recursion(truth, DEPTHS[-1], "indicator"),
}


def accuracies(play: Callable[[Truth], Recursion], truth: Truth, target: Int[Array, ""]) -> Float[Array, " depths"]:
    """The chance that the target is found with the student of each depth and the teacher who responds to him."""
    students = play(truth).student[jnp.asarray(DEPTHS)]
    return jax.vmap(lambda belief: greedy_accuracy(truth, belief, belief)[target])(students)


KEY = ("game",)


def tasks() -> list[Row]:
    return [{"game": name} for name in GAMES]


def run(task: Row, games: int, runs: Path) -> list[Row]:
    """Every player in one game."""
    space, candidates = named_game(task["game"])
    drawn = draw_games(jax.random.key(SEED), games, candidates, space.instances, "test")
    truth = jnp.asarray(space.table)[drawn.candidates]
    hard = hard_games(np.asarray(jax.jit(jax.vmap(hardness))(truth, drawn.target)))
    made = {"games": games, "seed": SEED, "version": version(), "command": command()}

    def row(player: str, depth: int | None, found: Float[np.ndarray, " games"]) -> Row:
        figures = {
            "accuracy": found.mean(),
            "accuracy_error": found.std() / len(found) ** 0.5,
            "hard_accuracy": found[hard].mean(),
        }
        shares = {name: round(100 * float(value), 3) for name, value in figures.items()}
        return {**task, "player": player, "depth": depth, **shares, **made}

    rows = []
    for player, play in RECURSIONS.items():
        found = jax.jit(jax.vmap(lambda t, o, play=play: accuracies(play, t, o)))(truth, drawn.target)
        rows += [row(player, depth, np.asarray(found)[:, i]) for i, depth in enumerate(DEPTHS)]
    word = jax.jit(jax.vmap(no_clash))(truth)
    own = np.asarray(jnp.take_along_axis(word, drawn.target[:, None], axis=1))[:, 0] >= 0
    rows.append(row("no-clash", None, own.astype(float)))
    level = np.asarray(jax.jit(jax.vmap(levels))(truth))
    level = np.take_along_axis(level, np.asarray(drawn.target)[:, None], axis=1)[:, 0]
    for k in range(-1, level.max() + 1):
        rows.append(row("share of level none" if k < 0 else f"share of level {k}", None, (level == k).astype(float)))
    return rows


def render(rows: list[Row]) -> str:
    """A Markdown table: accuracy by depth, hard games at the deepest."""
    head = "| game | player | " + " | ".join(f"t={depth}" for depth in DEPTHS) + " | hard |"
    lines = [head, "|---" * (len(DEPTHS) + 3) + "|"]
    for name in GAMES:
        for player in RECURSIONS:
            mine = {str(row["depth"]): row for row in rows if (row["game"], row["player"]) == (name, player)}
            if not mine:
                continue
            cells = [f"{float(mine[str(depth)]['accuracy']):.1f}" for depth in DEPTHS]
            hard = f"{float(mine[str(DEPTHS[-1])]['hard_accuracy']):.1f}"
            lines.append(f"| {name} | {player} | " + " | ".join(cells) + f" | {hard} |")
        for row in rows:
            if row["game"] == name and row["depth"] in (None, ""):
                lines.append(f"| {name} | {row['player']} | {float(row['accuracy']):.2f} " + "|" * len(DEPTHS) + " |")
    return "\n".join(lines)
