"""Exact players of the appointment game: two slots by hand (see tests/games/test_appointment.py), eight by figures that
were computed independently."""

import jax.numpy as jnp
import numpy as np
import pytest

from implicature.agents.appointment.exact import exact_listener, literal_listener, soft_speaker
from implicature.agents.appointment.player import ExactPlayer, LiteralPlayer, hold
from implicature.agents.appointment.worth import answer_values, message_worth, rewards, successes, take_best
from implicature.evaluation.appointment import dialogue_rules, play_first
from implicature.evaluation.appointment_exact import (
    everyone,
    exact_pair,
    literal_pair,
    silent_pair,
    telling_everything,
    two_messages,
)
from implicature.games.appointment import AppointmentRules, appointment_context, calendars, lexicon

BUSY, TRUTH, PRIOR = jnp.asarray(calendars(2)), jnp.asarray(lexicon(2)), jnp.full(3, 1 / 3)
EIGHT = AppointmentRules()


def test_a_literal_listener_believes_what_is_said_more_of_who_had_less_to_say():
    # "1" is the one message of ■□ and one of three of ■■: 1 to 1/3.
    heard = literal_listener(TRUTH, PRIOR)
    np.testing.assert_allclose(heard[:, 0], [3 / 4, 0, 1 / 4], atol=1e-6)
    np.testing.assert_allclose(heard[:, 1], [0, 0, 1], atol=1e-6)


def test_answers_are_worth_their_expected_reward():
    values = answer_values(BUSY, jnp.array([3 / 4, 0, 1 / 4]))
    # Holding ■□: slot 1 is busy; slot 2 is free with 3/4, 3 · 3/4 − 2; none with 1/4, 2 / 4 − 1.
    np.testing.assert_allclose(values[0], [-2, 0.25, -0.5], atol=1e-6)
    # Holding □■: slot 1 is surely busy there, so that there is none.
    np.testing.assert_allclose(values[1], [-2, -2, 1], atol=1e-6)
    assert take_best(values).argmax(axis=1).tolist() == [1, 2, 2]


def test_a_message_is_worth_what_the_other_does_with_it():
    worth = message_worth(BUSY, literal_listener(TRUTH, PRIOR), PRIOR)
    # "1" of ■□: ■□ proposes slot 2, the others say none: all right. Of ■■ that slot is busy: (−2 + 1 + 1) / 3.
    np.testing.assert_allclose([worth[0, 0], worth[2, 0], worth[2, 1]], [1, 0, 1], atol=1e-6)


def test_a_pragmatic_listener_knows_that_who_is_always_busy_would_have_said_so():
    speaker = soft_speaker(TRUTH, message_worth(BUSY, literal_listener(TRUTH, PRIOR), PRIOR), 10.0)
    said = np.exp(10) / (np.exp(10) + 2)  # "1-2" is worth 1, "1" and "2" are worth 0
    np.testing.assert_allclose(speaker[2], [(1 - said) / 2, said, (1 - said) / 2], rtol=1e-4)
    heard = exact_listener(BUSY, TRUTH, PRIOR, PRIOR, 1)
    np.testing.assert_allclose(heard[0, 0], 1 / (1 + (1 - said) / 2), rtol=1e-5)


def test_rewards_and_successes_agree_with_the_rules_game_by_game():
    rules, rng = AppointmentRules(slots=3), np.random.default_rng(0)
    busy = calendars(3)
    answers = rng.dirichlet(np.ones(4), size=7)
    weights = rng.dirichlet(np.ones(7))
    table = np.array([[[rules.score(a, c, d) for a in range(4)] for d in busy] for c in busy])
    expected = np.einsum("cda,da,d->c", table, answers, weights)
    given = jnp.asarray(busy), jnp.asarray(answers), jnp.asarray(weights)
    np.testing.assert_allclose(rewards(*given), expected, atol=1e-5)
    np.testing.assert_allclose(successes(*given), np.einsum("cda,da,d->c", table == 1, answers, weights), atol=1e-5)


@pytest.mark.parametrize(
    ("figures", "success", "episode_return"),
    [
        (lambda: silent_pair(EIGHT), 47.3, -0.483),
        (lambda: silent_pair(EIGHT, by_reward=False), 50.0, -0.484),
        (lambda: literal_pair(EIGHT), 63.2, -0.184),
        (lambda: exact_pair(EIGHT, 0), 88.9, 0.608),
        (lambda: exact_pair(EIGHT, 3), 90.5, 0.659),
        (lambda: exact_pair(EIGHT, 10), 90.7, 0.665),
        (lambda: telling_everything(EIGHT), 100.0, 0.774),
    ],
)
def test_exact_pairs_reach_what_was_computed_independently(figures, success: float, episode_return: float):
    computed = figures()
    assert 100 * computed.success == pytest.approx(success, abs=0.06)
    assert round(computed.episode_return, 3) == episode_return


def test_the_dialogue_of_exact_players_scores_as_their_tables_do():
    rules = AppointmentRules(slots=3)
    tables, dialogue = exact_pair(rules, 3), play_first(ExactPlayer(3), ExactPlayer(3), rules, everyone(rules)[None])[0]
    # In the dialogue a message need not be sent: ■■■ says "none", surely, and so does ■□■, as 4 of 7 calendars are busy
    # in the middle, 2 · 4/7 − 1, which is more than its best message is worth, 0.043.
    assert dialogue.messages == pytest.approx(5 / 7, abs=1e-5)
    assert tables.episode_return < dialogue.episode_return < tables.episode_return + 2 / 7 * 0.2


def test_a_player_answers_when_sure_and_otherwise_speaks():
    rules = AppointmentRules(slots=2, messages=2)
    context, player = appointment_context(rules), ExactPlayer(3)
    known = player.encode(context)
    state = hold(player.init_state(context, dialogue_rules(rules)), jnp.asarray(0))  # ■□
    assert player.policy(state, jnp.asarray(False)).tolist() == [0, 0, 0, 1]
    assert int(jnp.argmax(player.values(known, jnp.asarray(0), state))) == 0
    heard = player.update(known, state, jnp.asarray(1))  # the other is busy in both
    assert player.policy(heard, jnp.asarray(False)).tolist() == [0, 0, 1, 0]
    sent = player.observe(known, state, jnp.asarray(0))
    np.testing.assert_allclose(sent.memory.estimate, exact_listener(BUSY, TRUTH, PRIOR, PRIOR, 3)[:, 0], atol=1e-6)
    np.testing.assert_allclose(sent.belief, PRIOR, atol=1e-6)


def test_after_the_last_message_an_answer_is_due():
    rules = AppointmentRules(slots=2, messages=1)
    context, player = appointment_context(rules), LiteralPlayer()
    state = player.update(player.encode(context), player.init_state(context, dialogue_rules(rules)), jnp.asarray(0))
    for calendar in range(3):
        assert player.policy(hold(state, jnp.asarray(calendar)), jnp.asarray(True))[-1] == 0


@pytest.mark.slow
def test_two_messages_in_best_response_are_worth_more_than_telling_everything():
    assert two_messages(AppointmentRules(messages=2), 10).episode_return > telling_everything(EIGHT).episode_return
