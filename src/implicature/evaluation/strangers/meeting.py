"""A run meets strangers: its accuracy with each of them in both roles, beside self-play.

accuracy(p) = ½ (A[run, p] + A[p, run]),   mean and worst over partners p,   means over the pairs of the run
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from implicature.agents.contracts import AbstractStudent, AbstractTeacher, Pair
from implicature.evaluation.held_out import held_out_games
from implicature.evaluation.matchup import load_agents, shared_task
from implicature.evaluation.players import load_player, run_agents
from implicature.evaluation.strangers.matrix import Cell, Table
from implicature.evaluation.strangers.partners import Partner, exact_partners, learned_partners, run_partners
from implicature.training.runs.run import Run
from implicature.training.task import Task


@dataclass(frozen=True)
class Meeting:
    """A run, its strangers, and the test games of the run."""

    name: str
    run: Run
    own: list[Partner]
    """The pairs of the run."""
    strangers: list[Partner]
    task: Task
    table: Table

    @property
    def players(self) -> list[Partner]:
        return [*self.own, *self.strangers]

    def cells(self, everybody: bool) -> list[Cell]:
        """Who plays with whom: the run with itself and with all others, these with themselves; or everybody."""
        own, number = len(self.own), len(self.players)
        every = [(i, j) for i in range(number) for j in range(number)]
        return every if everybody else [(i, j) for i, j in every if i == j or i < own or j < own]


def load_meeting(
    run_name: str, partners: Sequence[str] = (), games: int = 20_000, seed: int = 0, phase: int | None = None
) -> Meeting:
    """A run and strangers: those of the package, and others by name: exact players, runs of its space and split."""
    opened: dict[Path, Run] = {}
    spec = load_player(run_name, opened)
    if spec.run is None:
        raise ValueError(f"{run_name} is not a run: strangers meet the pair of a run's folder.")
    others = [load_player(name, opened) for name in partners]
    for other in others:
        if other.function is not None:
            raise ValueError(
                f"{other.name} has one role, but strangers have both: let it play with `implicature evaluate`."
            )
    task = shared_task(opened)
    run_agents(spec.run, "teacher", phase, spec.pair_index)  # an error where there is no such phase or pair
    name = Path(spec.name).name
    own = run_partners(spec.run, name, phase, spec.pair_index)
    named: list[Partner] = []
    for other in others:
        if other.run is not None:
            run_agents(other.run, "teacher", None, other.pair_index)
            named += run_partners(other.run, other.name, None, other.pair_index)
            continue
        (teacher, _), (student, _) = (
            load_agents(other, role, task.space, task.rules, None)[0] for role in ("teacher", "student")
        )
        assert isinstance(teacher, AbstractTeacher)
        assert isinstance(student, AbstractStudent)
        named.append(Partner(other.name, Pair(teacher, student)))
    strangers = [*exact_partners(task.rules), *learned_partners(task, spec.run.folder), *named]
    test = held_out_games(task, games, seed)
    return Meeting(name, spec.run, own, strangers, task, Table([*own, *strangers], task, test, seed))


def meet(meeting: Meeting, everybody: bool = False, advance: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """The figures, as fractions of 1. With `everybody` also the whole table, teachers × students."""
    found = meeting.table.play(meeting.cells(everybody), advance)
    own, names = range(len(meeting.own)), [player.name for player in meeting.players]
    partners: dict[str, dict[str, float]] = {}
    for j in range(len(own), len(names)):
        teaches = float(np.mean([found[i, j] for i in own]))
        learns = float(np.mean([found[j, i] for i in own]))
        partners[names[j]] = {
            "accuracy": (teaches + learns) / 2, "as_teacher": teaches, "as_student": learns, "self_play": found[j, j],
        }  # fmt: skip
    each = {name: one["accuracy"] for name, one in partners.items()}
    worst = min(each, key=lambda name: each[name])
    figures: dict[str, Any] = {
        "self_play": float(np.mean([found[i, i] for i in own])),
        "mean": float(np.mean(list(each.values()))),
        "worst": each[worst],
        "worst_partner": worst,
        "chance": 1 / meeting.table.rules.candidates,
        "games": len(meeting.table.games.target),
        "pairs": len(own),
        "partners": partners,
    }
    if len(own) > 1:
        figures["cross_play"] = float(np.mean([found[i, j] for i in own for j in own if i != j]))
    if everybody:
        number = range(len(names))
        figures["players"] = names
        figures["table"] = [[found[i, j] for j in number] for i in number]
    return figures
