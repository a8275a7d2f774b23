"""The page in a real browser: each mode to its end, by mouse, by keyboard, on a narrow screen, in dark and light.

With IMPLICATURE_SCREENSHOTS=docs/images/play the screenshots of the docs are taken on the way.
"""

import io
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from implicature.cli.report import report
from implicature.web.storage import read_decisions

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SCREENSHOTS = os.environ.get("IMPLICATURE_SCREENSHOTS")
THREE = "?mode=watch&game=three-objects&agent=exact&variant=0&seed=8&pragmatic_only=1&beliefs=1"
expect.set_options(timeout=90_000)  # a first game is compiled, maybe beside much else

NewPage = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        if os.environ.get("IMPLICATURE_NEEDS_BROWSER"):
            pytest.fail("There is no Chromium here, and this machine was to have one.")
        pytest.skip("There is no Chromium here: install Debian's package chromium to look at the page.")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


@pytest.fixture
def new_page(browser: Browser) -> Iterator[NewPage]:
    """Pages of some size and colour scheme. An error in the browser's console, such as a blocked script, fails."""
    errors: list[str] = []

    def open_page(width: int = 1280, height: int = 860, dark: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        context.set_default_timeout(90_000)
        page = context.new_page()
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield open_page
    for context in browser.contexts:
        context.close()
    assert [error for error in errors if "status of 422" not in error] == []


def screenshot(page: Page, name: str, full_page: bool = False) -> None:
    """A screenshot for the docs, in few colours and so small."""
    if SCREENSHOTS is None:
        return
    folder = Path(SCREENSHOTS)
    folder.mkdir(parents=True, exist_ok=True)
    picture = Image.open(io.BytesIO(page.screenshot(full_page=full_page)))
    picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(folder / f"{name}.png", optimize=True)


@pytest.mark.slow
def test_a_student_hears_a_word_guesses_and_sees_an_explanation(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?mode=student&game=objects-4&agent=exact&variant=3&seed=5&pragmatic_only=1&beliefs=1")
    expect(page.locator(".bubble.teacher")).to_contain_text("“")
    expect(page.locator("#beliefs")).to_contain_text("Answer first")
    cards = page.get_by_role("button", name=re.compile("^Candidate"))
    expect(cards).to_have_count(4)
    message = page.locator(".bubble.teacher .speech").inner_text().strip("“”")
    # Two candidates fit the message, so a literal student would have to guess.
    fitting = page.locator("#candidates button", has=page.locator("b", has_text=message))
    expect(fitting).to_have_count(2)
    page.get_by_role("button", name=re.compile("blue sphere")).click()
    expect(page.locator(".verdict")).to_have_text("Right. She meant the small upper-right blue sphere.")
    expect(page.locator(".explanation")).to_contain_text(
        "For the small lower-left blue box she would have said “box” or “lower-left”"
    )
    expect(page.locator("#score")).to_contain_text("Score, 1 game")
    expect(page.locator("#next")).to_be_focused()
    screenshot(page, "student")
    url = page.url
    page.get_by_role("button", name="Next game").click()
    expect(page.locator(".verdict")).to_have_count(0)
    assert page.url != url
    page.go_back()
    expect(page.locator(".bubble.teacher .speech")).to_have_text(f"“{message}”")


@pytest.mark.slow
def test_a_teacher_speaks_until_he_finds_it(new_page: NewPage, server: str):
    page = new_page(dark=True)
    page.goto(f"{server}?mode=teacher&game=numbers-4&agent=pretrained&variant=3&seed=3&pragmatic_only=1&beliefs=1")
    expect(page.locator(".task")).to_contain_text("You mean {0, 1, 3, 4}")
    expect(page.get_by_role("button", name="9, not true of the target")).to_be_visible()
    page.get_by_role("group", name="Words").get_by_role("button", name="0", exact=True).click()
    expect(page.locator(".bubble.student")).to_contain_text("guesses {0, 1, 3, 4}")
    expect(page.locator(".verdict")).to_have_text("Right. You meant {0, 1, 3, 4}.")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    screenshot(page, "teacher-dark")
    # The same word to the student before the first phase: he cannot tell two candidates apart.
    page.get_by_role("slider").fill("0")
    expect(page.locator("#variant-name")).to_have_text("phase 0, literal")
    expect(page.locator(".beliefs li.target .number")).to_have_text("48%")
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


def test_a_second_word_costs_and_helps(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?mode=teacher&game=three-objects&agent=exact&variant=0&seed=8&pragmatic_only=1&rounds=2")
    page.get_by_role("button", name="blue", exact=True).click()
    expect(page.locator(".task")).to_have_text("He waits. Another word? You have 1 left.")
    page.get_by_role("button", name="sphere", exact=True).click()
    expect(page.locator(".verdict")).to_contain_text("Right.")
    expect(page.locator("#score li").first).to_contain_text("0.8")


def test_watching_and_the_slider_let_the_inference_appear(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}{THREE}")
    target_belief = page.locator(".beliefs li.target .number")
    expect(page.locator(".verdict")).to_have_text("Not this one. She meant the blue sphere.")
    expect(target_belief).to_have_text("50%")
    expect(page.locator(".explanation")).to_contain_text("she would as soon have said “blue” as “cone”")
    screenshot(page, "slider-literal")
    page.get_by_role("slider").press("ArrowRight")
    expect(target_belief).to_have_text("99%")
    expect(page.locator(".explanation")).to_contain_text("For the blue cone she would have said “cone”")
    expect(page.locator(".verdict")).to_have_text("Right. She meant the blue sphere.")
    assert "variant=1" in page.url
    screenshot(page, "watch")
    page.get_by_role("button", name="Next game").click()
    expect(page.locator(".verdict")).to_be_visible()


def test_the_guide_leads_through_three_games(new_page: NewPage, server: str):
    page = new_page()
    page.goto(server)
    page.get_by_role("link", name="Watch some and all").click()
    expect(page.locator(".bubble.teacher .speech")).to_have_text("“some”")
    expect(page.locator(".beliefs li.target .number")).to_have_text("50%")
    page.get_by_role("slider").fill("2")
    expect(page.locator(".explanation")).to_contain_text("For all four boys she would have said “all”")
    page.get_by_role("link", name="Play a hard game").click()
    expect(page.get_by_role("button", name=re.compile("^Candidate"))).to_have_count(7)
    screenshot(page, "hard")


def test_a_game_is_played_by_keyboard_alone(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?mode=student&game=numbers-4&agent=exact&variant=3&seed=5&pragmatic_only=1&rounds=2")
    first = page.get_by_role("button", name=re.compile("^Candidate 1"))
    expect(first).to_be_visible()
    for _ in range(40):
        page.keyboard.press("Tab")
        if first.evaluate("element => element === document.activeElement"):
            break
    page.keyboard.press("w")
    expect(page.locator(".bubble.student")).to_have_text("You wait for another word")
    page.keyboard.press("1")
    expect(page.locator(".verdict")).to_be_visible()
    page.keyboard.press("t")
    expect(page.locator(".explanation").first).to_be_visible()
    expect(page.locator("#next")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".verdict")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("^Candidate 1"))).to_be_focused()


@pytest.mark.parametrize("mode", ["student", "teacher", "watch"])
def test_nothing_sticks_out_on_a_phone(mode: str, new_page: NewPage, server: str):
    page = new_page(width=390, height=844)
    page.goto(f"{server}?mode={mode}&game=objects-7&agent=exact&variant=3&seed=4&pragmatic_only=1&beliefs=1")
    expect(page.locator("#candidates li")).to_have_count(7)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if mode == "student":
        page.get_by_role("button", name=re.compile("^Candidate 2")).click()
        expect(page.locator(".verdict")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        screenshot(page, "phone", full_page=True)


def test_a_link_that_leads_nowhere_is_explained_and_left(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?game=nonsense")
    expect(page.get_by_role("alert")).to_contain_text("No game is called 'nonsense': choose one of numbers-4")
    screenshot(page, "error")
    page.get_by_role("button", name="Start afresh").click()
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.locator(".bubble.teacher")).to_be_visible()


def test_a_link_of_an_earlier_version_opens_the_same_game(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?mode=watch&game=numbers-4&set=1-5-9&agent=pair&step=2&seed=3&tricky=1&thoughts=1")
    expect(page.locator(".verdict")).to_be_visible()
    expect(page.locator("#variant-name")).to_have_text("phase 2")
    expect(page.locator(".beliefs")).to_be_visible()
    assert "instances=1-5-9&rounds=1&agent=pretrained&variant=2&seed=3&pragmatic_only=1&beliefs=1" in page.url


def test_own_candidates_and_a_mistake_in_them(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?mode=watch&game=numbers-4&agent=exact&variant=3&seed=1&pragmatic_only=0")
    page.get_by_text("Your own candidates").click()
    page.get_by_label("One candidate, a semicolon, the next").fill("1,2; 1,77")
    page.get_by_role("button", name="Play with these").click()
    expect(page.get_by_role("alert")).to_contain_text("has no attribute '77'")
    page.get_by_label("One candidate, a semicolon, the next").fill("1,2,3,9; 1,2,4; 2,3; 3,4,5")
    page.get_by_role("button", name="Play with these").click()
    expect(page.get_by_role("img", name="Candidate 3: {2, 3}")).to_be_visible()
    assert "instances=" in page.url


@pytest.mark.slow
def test_who_agrees_is_recorded_until_the_tab_is_closed_and_who_does_not_is_not(
    new_page: NewPage, serving, tmp_path: Path
):
    file = tmp_path / "study.sqlite"
    settings = "mode=student&game=three-objects&agent=exact&variant=1&seed=8&pragmatic_only=1"
    with serving("--record", str(file), "--consent", "May we keep what you choose?") as (url, _):
        page = new_page()
        page.goto(f"{url}?participant=P07&{settings}")
        expect(page.locator("#consent-text")).to_have_text("May we keep what you choose?")
        expect(page.get_by_label("Participant code")).to_have_value("P07")
        screenshot(page, "consent")
        page.get_by_role("button", name="I agree").click()
        expect(page.get_by_role("slider")).to_be_disabled()
        page.get_by_role("button", name=re.compile("blue sphere")).click()
        expect(page.locator(".verdict")).to_contain_text("Right.")
        expect(page.get_by_role("slider")).to_be_enabled()
        page.close()
        other = new_page()
        other.goto(f"{url}?participant=P08&{settings}")
        other.get_by_role("button", name="Play without being recorded").click()
        other.get_by_role("button", name=re.compile("blue sphere")).click()
        expect(other.locator(".verdict")).to_contain_text("Right.")
    (decision,), skipped = read_decisions(file)
    assert skipped == 0
    assert UUID(decision.decision_id).version == 4
    assert (decision.participant, decision.role) == ("P07", "student")
    assert (decision.correct, decision.messages) == (True, ["blue"])
    assert 0 < decision.reaction_time_ms < 90_000


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_the_report_is_read_on_a_phone_and_asks_for_nothing_outside(new_page: NewPage, tmp_path: Path, dark: bool):
    report(out=tmp_path / "report.html", results=Path(__file__).parents[2] / "results")
    page, requested = new_page(390, 800, dark=dark), []
    page.on("request", lambda request: requested.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    assert [url for url in requested if not url.startswith(("file:", "data:"))] == []
    # Tables are wider than a phone and scroll in their own frames; the page itself does not.
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("[...document.images].every(image => image.naturalWidth > 500)")
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(247, 245, 240)"
    assert light != dark
