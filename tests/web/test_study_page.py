"""The replication of Franke & Degen in a real browser, from consent to completion, and the fit of what it recorded."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import NewPage, axe_findings, screenshot, small_targets
from playwright.sync_api import Locator, Page, Response, expect

from implicature.web.storage import read_decisions

pytestmark = [pytest.mark.slow, pytest.mark.browser]
EXAMPLE = Path(__file__).parents[2] / "examples" / "franke-degen.json"
STEPS = 75


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    expect.set_options(timeout=90_000)
    yield
    expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def study(serving, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    file = tmp_path_factory.mktemp("study") / "study.sqlite"
    with serving("--study", str(EXAMPLE), "--record", str(file)) as (url, _):
        yield url, file


def proceed(page: Page) -> None:
    page.get_by_role("button", name="Continue").click()


def position(page: Page) -> int:
    return int(page.locator("progress").get_attribute("value") or 0)


def choose(page: Page, card: Locator) -> None:
    """One click, and wait for the next screen."""
    before = position(page)
    card.click()
    expect(page.locator("progress")).not_to_have_attribute("value", str(before))


def right_card(page: Page, plan: dict, shown: dict) -> Locator:
    """The card that the plan has as the target, found by its objects; the participant of this test knows the plan."""
    block = plan["blocks"][0]
    trials = [*plan["practice"], *(one for trials in block["lists"].values() for one in trials)]
    labels = [card["label"] for card in shown["cards"]]
    for one in trials:
        same = one.get("word") == shown["said"] and one.get("check") == shown["check"]
        if same and sorted(one["objects"]) == sorted(labels) and (shown["check"] or one["words"] == shown["words"]):
            return page.locator("button.card").nth(labels.index(one["objects"][one["target"] - 1]))
    raise AssertionError(f"{labels} are not of the plan.")


def to_trials(page: Page) -> None:
    page.get_by_role("button", name="I agree").click()
    expect(page.get_by_role("heading", name="Instructions")).to_be_visible()
    proceed(page)
    expect(page.get_by_text("There are 68 trials")).to_be_visible()
    proceed(page)
    page.get_by_label("Choose the object").check()
    page.get_by_label("Only the four words").check()
    page.get_by_role("button", name="Check my answers").click()
    expect(page.locator("button.card")).to_have_count(3)


def test_the_replication_runs_from_consent_to_completion_and_its_rows_are_fitted(
    new_page: NewPage, study, ask, tmp_path: Path
):
    """Somebody who always finds the target: that takes at least one step of reasoning."""
    url, file = study
    plan = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    screens: list[dict] = []

    def keep(response: Response) -> None:
        if "/api/study/" in response.url:
            screens.append(response.json())

    page = new_page()
    page.on("response", keep)
    link = f"{url}?PROLIFIC_PID=5f3c&STUDY_ID=s1&SESSION_ID=t1"
    page.goto(link)
    expect(page.get_by_role("heading", name="Before you begin")).to_be_visible()
    assert axe_findings(page) == []
    screenshot(page, "study-consent")
    to_trials(page)
    screenshot(page, "study-practice")
    assert axe_findings(page) == []
    while page.get_by_role("heading", name="This is the end").count() == 0:
        told = (
            page.locator(".verdict") if page.locator(".verdict").count() else page.get_by_text("Now the study begins")
        )
        if told.count():
            proceed(page)
            expect(told).to_have_count(0)
            continue
        # Nothing else can be opened: no mode, agent, game, guide, next game.
        assert page.get_by_role("navigation").count() == page.locator("details, select, a").count() == 0
        assert screens[-1]["trial"]["target"] is None
        expect(page.locator(".trial")).to_have_attribute("aria-busy", "false")
        if position(page) == 20:
            screenshot(page, "study-trial")
            page.goto(link)  # who comes back goes on there
            expect(page.locator("button.card")).to_have_count(3)
            assert position(page) == 20
            expect(page.locator(".trial")).to_have_attribute("aria-busy", "false")
        choose(page, right_card(page, plan, screens[-1]["trial"]))
    expect(page.locator(".code")).to_have_text("REPLACE-THIS-CODE")
    screenshot(page, "study-end")
    page.goto(link)
    expect(page.locator(".code")).to_be_visible()  # it is over, also for who comes back
    decisions = [one for one in read_decisions(file)[0] if one.participant == "5f3c"]
    assert [one.trial for one in decisions if one.block == "listener"] == sorted(
        one.trial for one in decisions if one.block == "listener" and one.trial is not None
    )
    assert len(decisions) == 2 + 66
    # Of twins nobody can say which one is meant.
    assert all(one.correct for one in decisions if one.condition != "ambiguous")
    assert all(one.session == "t1" and one.viewport == "1280x860" for one in decisions)
    assert all(0 < one.reaction_time_ms < 90_000 and one.focus_lost == 0 for one in decisions)
    code, printed, error = ask("study", file, "--json", "--csv", tmp_path / "out")
    assert code == 0, error
    result = json.loads(printed)
    fit = next(one for one in result["participants"] if one["participant"] == "5f3c")
    assert (fit["decisions"], fit["better_than_chance"]) == (66, True)
    assert fit["depth"] is not None
    assert fit["depth"] >= 1
    session = next(one for one in result["sessions"] if one["participant"] == "5f3c")
    assert (session["status"], session["checks"], session["checks_passed"]) == ("complete", 2, 2)
    assert (session["study_id"], session["session_id"]) == ("s1", "t1")


def test_who_does_not_agree_is_not_recorded_and_a_link_without_a_code_asks_for_one(new_page: NewPage, study):
    url, file = study
    page = new_page(width=390, height=760)
    page.goto(url)
    page.get_by_label("Participant code").fill("P77")
    page.get_by_label("Participant code").press("Enter")
    page.get_by_role("button", name="I do not agree").click()
    expect(page.get_by_text("Nothing was recorded.")).to_be_visible()
    assert axe_findings(page) == []
    assert small_targets(page) == []
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("button", name="I agree")).to_be_visible()
    assert b"P77" not in file.read_bytes() + file.with_name(f"{file.name}-wal").read_bytes()
    page.goto(f"{url}?PROLIFIC_PID=%3Cb%3E")
    expect(page.get_by_role("alert")).to_contain_text("“<b>” is not a participant’s code")


def test_a_trial_fits_a_phone_takes_one_answer_and_measures_what_happened(new_page: NewPage, study):
    url, file = study
    page, sent = new_page(width=390, height=760), []
    page.on("request", lambda one: sent.append(one.post_data_json) if one.url.endswith("/done") else None)
    page.goto(f"{url}?participant=P78")
    to_trials(page)
    screenshot(page, "study-phone")
    assert axe_findings(page) == []
    assert small_targets(page) == []
    assert page.evaluate(
        "document.documentElement.scrollWidth <= innerWidth && document.body.scrollHeight <= innerHeight"
    )
    expect(page.locator(".trial")).to_have_attribute("aria-busy", "false")  # the pictures are painted
    page.wait_for_timeout(1000)
    page.evaluate("dispatchEvent(new Event('blur'))")
    page.locator("button.card").first.dblclick()
    expect(page.locator(".verdict")).to_be_visible()
    answers = [one for one in sent if one.get("decision_id")]
    assert len(answers) == 1
    assert (answers[0]["focus_lost"], answers[0]["viewport"]) == (1, "390x760")
    assert answers[0]["reaction_time_ms"] >= 500
    assert len([one for one in read_decisions(file)[0] if one.participant == "P78"]) == 1
