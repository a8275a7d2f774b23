"""The two agents' losses (Algorithm 1, lines 25 to 36). Indices end in _tm1 before the message and _t after it.

teacher   ξ = r_t + γ · max_m Q'(O, o*, b_t, m),   L = (ξ − Q(O, o*, b_tm1, m_tm1))² + λ H(b_t, f_A(O, b_tm1, m_tm1))
student   J = mean over rounds of  log π_B(a_t) · (R_t − baseline_t) + τ H(b_t),   R_t = Σ_k≥t γ^(k−t) r_k   (REINFORCE)
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.belief import chosen
from implicature.agents.dialogue import Dialogue
from implicature.agents.teacher import Teacher, entropy


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


def student_loss(
    played: Dialogue, advantage: Float[Array, "rounds *#games"], tau: float = 0.0
) -> Float[Array, "*#games"]:
    """−J of each game. Without τ the best student is sure of his best guess, and what he is sure of she cannot learn to
    use otherwise in the next phase (F-18)."""
    log_chance = jnp.log(jax.vmap(chosen)(played.policy, played.action) + 1e-9)
    each = log_chance * jax.lax.stop_gradient(advantage) + tau * jax.vmap(entropy)(played.after)
    return -jnp.sum(each * played.live, axis=0) / played.length
