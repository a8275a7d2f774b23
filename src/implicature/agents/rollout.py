"""The one rollout: teacher and student play a game (Algorithm 1, lines 11 to 20). Training, evaluation, the page and
the environment all call `dialogue`.

The teacher keeps an estimate b_BinA of the student's belief. In training she is told his real one (`told`); in testing
she goes by her own prediction. How she speaks and how he answers is passed in: greedily, by chance, exploring.

One game, or many at once along a last axis of every array; agents who know but one game at a time are played with
`vmap`.

An agent's mind between rounds is a belief, and for most agents nothing else; `Remembering` agents keep more (`Mind`).
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.student import Policy
from implicature.agents.teacher import Values
from implicature.games.sampling import Rules
from implicature.nn.belief_nets import Belief, Choice, chosen, one_hot

Speak = Callable[[Key[Array, ""], Values], Choice]
Answer = Callable[[Key[Array, ""], Policy], Choice]


class Mind(eqx.Module):
    """A belief, and what else an agent keeps from round to round."""

    belief: Belief
    kept: Any
    live: Bool[Array, "*#games"] = eqx.field(default_factory=lambda: jnp.asarray(True))
    """Whether the game goes on; what an agent thinks after its end does not matter."""


class Remembering(eqx.Module):
    """An agent that keeps more than a belief: updates and predictions take a `Mind` and give one."""

    @abstractmethod
    def start(self, uniform: Belief, rules: Rules) -> Mind:
        """Before the first word."""


Minds = tuple[Belief | Mind, Belief | Mind, Bool[Array, "*#games"]]
"""What she takes his belief to be, his own mind, and whether the game goes on."""


def at_first(agent: Any, uniform: Belief, rules: Rules) -> Belief | Mind:
    return agent.start(uniform, rules) if isinstance(agent, Remembering) else uniform


def going_on(mind: Belief | Mind, live: Bool[Array, "*#games"]) -> Belief | Mind:
    return Mind(mind.belief, mind.kept, live) if isinstance(mind, Mind) else mind


def believed(mind: Belief | Mind) -> Belief:
    return mind.belief if isinstance(mind, Mind) else mind


def greedily(key: Key[Array, ""], values: Float[Array, "choices *#games"]) -> Choice:
    return jnp.argmax(values, axis=0)


def by_chance(key: Key[Array, ""], chances: Float[Array, "choices *#games"]) -> Choice:
    """One uniform number against the running sum: far cheaper than a number for each choice."""
    running = jnp.cumsum(chances, axis=0)
    return jnp.sum(jax.random.uniform(key, chances.shape[1:]) * running[-1] >= running[:-1], axis=0)


@cache
def softly(beta: float) -> Speak:
    """π_A = softmax(β Q). The same function for the same β, so that it is compiled for once."""
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


def in_her_order(order: Int[Array, "candidates *#games"], action: Choice, rules: Rules) -> Choice:
    """His answer as the number of a candidate in her order; Ξ stays Ξ."""
    return jnp.where(action == rules.wait, action, chosen(order, action))


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
        round_key, number, given = turn
        speak_key, answer_key = jax.random.split(round_key)
        values = teacher.values(her_reading, views.target, estimate)
        message = speak(speak_key, values)
        message = message if given is None else jnp.where(given < 0, message, given)
        heard = message if views.renaming is None else chosen(views.renaming, message)
        after = student.update(his_reading, before, heard)
        policy = student.policy(after, number == rules.rounds - 1)
        action = answer(answer_key, policy)
        # From here on everything stands in the teacher's order.
        said = in_her_order(views.order, action, rules)
        reward, over = rules.judge(said, views.target, number)
        now, chances = views.hers(believed(after)), jnp.concatenate([views.hers(policy[:-1]), policy[-1:]])
        record = message, values, believed(estimate), views.hers(believed(before)), now, chances, said, reward, live
        estimate = now if told else teacher.predict(her_reading, estimate, message)
        # Each round is learned from by itself, as Algorithm 1 keeps it: the belief it begins with is given.
        live = live & ~over
        return (going_on(estimate, live), going_on(jax.lax.stop_gradient(after), live), live), record

    turns = jax.random.split(key, rules.rounds), jnp.arange(rules.rounds), words
    start = at_first(teacher, first, rules), at_first(student, first, rules), jnp.ones(games, bool)
    return Dialogue(*jax.lax.scan(play, start, turns, unroll=unroll and rules.rounds <= 4)[1])
