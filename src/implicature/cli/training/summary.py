"""What a trained pair can do, beside its start, the paper and the exact recursion, and one of its dialogues."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from implicature.agents.contracts import Pair
from implicature.agents.rollout import boltzmann
from implicature.evaluation.ceiling import CEILING_DEPTH, exact_success, game_lexicon
from implicature.evaluation.difficulty import hard_games
from implicature.evaluation.held_out import aggregate, held_out_games, play_pair
from implicature.evaluation.rollouts import CHUNK, GameResults, summarize
from implicature.experiments.paper.example_games import (
    CANDIDATE_GAMES,
    beliefs_by_phase,
    draw_game,
    pick_game,
    pick_learned,
    play_example,
)
from implicature.experiments.paper.published import paper_figures
from implicature.files import name_in_errors
from implicature.games.sampling import Game
from implicature.profiling import part
from implicature.training.config import BASELINES
from implicature.training.runs.run import EXAMPLE, Run

TEST_GAMES = 10_000
BASELINE_BETA = 1.0
"""A baseline's values are log probabilities."""


@dataclass(frozen=True)
class Prepared:
    """What does not depend on the training: the test games, and how often the exact recursion finds their targets."""

    games: Game
    exact: Float[np.ndarray, " games"]


def prepare_summary(run: Run) -> Prepared:
    """Done while a pair trains. It also compiles the program that plays test games."""
    games = held_out_games(run.task, TEST_GAMES, seed=0)
    exact = exact_success(game_lexicon(run.task.data.semantics, games.candidates), games.target)[:, -1]
    first = jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, run.pairs)
    play_pair(first, run.task, jax.tree.map(lambda leaf: leaf[:CHUNK], games))
    return Prepared(games, exact)


@dataclass(frozen=True)
class Evaluated:
    """Test games as each pair plays them, before the first phase (empty where the run did not keep it) and now."""

    prepared: Prepared
    start: list[GameResults]
    trained: list[GameResults]


def evaluate_run(run: Run, prepared: Prepared | None = None) -> Evaluated:
    with part("evaluating"):
        prepared = prepared or prepare_summary(run)
        before = [0] if run.phase_file(0).exists() else []
        start, trained = (
            [play_pair(pair, run.task, prepared.games) for phase in phases for pair in all_pairs(run, phase)]
            for phases in (before, [None])
        )
    return Evaluated(prepared, start, trained)


def all_pairs(run: Run, phase: int | None) -> list[Pair]:
    return [run.pair(phase, i) for i in range(run.config.optimiser.pairs)]


def print_summary(run: Run, prepared: Prepared | None = None) -> None:
    """Ours, the paper's and the exact recursion's figures, and one dialogue before and after."""
    console, evaluated = Console(), evaluate_run(run, prepared)
    console.print(summary_table(run, evaluated))
    print_example(run, console, evaluated)
    print(f"The run is in {run.folder}: `implicature evaluate`, `implicature watch` take it from there.")


def summary_figures(run: Run, prepared: Prepared | None = None) -> dict[str, Any]:
    """The same as `--json` prints it, figures as in `evaluate --json`."""
    evaluated = evaluate_run(run, prepared)
    start, trained = ([summarize(one) for one in each] for each in (evaluated.start, evaluated.trained))
    hard = evaluated.prepared.exact[hard_games(evaluated.trained[0].hardness)]
    exact = {"accuracy": float(evaluated.prepared.exact.mean()), "hard_accuracy": float(hard.mean())}
    before = aggregate(start) if start else None
    return {"run": str(run.folder), "start": before, "trained": aggregate(trained), "exact": exact}


def percent(values: list[float]) -> str:
    if not values:
        return "–"
    spread = f" ± {100 * np.std(values):.1f}" if len(values) > 1 else ""
    return f"{100 * np.mean(values):.1f}{spread}"


def summary_table(run: Run, evaluated: Evaluated) -> Table:
    config, paper = run.config, paper_figures(run.config)
    first, exact = evaluated.trained[0], evaluated.prepared.exact
    start, ours = ([summarize(one) for one in each] for each in (evaluated.start, evaluated.trained))
    method = config.method.method
    baseline = method in BASELINES
    name = f"{config.game.space or config.game.game}{'' if method == 'pragmatic' else f', {method}'}"
    title = escape(f"{name}: {TEST_GAMES:,} test games, argmax")
    grounded = config.grounding.grounded
    # The start first. Together no wider than a terminal of 80 columns.
    columns = ("literal" if grounded else "random"), "trained", "paper", f"exact, depth {CEILING_DEPTH}"
    table = Table("test games, %", *columns, title=title)
    hard = exact[hard_games(first.hardness)].mean()
    rows = {"accuracy": exact.mean(), "hard_accuracy": hard, **({"valid": 1.0} if grounded else {})}
    for key, best in rows.items():
        theirs = f"{100 * paper[key]:.1f}" if key in paper else "–"
        shown = key.replace("_", " ") if key != "valid" else "messages true of the target"
        before = percent([one[key] for one in start])
        table.add_row(shown, before, percent([one[key] for one in ours]), theirs, f"{100 * best:.1f}")
    if baseline:
        games, speak = evaluated.prepared.games, boltzmann(BASELINE_BETA)
        sampled = [play_pair(pair, run.task, games, speak=speak) for pair in all_pairs(run, None)]
        table.add_row(
            "accuracy, speaker sampled", "–", percent([float(one.success.mean()) for one in sampled]), "–", "–"
        )
    for level, played in ours[0]["by_level"].items():
        here = first.level == (-1 if level == "none" else int(level))
        before, after = (percent([one["by_level"][level]["accuracy"] for one in each]) for each in (start, ours))
        label = f"level {level} (n = {round(played['fraction'] * TEST_GAMES):,})"
        table.add_row(label, before, after, "–", f"{100 * exact[here].mean():.1f}")
    return table


def dialogue_text(pair: Pair, run: Run, game: Game) -> str:
    """What is said and believed in one game."""
    task = run.task
    space, rules = task.space, task.rules
    played, _, said = play_example(run, pair, game)
    lines = []
    for i in range(int(played.n_messages)):
        belief = ", ".join(f"{100 * float(b):.0f} %" for b in played.after[i])
        action = int(played.action[i])
        answer = "waits" if action == rules.wait else f"picks {space.label(int(game.candidates[action]))}"
        lines.append(f"she says “{task.words[int(said[i])]}”; he believes {belief} and {answer}")
    return "; ".join(lines) + f": {'right' if float(played.success) > 0 else 'wrong'}"


def pick_played(evaluated: Evaluated) -> Game:
    """One of the first test games that were played, as `pick_game` chooses."""
    some, trained = slice(CANDIDATE_GAMES), evaluated.trained[0]
    learned = trained.success[some] == 1
    learned = learned & (evaluated.start[0].success[some] == 0) if evaluated.start else np.zeros_like(learned)
    return pick_learned(evaluated.prepared.games, trained.level[some], learned)


def print_example(run: Run, console: Console, evaluated: Evaluated | None = None) -> None:
    """The same game before the first phase and after the last."""
    game = pick_game(run) if evaluated is None else pick_played(evaluated)
    space, target = run.task.space, int(game.target)
    shown = "  ".join(
        f"[bold]{escape(space.label(int(o)))}[/bold]←target" if i == target else escape(space.label(int(o)))
        for i, o in enumerate(jnp.asarray(game.candidates))
    )
    console.print(f"\nOne game: {shown}")
    for phase in dict.fromkeys((0, run.config.optimiser.phases)):
        if run.phase_file(phase).exists():
            when = "before" if phase == 0 else "after"
            console.print(f"  {when}: {dialogue_text(run.pair(phase), run, game)}", highlight=False, markup=False)
    path = run.folder / EXAMPLE
    if not path.exists():
        with part("drawing pictures"), name_in_errors(path):
            draw_game(run, game, beliefs_by_phase(run, game)).savefig(path, dpi=130)
    console.print(f"  The game as a figure, phase by phase: {path}", highlight=False, markup=False, soft_wrap=True)
    console.print()
