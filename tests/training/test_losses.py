"""The two agents' losses, worked out by hand, and REINFORCE against the gradient that it estimates."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.nn import log_softmax, softmax
from jaxtyping import Array, Bool

from implicature.agents.contracts import AbstractStudent, AbstractTeacher, AgentState, Policy, Values
from implicature.agents.perspectives import FeatureTable, perspectives
from implicature.agents.rollout import Rollout, boltzmann, categorical, rollout
from implicature.agents.rsa import Table
from implicature.agents.teacher import LearnedTeacher
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.games.sampling import Game
from implicature.nn.deep_sets import DeepSetsNet
from implicature.nn.kernels import Index
from implicature.training.losses import (
    CreditAssignment,
    expected_credit,
    expected_return,
    loss_from_answer,
    loss_from_belief,
    loss_from_correctness,
    returns,
    sampled_credit,
    student_loss,
    teacher_loss,
)
from implicature.training.replay import Transition
from implicature.training.resolve import default_beta

# Two candidates, two messages: P(m | o) = 3/4 and 1/4 for the first candidate, 1/4 and 3/4 for the second.
SPEAKER_TABLE = jnp.array([[0.75, 0.25], [0.25, 0.75]])
ONE_HOT = jnp.eye(2)


def teacher_with(table: jax.Array) -> LearnedTeacher:
    """A new teacher, whose Q head is still 0, so that Q is his belief in the target, and whose network gives this table
    for one-hot candidates: W = 1 and v_m = log P(m | ·), without blocks and without lapses. As leaky rectifiers leave 0
    and 1 unchanged, logit[o, m] = log P(m | o)."""
    net = DeepSetsNet(2, 2, jax.random.key(0), 2, 0, "softmax", 0.0)
    net = eqx.tree_at(lambda net: (net.encoder.weight, net.messages), net, (jnp.eye(2), jnp.log(table).T))
    return LearnedTeacher(net, 4, jax.random.key(1))


TEACHER = teacher_with(SPEAKER_TABLE)
jitted_loss = eqx.filter_jit(teacher_loss)


def transition(
    m_tm1: int, b_t: list[float], r_t: float, discount_t: float, active: bool = True, a_t: int = 0
) -> Transition:
    return Transition(
        jnp.arange(2), jnp.asarray(0), jnp.array([0.5, 0.5]), jnp.asarray(m_tm1), jnp.array(b_t), jnp.asarray(a_t),
        jnp.asarray(r_t), jnp.asarray(discount_t), jnp.asarray(active),
    )  # fmt: skip


# The teacher's, by hand. From 1/2, 1/2 she predicts 3/4, 1/4 after the first message and values it at 3/4.


def test_at_the_end_of_a_game_q_is_compared_with_the_reward():
    # ξ = 1, Q = 3/4: L_Q = 1/16. He believes 0.9, 0.1: L_Obv = -0.9 ln 3/4 - 0.1 ln 1/4 = 0.397543.
    loss, metrics = jitted_loss(TEACHER, None, transition(0, [0.9, 0.1], 1.0, 0.0), ONE_HOT, 2.0)
    assert np.isclose(metrics["q_loss"], 1 / 16, atol=1e-6)
    assert np.isclose(metrics["obverter_loss"], 0.397543, atol=1e-6)
    assert np.isclose(loss, 1 / 16 + 2 * 0.397543, atol=1e-6)
    # With a target network, a discount of 0 says the same.
    again, _ = jitted_loss(TEACHER, TEACHER, transition(0, [0.9, 0.1], 1.0, 0.0), ONE_HOT, 2.0)
    assert np.isclose(loss, again, atol=1e-6)


def test_where_the_game_goes_on_the_target_network_values_the_best_next_message():
    # Her message was the second, worth 1/4; it cost 0.1, and he believes 0.2, 0.8 now. The target network gives the
    # messages probabilities 9/10 and 1/10: after the first he would believe 0.2 · 0.9 against 0.8 · 0.1, so
    # 18/26; after the second 0.02 against 0.72. ξ = -0.1 + 0.6 · 18/26 = 0.315385, L_Q = (0.315385 - 0.25)² = 0.004275.
    target = teacher_with(jnp.array([[0.9, 0.1], [0.1, 0.9]]))
    batch = transition(1, [0.2, 0.8], -0.1, 0.6)
    _, metrics = jitted_loss(TEACHER, target, batch, ONE_HOT, 1.0)
    assert np.isclose(metrics["q_loss"], 0.0042752, atol=1e-6)
    # -0.2 ln 1/4 - 0.8 ln 3/4 = 0.507404.
    assert np.isclose(metrics["obverter_loss"], 0.507404, atol=1e-6)


def test_rounds_after_the_end_do_not_count():
    loss, _ = jitted_loss(TEACHER, TEACHER, transition(0, [0.9, 0.1], 1.0, 0.6, active=False), ONE_HOT, 1.0)
    assert float(loss) == 0


def test_no_gradient_flows_into_the_target_network_or_the_observed_belief():
    def loss(target: LearnedTeacher, b_t: jax.Array) -> jax.Array:
        batch = eqx.tree_at(lambda batch: batch.b_t, transition(1, [0.2, 0.8], -0.1, 0.6), b_t)
        return jitted_loss(TEACHER, target, batch, ONE_HOT, 0.0)[0]

    gradient = eqx.filter_jit(eqx.filter_grad(lambda both: loss(*both)))((TEACHER, jnp.array([0.2, 0.8])))
    assert all(not np.any(leaf) for leaf in jax.tree.leaves(gradient))


def test_less_than_a_belief_still_teaches_her_what_he_believes():
    # She predicts 3/4, 1/4, the target is the first candidate, waiting is 2.
    predicted = jnp.array([0.75, 0.25])
    answers = [transition(0, [0.9, 0.1], 1.0, 0.0, a_t=a) for a in (0, 1, 2)]
    # -ln 3/4, -ln 1/4; a wait says nothing.
    assert np.allclose([loss_from_answer(predicted, one) for one in answers], [0.287682, 1.386294, 0], atol=1e-5)
    # Right: -ln 3/4; wrong: -ln (1 - 3/4).
    assert np.allclose([loss_from_correctness(predicted, one) for one in answers], [0.287682, 1.386294, 0], atol=1e-5)
    # His answers are drawn from his belief: the expected loss from them is the loss from the belief.
    expected = 0.9 * loss_from_answer(predicted, answers[0]) + 0.1 * loss_from_answer(predicted, answers[1])
    assert np.isclose(expected, loss_from_belief(predicted, answers[0]), atol=1e-6)


# The student's, by hand


def rounds_of(reward: list[float], active: list[bool], policy: list[list[float]], action: list[int]) -> Rollout:
    """Rounds of a game of two candidates. Messages and her side do not matter to him."""
    rounds, probabilities = len(reward), jnp.array(policy)
    after = probabilities[:, :2] / probabilities[:, :2].sum(axis=1, keepdims=True)
    nothing = jnp.zeros((rounds, 2))
    return Rollout(
        jnp.zeros(rounds, int), nothing, nothing, nothing, nothing, after, probabilities, jnp.array(action),
        jnp.array(reward), jnp.array(active), jnp.array(reward) > 0, jnp.zeros(rounds, int),
    )  # fmt: skip


# He waits, answers rightly; the third round is not played, whatever is in it.
GAME = rounds_of([-0.1, 0.9, 0.9], [True, True, False], [[0.3, 0.2, 0.5], [0.8, 0.2, 0.0], [0.5, 0.5, 0.0]], [2, 0, 1])


@pytest.mark.parametrize(
    ("gamma", "expected"),
    # R_3 = 0, R_2 = 0.9, R_1 = -0.1 + γ · 0.9.
    [(1.0, [0.8, 0.9, 0]), (0.6, [0.44, 0.9, 0]), (0.0, [-0.1, 0.9, 0])],
)
def test_returns_add_up_later_rewards_discounted_to_the_end_of_the_game(gamma: float, expected: list[float]):
    assert np.allclose(returns(GAME, gamma), expected)


def test_the_baseline_is_what_he_expects_by_his_own_belief():
    # Beliefs 0.6, 0.4; 0.8, 0.2; 0.5, 0.5. Answers are right with the probability he believes:
    # 0.3 · 0.6 + 0.2 · 0.4 = 0.26; waiting is worth what is later, 0.5 · 0.7; less the cost 0.1: 0.51. Then
    # 0.8² + 0.2² - 0.1 = 0.58; 0.5 - 0.1.
    expected = expected_return(GAME, jnp.array([0.7, 0.3, 0.0]), 0.1)
    assert np.allclose(expected, [0.51, 0.58, 0.4])


def test_without_a_baseline_only_a_right_answer_moves_him_and_the_batch_mean_is_subtracted_if_asked():
    # Two games of one round: beliefs 0.6, 0.4 and 0.8, 0.2; he answers 0 (right) and 1 (wrong), α = 0.
    two = rounds_of([1.0], [True], [[0.6, 0.4, 0.0]], [0]), rounds_of([0.0], [True], [[0.8, 0.2, 0.0]], [1])
    games = jax.tree.map(lambda a, b: jnp.stack([a, b], axis=-1), *two)
    target = jnp.array([0, 0])
    none = sampled_credit(games, target, 0.0, "none")[0]
    assert np.allclose(none, [np.log(0.6), 0.0], atol=1e-6)
    # The mean of the batch is 1/2.
    batch = sampled_credit(games, target, 0.0, "batch")[0]
    assert np.allclose(batch, [0.5 * np.log(0.6), -0.5 * np.log(0.2)], atol=1e-6)
    # By his belief: 1 - (0.36 + 0.16), 0 - (0.64 + 0.04).
    own = sampled_credit(games, target, 0.0, "belief")[0]
    assert np.allclose(own, [0.48 * np.log(0.6), -0.68 * np.log(0.2)], atol=1e-6)


ADVANTAGE = jnp.array([2.0, 1.0, 100.0])


@pytest.mark.parametrize(
    ("alpha", "expected"),
    # He waits with probability 0.5, then is right with belief 0.8 where he expects 0.8² + 0.2²:
    # -(ln 0.5 · 2 + ln 0.8 · (1 - 0.68)) / 2 = (1.386294 + 0.071406) / 2; the third round's 100 does not count.
    # With α = 1 being right counts 1 / 0.8 where he expects 0.8 + 0.2: (1.386294 + 0.223144 · 0.25) / 2.
    [(0.0, 0.728850), (1.0, 0.721040)],
)
def test_the_students_loss_is_the_mean_over_the_rounds_played(alpha: float, expected: float):
    assert np.isclose(student_loss(GAME, jnp.asarray(0), ADVANTAGE, alpha, sampled_credit), expected, atol=1e-5)


def test_expected_credit_counts_in_each_round_by_his_belief_in_the_target():
    # He believes the target 0.6, then 0.8. With α = 0: -(ln 0.5 · 2 + 0.6 ln 0.6 + 0.8 ln 0.8) / 2; with α = 1 not by
    # his belief: -(ln 0.5 · 2 + ln 0.6 + ln 0.8) / 2.
    for alpha, expected in ((0.0, 0.935653), (1.0, 1.060132)):
        loss = student_loss(GAME, jnp.asarray(0), ADVANTAGE, alpha, expected_credit)
        assert np.isclose(loss, expected, atol=1e-5)


@pytest.mark.parametrize(("logit", "weight"), [(0.0, 1.0), (3.0, 1.0), (-4.6, 0.4975)])
def test_with_the_defaults_of_a_grounded_pair_he_learns_by_cross_entropy_on_the_target(logit: float, weight: float):
    # Two candidates: b = σ(logit), d log b / d logit = 1 − b. Below a belief of 0.02 the gradient is weighted by
    # b / 0.02 (F-46): σ(−4.6) = 0.00995, and 0.00995 / 0.02 = 0.4975.
    def credit(logit: jax.Array) -> jax.Array:
        belief = softmax(jnp.stack([logit, jnp.zeros(())]))
        played = eqx.tree_at(lambda game: game.after, GAME, jnp.tile(belief, (len(GAME.after), 1)))
        return expected_credit(played, jnp.asarray(0), 1.0)[0]

    gradient = jax.grad(credit)(jnp.asarray(logit))
    assert np.isclose(gradient, weight / (1 + np.exp(logit)), rtol=1e-3)


# REINFORCE estimates the gradient of the probability of being right


class TableSpeaker(AbstractTeacher[Table]):
    """A teacher who sends messages with fixed probabilities for each candidate."""

    table: jax.Array

    def encode(self, context: Context) -> Table:
        return self.table

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def values(self, encoding: Table, target: Index, state: AgentState) -> Values:
        return jnp.log(encoding[target])

    def observe(self, encoding: Table, state: AgentState, message: Index) -> AgentState:
        return state

    def message_probabilities(self, values: Values) -> Values:
        return jnp.exp(values)


class TableListener(AbstractStudent[Table]):
    """A student whose likelihood table is his parameter."""

    logits: jax.Array

    def encode(self, context: Context) -> Table:
        return log_softmax(self.logits, axis=1)

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def update(self, encoding: Table, state: AgentState, message: Index) -> AgentState:
        return AgentState(softmax(encoding[:, message] + jnp.log(state.belief)), active=state.active)

    def policy(self, state: AgentState, last: Bool[Array, ""]) -> Policy:
        return jnp.append(state.belief, 0.0)


COST = 0.1
SPEAKER = TableSpeaker(jnp.array([[0.7, 0.3], [0.2, 0.8]]))
LISTENER = TableListener(jnp.array([[0.4, -0.3], [0.1, 0.9]]))


def objective(student: TableListener, alpha: float = 0.0) -> jax.Array:
    """Σ_o* ½ Σ_m S(m | o*) U(L(o* | m)), where U'(b) = b^-α: for α = 0 the probability of being right."""
    likelihood = softmax(student.logits, axis=1)
    belief = likelihood / jnp.sum(likelihood, axis=0)
    utility = jnp.log(belief) if alpha == 1 else belief ** (1 - alpha) / (1 - alpha)
    return jnp.sum(0.5 * SPEAKER.table * utility)


def play_two(key: jax.Array, student: AbstractStudent, rounds: int) -> tuple[Rollout, jax.Array]:
    """A game of two candidates with a random target, and the target."""
    target_key, play_key = jax.random.split(key)
    game = Game(jnp.arange(2), jax.random.randint(target_key, (), 0, 2), jnp.arange(2))
    seen = perspectives(game, FeatureTable(ONE_HOT, ONE_HOT), ONE_HOT > 0)
    rules = Rules(2, rounds, COST)
    return rollout(play_key, SPEAKER, student, seen, rules, boltzmann(1.0), categorical), game.target


@pytest.mark.slow
@pytest.mark.parametrize("credit", [sampled_credit, expected_credit])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_reinforce_is_on_average_the_gradient_of_the_utility_of_being_right(alpha: float, credit: CreditAssignment):
    games = 40_000

    def one(key: jax.Array) -> jax.Array:
        def loss(student: TableListener) -> jax.Array:
            played, target = play_two(key, student, rounds=1)
            return student_loss(played, target, returns(played, 1.0), alpha, credit)

        return -jax.grad(loss)(LISTENER).logits

    each = jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(0), games))
    exact = jax.grad(lambda student: objective(student, alpha))(LISTENER).logits
    error = each.std(axis=0) / games**0.5
    assert np.all(np.abs(each.mean(axis=0) - exact) < 4 * error)
    # The test has power: the largest component is many standard errors away from 0.
    assert np.abs(exact / error).max() > 10


def test_the_exact_gradient_is_that_of_finite_differences():
    step, logits = 1e-2, np.asarray(LISTENER.logits)
    exact = np.asarray(jax.grad(objective)(LISTENER).logits)
    for place in np.ndindex(2, 2):
        moved = np.zeros((2, 2), np.float32)
        moved[place] = step
        up, down = (objective(TableListener(jnp.asarray(logits + sign * moved))) for sign in (1, -1))
        assert np.isclose((up - down) / (2 * step), exact[place], atol=1e-4)


class WaitingListener(AbstractStudent[Table]):
    """A student who knows the speaker's probabilities, and waits in the first round with a probability of its own."""

    wait_logit: jax.Array

    def encode(self, context: Context) -> Table:
        return jnp.log(SPEAKER.table)

    def init_state(self, context: Context, rules: Rules) -> AgentState:
        return AgentState(context.prior)

    def update(self, encoding: Table, state: AgentState, message: Index) -> AgentState:
        return AgentState(softmax(encoding[:, message] + jnp.log(state.belief)), active=state.active)

    def policy(self, state: AgentState, last: Bool[Array, ""]) -> Policy:
        wait = jnp.where(last, 0.0, jax.nn.sigmoid(self.wait_logit))
        return jnp.append((1 - wait) * state.belief, wait)


@pytest.mark.parametrize("with_baseline", [True, False])
def test_he_learns_to_wait_as_much_as_it_pays(with_baseline: bool):
    games, student = 40_000, WaitingListener(jnp.asarray(0.3))

    def one(key: jax.Array) -> jax.Array:
        def loss(student: WaitingListener) -> jax.Array:
            played, target = play_two(key, student, rounds=2)
            later = jnp.array([0.6, 0.0])
            advantage = returns(played, 1.0) - with_baseline * expected_return(played, later, COST)
            return student_loss(played, target, advantage, 0.5, sampled_credit) * played.n_messages

        return -jax.grad(loss)(student).wait_logit

    each = jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(0), games))
    # By hand: one message is right with Σ_m ½ Σ_o S(m|o)² / Σ_o S(m|o), two alike with every pair of messages.
    table = np.asarray(SPEAKER.table)
    pairs = np.einsum("om,on->omn", table, table).reshape(2, -1)
    once, twice = (0.5 * (t**2).sum(axis=0) / t.sum(axis=0) for t in (table, pairs))
    wait = 1 / (1 + np.exp(-0.3))
    exact = wait * (1 - wait) * (twice.sum() - once.sum() - COST)
    error = each.std() / games**0.5
    assert abs(each.mean() - exact) < 4 * error


def test_a_word_that_costs_another_message_is_as_unlikely_as_one_that_costs_the_game():
    # With one round a word that fits two candidates alike is worth 0.5 less than one that fits the target alone, with
    # several rounds a message less, 0.1 (F-16).
    def probability(rounds: int, loss: float) -> float:
        return float(softmax(default_beta(7, rounds) * jnp.array([0.0, -loss]))[1])

    assert probability(1, 0.5) < 0.02
    assert probability(4, 0.1) < 0.02
