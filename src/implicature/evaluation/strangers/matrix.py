"""Everybody with everybody: A[i, j] is how often student j finds the target that teacher i means.

In a game of one message what she says does not depend on him, so each teacher speaks once and each student hears all of
them: n teachers and n students are compiled, not n² pairs. Games of several rounds are played pair by pair.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.contracts import (
    AbstractStudent,
    AbstractTeacher,
    AgentState,
    MessageProbabilities,
    Policy,
    Values,
)
from implicature.agents.perspectives import FeatureTable, Perspectives
from implicature.agents.rollout import ActionPolicy, MessagePolicy, rollout
from implicature.evaluation.held_out import feature_table
from implicature.evaluation.players import plain_errors
from implicature.evaluation.rollouts import chunks, identical_games
from implicature.evaluation.strangers.partners import Partner
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.training.task import Task

Cell = tuple[int, int]
"""Who teaches, and who is the student."""
Accuracy = dict[Cell, float]


class AbsentStudent(AbstractStudent[Context]):
    """Nobody: a teacher speaks to him so that her words are known."""

    def encode(self, context: Context) -> Context:
        return context

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def update(self, encoding: Context, state: AgentState, message: Int[Array, ""]) -> AgentState:
        return state

    def policy(self, state: AgentState, last: Bool[Array, ""]) -> Policy:
        return jnp.append(state.belief, 0.0)


class AbsentTeacher(AbstractTeacher[Context]):
    """Nobody: a student hears words that were said before."""

    def encode(self, context: Context) -> Context:
        return context

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def values(self, encoding: Context, target: Int[Array, ""], state: AgentState) -> Values:
        return jnp.zeros(encoding.lexicon.shape[1])

    def observe(self, encoding: Context, state: AgentState, message: Int[Array, ""]) -> AgentState:
        return state

    def message_probabilities(self, values: Values) -> MessageProbabilities:
        return jax.nn.softmax(values, axis=0)


@eqx.filter_jit
def messages_of(
    keys: Key[Array, " games"], teacher: AbstractTeacher, games: Perspectives, rules: Rules, speak: MessagePolicy
) -> Int[Array, "games 1"]:
    def one(key: Key[Array, ""], game: Perspectives) -> Int[Array, " 1"]:
        return rollout(key, teacher, AbsentStudent(), game, rules, speak).message

    return jax.vmap(one)(keys, games)


@eqx.filter_jit
def successes_of(
    keys: Key[Array, " games"],
    student: AbstractStudent,
    games: Perspectives,
    messages: Int[Array, "games 1"],
    rules: Rules,
    answer: ActionPolicy,
) -> Float[Array, " games"]:
    def one(key: Key[Array, ""], game: Perspectives, message: Int[Array, " 1"]) -> Float[Array, ""]:
        return rollout(key, AbsentTeacher(), student, game, rules, answer=answer, forced_messages=message).success

    return jax.vmap(one)(keys, games, messages)


@eqx.filter_jit
def successes_of_pair(
    keys: Key[Array, " games"],
    teacher: AbstractTeacher,
    student: AbstractStudent,
    games: Perspectives,
    rules: Rules,
    speak: MessagePolicy,
    answer: ActionPolicy,
) -> Float[Array, " games"]:
    def one(key: Key[Array, ""], game: Perspectives) -> Float[Array, ""]:
        return rollout(key, teacher, student, game, rules, speak, answer).success

    return jax.vmap(one)(keys, games)


class Table:
    """Players and the test games that they all play."""

    def __init__(self, players: Sequence[Partner], task: Task, games: Game, seed: int = 0):
        self.players, self.task, self.games, self.seed = players, task, games, seed
        self.rules = replace(task.rules, candidates=games.candidates.shape[1])
        self.said: dict[tuple[int, int], Int[Array, "games 1"]] = {}

    @cached_property
    def features(self) -> list[FeatureTable]:
        """What each player sees; all of them the same views of the candidates."""
        images, space = self.task.space.images, self.task.space
        encoders = [one for p in self.players for one in (p.pair.teacher_encoder, p.pair.student_encoder)]
        views = images.shape[1] if images is not None and any(one is not None for one in encoders) else 1
        return [feature_table(player.pair, space, views) for player in self.players]

    def play(self, cells: Sequence[Cell], advance: Callable[[], None] = lambda: None) -> Accuracy:
        """The accuracy of each cell. `advance` is called after each."""
        found: dict[Cell, list[np.ndarray]] = {cell: [] for cell in cells}
        number = len(self.games.target)
        with plain_errors():
            # A student's cells stand together, so that he is compiled once and his games are made once.
            for cell in sorted(cells, key=lambda cell: (cell[1], cell[0])):
                for start, rows in chunks(number, self.rules.candidates * len(self.task.space.words)):
                    found[cell].append(np.asarray(self.play_chunk(cell, start, rows)))
                advance()
        return {cell: float(np.concatenate(parts)[:number].mean()) for cell, parts in found.items()}

    def play_chunk(self, cell: Cell, start: int, rows: Int[np.ndarray, " rows"]) -> Float[Array, " rows"]:
        teacher, student = (self.players[i] for i in cell)
        rules = replace(self.rules, noise=max(self.rules.noise, teacher.noise, student.noise))
        some = jax.tree.map(lambda leaf: leaf[rows], self.games)
        view_key, play_key = jax.random.split(jax.random.fold_in(jax.random.key(self.seed), start))
        tables = self.features[cell[0]], self.features[cell[1]]
        both = FeatureTable(tables[0].teacher, tables[1].student, tables[0].views_per_instance)
        seen = identical_games(view_key, both, self.task.data.semantics, some)
        keys = jax.random.split(play_key, len(rows))
        if self.rules.rounds > 1:
            agents = teacher.pair.teacher, student.pair.student
            return successes_of_pair(keys, *agents, seen, rules, teacher.speak, student.answer)
        if (said := (cell[0], start)) not in self.said:
            self.said[said] = messages_of(keys, teacher.pair.teacher, seen, self.rules, teacher.speak)
        return successes_of(keys, student.pair.student, seen, self.said[said], rules, student.answer)
