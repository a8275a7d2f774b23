"""The two agents' losses (Algorithm 1, lines 29 to 38). Indices end in _tm1 before the message and _t after it.

teacher   ξ = r_t + γ · max_m Q'(O, o*, b_t, m),   L = (ξ − Q(O, o*, b_tm1, m_tm1))² + λ H(b_t, f_A(O, b_tm1, m_tm1))
student   J = mean over rounds of  log π_B(a_t) · (R_t − baseline_t),   R_t = Σ_k≥t γ^(k−t) r_k              (REINFORCE)

H(b_t, f_A) is the obverter loss. The student's belief b_t may stay with him: as his answer a_t is drawn from it,
−log f_A(a_t) has the same expectation, and whether he was right is one bit about f_A(o*) (F-42).

π_B is whether he answers at all, and what he answers by his belief. A right answer counts b(a)^−α (F-18). With α = 0,
as written, the optimal student is deterministic, which leaves the teacher no gradient towards another protocol in the
next phase; with α > 0 the optimal belief is the posterior to the power 1/α, itself for α = 1. Credit is assigned from
the sampled answer, or in expectation over all answers, given the target (F-19). Where a cell is to be found, b(o*) is
the belief in the target's cell. What words cost is in r_t: it changes what she says and whether he waits, not b.
"""

from collections.abc import Callable
from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from implicature.agents.belief import Belief, belief_in_cells, belief_in_target
from implicature.agents.perspectives import Perspectives
from implicature.agents.rollout import Rollout
from implicature.agents.teacher import LearnedTeacher
from implicature.games.rules import Rules
from implicature.nn.kernels import Index, take_one_hot
from implicature.nn.likelihood import Present
from implicature.training.config import MethodConfig
from implicature.training.replay import Transition

MIN_BELIEF = 0.02
"""Beliefs are clipped here before division: below it a right answer counts less than b(a)^−α (F-46)."""
Baseline = Literal["belief", "batch", "none"]
"""What REINFORCE subtracts from the return (F-13)."""
Cells = Int[Array, "candidates *#games"] | None
"""The cell of each candidate where a cell is to be found; None: the target itself is."""


ObverterLoss = Callable[[Belief, Transition], Float[Array, "*#games"]]
"""From what she predicts of his belief and from what he returned."""


def loss_from_belief(predicted: Belief, batch: Transition) -> Float[Array, "*#games"]:
    """H(b_t, f_A): he returns his belief."""
    return -jnp.sum(batch.b_t * jnp.log(predicted + 1e-9), axis=0)


def loss_from_answer(predicted: Belief, batch: Transition) -> Float[Array, "*#games"]:
    """−log f_A(a_t): he returns his answer, a sample of his belief. Waiting says nothing about a candidate."""
    answered = batch.a_t < len(predicted)
    return answered * -jnp.log(take_one_hot(predicted, jnp.minimum(batch.a_t, len(predicted) - 1)) + 1e-9)


def loss_from_correctness(predicted: Belief, batch: Transition) -> Float[Array, "*#games"]:
    """The cross-entropy of f_A(o*) and one bit: whether his answer was right."""
    answered, right = batch.a_t < len(predicted), batch.a_t == batch.target
    at_target = take_one_hot(predicted, batch.target)
    return answered * -jnp.log(jnp.where(right, at_target, 1 - at_target) + 1e-6)


def loss_from_nothing(predicted: Belief, batch: Transition) -> Float[Array, "*#games"]:
    return jnp.zeros_like(batch.r_t)


OBVERTER_LOSSES: dict[str, ObverterLoss] = {
    "belief": loss_from_belief,
    "answer": loss_from_answer,
    "correct": loss_from_correctness,
    "none": loss_from_nothing,
}
"""By what the student returns in training."""


def teacher_loss(
    teacher: LearnedTeacher,
    target_network: LearnedTeacher | None,
    batch: Transition,
    features: Array,
    weight: float,
    obverter: ObverterLoss = loss_from_belief,
    costs: Float[Array, "messages *#games"] | None = None,
    cells: Cells = None,
    sayable: Bool[Array, "candidates messages *#games"] | None = None,
    words: Int[Array, "messages *#games"] | None = None,
    present: Present | None = None,
) -> tuple[Float[Array, "*#games"], dict[str, Array]]:
    """L_Q + λ L_Obv of each transition. At the end of a game ξ = r, as in equation 3 (F-41); in one round it always is,
    and there is no target network (F-40)."""
    seen = features, costs, cells, sayable, words, present
    encoding = teacher.encode_features(*seen)
    q_tm1 = teacher.q_values(encoding, batch.target, batch.b_tm1, batch.m_tm1)[0]
    xi = batch.r_t
    if target_network is not None:
        q_t = target_network.q_values(target_network.encode_features(*seen), batch.target, batch.b_t)
        xi = xi + batch.discount_t * jnp.max(q_t, axis=0)
    q_loss = (jax.lax.stop_gradient(xi) - q_tm1) ** 2
    predicted = teacher.predict(encoding, batch.b_tm1, batch.m_tm1)
    obverter_loss = obverter(predicted, batch)
    return batch.active * (q_loss + weight * obverter_loss), {"q_loss": q_loss, "obverter_loss": obverter_loss}


def returns(played: Rollout, gamma: float) -> Float[Array, "rounds *#games"]:
    """R_t of every round; rewards after the end do not count."""

    def step(later: Array, reward: Array) -> tuple[Array, Array]:
        return (now := reward + gamma * later), now

    return jax.lax.scan(step, jnp.zeros(played.reward.shape[1:]), played.reward * played.active, reverse=True)[1]


def mean_return(return_t: Float[Array, "rounds *#games"], active: Array) -> Float[Array, "rounds *#games"]:
    """The mean over the batch of the games that have come to this round."""
    axes = tuple(range(1, return_t.ndim))
    counted = jnp.sum(active, axis=axes, keepdims=True)
    return jnp.sum(return_t * active, axis=axes, keepdims=True) / jnp.maximum(counted, 1)


def word_costs(played: Rollout, costs: Float[Array, "messages *#games"] | None) -> float | Array:
    """What the word of each round costs."""
    return 0.0 if costs is None else jax.vmap(lambda message: take_one_hot(costs, message))(played.message)


def expected_return(
    played: Rollout, later: Float[Array, "rounds ..."], cost: float | Array, cells: Cells = None
) -> Float[Array, "rounds *#games"]:
    """The return that he expects by his own belief: Σ_o π(o) b(o), and `later` where he waits (F-13). It does not
    depend on the action, so as a baseline it reduces variance without bias."""
    answers, wait = played.policy[:, :-1], played.policy[:, -1]
    right = answer_beliefs(played.after, cells)
    return jax.lax.stop_gradient(jnp.sum(answers * right, axis=1) + wait * later - cost)


def answer_beliefs(after: Float[Array, "rounds candidates *#games"], cells: Cells) -> Float[Array, "rounds ..."]:
    """How likely he holds each answer to be right, which is how likely he gives it."""
    return after if cells is None else jax.vmap(lambda belief: belief_in_cells(belief, cells))(after)


def sampled_credit(
    played: Rollout, target: Index, alpha: float, baseline: Baseline = "belief", cells: Cells = None
) -> Float[Array, "rounds *#games"]:
    """The score function of his belief from the sampled answer: Algorithm 1 as written, where α = 0 and there is no
    baseline."""
    answers = answer_beliefs(played.after, cells)
    answered = played.action < answers.shape[1]
    own = jax.vmap(take_one_hot)(jnp.append(answers, jnp.ones_like(answers[:, :1]), axis=1), played.action)
    right = played.right * jnp.maximum(own, MIN_BELIEF) ** -alpha
    expected = jnp.zeros(())
    if baseline == "belief":
        expected = jnp.sum(answers**2 * jnp.maximum(answers, MIN_BELIEF) ** -alpha, axis=1)
    elif baseline == "batch":
        expected = mean_return(right, played.active & answered)
    return jnp.log(own + 1e-9) * jax.lax.stop_gradient(answered * (right - expected))


def expected_credit(
    played: Rollout, target: Index, alpha: float, baseline: Baseline = "belief", cells: Cells = None
) -> Float[Array, "rounds *#games"]:
    """Its expectation over his answers, without sampling noise, whatever the baseline. With α = 1 its gradient is that
    of log b(o*): supervised cross-entropy on the target (F-18)."""
    own = jax.vmap(lambda belief: belief_in_target(belief, target, cells))(played.after)
    return jnp.log(own + 1e-9) * jax.lax.stop_gradient(own * jnp.maximum(own, MIN_BELIEF) ** -alpha)


CreditAssignment = Callable[[Rollout, Index, float, Baseline, Cells], Float[Array, "rounds *#games"]]
CREDIT_ASSIGNMENT: dict[str, CreditAssignment] = {"sampled": sampled_credit, "expected": expected_credit}


def student_loss(
    played: Rollout,
    target: Index,
    advantage: Float[Array, "rounds *#games"],
    alpha: float,
    credit: CreditAssignment,
    baseline: Baseline = "belief",
    cells: Cells = None,
) -> Float[Array, "*#games"]:
    """−J of each game. Whether to answer is learned from the return, what to answer from being right (F-55)."""
    wait = played.policy[:, -1]
    decided = jnp.log(jnp.where(played.action < played.after.shape[1], 1 - wait, wait) + 1e-9)
    each = decided * jax.lax.stop_gradient(advantage) + credit(played, target, alpha, baseline, cells)
    return -jnp.sum(each * played.active, axis=0) / played.n_messages


def reinforce_loss(played: Rollout, seen: Perspectives, config: MethodConfig, rules: Rules) -> Float[Array, "*#games"]:
    """−J with the baseline and the credit assignment of the config."""
    assert config.calibration_alpha is not None  # resolved
    assert config.gamma is not None  # resolved
    return_t = returns(played, config.gamma)
    mean = mean_return(return_t, played.active)
    later = config.gamma * jnp.append(mean[1:], jnp.zeros((1, 1, 1)), axis=0)
    costs, cells = seen.teacher.costs, seen.teacher.cells
    baseline = {
        "belief": expected_return(played, later, rules.message_cost + word_costs(played, costs), cells),
        "batch": mean,
        "none": jnp.zeros(()),
    }[config.reinforce_baseline]
    credit, alpha = CREDIT_ASSIGNMENT[config.credit], config.calibration_alpha
    return student_loss(played, seen.target, return_t - baseline, alpha, credit, config.reinforce_baseline, cells)


StudentLoss = Callable[[Rollout, Perspectives, MethodConfig, Rules], Float[Array, "*#games"]]
"""What the student minimises in each game: from what was played, the game as each agent saw it, settings and rules."""
LOSSES: dict[str, StudentLoss] = {"reinforce": reinforce_loss}
