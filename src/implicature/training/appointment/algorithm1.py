"""Algorithm 1 in the appointment game: in each phase one player adapts to the other, fixed, then the other to it.

Both are teacher and student, and each has one half of a phase; `Pair` and `Stage` call the first one teacher.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from implicature.agents.appointment.learned import LearnedPlayer
from implicature.agents.appointment.player import Calendar, encode_calendars
from implicature.agents.appointment.worth import Belief
from implicature.agents.contracts import Pair
from implicature.games.appointment import AppointmentRules, appointment_context, run_slots, split_calendars
from implicature.training.algorithm1 import Progress
from implicature.training.appointment.partner import Partner, partner_tables, start, turn
from implicature.training.appointment.steps import half_losses
from implicature.training.config import Config
from implicature.training.optimiser import Learner, Metrics, apply_gradients, init_learner, repeat_step
from implicature.training.stages import Stage

CHUNK = 50
"""Iterations between two reports of progress."""
HISTORIES = 8
"""First messages in an iteration of a game with two messages, of each player."""


@dataclass(frozen=True)
class AppointmentTask:
    """What is to be learned."""

    config: Config
    rules: AppointmentRules

    @property
    def known(self) -> Calendar:
        return encode_calendars(appointment_context(self.rules), self.rules.message_cost)

    def weights(self, held_out: bool) -> Belief:
        """How likely each calendar is in training games, or in games with calendars that were held out."""
        part = split_calendars(self.rules.slots, self.config.data.split_seed)[int(held_out)]
        return jnp.zeros(self.rules.calendars).at[jnp.asarray(part)].set(1 / len(part))


def appointment_stages(config: Config) -> list[Stage]:
    phases, iterations = config.optimiser.phases, config.optimiser.iterations
    return [Stage(phase, agent, iterations) for phase in range(1, phases + 1) for agent in ("teacher", "student")]


def new_players(key: Key[Array, ""], task: AppointmentTask) -> Pair:
    spans, known = run_slots(task.rules.slots), task.known
    width, beta = task.config.network.width, task.config.method.beta
    assert width is not None  # of the game's defaults
    assert beta is not None
    truth = np.asarray(known.truth)
    first, second = (LearnedPlayer(truth, spans, one, width, beta) for one in jax.random.split(key))
    return Pair(first, second)


def half_step(
    task: AppointmentTask, known: Calendar, weights: Belief, partner: Partner, begun: Float[Array, " messages"]
) -> Callable[[Key[Array, ""], Learner], tuple[Learner, Metrics]]:
    """One iteration of a player's half."""
    config, messages = task.config, task.rules.messages

    def step(key: Key[Array, ""], state: Learner) -> tuple[Learner, Metrics]:
        def loss(player: LearnedPlayer) -> tuple[Array, Metrics]:
            losses = half_losses(key, player, partner, begun, known, weights, messages, HISTORIES)
            return losses.total, losses.metrics()

        (_, metrics), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(state.model)
        return apply_gradients(state, gradient, config.optimiser, config.optimiser.iterations), metrics

    return step


class Half(eqx.Module):
    """What is fixed in a player's half: the partner, and how often the player itself begins with each message."""

    partner: Partner
    begun: Float[Array, " messages"]


@eqx.filter_jit
def start_half(task: AppointmentTask, learner: LearnedPlayer, other: LearnedPlayer) -> Half:
    known, messages = task.known, task.rules.messages
    first, _ = turn(learner, known, start(known, messages))
    return Half(partner_tables(other, known, messages), task.weights(held_out=False) @ first[:, :-1])


@eqx.filter_jit
def some_iterations(
    task: AppointmentTask, half: Half, key: Key[Array, ""], state: Learner, begin: Array, iterations: int
) -> tuple[Learner, Metrics]:
    step = half_step(task, task.known, task.weights(held_out=False), half.partner, half.begun)
    return repeat_step(step, key, state, begin, iterations)


def merge(pair: Pair, stage: Stage, player: LearnedPlayer) -> Pair:
    return Pair(player, pair.student) if stage.agent == "teacher" else Pair(pair.teacher, player)


def appointment_algorithm1(
    task: AppointmentTask, key: Key[Array, ""], pair: Pair, stage_index: int = 0
) -> Iterator[Progress]:
    """Train a pair from the given stage on, yielding after each chunk of iterations."""
    config = task.config
    for index, stage in enumerate(appointment_stages(config)):
        if index < stage_index:
            continue
        learner, other = (pair.teacher, pair.student) if stage.agent == "teacher" else (pair.student, pair.teacher)
        assert isinstance(learner, LearnedPlayer)
        assert isinstance(other, LearnedPlayer)
        half = start_half(task, learner, other)
        state = init_learner(learner, config.optimiser, stage.iterations)
        for begin in range(0, stage.iterations, CHUNK):
            size = min(CHUNK, stage.iterations - begin)
            stage_key = jax.random.fold_in(key, 1 + index)
            state, metrics = some_iterations(task, half, stage_key, state, jnp.asarray(begin), size)
            done = begin + size
            if done == stage.iterations:
                pair = merge(pair, stage, state.model)
            figures = {name: [float(value)] for name, value in metrics.items()}
            yield Progress(stage, index, done, pair, None, figures)
