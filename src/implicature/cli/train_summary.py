"""What a trained pair can do, beside the paper and the exact recursion, and one of its dialogues."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from implicature.agents.contracts import Pair
from implicature.agents.rollout import boltzmann, rollout
from implicature.evaluation.ceiling import CEILING_DEPTH, exact_success
from implicature.evaluation.difficulty import hard_games
from implicature.evaluation.held_out import held_out_games, play_pair
from implicature.evaluation.rollouts import GameResults, summarize
from implicature.experiments.example_games import beliefs_by_phase, draw_game, pick_game, with_views
from implicature.experiments.paper import paper_figures
from implicature.games.sampling import Game
from implicature.training.run import Run

TEST_GAMES = 10_000
BASELINE_BETA = 1.0
"""A baseline's values are log probabilities."""


def print_summary(run: Run) -> None:
    """Ours, the paper's and the exact recursion's figures, and one dialogue before and after."""
    console = Console()
    games = held_out_games(run.task, TEST_GAMES, seed=0)
    results = [play_pair(run.pair(index=i), run.task, games) for i in range(run.config.optimiser.seeds)]
    console.print(summary_table(run, games, results))
    print_example(run, console)
    print(f"The run is in {run.folder}: `implicature evaluate`, `implicature watch` take it from there.")


def percent(values: list[float]) -> str:
    spread = f" ± {100 * np.std(values):.1f}" if len(values) > 1 else ""
    return f"{100 * np.mean(values):.1f}{spread}"


def summary_table(run: Run, games: Game, results: list[GameResults]) -> Table:
    config, paper = run.config, paper_figures(run.config)
    first, ours = results[0], [summarize(one) for one in results]
    exact = exact_success(jnp.asarray(first.lexicon), jnp.asarray(first.target))[:, -1]
    baseline = config.method.method != "pragmatic"
    name = f"{config.game.space or config.game.game}{f', {config.method.method}' if baseline else ''}"
    title = escape(f"{name}: {TEST_GAMES:,} test games, argmax")
    table = Table("test games, %", "ours", "paper", f"exact recursion, depth {CEILING_DEPTH}", title=title)
    hard = exact[hard_games(first.hardness)].mean()
    for key, best in (("accuracy", exact.mean()), ("hard_accuracy", hard), ("valid", 1.0)):
        theirs = f"{100 * paper[key]:.1f}" if key in paper else "–"
        shown = key.replace("_", " ") if key != "valid" else "messages true of the target"
        table.add_row(shown, percent([one[key] for one in ours]), theirs, f"{100 * best:.1f}")
    if baseline:
        pairs = (run.pair(index=i) for i in range(config.optimiser.seeds))
        sampled = [play_pair(pair, run.task, games, speak=boltzmann(BASELINE_BETA)) for pair in pairs]
        table.add_row("accuracy, speaker sampled", percent([float(one.success.mean()) for one in sampled]), "–", "–")
    for level, part in ours[0]["by_level"].items():
        here = first.level == (-1 if level == "none" else int(level))
        accuracy = percent([one["by_level"][level]["accuracy"] for one in ours])
        label = f"level {level} ({100 * part['fraction']:.1f} % of targets)"
        table.add_row(label, accuracy, "–", f"{100 * exact[here].mean():.1f}")
    return table


def dialogue_text(pair: Pair, run: Run, game: Game) -> str:
    """What is said and believed in one game."""
    task = run.task
    space, rules = task.space, task.rules
    features = eqx.filter_jit(pair.encode_all)(task.data.observations)
    seen = task.data.perspectives(with_views(run, game), features)
    played = eqx.filter_jit(rollout)(jax.random.key(0), pair.teacher, pair.student, seen, rules)
    lines = []
    for i in range(int(played.n_messages)):
        belief = ", ".join(f"{100 * float(b):.0f} %" for b in played.after[i])
        action = int(played.action[i])
        answer = "waits" if action == rules.wait else f"picks {space.label(int(game.candidates[action]))}"
        lines.append(f"she says “{space.attributes[int(played.message[i])]}”; he believes {belief} and {answer}")
    return "; ".join(lines) + f": {'right' if float(played.success) > 0 else 'wrong'}"


def print_example(run: Run, console: Console) -> None:
    """The same game before the first phase and after the last."""
    game = pick_game(run)
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
    path = run.folder / "example.png"
    if not path.exists():
        draw_game(run, game, beliefs_by_phase(run, game)).savefig(path, dpi=130)
    console.print(f"  The game as a figure, phase by phase: {path}", highlight=False, markup=False, soft_wrap=True)
    console.print()
