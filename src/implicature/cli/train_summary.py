"""What a trained pair can do, beside the paper and the ceiling, and one of its dialogues."""

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from implicature.agents.rollout import softly
from implicature.agents.rsa import greedy_accuracy, soft_recursion
from implicature.cli.train_example import example
from implicature.evaluation.difficulty import hard_games
from implicature.evaluation.held_out import held_out_games, played_by
from implicature.evaluation.rollouts import Played, summary
from implicature.experiments.paper import paper_figures
from implicature.training.algorithm1 import beta_of
from implicature.training.run import Run


def ceiling(played: Played, depth: int = 10) -> np.ndarray:
    """The chance of each game's target to be found by the exact players of this depth."""

    @jax.jit
    @jax.vmap
    def one(truth, target):
        belief = soft_recursion(truth, depth).student[-1]
        return greedy_accuracy(truth, belief, belief)[target]

    return np.asarray(one(jnp.asarray(played.truth), jnp.asarray(played.target)))


def report(run: Run) -> None:
    """Ours, the paper's and the exact ceiling, and one dialogue before and after."""
    console = Console()
    config = run.setting.config
    games = held_out_games(run.setting, 10_000, seed=0)
    runs = [played_by(run.pair(index=i), run.setting, games) for i in range(config.seeds)]
    ours, exact, paper = [summary(played) for played in runs], ceiling(runs[0]), paper_figures(config)
    first = runs[0]

    def share(values: list[float]) -> str:
        spread = f" ± {100 * np.std(values):.1f}" if len(values) > 1 else ""
        return f"{100 * np.mean(values):.1f}{spread}"

    method = "" if config.method == "pragmatic" else f", {config.method}"
    title = escape(f"{config.space or config.game}{method}: 10,000 test games, greedy")
    table = Table("test games, %", "ours", "paper", "exact ceiling", title=title)
    hard = exact[hard_games(first.hardness)].mean()
    for name, best in (("accuracy", exact.mean()), ("hard_accuracy", hard), ("valid", 1.0)):
        theirs = f"{100 * paper[name]:.1f}" if name in paper else "–"
        shown = name.replace("_", " ") if name != "valid" else "messages true of the target"
        table.add_row(shown, share([one[name] for one in ours]), theirs, f"{100 * best:.1f}")
    if config.method != "pragmatic":
        speak = softly(beta_of(config, run.setting.rules))
        sampled = [played_by(run.pair(index=i), run.setting, games, speak=speak) for i in range(config.seeds)]
        table.add_row("accuracy, speaker sampled", share([float(played.found.mean()) for played in sampled]), "–", "–")
    for level, mine in ours[0]["by_level"].items():
        here = first.level == (-1 if level == "none" else int(level))
        found = [one["by_level"][level]["accuracy"] for one in ours]
        label = f"level {level} ({100 * mine['share']:.1f} % of targets)"
        table.add_row(label, share(found), "–", f"{100 * exact[here].mean():.1f}")
    console.print(table)
    example(run, console)
    print(f"The run is in {run.folder}: `implicature evaluate`, `implicature watch` take it from there.")
