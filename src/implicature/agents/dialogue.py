"""The one rollout: teacher and student play a game (Algorithm 1, lines 11 to 20). Training, evaluation, the page and
the environment all call `dialogue`.

The teacher keeps an estimate b_BinA of the student's belief. In training she is told his real one (`told`); in testing
she goes by her own prediction. How she speaks and how he answers is passed in: greedily, by chance, exploring.

One game, or many at once along a last axis of every array; agents who know but one game at a time are played with
`vmap`.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.belief import Belief, Choice, chosen, one_hot
from implicature.agents.student import Policy
from implicature.agents.teacher import Values
from implicature.games import Rules

Speak = Callable[[Key[Array, ""], Values], Choice]
Answer = Callable[[Key[Array, ""], Policy], Choice]
Minds = tuple[Belief, Belief, Bool[Array, "*#games"]]
"""Her estimate of his belief, his belief, and whether the game goes on."""


def greedily(key: Key[Array, ""], values: Float[Array, "choices *#games"]) -> Choice:
    return jnp.argmax(values, axis=0)


def by_chance(key: Key[Array, ""], chances: Float[Array, "choices *#games"]) -> Choice:
    """One uniform number against the running sum: far cheaper than a number for each choice."""
    running = jnp.cumsum(chances, axis=0)
    return jnp.sum(jax.random.uniform(key, chances.shape[1:]) * running[-1] >= running[:-1], axis=0)


def softly(beta: float) -> Speak:
    """π_A = softmax(β Q)."""
    return lambda key, values: by_chance(key, jax.nn.softmax(beta * values, axis=0))


def exploring(epsilon: Float[Array, ""], beta: float) -> Speak:
    """Any message with chance ε, else by π_A."""

    def speak(key: Key[Array, ""], values: Values) -> Choice:
        return by_chance(key, epsilon / values.shape[0] + (1 - epsilon) * jax.nn.softmax(beta * values, axis=0))

    return speak


class Views(eqx.Module):
    """Games as each side sees them. The student's candidates stand in his own order and may be renamed."""

    teacher: Float[Array, "candidates *#games features"]
    student: Float[Array, "candidates *#games features"]
    target: Choice
    """Position in the teacher's order."""
    order: Int[Array, "candidates *#games"]
    """His j-th candidate is her order[j]-th."""
    renaming: Int[Array, "messages *#games"] | None = None
    """In equivalent games: the message that reaches him for each that she sends."""

    def hers(self, his: Belief) -> Belief:
        """What he believes, in her order."""
        return jnp.sum(one_hot(len(his), self.order) * his, axis=1)


class Dialogue(eqx.Module):
    """What was said, thought and done. Candidates are in the teacher's order; rounds after the end are not `live`."""

    message: Int[Array, "rounds *#games"]
    values: Float[Array, "rounds messages *#games"]
    estimate: Float[Array, "rounds candidates *#games"]
    """The teacher's estimate of the student's belief before the message."""
    before: Float[Array, "rounds candidates *#games"]
    """The student's belief before the message."""
    after: Float[Array, "rounds candidates *#games"]
    """The student's belief after the message."""
    policy: Float[Array, "rounds actions *#games"]
    action: Int[Array, "rounds *#games"]
    reward: Float[Array, "rounds *#games"]
    live: Bool[Array, "rounds *#games"]

    @property
    def gain(self) -> Float[Array, "*#games"]:
        return jnp.sum(self.reward * self.live, axis=0)

    @property
    def length(self) -> Int[Array, "*#games"]:
        """Messages sent."""
        return jnp.sum(self.live, axis=0)

    @property
    def found(self) -> Float[Array, "*#games"]:
        """1 if the target was found."""
        return jnp.sum((self.reward > 0) & self.live, axis=0, dtype=jnp.float32)


def dialogue(
    key: Key[Array, ""],
    teacher,
    student,
    views: Views,
    rules: Rules,
    speak: Speak,
    answer: Answer,
    told: bool,
    words: Int[Array, "rounds *#games"] | None = None,
    prior: Belief | None = None,
    unroll: bool = True,
) -> Dialogue:
    """Play to the end. Where a person is the teacher, `words` are what she has said; -1 where she leaves it to ours.
    `prior` is what he believes before the first, and she knows it; by default he has no preference. Rounds that
    are not unrolled are compiled once for all: sooner ready, later done."""
    her_reading, his_reading = teacher.read(views.teacher), student.read(views.student)
    games = views.target.shape
    first = jnp.full((rules.candidates, *games), 1 / rules.candidates) if prior is None else prior

    def play(state: Minds, turn: tuple[Array, Array, Array | None]) -> tuple[Minds, tuple[Array, ...]]:
        estimate, before, live = state
        round_key, last, given = turn
        speak_key, answer_key = jax.random.split(round_key)
        values = teacher.values(her_reading, views.target, estimate)
        message = speak(speak_key, values)
        message = message if given is None else jnp.where(given < 0, message, given)
        heard = message if views.renaming is None else chosen(views.renaming, message)
        after = student.update(his_reading, before, heard)
        policy = student.policy(after, last)
        action = answer(answer_key, policy)
        # From here on everything stands in the teacher's order.
        said = jnp.where(action == rules.wait, action, chosen(views.order, action))
        reward = (said == views.target) - rules.message_cost
        now, chances = views.hers(after), jnp.concatenate([views.hers(policy[:-1]), policy[-1:]])
        record = message, values, estimate, views.hers(before), now, chances, said, reward, live
        estimate = now if told else teacher.predict(her_reading, estimate, message)
        # Each round is learned from by itself, as Algorithm 1 keeps it: the belief it begins with is given.
        return (estimate, jax.lax.stop_gradient(after), live & (said == rules.wait)), record

    turns = jax.random.split(key, rules.rounds), jnp.arange(rules.rounds) == rules.rounds - 1, words
    start = first, first, jnp.ones(games, bool)
    return Dialogue(*jax.lax.scan(play, start, turns, unroll=unroll and rules.rounds <= 4)[1])
