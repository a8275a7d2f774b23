"""The game for those who train in JAX: pure functions of one game, to be batched with `vmap` and compiled with `jit`.

    env = implicature.jax_env("numbers-4", rounds=2, message_cost=0.1)
    state = env.reset(key)                                  a new game; the teacher is to speak
    env.teacher_sees(state), env.student_sees(state)        what either side may know of it
    state, reward, over = env.step(key, state, action)      a message or an answer, by whose turn it is

A step is one player's: `state.speaking` says whether it is the teacher's. Both gain the reward of a round when the
student has answered or waited. After the end of a game `step` begins a new one; `play` is the step without that.
"""

from pathlib import Path
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from implicature.agents.custom import StudentSees, TeacherSees
from implicature.agents.rollout import in_her_order
from implicature.games.sampling import Game, Rules, Split, check_games, draw_games, named_game
from implicature.spaces import Space
from implicature.spaces.io import load_space

Observe = Literal["symbols", "pixels"]


class State(eqx.Module):
    """A game under way."""

    game: Game
    looks: Int[Array, "sides candidates"]
    """Which picture of each of their candidates teacher and student see; in games of symbols there is one."""
    messages: Int[Array, " rounds"]
    """−1 for rounds to come."""
    answer: Int[Array, ""]
    """The student's action in the round that ended last, in the teacher's order; −1 once she speaks again."""
    round: Int[Array, ""]
    speaking: Bool[Array, ""]
    """It is the teacher's turn."""


class Environment(eqx.Module):
    """Games drawn in advance and how their candidates look."""

    looks: Shaped[Array, "instances looks *shape"]
    games: Game
    messages: int = eqx.field(static=True)
    rules: Rules = eqx.field(static=True)

    def begin(self, key: Key[Array, ""], game: Game) -> State:
        """This game, seen in pictures chosen at random."""
        both, number = (2, self.rules.candidates), self.looks.shape[1]
        looks = jax.random.randint(key, both, 0, number) if number > 1 else jnp.zeros(both, jnp.int32)
        nothing, first = jnp.full(self.rules.rounds, -1), jnp.asarray(0)
        return State(game, looks, nothing, first - 1, first, jnp.asarray(True))

    def reset(self, key: Key[Array, ""]) -> State:
        row_key, looks_key = jax.random.split(key)
        row = jax.random.randint(row_key, (), 0, len(self.games.target))
        return self.begin(looks_key, jax.tree.map(lambda leaf: leaf[row], self.games))

    def teacher_sees(self, state: State) -> TeacherSees:
        return TeacherSees(self.looks[state.game.candidates, state.looks[0]], state.game.target, state.messages)

    def student_sees(self, state: State) -> StudentSees:
        return StudentSees(self.looks[state.game.student_candidates, state.looks[1]], state.messages)

    def play(self, state: State, action: Int[Array, ""]) -> tuple[State, Float[Array, ""], Bool[Array, ""]]:
        """The state after the action of whose turn it is, the reward of both, and whether the game is over."""
        game, speaking = state.game, state.speaking
        said = in_her_order(game.order, action, self.rules)
        reward, over = self.rules.judge(said, game.target, state.round)
        messages = jnp.where(speaking, state.messages.at[state.round].set(action), state.messages)
        answer = jnp.where(speaking, -1, said)
        after = State(game, state.looks, messages, answer, state.round + ~speaking, ~speaking)
        return after, jnp.where(speaking, 0.0, reward), ~speaking & over

    def step(
        self, key: Key[Array, ""], state: State, action: Int[Array, ""]
    ) -> tuple[State, Float[Array, ""], Bool[Array, ""]]:
        """As `play`; but where the game is over, the state is a new game's."""
        after, reward, over = self.play(state, action)
        return jax.tree.map(lambda new, old: jnp.where(over, new, old), self.reset(key), after), reward, over


def looks_of(space: Space, observe: Observe) -> Shaped[Array, "instances looks *shape"]:
    """How instances look: their row of the table, or pictures."""
    if observe == "symbols":
        return jnp.asarray(space.table, jnp.float32)[:, None]
    if observe != "pixels":
        raise ValueError(f"Nothing can be observed as {observe!r}: choose symbols or pixels.")
    pictures = getattr(space, "pictures", None)
    if pictures is None:
        raise ValueError(f'The space {space.name} has no pictures: take one that has, or observe="symbols".')
    return jnp.asarray(pictures)


def game_of(game: str, space: Space | Path | str | None, candidates: int | None) -> tuple[Space, int]:
    """A named game, or a space of one's own with a number of candidates."""
    if space is None:
        space, usual = named_game(game)
        candidates = usual if candidates is None else candidates
    elif not isinstance(space, Space):
        space = load_space(space)
    if candidates is None:
        raise ValueError(f"How many candidates of {space.name} make a game? Say it with candidates=….")
    check_games(space, candidates)
    return space, candidates


def environment(space: Space, rules: Rules, split: Split, observe: Observe, games: int) -> Environment:
    """An environment with so many games of a split, drawn in advance, always the same."""
    drawn = draw_games(jax.random.key(0), games, rules.candidates, space.instances, split)
    return Environment(looks_of(space, observe), drawn, space.table.shape[1], rules)


def jax_env(
    game: str = "numbers-4",
    *,
    space: Space | Path | str | None = None,
    candidates: int | None = None,
    rounds: int = 1,
    message_cost: float = 0.0,
    split: Split = "train",
    observe: Observe = "symbols",
    games: int = 100_000,
) -> Environment:
    """The game as pure functions, by name or of a space of one's own (a Space, or a .csv or .json file).

    >>> import jax
    >>> game = implicature.jax_env("numbers-4", games=1_000)
    >>> states = jax.vmap(game.reset)(jax.random.split(jax.random.key(0), 8))
    >>> game.messages, states.game.candidates.shape
    (10, (8, 4))
    """
    of, number = game_of(game, space, candidates)
    return environment(of, Rules(number, rounds, message_cost), split, observe, games)
