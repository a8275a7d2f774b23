"""The two agents' losses, worked out by hand, and REINFORCE against the gradient that it estimates."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.nn import log_softmax, softmax

from implicature.agents.rollout import Dialogue, Views, by_chance, dialogue
from implicature.agents.teacher import Teacher
from implicature.games.sampling import Rules
from implicature.nn.belief_nets import PaperNet
from implicature.training.algorithm1 import beta_of
from implicature.training.config import Config
from implicature.training.losses import (
    Lesson,
    Transition,
    baseline,
    every_answer,
    one_answer,
    returns,
    student_loss,
    teacher_loss,
)

# Two candidates, two messages: P(m | o) = 3/4 and 1/4 for the first candidate, 1/4 and 3/4 for the second.
SAID = jnp.array([[0.75, 0.25], [0.25, 0.75]])
ONE_HOT = jnp.eye(2)


def teacher_with(table: jax.Array) -> Teacher:
    """A new teacher, whose value head is still 0, so that Q is his belief in the target; and who reads this table off
    candidates that are one-hot: W = 1 and v_m = log P(m | ·), without blocks and without a lapse. As leaky rectifiers
    leave 0 and 1 alone, logit[o, m] = log P(m | o)."""
    net = PaperNet(2, 2, jax.random.key(0), 2, 0, "softmax", 0.0)
    net = eqx.tree_at(lambda net: (net.encoder.weight, net.messages), net, (jnp.eye(2), jnp.log(table).T))
    return Teacher(net, 4, jax.random.key(1))


TEACHER = teacher_with(SAID)
judged = eqx.filter_jit(teacher_loss)


def transition(m_tm1: int, b_t: list[float], r_t: float, discount_t: float, live: bool = True) -> Transition:
    return Transition(
        jnp.arange(2), jnp.asarray(0), jnp.array([0.5, 0.5]), jnp.asarray(m_tm1), jnp.array(b_t), jnp.asarray(r_t),
        jnp.asarray(discount_t), jnp.asarray(live),
    )  # fmt: skip


# The teacher's, by hand. From 1/2, 1/2 she predicts 3/4, 1/4 after the first message and values it at 3/4.


def test_at_the_end_of_a_game_q_is_compared_with_the_reward():
    # ξ = 1, Q = 3/4: L_Q = 1/16. He believes 0.9, 0.1: L_Obv = -0.9 ln 3/4 - 0.1 ln 1/4 = 0.397543.
    loss, info = judged(TEACHER, None, transition(0, [0.9, 0.1], 1.0, 0.0), ONE_HOT, 2.0)
    assert np.isclose(info["q_loss"], 1 / 16, atol=1e-6)
    assert np.isclose(info["obverter_loss"], 0.397543, atol=1e-6)
    assert np.isclose(loss, 1 / 16 + 2 * 0.397543, atol=1e-6)
    # With a target network, a discount of 0 says the same.
    again, _ = judged(TEACHER, TEACHER, transition(0, [0.9, 0.1], 1.0, 0.0), ONE_HOT, 2.0)
    assert np.isclose(loss, again, atol=1e-6)


def test_where_the_game_goes_on_the_target_network_values_the_best_next_message():
    # Her message was the second, worth 1/4; it cost 0.1, and he believes 0.2, 0.8 now. The target network expects the
    # messages to be said 9/10 and 1/10 of the time: after the first he would believe 0.2 · 0.9 against 0.8 · 0.1, so
    # 18/26; after the second 0.02 against 0.72. ξ = -0.1 + 0.6 · 18/26 = 0.315385, L_Q = (0.315385 - 0.25)² = 0.004275.
    target = teacher_with(jnp.array([[0.9, 0.1], [0.1, 0.9]]))
    seen = transition(1, [0.2, 0.8], -0.1, 0.6)
    _, info = judged(TEACHER, target, seen, ONE_HOT, 1.0)
    assert np.isclose(info["q_loss"], 0.0042752, atol=1e-6)
    # -0.2 ln 1/4 - 0.8 ln 3/4 = 0.507404.
    assert np.isclose(info["obverter_loss"], 0.507404, atol=1e-6)


def test_rounds_after_the_end_teach_nothing():
    loss, _ = judged(TEACHER, TEACHER, transition(0, [0.9, 0.1], 1.0, 0.6, live=False), ONE_HOT, 1.0)
    assert float(loss) == 0


def test_the_target_and_the_belief_she_is_told_of_are_not_learned_from():
    def loss(target: Teacher, b_t: jax.Array) -> jax.Array:
        seen = eqx.tree_at(lambda seen: seen.b_t, transition(1, [0.2, 0.8], -0.1, 0.6), b_t)
        return judged(TEACHER, target, seen, ONE_HOT, 0.0)[0]

    gradient = eqx.filter_jit(eqx.filter_grad(lambda both: loss(*both)))((TEACHER, jnp.array([0.2, 0.8])))
    assert all(not np.any(leaf) for leaf in jax.tree.leaves(gradient))


# The student's, by hand


def played(reward: list[float], live: list[bool], policy: list[list[float]], action: list[int]) -> Dialogue:
    """Rounds of a game of two candidates. Messages and her side do not matter to him."""
    rounds, chances = len(reward), jnp.array(policy)
    after = chances[:, :2] / chances[:, :2].sum(axis=1, keepdims=True)
    nothing = jnp.zeros((rounds, 2))
    return Dialogue(
        jnp.zeros(rounds, int), nothing, nothing, nothing, after, chances, jnp.array(action), jnp.array(reward),
        jnp.array(live),
    )  # fmt: skip


# He waits, answers rightly; the third round is not played, whatever stands in it.
GAME = played([-0.1, 0.9, 0.9], [True, True, False], [[0.3, 0.2, 0.5], [0.8, 0.2, 0.0], [0.5, 0.5, 0.0]], [2, 0, 1])


@pytest.mark.parametrize(
    ("gamma", "expected"),
    # R_3 = 0, R_2 = 0.9, R_1 = -0.1 + γ · 0.9.
    [(1.0, [0.8, 0.9, 0]), (0.6, [0.44, 0.9, 0]), (0.0, [-0.1, 0.9, 0])],
)
def test_returns_add_up_later_rewards_discounted_to_the_end_of_the_game(gamma: float, expected: list[float]):
    assert np.allclose(returns(GAME, gamma), expected)


def test_the_baseline_is_what_he_expects_by_his_own_belief():
    # Beliefs 0.6, 0.4; 0.8, 0.2; 0.5, 0.5. Answers are right with their belief's chance: 0.3 · 0.6 + 0.2 · 0.4 = 0.26,
    # waiting is worth what is later, 0.5 · 0.7; less the cost 0.1: 0.51. Then 0.8² + 0.2² - 0.1 = 0.58; 0.5 - 0.1.
    expected = baseline(GAME, jnp.array([0.7, 0.3, 0.0]), 0.1)
    assert np.allclose(expected, [0.51, 0.58, 0.4])


ADVANTAGE = jnp.array([2.0, 1.0, 100.0])


@pytest.mark.parametrize(
    ("calibration", "expected"),
    # He waits with chance 0.5, then is right with belief 0.8 where he expects 0.8² + 0.2²:
    # -(ln 0.5 · 2 + ln 0.8 · (1 - 0.68)) / 2 = (1.386294 + 0.071406) / 2; the third round's 100 does not count.
    # With α = 1 being right counts 1 / 0.8 where he expects 0.8 + 0.2: (1.386294 + 0.223144 · 0.25) / 2.
    [(0.0, 0.728850), (1.0, 0.721040)],
)
def test_the_students_loss_is_the_mean_over_the_rounds_played(calibration: float, expected: float):
    assert np.isclose(student_loss(GAME, jnp.asarray(0), ADVANTAGE, calibration, one_answer), expected, atol=1e-5)


def test_from_every_answer_he_learns_in_each_round_by_what_he_believes_of_the_target():
    # He believes the target 0.6, then 0.8. With α = 0: -(ln 0.5 · 2 + 0.6 ln 0.6 + 0.8 ln 0.8) / 2; with α = 1 not by
    # his belief: -(ln 0.5 · 2 + ln 0.6 + ln 0.8) / 2.
    for calibration, expected in ((0.0, 0.935653), (1.0, 1.060132)):
        loss = student_loss(GAME, jnp.asarray(0), ADVANTAGE, calibration, every_answer)
        assert np.isclose(loss, expected, atol=1e-5)


# REINFORCE estimates the gradient of the chance of being right


class Speaker(eqx.Module):
    """A teacher who says what she says of a candidate with fixed chances."""

    table: jax.Array

    def read(self, candidates):
        return self.table

    def values(self, reading, target, belief):
        return jnp.log(reading[target])

    def predict(self, reading, belief, message):
        return belief


class Listener(eqx.Module):
    """A student whose likelihood table is his parameter."""

    logits: jax.Array

    def read(self, candidates):
        return log_softmax(self.logits, axis=1)

    def update(self, reading, belief, message):
        return softmax(reading[:, message] + jnp.log(belief))

    def policy(self, belief, last):
        return jnp.append(belief, 0.0)


COST = 0.1
SPEAKER, LISTENER = Speaker(jnp.array([[0.7, 0.3], [0.2, 0.8]])), Listener(jnp.array([[0.4, -0.3], [0.1, 0.9]]))


def objective(student: Listener, calibration: float = 0.0) -> jax.Array:
    """Σ_o* ½ Σ_m S(m | o*) U(L(o* | m)): the chance of being right where U(b) = b, for α = 0; else U'(b) = b^-α."""
    likelihood = softmax(student.logits, axis=1)
    belief = likelihood / jnp.sum(likelihood, axis=0)
    worth = jnp.log(belief) if calibration == 1 else belief ** (1 - calibration) / (1 - calibration)
    return jnp.sum(0.5 * SPEAKER.table * worth)


@pytest.mark.parametrize("lesson", [one_answer, every_answer])
@pytest.mark.parametrize("calibration", [0.0, 0.5, 1.0])
def test_reinforce_is_on_average_the_gradient_of_what_being_right_is_worth(calibration: float, lesson: Lesson):
    games = 40_000

    def one(key: jax.Array) -> jax.Array:
        target_key, play_key = jax.random.split(key)
        views = Views(ONE_HOT, ONE_HOT, jax.random.randint(target_key, (), 0, 2), jnp.arange(2))

        def loss(student: Listener) -> jax.Array:
            def speak(key, values):
                return by_chance(key, softmax(values))

            played = dialogue(play_key, SPEAKER, student, views, Rules(2, 1, COST), speak, by_chance, told=True)
            return student_loss(played, views.target, returns(played, 1.0), calibration, lesson)

        return -jax.grad(loss)(LISTENER).logits

    each = jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(0), games))
    exact = jax.grad(lambda student: objective(student, calibration))(LISTENER).logits
    error = each.std(axis=0) / games**0.5
    assert np.all(np.abs(each.mean(axis=0) - exact) < 4 * error)
    # The test can tell: the largest component is many errors away from 0.
    assert np.abs(exact / error).max() > 10


def test_the_exact_gradient_is_that_of_finite_differences():
    step, logits = 1e-2, np.asarray(LISTENER.logits)
    exact = np.asarray(jax.grad(objective)(LISTENER).logits)
    for place in np.ndindex(2, 2):
        moved = np.zeros((2, 2), np.float32)
        moved[place] = step
        up, down = (objective(Listener(jnp.asarray(logits + sign * moved))) for sign in (1, -1))
        assert np.isclose((up - down) / (2 * step), exact[place], atol=1e-4)


class Hesitant(eqx.Module):
    """A student who knows what each message means, and waits in the first round with a chance of its own."""

    wish: jax.Array

    def read(self, candidates):
        return jnp.log(SPEAKER.table)

    def update(self, reading, belief, message):
        return softmax(reading[:, message] + jnp.log(belief))

    def policy(self, belief, last):
        wait = jnp.where(last, 0.0, jax.nn.sigmoid(self.wish))
        return jnp.append((1 - wait) * belief, wait)


@pytest.mark.parametrize("with_baseline", [True, False])
def test_he_learns_to_wait_as_much_as_it_pays(with_baseline: bool):
    games, student = 40_000, Hesitant(jnp.asarray(0.3))

    def one(key: jax.Array) -> jax.Array:
        target_key, play_key = jax.random.split(key)
        views = Views(ONE_HOT, ONE_HOT, jax.random.randint(target_key, (), 0, 2), jnp.arange(2))

        def loss(student: Hesitant) -> jax.Array:
            def speak(key, values):
                return by_chance(key, softmax(values))

            played = dialogue(play_key, SPEAKER, student, views, Rules(2, 2, COST), speak, by_chance, told=True)
            later = jnp.array([0.6, 0.0])
            advantage = returns(played, 1.0) - with_baseline * baseline(played, later, COST)
            return student_loss(played, views.target, advantage, 0.5, one_answer) * played.length

        return -jax.grad(loss)(student).wish

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
    def chance(rules: Rules, loss: float) -> float:
        return float(softmax(beta_of(Config(), rules) * jnp.array([0.0, -loss]))[1])

    assert chance(Rules(7, 1, 0.1), 0.5) < 0.02
    assert chance(Rules(7, 4, 0.1), 0.1) < 0.02
    assert beta_of(Config(beta=3.0), Rules(7, 4, 0.1)) == 3.0
