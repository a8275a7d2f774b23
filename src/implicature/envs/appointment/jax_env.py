"""The appointment game for training in JAX: pure functions of one game, as in envs/jax_env.py.

    env = implicature.jax_env("appointment", rounds=2)
    state = env.reset(key)                            a new game; player 0 is to begin
    env.observe(state, player)                        what a player may know: the own calendar, and what was said
    state, reward, over = env.step(key, state, action)

A step is one player's: `state.turn` says whose. An action is a message or, from `env.messages` on, an answer. Both
receive its reward, −cost for a message.
"""

from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.games.appointment import AppointmentRules, calendars, split_calendars

PLAYERS = 2
Part = Literal["train", "test", "all"]


class AppointmentObservation(NamedTuple):
    """What a player may know."""

    calendar: Bool[Array, " slots"]
    """One's own: true where busy."""
    messages: Int[Array, " rounds"]
    """All messages so far, of both players in turn; −1 for those to come."""
    turn: Bool[Array, ""]
    """Whether it is one's own."""


class AppointmentState(eqx.Module):
    """A game under way."""

    calendars: Bool[Array, "players slots"]
    messages: Int[Array, " rounds"]
    said: Int[Array, ""]
    """How many messages were sent."""

    @property
    def turn(self) -> Int[Array, ""]:
        """Whose turn it is."""
        return self.said % PLAYERS


class AppointmentEnvironment(eqx.Module):
    calendars: Bool[Array, "calendars slots"]
    """Those that games are drawn from."""
    rules: AppointmentRules = eqx.field(static=True)

    @property
    def messages(self) -> int:
        """Actions from here on are answers: the slots, then "none"."""
        return self.rules.n_messages

    @property
    def actions(self) -> int:
        return self.rules.actions

    def begin(self, held: Bool[Array, "players slots"]) -> AppointmentState:
        """The game with these calendars."""
        return AppointmentState(held, jnp.full(self.rules.messages, -1), jnp.asarray(0))

    def reset(self, key: Key[Array, ""]) -> AppointmentState:
        return self.begin(self.calendars[jax.random.randint(key, (PLAYERS,), 0, len(self.calendars))])

    def observe(self, state: AppointmentState, player: Int[Array, ""] | int) -> AppointmentObservation:
        return AppointmentObservation(state.calendars[player], state.messages, state.turn == player)

    def allowed(self, state: AppointmentState) -> Bool[Array, " actions"]:
        """The actions within the rules for whose turn it is: no message that is untrue, or one too many."""
        sayable = self.rules.sayable(state.calendars[state.turn], state.said)
        return jnp.concatenate([sayable, jnp.ones(self.actions - self.messages, bool)])

    def transition(
        self, state: AppointmentState, action: Int[Array, ""]
    ) -> tuple[AppointmentState, Float[Array, ""], Bool[Array, ""]]:
        """The state after the action of whose turn it is, the reward of both, and whether the game is over."""
        own, other = state.calendars[state.turn], state.calendars[1 - state.turn]
        reward, over = self.rules.act(action, own, other, state.said)
        spoke = action < self.messages
        messages = jnp.where(spoke, state.messages.at[state.said].set(action), state.messages)
        return AppointmentState(state.calendars, messages, state.said + spoke), reward, over

    def step(
        self, key: Key[Array, ""], state: AppointmentState, action: Int[Array, ""]
    ) -> tuple[AppointmentState, Float[Array, ""], Bool[Array, ""]]:
        """As `transition`; but where the game is over, the state is a new game's."""
        after, reward, over = self.transition(state, action)
        return jax.tree.map(lambda new, old: jnp.where(over, new, old), self.reset(key), after), reward, over


def appointment_environment(
    *,
    rounds: int = 1,
    message_cost: float = 0.1,
    split: str = "train",
    split_seed: int = 0,
    slots: int = 8,
    **others: Any,
) -> AppointmentEnvironment:
    """`rounds` is how many messages the rules allow. `split` is which calendars games are made of: the 70 % that
    training uses ("train"), those held out ("test"), or "all".

    >>> import jax
    >>> game = implicature.jax_env("appointment", rounds=2)
    >>> states = jax.vmap(game.reset)(jax.random.split(jax.random.key(0), 8))
    >>> game.messages, game.actions, states.calendars.shape
    (36, 45, (8, 2, 8))
    """
    if given := [name for name, value in others.items() if value is not None]:
        raise ValueError(f"{given[0]} has no effect in the appointment game: leave it out.")
    if rounds < 1:
        raise ValueError(f"An environment of the appointment game with {rounds} rounds: ask for 1 or more.")
    rules = AppointmentRules(slots, rounds, message_cost)
    everything, (train, test) = calendars(slots), split_calendars(slots, split_seed)
    parts = {"train": everything[train], "test": everything[test], "all": everything}
    if split not in parts:
        raise ValueError(f"The appointment game has no split {split!r}: choose one of {', '.join(parts)}.")
    return AppointmentEnvironment(jnp.asarray(parts[split]), rules)
