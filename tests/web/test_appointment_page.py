"""The page of the appointment game: its players compute as Python's do, and a game can be played on it."""

import jax.numpy as jnp
import numpy as np
import pytest
from browsing import NewPage, axe_findings, screenshot, small_targets
from playwright.sync_api import Page, expect

from implicature.agents.appointment.exact import literal_listener
from implicature.agents.appointment.player import ExactPlayer
from implicature.agents.appointment.worth import answer_values, take_best
from implicature.evaluation.appointment import decisions, dialogue_rules
from implicature.games.appointment import AppointmentRules, appointment_context, runs

pytestmark = [pytest.mark.slow, pytest.mark.browser]
RULES = AppointmentRules(messages=2)
FIRST, SECOND = runs(8).index((0, 1)), runs(8).index((4, 4))
"""The messages "1-2" and "5"."""

ASK = """async ([kind, calendar, first, second]) => {
  const engine = await import("/engine/appointment.js");
  const [begin, end] = [engine.newState(2), engine.newState(2)];
  const sent = engine.afterSending(kind, begin, first);
  const heard = engine.afterHearing(kind, sent, second);
  const act = (state) => engine.decide(kind, state, calendar, () => 0);
  const list = (belief) => [...belief].slice(1);
  return { estimate: list(sent.estimate), belief: list(heard.belief), first: act(begin), last: act(heard) };
}"""


@pytest.fixture
def page(new_page: NewPage, site: str) -> Page:
    page = new_page(width=1000, height=820)
    page.goto(f"{site}appointment.html?seed=7&partner=exact&messages=2&begins=you")
    return page


def test_exact_players_on_the_page_believe_and_do_what_pythons_do(page: Page):
    player, context = ExactPlayer(), appointment_context(RULES)
    known = player.encode(context)
    begin = player.init_state(context, dialogue_rules(RULES))
    sent = player.observe(known, begin, jnp.asarray(FIRST))
    heard = player.update(known, sent, jnp.asarray(SECOND))
    for calendar in (3, 77, 255):
        found = page.evaluate(ASK, ["exact", calendar, FIRST, SECOND])
        np.testing.assert_allclose(found["estimate"], sent.memory.estimate, atol=1e-5)
        np.testing.assert_allclose(found["belief"], heard.belief, atol=1e-5)
        for state, name in ((begin, "first"), (heard, "last")):
            policy, messages = (np.asarray(table)[calendar - 1] for table in decisions(player, state))
            if policy.argmax() <= RULES.slots:
                assert found[name]["answer"] == policy.argmax()
            else:
                assert found[name]["message"] == messages.argmax()
                assert found[name]["worth"] == pytest.approx(float(state.memory.values[calendar - 1].max()), abs=1e-5)


def test_literal_players_on_the_page_believe_and_answer_literally(page: Page):
    known = ExactPlayer().encode(appointment_context(RULES))
    prior = jnp.full(255, 1 / 255)
    expected = literal_listener(known.truth, prior)
    found = page.evaluate(ASK, ["literal", 240, FIRST, SECOND])
    np.testing.assert_allclose(found["estimate"], expected[:, FIRST], atol=1e-6)
    np.testing.assert_allclose(found["belief"], expected[:, SECOND], atol=1e-6)
    answers = take_best(answer_values(known.busy, expected[:, SECOND]))[239]
    assert found["last"]["answer"] == int(answers.argmax())
    assert found["first"]["message"] == runs(8).index((4, 4))  # the first that is true of 240, busy from slot 5 on


def test_a_game_is_played_to_its_end_and_again(page: Page):
    # Seed 7: you are busy in 1 and 2, your partner in 5.
    page.get_by_role("button", name="What would an exact player do?").click()
    expect(page.get_by_text("An exact player would say “1-2”")).to_be_visible()
    screenshot(page, "appointment-page")
    assert axe_findings(page) == []
    assert small_targets(page) == []
    # Who says "1" alone is taken to be free in 2.
    page.get_by_role("button", name="1", exact=True).first.click()
    expect(page.get_by_text("Slot 2?")).to_be_visible()
    expect(page.get_by_text("Wrong: that slot is not free in both. Return −2.1.")).to_be_visible()
    assert axe_findings(page) == []
    page.get_by_role("button", name="The same game again").click()
    page.get_by_role("button", name="1-2", exact=True).click()
    expect(page.get_by_text("Right. Return 0.9.")).to_be_visible()
    page.locator("select").first.select_option("literal")
    page.wait_for_url("**partner=literal**")
    expect(page.get_by_text("you cannot see it")).to_be_visible()


def test_the_page_fits_a_phone(new_page: NewPage, site: str):
    page = new_page(width=390, height=844, dark=True)
    page.goto(f"{site}appointment.html?seed=3&partner=literal&messages=3&begins=partner")
    expect(page.get_by_text("Your partner:")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert small_targets(page) == []
    assert axe_findings(page) == []
