"""Any player asked about a game that a person has typed, in the names that were typed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from implicature.evaluation.players import Player, load_player
from implicature.evaluation.queries import load_players
from implicature.games.context import Context
from implicature.games.typed import typed_arrays
from implicature.training.runs.run import Run


def player_context(
    player: Player, candidates: Sequence[str], options: Mapping[str, Any]
) -> tuple[Player, Context, list[list[str]] | None]:
    """The player (a run opened), the context in the names of its space, and what each candidate is shown as."""
    opened: dict[Path, Run] = {}
    spec = load_player(player, opened)
    if spec.run is not None:
        if options.get("space") is not None:
            raise ValueError("A run knows its own space: leave out --space.")
        options = {**options, "space": spec.run.task.space}
    arrays, shown = typed_arrays(candidates, **options)
    return player, Context(arrays=arrays), shown


def ask_player(
    player: Player,
    candidates: Sequence[str],
    target: str | None,
    said: Sequence[str],
    phase: int | None,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """What she says for the target (or for each candidate), what she expects him to believe after every word, and what
    he believes."""
    player, context, _ = player_context(player, candidates, options)
    teacher, student = load_players(player, phase=phase)
    names = list(context.candidates)
    positions = range(len(names)) if target is None else [target_position(context, target)]
    says = {names[i]: teacher.speak(context, i, said) for i in positions}
    words = list(next(iter(says.values())))
    return {
        "player": teacher.spec.name,
        "candidates": names,
        "said": list(said),
        "says": says,
        "expects": teacher.expects(context, said),
        "believes": {word: student.listen(context, *said, word) for word in words},
    }


def target_position(context: Context, target: str) -> int:
    """By name, or by number from 1 where no candidate is called that."""
    if target.strip() not in context.candidates and target.strip().isdecimal():
        number = int(target)
        if 1 <= number <= len(context.candidates):
            return number - 1
    return context.position(target)
