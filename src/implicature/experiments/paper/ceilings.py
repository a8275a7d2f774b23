"""Ceilings: how well players that compute pragmatics exactly do in the paper's four games. Test games, no learning."""

from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from implicature.agents.rsa import Recursion, hard_recursion, no_clash, soft_recursion
from implicature.evaluation.ceiling import success_by_depth
from implicature.evaluation.difficulty import hard_games, hardness
from implicature.evaluation.teaching_dimension import levels
from implicature.experiments.results import Result, TaskSpec, command, percent, version
from implicature.experiments.table import Number, Row, Table
from implicature.games.registry import GAMES, load_game
from implicature.games.sampling import draw_games

SEED = 0
DEPTHS = (0, 1, 2, 3, 6, 10)
Lexicon = Bool[Array, "candidates messages"]

Play = Callable[[Lexicon], Recursion]
RECURSIONS: dict[str, Play] = {
    "share β=10": lambda lexicon: soft_recursion(lexicon, DEPTHS[-1], 10.0, "share"),
    "share β=20": lambda lexicon: soft_recursion(lexicon, DEPTHS[-1], 20.0, "share"),
    "share β=100": lambda lexicon: soft_recursion(lexicon, DEPTHS[-1], 100.0, "share"),
    "indicator β=10": lambda lexicon: soft_recursion(lexicon, DEPTHS[-1], 10.0, "indicator"),
    "best response": lambda lexicon: hard_recursion(lexicon, DEPTHS[-1], "indicator"),
}
"""Each with its literal teacher: see agents/rsa.py."""
KEY = ("game",)
CHUNK = 8_192
"""Games that are computed at once. Not in blocks (`exact_success`): there, other rounding changes 0.01 points of what
deep recursions reach, and these rows are to be made again as they are."""


def tasks() -> list[TaskSpec]:
    return [{"game": name} for name in GAMES]


def run(task: TaskSpec, games: int, runs: Path) -> list[Result]:
    """Every player in one game."""
    space, candidates = load_game(task["game"])
    test = draw_games(jax.random.key(SEED), games, candidates, space.instances, "test")
    lexicon = jnp.asarray(space.table)[test.candidates]
    hard = hard_games(np.asarray(jax.jit(jax.vmap(hardness))(lexicon, test.target)))
    provenance = {"games": games, "seed": SEED, "version": version(), "command": command()}

    def result(player: str, depth: int | None, success: Float[np.ndarray, " games"]) -> Result:
        figures = {
            "accuracy": success.mean(),
            "accuracy_error": success.std() / len(success) ** 0.5,
            "hard_accuracy": success[hard].mean(),
        }
        return {**task, "player": player, "depth": depth, **percent(figures, figures), **provenance}

    results = []
    for player, recursion in RECURSIONS.items():

        def by_depth(game: tuple[Array, Array], play: Play = recursion) -> Array:
            return success_by_depth(play(game[0]), *game)

        batched = jax.jit(lambda games, one=by_depth: jax.lax.map(one, games, batch_size=CHUNK))
        success = np.asarray(batched((lexicon, test.target)))
        results += [result(player, depth, success[:, depth]) for depth in DEPTHS]
    at_target = np.arange(games), np.asarray(test.target)
    matched = np.asarray(jax.jit(jax.vmap(no_clash))(lexicon))[at_target] >= 0
    results.append(result("no-clash", None, matched.astype(float)))
    level = np.asarray(jax.jit(jax.vmap(levels))(lexicon))[at_target]
    for k in range(-1, level.max() + 1):
        results.append(result(f"fraction of level {'none' if k < 0 else k}", None, (level == k).astype(float)))
    return results


def render(results: list[Result]) -> list[Table]:
    """Accuracy by depth, and on hard games at the deepest."""
    rows = []
    for game in GAMES:
        for player in RECURSIONS:
            own = {str(one["depth"]): one for one in results if (one["game"], one["player"]) == (game, player)}
            if own:
                cells = [Number(float(own[str(depth)]["accuracy"]), 1) for depth in DEPTHS]
                hard = Number(float(own[str(DEPTHS[-1])]["hard_accuracy"]), 1)
                rows.append(Row(game, [player, *cells, hard]))
        for one in results:
            if one["game"] == game and one["depth"] in (None, ""):
                rows.append(Row(game, [one["player"], Number(float(one["accuracy"])), *[""] * len(DEPTHS)]))
    return [Table("game", ["player", *(f"t={depth}" for depth in DEPTHS), "hard"], rows)]
