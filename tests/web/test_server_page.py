"""The page on a real server in a real browser: runs, games by seed, and participants who are recorded."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from browsing import NewPage, axe_findings, card, screenshot, wait_until_painted
from playwright.sync_api import Page, expect

from implicature.training.config import Config
from implicature.training.runs.run import start_run
from implicature.web.storage import read_decisions

pytestmark = [pytest.mark.slow, pytest.mark.browser]
GAME = "mode=student&game=three-objects&agent=exact&variant=1&seed=8"


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """A first game on the server is compiled, maybe beside much else."""
    expect.set_options(timeout=90_000)
    yield
    expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def study(serving, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    file = tmp_path_factory.mktemp("study") / "study.sqlite"
    with serving("--record", str(file), "--consent", "May we keep what you choose?") as (url, _):
        yield url, file


def rows_of(file: Path, code: str) -> list:
    decisions, skipped = read_decisions(file)
    assert skipped == 0
    return [one for one in decisions if one.participant == code]


def open_as(page: Page, url: str, code: str, game: str = GAME) -> None:
    page.goto(f"{url}?participant={code}&{game}")
    expect(page.locator("#consent-text")).to_have_text("May we keep what you choose?")


def test_who_agrees_is_recorded_and_who_does_not_is_not(new_page: NewPage, study):
    url, file = study
    page, answers = new_page(), []
    page.on("response", lambda response: answers.append(response) if "/api/" in response.url else None)
    open_as(page, url, "P07")
    expect(page.get_by_label("Participant code")).to_have_value("P07")
    assert axe_findings(page) == []
    screenshot(page, "consent")
    page.get_by_role("button", name="I agree").click()
    expect(page.locator("button.card")).to_have_count(3)
    # Nothing that came from the server, and nothing in the address, tells the target.
    for answer in answers:
        if answer.request.method == "POST":
            assert answer.json().get("target") is None
    assert "target" not in page.url
    assert "key" not in page.url
    card(page, "blue sphere").click()
    expect(page.locator(".verdict")).to_contain_text("Right.")
    expect(page.locator(".reason")).to_contain_text("For the blue cone she would have said “cone”")
    assert page.get_by_role("slider").count() == 0  # she has said what she has said
    other = new_page()
    open_as(other, url, "P08")
    other.get_by_role("button", name="Play without being recorded").click()
    card(other, "blue sphere").click()
    expect(other.locator(".verdict")).to_contain_text("Right.")
    (decision,) = rows_of(file, "P07")
    assert rows_of(file, "P08") == []
    assert UUID(decision.decision_id).version == 4
    assert (decision.role, decision.correct, decision.messages) == ("student", True, ["blue"])
    assert 0 < decision.reaction_time_ms < 90_000


def test_enter_in_the_consent_agrees(new_page: NewPage, study):
    url, file = study
    page = new_page()
    open_as(page, url, "P10")
    page.get_by_label("Participant code").press("Enter")
    card(page, "blue sphere").click()
    expect(page.locator(".verdict")).to_be_visible()
    assert len(rows_of(file, "P10")) == 1


def test_esc_is_no_answer_and_a_no_holds_for_its_participant_alone(new_page: NewPage, study):
    url, file = study
    page = new_page()
    open_as(page, url, "P11")
    for _ in range(3):
        page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_be_visible()
    page.get_by_role("button", name="Play without being recorded").click()
    expect(page.locator("button.card")).to_have_count(3)
    # The next participant in the same tab is asked again.
    open_as(page, url, "P12")
    page.get_by_role("button", name="I agree").click()
    card(page, "blue sphere").click()
    expect(page.locator(".verdict")).to_be_visible()
    assert len(rows_of(file, "P12")) == 1
    # Who has agreed is not asked again in this tab.
    page.goto(f"{url}?participant=P12&{GAME.replace('seed=8', 'seed=9')}")
    expect(page.locator("button.card")).to_have_count(3)


def test_a_double_click_or_two_quick_keys_are_one_decision(new_page: NewPage, study):
    url, file = study
    page, sent = new_page(), []
    page.on("request", lambda request: sent.append(request.post_data or "") if request.method == "POST" else None)
    open_as(page, url, "P13")
    page.get_by_role("button", name="I agree").click()
    card(page, "blue sphere").dblclick()
    expect(page.locator(".verdict")).to_be_visible()
    assert len([body for body in sent if '"answer":' in body]) == 1
    assert len(rows_of(file, "P13")) == 1
    # As the teacher, with words left: the second of two quick clicks is not a second word.
    page.goto(f"{url}?participant=P13&mode=teacher&game=three-objects&agent=exact&variant=0&seed=8&rounds=2")
    page.get_by_role("button", name="blue", exact=True).dblclick()
    expect(page.locator(".task")).to_contain_text("He waits.")
    page.wait_for_timeout(500)
    assert [one.messages for one in rows_of(file, "P13")] == [["blue"], ["blue"]]
    # Nor is the second of two quick keys: “0” is true of {0, 1} and {0, 2}, so a literal student waits.
    page.goto(f"{url}?participant=P13&mode=teacher&game=numbers-4&instances=10-11&variant=0&seed=8&rounds=2")
    expect(page.locator("button.word").first).to_be_visible()
    page.keyboard.press("0")
    page.keyboard.press("0")
    expect(page.locator(".task")).to_contain_text("He waits.")
    page.wait_for_timeout(500)
    assert [one.messages for one in rows_of(file, "P13")][2:] == [["0"]]


def test_another_mode_in_a_study_is_another_game(new_page: NewPage, study):
    url, _ = study
    page = new_page()
    open_as(page, url, "P14", GAME.replace("mode=student", "mode=teacher"))
    page.get_by_role("button", name="I agree").click()
    expect(page.locator("button.word").first).to_be_visible()
    page.get_by_role("button", name="Be the student").click()
    expect(page.locator("button.card").first).to_be_visible()
    assert "seed=8" not in page.url
    assert page.get_by_role("navigation").get_by_role("button").count() == 2  # nothing else is offered


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("mode=studnet", "“mode=studnet” is none of story, student"),
        ("mode=student&seed=abc", "“seed=abc” is not a whole number from 0 to 2147483647."),
        ("mode=student&game=numbers-4&seed=1&set=1-a&step=2", "“instances=1-a” is not a list of numbers"),
        ("mode=student&game=numbers-4&seed=1&instances=3", "“instances=3” is not a list of numbers"),
    ],
)
def test_a_mistake_in_a_study_link_is_said_and_nothing_is_played(new_page: NewPage, study, wrong: str, message: str):
    url, _ = study
    page = new_page()
    page.goto(f"{url}?participant=P15&{wrong}")
    expect(page.get_by_role("alert")).to_contain_text(message)
    assert page.locator(".cards").count() == 0


def test_a_row_says_how_the_decision_was_made(new_page: NewPage, study):
    """The trial's number, the link's condition, skips, losses of focus, the window, and what others would score."""
    url, file = study
    page = new_page()
    open_as(page, url, "P16", f"{GAME}&condition=quiet")
    page.get_by_role("button", name="I agree").click()
    expect(page.locator("button.card")).to_have_count(3)
    before = page.url
    page.keyboard.press("n")  # a skip
    expect(page).not_to_have_url(before)
    expect(page.locator("button.card")).to_have_count(3)
    page.wait_for_timeout(500)
    page.evaluate("dispatchEvent(new Event('blur'))")
    page.locator("button.card").first.click()
    expect(page.locator(".verdict")).to_be_visible()
    (row,) = rows_of(file, "P16")
    assert (row.trial, row.skips, row.condition, row.block) == (2, 1, "quiet", None)
    assert (row.focus_lost, row.viewport, row.thoughts_open) == (1, "1280x860", False)
    assert row.literal_score is not None
    assert 0 <= row.literal_score <= row.exact_score <= 1


def test_the_time_starts_when_the_pictures_are_painted(new_page: NewPage, study):
    """Pictures that come two seconds late do not make the participant slower."""
    url, file = study
    page, held = new_page(), []
    page.route("**/api/image/**", lambda route: held.append(route))
    open_as(page, url, "P17", "mode=student&game=objects-4&agent=exact&variant=1&seed=8&pragmatic_only=0")
    page.get_by_role("button", name="I agree").click()
    expect(page.locator("button.card")).to_have_count(4)
    shown = time.monotonic()
    while len(held) < 4:
        page.wait_for_timeout(50)
    page.wait_for_timeout(2_000)
    assert len(held) == 4
    for route in held:
        route.continue_()
    wait_until_painted(page)
    page.locator("button.card").first.click()
    expect(page.locator(".verdict")).to_be_visible()
    (row,) = rows_of(file, "P17")
    assert row.reaction_time_ms < 1000 * (time.monotonic() - shown) - 1_500


def test_an_address_of_an_earlier_version_opens_the_same_game(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?mode=watch&game=numbers-4&set=1-5-9&agent=pair&step=2&seed=3&tricky=1&thoughts=1")
    expect(page.locator(".verdict")).to_be_visible()
    expect(page.locator(".slider .value")).to_have_text("phase 2")
    assert "instances=1-5-9&variant=2&seed=3" in page.url


def test_what_the_server_says_about_a_wrong_game_is_shown(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?mode=student&game=numbers-4&seed=3&instances=1-999999")
    expect(page.get_by_role("alert")).to_contain_text("There is no instance 999999")


def test_without_a_study_the_server_shows_the_same_page_as_the_export(new_page: NewPage, server: str):
    page = new_page()
    page.goto(server)
    card(page, "blue sphere").click()
    expect(page.locator(".verdict")).to_have_text("Yes, the blue sphere.")


def test_an_ungrounded_runs_words_are_not_shown_as_true(new_page: NewPage, serving, tmp_path: Path):
    kitchen = Path(__file__).parents[2] / "examples" / "kitchen.csv"
    config = Config.of(
        space=str(kitchen), candidates=3, phases=0, grounded=False, width=4, layers=1, candidate_sets=16,
        train_games=100,
    )  # fmt: skip
    for _ in start_run(tmp_path / "run", config).train():
        pass
    with serving(str(tmp_path / "run")) as (url, _):
        page = new_page()
        page.goto(f"{url}?mode=teacher&agent=run&seed=1")
        expect(page.locator("button.word").first).to_be_visible()
        assert page.locator("button.word.untrue").count() == 0
        assert page.get_by_role("button", name=re.compile("not true")).count() == 0
        expect(page.locator(".hint").first).to_contain_text("need not mean what it says")
        page.locator("button.word").first.click()
        expect(page.locator(".verdict")).to_be_visible()
        expect(page.locator(".reason")).to_contain_text("Their words mean only what they have come to use them for")
        assert page.locator(".chip.said, .caption b").count() == 0
        page.goto(url)  # the run is what is shown first
        expect(page.get_by_role("heading", name=re.compile("Your run run"))).to_be_visible()
        assert page.locator(".chip.said, .caption b").count() == 0
