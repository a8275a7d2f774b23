"""The game for training in JAX: pure functions of one game, to be batched with `vmap` and compiled with `jit`.

    env = implicature.jax_env("numbers-4", rounds=2, message_cost=0.1)
    state = env.reset(key)                                  a new game; the teacher is to speak
    env.observe_teacher(state), env.observe_student(state)  what each agent may know
    state, reward, over = env.step(key, state, action)      a message or an answer, by whose turn it is

A step is one player's: `state.teacher_turn` says whether it is the teacher's. Both receive the reward of a
round when the student has answered or waited. After the end of a game `step` begins a new one; `transition` does not.
"""

from pathlib import Path
from typing import Any, Literal, overload

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from implicature.agents.custom import StudentObservation, TeacherObservation
from implicature.agents.rollout import action_in_teacher_order
from implicature.envs.appointment.jax_env import AppointmentEnvironment, Part, appointment_environment
from implicature.games.contexts import neighbours
from implicature.games.registry import APPOINTMENT, default_contexts, load_game
from implicature.games.rules import Contexts, Rules
from implicature.games.sampling import Game, draw_games
from implicature.games.splits import Split
from implicature.spaces import Space

Observe = Literal["attributes", "images"]


class State(eqx.Module):
    """A game under way."""

    game: Game
    views: Int[Array, "agents candidates"]
    """Which view of each of their candidates teacher and student see; without images there is one."""
    messages: Int[Array, " rounds"]
    """−1 for rounds to come."""
    answer: Int[Array, ""]
    """The student's action in the round that ended last, in the teacher's order; −1 once she speaks again."""
    round: Int[Array, ""]
    teacher_turn: Bool[Array, ""]
    """It is the teacher's turn."""


class Environment(eqx.Module):
    """Games drawn in advance and observations of their candidates."""

    observations: Shaped[Array, "instances views *shape"]
    games: Game
    messages: int = eqx.field(static=True)
    rules: Rules = eqx.field(static=True)

    def begin(self, key: Key[Array, ""], game: Game) -> State:
        """This game, in random views."""
        both, number = (2, self.rules.candidates), self.observations.shape[1]
        views = jax.random.randint(key, both, 0, number) if number > 1 else jnp.zeros(both, jnp.int32)
        no_messages, first = jnp.full(self.rules.rounds, -1), jnp.asarray(0)
        return State(game, views, no_messages, first - 1, first, jnp.asarray(True))

    def reset(self, key: Key[Array, ""]) -> State:
        row_key, view_key = jax.random.split(key)
        row = jax.random.randint(row_key, (), 0, len(self.games.target))
        return self.begin(view_key, jax.tree.map(lambda leaf: leaf[row], self.games))

    def observe_teacher(self, state: State) -> TeacherObservation:
        return TeacherObservation(
            self.observations[state.game.candidates, state.views[0]], state.game.target, state.messages
        )

    def observe_student(self, state: State) -> StudentObservation:
        return StudentObservation(self.observations[state.game.student_candidates, state.views[1]], state.messages)

    def transition(self, state: State, action: Int[Array, ""]) -> tuple[State, Float[Array, ""], Bool[Array, ""]]:
        """The state after the action of whose turn it is, the reward of both, and whether the game is over."""
        game, teacher_turn = state.game, state.teacher_turn
        answered = action_in_teacher_order(game.order, action, self.rules)
        reward, over = self.rules.score(answered, game.target, state.round)
        messages = jnp.where(teacher_turn, state.messages.at[state.round].set(action), state.messages)
        answer = jnp.where(teacher_turn, -1, answered)
        after = State(game, state.views, messages, answer, state.round + ~teacher_turn, ~teacher_turn)
        return after, jnp.where(teacher_turn, 0.0, reward), ~teacher_turn & over

    def step(
        self, key: Key[Array, ""], state: State, action: Int[Array, ""]
    ) -> tuple[State, Float[Array, ""], Bool[Array, ""]]:
        """As `transition`; but where the game is over, the state is a new game's."""
        after, reward, over = self.transition(state, action)
        return jax.tree.map(lambda new, old: jnp.where(over, new, old), self.reset(key), after), reward, over


def space_observations(space: Space, observe: Observe) -> Shaped[Array, "instances views *shape"]:
    """Observations of instances: their attributes, or their images."""
    if observe == "attributes":
        return jnp.asarray(space.features, jnp.float32)[:, None]
    if observe != "images":
        raise ValueError(f"Nothing can be observed as {observe!r}: choose attributes or images.")
    if space.images is None:
        raise ValueError(f'The space {space.name} has no images: take one that has, or observe="attributes".')
    return jnp.asarray(space.images)


def environment(
    space: Space, rules: Rules, split: Split, observe: Observe, games: int, contexts: Contexts = "random"
) -> Environment:
    """An environment with so many games of a split, drawn in advance, always the same."""
    drawn = draw_games(
        jax.random.key(0), games, rules.candidates, space.instances, split, near=neighbours(space, contexts)
    )
    return Environment(space_observations(space, observe), drawn, len(space.words), rules)


@overload
def jax_env(
    game: Literal["appointment"],
    *,
    rounds: int = 1,
    message_cost: float = 0.1,
    split: Part = "train",
    split_seed: int = 0,
    slots: int = 8,
) -> AppointmentEnvironment: ...


@overload
def jax_env(
    game: str = "numbers-4",
    *,
    space: Space | Path | str | None = None,
    candidates: int | None = None,
    rounds: int = 1,
    message_cost: float = 0.0,
    split: Split = "train",
    observe: Observe = "attributes",
    games: int = 100_000,
    contexts: Contexts | None = None,
) -> Environment: ...


def jax_env(game: str = "numbers-4", **options: Any) -> Environment | AppointmentEnvironment:
    """The game as pure functions, by name or of a space of one's own (a Space, or a .csv or .json file). The game
    "appointment" has an environment of its own kind (envs/appointment/).

    >>> import jax
    >>> game = implicature.jax_env("numbers-4", games=1_000)
    >>> states = jax.vmap(game.reset)(jax.random.split(jax.random.key(0), 8))
    >>> game.messages, states.game.candidates.shape
    (10, (8, 4))
    """
    if game == APPOINTMENT and options.get("space") is None:
        return appointment_environment(**options)
    return referential_environment(game, **options)


def referential_environment(
    game: str = "numbers-4",
    *,
    space: Space | Path | str | None = None,
    candidates: int | None = None,
    rounds: int = 1,
    message_cost: float = 0.0,
    split: Split = "train",
    observe: Observe = "attributes",
    games: int = 100_000,
    contexts: Contexts | None = None,
) -> Environment:
    loaded, number = load_game(game, space, candidates)
    drawn = contexts or default_contexts(game, space)
    return environment(loaded, Rules(number, rounds, message_cost), split, observe, games, drawn)
