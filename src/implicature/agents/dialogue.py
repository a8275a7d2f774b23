"""The one rollout: teacher and student play a game (Algorithm 1, lines 11 to 20). Training, evaluation, the page and
the environment all call `dialogue`.

The teacher keeps an estimate b_BinA of the student's belief. In training she is told his real one (`told`); in testing
she goes by her own prediction. How she speaks and how he answers is passed in: greedily, by chance, exploring.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.belief import Belief
from implicature.agents.student import Policy
from implicature.agents.teacher import Values
from implicature.games import Rules

Speak = Callable[[Key[Array, ""], Values], Int[Array, ""]]
Answer = Callable[[Key[Array, ""], Policy], Int[Array, ""]]
Minds = tuple[Belief, Belief, Bool[Array, ""]]
"""Her estimate of his belief, his belief, and whether the game goes on."""


def greedily(key: Key[Array, ""], values: Float[Array, " choices"]) -> Int[Array, ""]:
    return jnp.argmax(values)


def by_chance(key: Key[Array, ""], chances: Float[Array, " choices"]) -> Int[Array, ""]:
    """One uniform number against the running sum: far cheaper than a number for each choice."""
    running = jnp.cumsum(chances)
    return jnp.sum(jax.random.uniform(key) * running[-1] >= running[:-1])


def softly(beta: float) -> Speak:
    """π_A = softmax(β Q)."""
    return lambda key, values: by_chance(key, jax.nn.softmax(beta * values))


def exploring(epsilon: Float[Array, ""], beta: float) -> Speak:
    """Any message with chance ε, else by π_A."""

    def speak(key: Key[Array, ""], values: Values) -> Int[Array, ""]:
        return by_chance(key, epsilon / values.shape[0] + (1 - epsilon) * jax.nn.softmax(beta * values))

    return speak


class Views(eqx.Module):
    """One game as each side sees it. The student's candidates stand in his own order and may be renamed."""

    teacher: Float[Array, "candidates ..."]
    student: Float[Array, "candidates ..."]
    target: Int[Array, ""]
    """Position in the teacher's order."""
    order: Int[Array, " candidates"]
    """His j-th candidate is her order[j]-th."""
    renaming: Int[Array, " messages"] | None = None
    """In equivalent games: the message that reaches him for each that she sends."""


class Dialogue(eqx.Module):
    """What was said, thought and done. Candidates are in the teacher's order; rounds after the end are not `live`.
    While it is played: one round, without the axis."""

    message: Int[Array, "*rounds"]
    values: Float[Array, "*rounds messages"]
    estimate: Float[Array, "*rounds candidates"]
    """The teacher's estimate of the student's belief before the message."""
    before: Float[Array, "*rounds candidates"]
    """The student's belief before the message."""
    after: Float[Array, "*rounds candidates"]
    """The student's belief after the message."""
    policy: Float[Array, "*rounds actions"]
    action: Int[Array, "*rounds"]
    reward: Float[Array, "*rounds"]
    live: Bool[Array, "*rounds"]

    @property
    def gain(self) -> Float[Array, ""]:
        return jnp.sum(self.reward * self.live)

    @property
    def length(self) -> Int[Array, ""]:
        """Messages sent."""
        return jnp.sum(self.live)

    @property
    def found(self) -> Float[Array, ""]:
        """1 if the target was found."""
        return jnp.sum((self.reward > 0) & self.live, dtype=jnp.float32)


def dialogue(
    key: Key[Array, ""], teacher, student, views: Views, rules: Rules, speak: Speak, answer: Answer, told: bool
) -> Dialogue:
    """Play one game to its end."""
    her_reading, his_reading = teacher.read(views.teacher), student.read(views.student)
    his_place = jnp.argsort(views.order)  # where in his order each of her candidates stands
    uniform = jnp.full(rules.candidates, 1 / rules.candidates)

    def play(state: Minds, turn: tuple[Array, Array]) -> tuple[Minds, Dialogue]:
        estimate, before, live = state
        round_key, last = turn
        speak_key, answer_key = jax.random.split(round_key)
        values = teacher.values(her_reading, views.target, estimate)
        message = speak(speak_key, values)
        heard = message if views.renaming is None else views.renaming[message]
        after = student.update(his_reading, before, heard)
        policy = student.policy(after, last)
        action = answer(answer_key, policy)
        # From here on everything stands in the teacher's order.
        said = jnp.append(views.order, rules.wait)[action]
        reward = (said == views.target) - rules.message_cost
        record = Dialogue(
            message, values, estimate, before[his_place], after[his_place],
            jnp.append(policy[his_place], policy[-1]), said, reward, live,
        )  # fmt: skip
        estimate = after[his_place] if told else teacher.predict(her_reading, estimate, message)
        # Each round is learned from by itself, as Algorithm 1 keeps it: the belief it begins with is given.
        return (estimate, jax.lax.stop_gradient(after), live & (said == rules.wait)), record

    turns = jax.random.split(key, rules.rounds), jnp.arange(rules.rounds) == rules.rounds - 1
    return jax.lax.scan(play, (uniform, uniform, jnp.asarray(True)), turns, unroll=rules.rounds <= 4)[1]
