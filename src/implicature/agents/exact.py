"""Exact players as a teacher and a student of the one dialogue, for games of any number of rounds.

    he of depth t      b'(o) = L_t(o | m) with prior b          she responds to him:  Q(o*, b, m) = L_t(o* | m), true m

Without learning there is no knowing what a further word will bring: he takes it that it will make him sure, and waits
while his best guess is worth less than that, max b < 1 − c_m.

Depth is an array, so that one program serves all depths; and candidates that he rules out from the start change
nothing, so that it serves smaller games, too.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from implicature.agents.rsa import TIE, Belief, Table, Truth, literal_teacher, log_student, soft_teacher
from implicature.agents.teacher import Values

BETA = 10.0
UNTRUE = -1.0
"""The value of a message that she may not send."""


class Recursion(eqx.Module):
    """What both know of each other: how deep the student thinks, and how rational he takes her to be."""

    depth: int | Int[Array, ""]
    beta: float | Float[Array, ""] = BETA
    share: bool | Bool[Array, ""] = True
    """How the recursion starts: "share", or else "indicator"."""

    def tables(self, truth: Truth, belief: Belief) -> tuple[Table, Table]:
        """S_t and L_t: what he expects her to say, and what he would believe after each message."""
        shared, indicated = literal_teacher(truth, "share"), literal_teacher(truth, "indicator")
        literal = jnp.log(jnp.where(self.share, shared, indicated))
        unmoved = jnp.tile(belief[:, None], truth.shape[1])

        def deeper(_: Array, both: tuple[Table, Table]) -> tuple[Table, Table]:
            teacher = soft_teacher(truth, both[1], self.beta)
            return teacher, log_student(teacher, belief, both[1])

        start = literal, log_student(literal, belief, unmoved)
        teacher, student = jax.lax.fori_loop(0, self.depth, deeper, start)
        return jnp.exp(teacher), student


class ExactTeacher(eqx.Module):
    """She knows what he makes of every message, and sends only true ones."""

    mind: Recursion
    eyes: None = None

    def read(self, candidates: Float[Array, "candidates messages"]) -> Truth:
        return candidates > 0.5

    def predict(self, truth: Truth, belief: Belief, message: Int[Array, ""]) -> Belief:
        return self.mind.tables(truth, belief)[1][:, message]

    def values(self, truth: Truth, target: Int[Array, ""], belief: Belief) -> Values:
        return jnp.where(truth[target], self.mind.tables(truth, belief)[1][target], UNTRUE)


class ExactStudent(eqx.Module):
    """He takes her to be the teacher of his depth."""

    mind: Recursion
    cost: float = 0.0
    """What a message costs."""
    eyes: None = None

    def read(self, candidates: Float[Array, "candidates messages"]) -> Truth:
        return candidates > 0.5

    def update(self, truth: Truth, belief: Belief, message: Int[Array, ""]) -> Belief:
        return self.mind.tables(truth, belief)[1][:, message]

    def policy(self, belief: Belief, last: Bool[Array, ""]) -> Float[Array, " actions"]:
        waits = ~last & (jnp.max(belief) < 1 - self.cost - TIE)
        return jnp.append(jnp.where(waits, 0, belief), waits.astype(belief.dtype))


def tossing(key: Key[Array, ""], values: Float[Array, " choices"]) -> Int[Array, ""]:
    """The best choice; a toss where several are as good."""
    likely = values >= jnp.max(values) - TIE
    return jnp.argmax(jnp.where(likely, jax.random.uniform(key, values.shape), -1))
