"""The two agents' losses (Algorithm 1, lines 25 to 36). Indices end in _tm1 before the message and _t after it.

teacher   ξ = r_t + γ · max_m Q'(O, o*, b_t, m),   L = (ξ − Q(O, o*, b_tm1, m_tm1))² + λ H(b_t, f_A(O, b_tm1, m_tm1))
student   J = mean over rounds of  log π_B(a_t) · (R_t − baseline_t),   R_t = Σ_k≥t γ^(k−t) r_k              (REINFORCE)

π_B is whether he answers at all, and what he answers by his belief. Being right counts b(a)^−α: with α = 0 as written,
when the best student is sure of his best guess, and what he is sure of she cannot learn to use otherwise in the next
phase; with α > 0 the best belief is the posterior to the power 1/α, itself for α = 1 (F-18). He learns from the one
answer that he gave, or, shown the target at the end, from every answer that he might have given (F-19).
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.rollout import Dialogue
from implicature.agents.teacher import Teacher
from implicature.nn.belief_nets import Choice, chosen

LEAST = 0.02
"""The smallest belief by which being right is divided."""


class Transition(eqx.Module):
    """Rounds as the replay buffer keeps them."""

    candidates: Int[Array, "candidates *#games"]
    target: Int[Array, "*#games"]
    b_tm1: Float[Array, "candidates *#games"]
    m_tm1: Int[Array, "*#games"]
    b_t: Float[Array, "candidates *#games"]
    r_t: Float[Array, "*#games"]
    discount_t: Float[Array, "*#games"]
    """γ where the game goes on, 0 at its end."""
    live: Bool[Array, "*#games"]


def teacher_loss(
    teacher: Teacher, target_teacher: Teacher | None, seen: Transition, features: Array, obverter: float
) -> tuple[Float[Array, "*#games"], dict[str, Array]]:
    """L_Q + λ L_Obv of each transition. Without a target network the game always ends here: ξ = r."""
    reading = teacher.read(features)
    q_tm1 = teacher.values(reading, seen.target, seen.b_tm1, seen.m_tm1)[0]
    xi = seen.r_t
    if target_teacher is not None:
        q_t = target_teacher.values(target_teacher.read(features), seen.target, seen.b_t)
        xi = xi + seen.discount_t * jnp.max(q_t, axis=0)
    q_loss = (jax.lax.stop_gradient(xi) - q_tm1) ** 2
    predicted = teacher.predict(reading, seen.b_tm1, seen.m_tm1)
    obverter_loss = -jnp.sum(seen.b_t * jnp.log(predicted + 1e-9), axis=0)
    return seen.live * (q_loss + obverter * obverter_loss), {"q_loss": q_loss, "obverter_loss": obverter_loss}


def returns(played: Dialogue, gamma: float) -> Float[Array, "rounds *#games"]:
    """R_t of every round; rewards after the end do not count."""

    def back(later: Array, reward: Array) -> tuple[Array, Array]:
        return (now := reward + gamma * later), now

    return jax.lax.scan(back, jnp.zeros(played.reward.shape[1:]), played.reward * played.live, reverse=True)[1]


def baseline(played: Dialogue, later: Float[Array, "rounds ..."], cost: float) -> Float[Array, "rounds *#games"]:
    """What he expects by his own belief: Σ_o π(o) b(o), and `later` where he waits (F-13). Whatever it is, it does not
    depend on the action, so it takes out noise and adds no bias."""
    answers, wait = played.policy[:, :-1], played.policy[:, -1]
    return jax.lax.stop_gradient(jnp.sum(answers * played.after, axis=1) + wait * later - cost)


def one_answer(played: Dialogue, target: Choice, calibration: float) -> Float[Array, "rounds *#games"]:
    """What he learns of his belief from the one answer that he gave: Algorithm 1 as written."""
    answers = played.after
    answered = played.action < answers.shape[1]
    own = jax.vmap(chosen)(jnp.append(answers, jnp.ones_like(answers[:, :1]), axis=1), played.action)
    right = (played.reward > 0) * jnp.maximum(own, LEAST) ** -calibration
    expected = jnp.sum(answers**2 * jnp.maximum(answers, LEAST) ** -calibration, axis=1)
    return jnp.log(own + 1e-9) * jax.lax.stop_gradient(answered * (right - expected))


def every_answer(played: Dialogue, target: Choice, calibration: float) -> Float[Array, "rounds *#games"]:
    """The same for all the answers that he might give, each by its chance: the mean of the above, without its noise."""
    own = jax.vmap(lambda belief: chosen(belief, target))(played.after)
    return jnp.log(own + 1e-9) * jax.lax.stop_gradient(own * jnp.maximum(own, LEAST) ** -calibration)


Lesson = Callable[[Dialogue, Choice, float], Float[Array, "rounds *#games"]]
LESSONS: dict[str, Lesson] = {"one": one_answer, "every": every_answer}


def student_loss(
    played: Dialogue, target: Choice, advantage: Float[Array, "rounds *#games"], calibration: float, lesson: Lesson
) -> Float[Array, "*#games"]:
    """−J of each game. Whether to answer is learned from the gain; what to answer from whether it was right."""
    wait = played.policy[:, -1]
    decided = jnp.log(jnp.where(played.action < played.after.shape[1], 1 - wait, wait) + 1e-9)
    each = decided * jax.lax.stop_gradient(advantage) + lesson(played, target, calibration)
    return -jnp.sum(each * played.live, axis=0) / played.length
