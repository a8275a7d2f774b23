"""One dialogue before and after training, in words and as a picture."""

import equinox as eqx
import jax
import jax.numpy as jnp
from rich.console import Console
from rich.markup import escape

from implicature.agents.rollout import dialogue, greedily
from implicature.experiments.example_games import as_shown, draw_game, telling_game, thoughts
from implicature.games.sampling import Game
from implicature.training.algorithm1 import Pair, views
from implicature.training.run import Run


def transcript(pair: Pair, run: Run, game: Game) -> str:
    """What is said and thought in one game."""
    setting = run.setting
    space, rules = setting.space, setting.rules
    shown = views(as_shown(run, game), eqx.filter_jit(pair.sights)(setting.world.looks))
    played = eqx.filter_jit(dialogue)(
        jax.random.key(0), pair.teacher, pair.student, shown, rules, greedily, greedily, told=False
    )
    lines = []
    for i in range(int(played.length)):
        belief = ", ".join(f"{100 * float(b):.0f} %" for b in played.after[i])
        action = int(played.action[i])
        answer = "waits" if action == rules.wait else f"picks {space.label(int(game.candidates[action]))}"
        lines.append(f"she says “{space.attributes[int(played.message[i])]}”; he believes {belief} and {answer}")
    right = "right" if float(played.found) > 0 else "wrong"
    return "; ".join(lines) + f": {right}"


def example(run: Run, console: Console) -> None:
    """The same game before the first phase and after the last."""
    game = telling_game(run)
    space, target = run.setting.space, int(game.target)
    shown = "  ".join(
        f"[bold]{escape(space.label(int(o)))}[/bold]←target" if i == target else escape(space.label(int(o)))
        for i, o in enumerate(jnp.asarray(game.candidates))
    )
    console.print(f"\nOne game: {shown}")
    for phase in dict.fromkeys((0, run.setting.config.phases)):
        if run.phase_file(phase).exists():
            when = "before" if phase == 0 else "after"
            console.print(f"  {when}: {transcript(run.pair(phase), run, game)}", highlight=False, markup=False)
    picture = run.folder / "example.png"
    if not picture.exists():
        draw_game(run, game, thoughts(run, game)).savefig(picture, dpi=130)
    console.print(f"  The game in pictures, phase by phase: {picture}", highlight=False, markup=False, soft_wrap=True)
    console.print()
