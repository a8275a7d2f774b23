"""Any player's tables in one game, explained as the recursion's are: the literal ones, and then the player's."""

from dataclasses import replace

import numpy as np

from implicature.agents.exact_spec import ExactSpec
from implicature.agents.rsa import greedy_accuracy
from implicature.evaluation.players import Player
from implicature.evaluation.queries import load_players
from implicature.explanation.model import DepthTables, Explanation, explain_context
from implicature.games.context import Context


def explain_player(
    context: Context, player: Player, shown: list[list[str]] | None = None, phase: int | None = None
) -> Explanation:
    """What this player says of each candidate and believes after each of the context's words."""
    teacher, student = load_players(player, phase=phase)
    words, names = context.words, context.candidates
    said = [teacher.speak(context, i) for i in range(len(names))]
    heard = [student.listen(context, word) for word in words]
    tables = DepthTables(
        1, [[belief[name] for name in names] for belief in heard], [[each[word] for word in words] for each in said]
    )
    literal = explain_context(context.arrays(), ExactSpec(0), shown)
    values = np.array(tables.teacher), np.array(tables.student).T
    every = np.ones_like(values[0], bool)  # a learned teacher may say what is not true
    accuracy = greedy_accuracy(every, *values, context.arrays().cells)
    return replace(literal, depths=[*literal.depths, tables], accuracy=accuracy.tolist(), player=str(teacher.spec.name))
