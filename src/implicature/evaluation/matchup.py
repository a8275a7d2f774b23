"""Who plays: a side is named on the command line as

    RUN, RUN:1             the agent of a run's folder (of its pair number 1, where a run has several)
    exact, literal         who computes what we learn: the recursion of depth 3, and of depth 0
    my_module:my_agent     an agent of your own (agents/own.py); naming it imports the module, which runs its code

In Python a side may also be a run or a function itself. Two sides, of one run or of two, or of none, play test games
that no run among them was trained with.
"""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from implicature.agents.custom import OwnStudent, OwnTeacher, compiled
from implicature.agents.exact import ExactStudent, ExactTeacher, Recursion
from implicature.evaluation.held_out import held_out_games, sights_between
from implicature.evaluation.matchup_args import Sides
from implicature.games.sampling import Game, Rules, check_number
from implicature.nn.image_encoder import Sights
from implicature.spaces import Space
from implicature.training.config import Config
from implicature.training.run import Run, Setting, in_pictures_of, open_run, setting_of

Side = Literal["teacher", "student"]
Who = str | Path | Run | Callable
"""Whoever can sit on a side."""
DEPTHS = {"exact": 3, "literal": 0}


@dataclass(frozen=True)
class Meeting:
    """Pairs who play the same test games."""

    title: str
    setting: Setting
    rules: Rules
    games: Game
    pairs: list[tuple[Any, Any]]
    """A teacher and a student each."""
    novel: bool = False
    """Whether targets were held out from training."""
    pictures: str | None = None
    """Other pictures than those of the setting, by the name they were asked for."""

    def kinds(self) -> list[str]:
        """What is special about these test games."""
        return ["novel targets"] * self.novel + [f"pictures of {self.pictures}"] * (self.pictures is not None)

    def sights(self, teacher: Any, student: Any) -> Sights:
        return sights_between(teacher, student, self.setting.space)


class Seat(NamedTuple):
    """Somebody on a side: of a run, of one pair of it, an agent of one's own, or else an exact player."""

    name: str
    run: Run | None = None
    number: int | None = None
    function: Callable | None = None


def run_named(name: str) -> tuple[Path, int | None] | None:
    """The folder and the number of the pair, if this names a run."""
    folder, _, number = name.rpartition(":")
    if number.isdecimal() and Path(folder).is_dir() and folder:
        return Path(folder), int(number)
    return (Path(name), None) if Path(name).is_dir() or (":" not in name and name not in DEPTHS) else None


def of_run(run: Run, side: Side, phase: int | None, number: int | None) -> list[Any]:
    """The agents on one side of a run's pairs, or of one of them."""
    phase = run.setting.config.phases if phase is None else phase
    if phase < 0 or not run.phase_file(phase).exists():
        raise ValueError(
            f"{run.folder} has no pair after phase {phase}: it is not trained so far, or has fewer phases."
        )
    pairs = run.setting.config.seeds
    if number is not None and number >= pairs:
        raise ValueError(f"{run.folder} has no pair {number}: it has {pairs}, numbered from 0.")
    return [getattr(run.pair(phase, i), side) for i in (range(pairs) if number is None else [number])]


def imported(name: str) -> Callable:
    """module:object, from the current folder or wherever Python finds modules."""
    module, _, path = name.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as problem:
        raise ValueError(
            f"{name} cannot be imported ({type(problem).__name__}: {problem}): name an agent as module:object, "
            "the module in this folder or installed."
        ) from None
    finally:
        sys.path.remove(here)
    return own_agent(found, name)


def own_agent(found: Any, name: str) -> Callable:
    """An agent of one's own; of a class, one is made."""
    try:
        found = found() if isinstance(found, type) else found
    except Exception as problem:
        what = f"{type(problem).__name__}: {problem}"
        raise ValueError(f"{name} cannot be made ({what}): a class of agents is called without arguments.") from None
    if not callable(found):
        raise ValueError(f"{name} is not a function: an agent of your own is called with what it may see.")
    return found


def seated(who: Who, opened: dict[Path, Run]) -> Seat:
    """Who this is; a run is opened once for both sides."""
    if isinstance(who, Run):
        return Seat(str(who.folder), who)
    if not isinstance(who, str | Path):
        name = getattr(who, "__name__", type(who).__name__)
        return Seat(name, function=own_agent(who, name))
    if (of := run_named(str(who))) is not None:
        folder, number = of
        if folder not in opened:
            opened[folder] = open_run(folder)
        return Seat(str(who), opened[folder], number)
    return Seat(str(who), function=None if str(who) in DEPTHS else imported(str(who)))


def not_of_a_run(seat: Seat, side: Side, space: Space, rules: Rules, share: bool = True) -> Any:
    """An exact player, or one of your own."""
    if seat.function is None:
        depth = Recursion(DEPTHS[seat.name], share=share)
        return ExactTeacher(depth) if side == "teacher" else ExactStudent(depth, rules.message_cost)
    messages = space.table.shape[1]
    player = (
        OwnTeacher(seat.function, messages, seat.name) if side == "teacher" else OwnStudent(seat.function, seat.name)
    )
    if compiled(seat.function):
        check_compiled(player, side, space, rules)
    return player


def check_compiled(player: OwnTeacher | OwnStudent, side: Side, space: Space, rules: Rules) -> None:
    """Trace it once by itself, so that what is wrong with it is told as such."""

    def once() -> Any:
        candidates, zero = jnp.asarray(space.table[: rules.candidates], jnp.float32), jnp.asarray(0)
        mind = player.start(jnp.full(rules.candidates, 1 / rules.candidates), rules)
        if isinstance(player, OwnTeacher):
            return player.values(candidates, zero, mind)
        return player.policy(player.update(candidates, mind, zero), jnp.asarray(True))

    try:
        jax.eval_shape(once)
    except Exception as problem:
        what = str(problem).strip().splitlines()[0]
        raise ValueError(f"{player.name} is no {side} for this game ({type(problem).__name__}: {what}).") from None


@contextmanager
def own_words() -> Iterator[None]:
    """If an agent of one's own ends in an error, its sentence is told without what JAX says around it."""
    try:
        yield
    except jax.errors.JaxRuntimeError as problem:
        lines = [line for line in str(problem).splitlines() if "ValueError: " in line]
        if not lines:
            raise
        raise ValueError(lines[-1].split("ValueError: ", 1)[1]) from None


def together(runs: dict[Path, Run]) -> Setting:
    """The setting of the games that these runs can play: the first one's, if they talk about the same things and were
    kept from the same test games."""
    (first, run), *others = runs.items()
    setting = run.setting
    for name, other in others:
        mine, theirs = setting.space, other.setting.space
        if mine.attributes != theirs.attributes or not np.array_equal(mine.table, theirs.table):
            raise ValueError(f"{first} and {name} talk about different things: cross-play needs one space for both.")
        apart = [(one.config.split, one.config.instances) for one in (setting, other.setting)]
        if apart[0] != apart[1]:
            raise ValueError(
                f"What {first} tests with {name} may have trained with: their --split or --instances differ."
            )
    return setting


def paired(hers: list[Any], his: list[Any]) -> list[tuple[Any, Any]]:
    """Pairs of the agents on either side; a side of one plays with each of the other."""
    number = max(len(hers), len(his)) if 1 in (len(hers), len(his)) else min(len(hers), len(his))
    return [(hers[i % len(hers)], his[i % len(his)]) for i in range(number)]


def other_pictures(setting: Setting, pairs: list[tuple], name: str) -> Space:
    """The space in the pictures asked for, if there are eyes to see them."""
    if all(agent.eyes is None for pair in pairs for agent in pair):
        raise ValueError("These agents know candidates by their attributes, not by --pictures: leave that out.")
    return in_pictures_of(setting.space, name)


def named(sides: Sides) -> tuple[str, str]:
    """Who was asked for as the teacher and as the student."""
    teacher, student = sides.teacher or sides.run, sides.student or sides.run
    if teacher is None or student is None:
        side = "teacher" if teacher is None else "student"
        raise ValueError(f"Who is the {side}? Name a run, or say it with --{side}.")
    return teacher, student


def meeting(sides: Sides) -> Meeting:
    """Both players of a command and their games."""
    return meet(*named(sides), sides)


def meet(teacher: Who, student: Who, asked: Sides) -> Meeting:
    """Any two players, and the test games that are asked for."""
    check_number(asked.games)
    opened: dict[Path, Run] = {}
    seats: dict[Side, Seat] = {"teacher": seated(teacher, opened), "student": seated(student, opened)}
    runs = {seat.run.folder: seat.run for seat in seats.values() if seat.run is not None}
    game = {name: getattr(asked, name) for name in ("game", "space", "candidates", "rounds", "message_cost")}
    setting = together(runs) if runs else setting_of(Config(**game, train_games=1))
    games = held_out_games(setting, asked.games, asked.seed, asked.candidates, novel=asked.novel)
    rules = Rules(games.candidates.shape[1], setting.rules.rounds, setting.rules.message_cost)
    hers, his = (
        [not_of_a_run(seat, side, setting.space, rules)]
        if seat.run is None
        else of_run(seat.run, side, asked.phase, seat.number)
        for side, seat in seats.items()
    )
    pairs = paired(hers, his)
    phase = setting.config.phases if asked.phase is None else asked.phase
    title = title_of(seats["teacher"], seats["student"], phase)
    if asked.pictures is not None:
        setting = replace(setting, space=other_pictures(setting, pairs, asked.pictures))
    return Meeting(title, setting, rules, games, pairs, asked.novel, asked.pictures)


def title_of(teacher: Seat, student: Seat, phase: int) -> str:
    if teacher.name != student.name:
        return f"{teacher.name} teaches {student.name}"
    return f"{teacher.name} with {student.name}" if teacher.run is None else f"{teacher.name}: phase {phase}"
