"""Players by name.

    RUN, RUN:1             the agents of a run's folder (of its pair number 1, where a run has several)
    exact, literal         the exact recursion of depth 3, and of depth 0
    exact:depth=1,utility=log,alpha=4,start=indicator      of another depth and convention (agents/exact_spec.py)
    module:object          an agent of your own (agents/custom.py); naming it imports the module, which runs its code

In Python a player may also be a run or a function itself.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from implicature.agents.contracts import AbstractStudent, AbstractTeacher
from implicature.agents.custom import CustomStudent, CustomTeacher, is_traceable
from implicature.agents.exact import ExactStudent, ExactTeacher
from implicature.agents.exact_spec import ExactSpec, is_exact, parse_exact
from implicature.extensions import import_object
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.nn.image_encoder import ImageEncoder
from implicature.training.runs.run import Run, open_run

Role = Literal["teacher", "student"]
ROLES: tuple[Role, Role] = ("teacher", "student")
Player = str | Path | Run | AbstractTeacher | AbstractStudent | Callable[..., Any]
"""Whoever can play."""


class PlayerSpec(NamedTuple):
    """A player by name: of a run (or of one pair of it), a function of one's own, or else an exact player."""

    name: str
    run: Run | None = None
    pair_index: int | None = None
    function: Any = None
    exact: ExactSpec = ExactSpec()


def parse_run(name: str) -> tuple[Path, int | None] | None:
    """The folder and the number of the pair, if this names a run."""
    folder, _, number = name.rpartition(":")
    if number.isdecimal() and Path(folder).is_dir() and folder:
        return Path(folder), int(number)
    is_run = Path(name).is_dir() or (":" not in name and not is_exact(name))
    return (Path(name), None) if is_run else None


def load_player(player: Player, opened: dict[Path, Run]) -> PlayerSpec:
    """Who this is; a run is opened once for both roles."""
    if isinstance(player, Run):
        return PlayerSpec(str(player.folder), player)
    if not isinstance(player, str | Path):
        name = getattr(player, "__name__", type(player).__name__)
        return PlayerSpec(name, function=instantiate(player, name))
    name = str(player)
    if (parsed := parse_run(name)) is not None:
        folder, index = parsed
        if folder not in opened:
            opened[folder] = open_run(folder)
        return PlayerSpec(name, opened[folder], index)
    if is_exact(name):
        return PlayerSpec(name, exact=parse_exact(name))
    return PlayerSpec(name, function=import_agent(name))


def import_agent(name: str) -> Any:
    """module:object, from the current folder or wherever Python finds modules."""
    return instantiate(import_object(name, "an agent"), name)


def instantiate(agent: Any, name: str) -> Any:
    """An agent of one's own; a class is called without arguments."""
    try:
        agent = agent() if isinstance(agent, type) else agent
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ValueError(f"{name} cannot be made ({what}): a class of agents is called without arguments.") from None
    if not (callable(agent) or isinstance(agent, AbstractTeacher | AbstractStudent)):
        raise ValueError(f"{name} is not a function: an agent of your own is called with what it may observe.")
    return agent


def run_agents(
    run: Run, role: Role, phase: int | None, pair_index: int | None
) -> list[tuple[AbstractTeacher | AbstractStudent, ImageEncoder | None]]:
    """The agents of one role of a run's pairs, or of one of them, with their image encoders."""
    phase = run.config.optimiser.phases if phase is None else phase
    if phase < 0 or not run.phase_file(phase).exists():
        raise ValueError(
            f"{run.folder} has no pair after phase {phase}: it is not trained so far, or has fewer phases."
        )
    pairs = run.config.optimiser.pairs
    if pair_index is not None and pair_index >= pairs:
        raise ValueError(f"{run.folder} has no pair {pair_index}: it has {pairs}, numbered from 0.")
    loaded = [run.pair(phase, i) for i in (range(pairs) if pair_index is None else [pair_index])]
    return [(getattr(pair, role), getattr(pair, f"{role}_encoder")) for pair in loaded]


def make_agent(
    spec: PlayerSpec, role: Role, messages: int, rules: Rules, share: bool = True
) -> AbstractTeacher | AbstractStudent:
    """An exact player, or one of your own."""
    if spec.function is None:
        model = spec.exact.model(share, rules.noise)
        return ExactTeacher(model) if role == "teacher" else ExactStudent(model, rules.message_cost)
    if isinstance(spec.function, AbstractTeacher | AbstractStudent):
        if isinstance(spec.function, AbstractTeacher) != (role == "teacher"):
            raise ValueError(f"{spec.name} is not a {role}: name it for the other role.")
        return spec.function
    if role == "teacher":
        return CustomTeacher(spec.function, messages, spec.name)
    return CustomStudent(spec.function, spec.name)


def check_traceable(agent: AbstractTeacher | AbstractStudent, spec: PlayerSpec, context: Context, rules: Rules) -> None:
    """Trace a compiled custom agent by itself first, so that an error in it names the agent."""
    if spec.function is None or not is_traceable(spec.function):
        return

    def trace() -> Any:
        encoding, zero = agent.encode(context), jnp.asarray(0)
        state = agent.init_state(context, rules)
        if isinstance(agent, AbstractTeacher):
            return agent.values(encoding, zero, state)
        return agent.policy(agent.update(encoding, state, zero), jnp.asarray(True))

    try:
        jax.eval_shape(trace)
    except Exception as error:
        role, what = ("teacher" if isinstance(agent, AbstractTeacher) else "student"), str(error).strip().splitlines()
        raise ValueError(
            f"{spec.name} is no {role} for this game ({type(error).__name__}: {what[0] if what else ''})."
        ) from None


@contextmanager
def plain_errors() -> Iterator[None]:
    """Reduce JAX's error about a custom agent to the agent's own message."""
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        lines = [line for line in str(error).splitlines() if "ValueError: " in line]
        if not lines:
            raise
        raise ValueError(lines[-1].split("ValueError: ", 1)[1]) from None
