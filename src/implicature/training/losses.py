"""The two agents' losses (Algorithm 1, lines 29 to 38). Indices end in _tm1 before the message and _t after it.

teacher   ξ = r_t + γ · max_m Q'(O, o*, b_t, m),   L = (ξ − Q(O, o*, b_tm1, m_tm1))² + λ H(b_t, f_A(O, b_tm1, m_tm1))
student   J = mean over rounds of  log π_B(a_t) · (R_t − baseline_t),   R_t = Σ_k≥t γ^(k−t) r_k              (REINFORCE)

π_B is whether he answers at all, and what he answers by his belief. A right answer counts b(a)^−α (F-18). With α = 0,
as written, the optimal student is deterministic, which leaves the teacher no gradient towards another protocol in the
next phase; with α > 0 the optimal belief is the posterior to the power 1/α, itself for α = 1. Credit is assigned from
the sampled answer, or in expectation over all answers, given the target (F-19).
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from implicature.agents.rollout import Rollout
from implicature.agents.teacher import LearnedTeacher
from implicature.nn.kernels import Index, take_one_hot
from implicature.training.replay import Transition

MIN_BELIEF = 0.02
"""Beliefs are clipped here before division."""


def teacher_loss(
    teacher: LearnedTeacher, target_network: LearnedTeacher | None, batch: Transition, features: Array, weight: float
) -> tuple[Float[Array, "*#games"], dict[str, Array]]:
    """L_Q + λ L_Obv of each transition. Without a target network the game always ends here: ξ = r."""
    encoding = teacher.net(features)
    q_tm1 = teacher.q_values(encoding, batch.target, batch.b_tm1, batch.m_tm1)[0]
    xi = batch.r_t
    if target_network is not None:
        q_t = target_network.q_values(target_network.net(features), batch.target, batch.b_t)
        xi = xi + batch.discount_t * jnp.max(q_t, axis=0)
    q_loss = (jax.lax.stop_gradient(xi) - q_tm1) ** 2
    predicted = teacher.predict(encoding, batch.b_tm1, batch.m_tm1)
    obverter_loss = -jnp.sum(batch.b_t * jnp.log(predicted + 1e-9), axis=0)
    return batch.active * (q_loss + weight * obverter_loss), {"q_loss": q_loss, "obverter_loss": obverter_loss}


def returns(played: Rollout, gamma: float) -> Float[Array, "rounds *#games"]:
    """R_t of every round; rewards after the end do not count."""

    def step(later: Array, reward: Array) -> tuple[Array, Array]:
        return (now := reward + gamma * later), now

    return jax.lax.scan(step, jnp.zeros(played.reward.shape[1:]), played.reward * played.active, reverse=True)[1]


def baseline(played: Rollout, later: Float[Array, "rounds ..."], cost: float) -> Float[Array, "rounds *#games"]:
    """The return that he expects by his own belief: Σ_o π(o) b(o), and `later` where he waits (F-13). It does not
    depend on the action, so it reduces variance without bias."""
    answers, wait = played.policy[:, :-1], played.policy[:, -1]
    return jax.lax.stop_gradient(jnp.sum(answers * played.after, axis=1) + wait * later - cost)


def sampled_credit(played: Rollout, target: Index, alpha: float) -> Float[Array, "rounds *#games"]:
    """The score function of his belief from the sampled answer: Algorithm 1 as written."""
    answers = played.after
    answered = played.action < answers.shape[1]
    own = jax.vmap(take_one_hot)(jnp.append(answers, jnp.ones_like(answers[:, :1]), axis=1), played.action)
    right = (played.reward > 0) * jnp.maximum(own, MIN_BELIEF) ** -alpha
    expected = jnp.sum(answers**2 * jnp.maximum(answers, MIN_BELIEF) ** -alpha, axis=1)
    return jnp.log(own + 1e-9) * jax.lax.stop_gradient(answered * (right - expected))


def expected_credit(played: Rollout, target: Index, alpha: float) -> Float[Array, "rounds *#games"]:
    """Its expectation over his answers, without sampling noise."""
    own = jax.vmap(lambda belief: take_one_hot(belief, target))(played.after)
    return jnp.log(own + 1e-9) * jax.lax.stop_gradient(own * jnp.maximum(own, MIN_BELIEF) ** -alpha)


CreditAssignment = Callable[[Rollout, Index, float], Float[Array, "rounds *#games"]]
CREDIT_ASSIGNMENT: dict[str, CreditAssignment] = {"sampled": sampled_credit, "expected": expected_credit}


def student_loss(
    played: Rollout, target: Index, advantage: Float[Array, "rounds *#games"], alpha: float, credit: CreditAssignment
) -> Float[Array, "*#games"]:
    """−J of each game. Whether to answer is learned from the return; what to answer from whether it was right."""
    wait = played.policy[:, -1]
    decided = jnp.log(jnp.where(played.action < played.after.shape[1], 1 - wait, wait) + 1e-9)
    each = decided * jax.lax.stop_gradient(advantage) + credit(played, target, alpha)
    return -jnp.sum(each * played.active, axis=0) / played.n_messages
