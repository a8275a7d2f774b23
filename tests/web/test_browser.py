"""The page in a real browser: each mode to its end, by mouse, by keyboard, on a narrow screen, in dark and light.

With IMPLICATURE_SCREENSHOTS=docs/play the pictures of the docs are taken on the way.
"""

import io
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from implicature.report import report
from implicature.web.storage import decisions

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SHOTS = os.environ.get("IMPLICATURE_SCREENSHOTS")
THREE = "?mode=watch&game=three-objects&agent=exact&step=0&seed=8&tricky=1&thoughts=1"
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
    """Pages of some width and colour. Whatever the browser complains of, such as a breach of policy, is a failure."""
    complaints: list[str] = []

    def made(width: int = 1280, height: int = 860, dark: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        context.set_default_timeout(90_000)
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda problem: complaints.append(str(problem)))
        return page

    yield made
    for context in browser.contexts:
        context.close()
    assert [one for one in complaints if "status of 422" not in one] == []


def shot(page: Page, name: str, whole: bool = False) -> None:
    """A picture for the docs, in few colours and so small."""
    if SHOTS is None:
        return
    folder = Path(SHOTS)
    folder.mkdir(parents=True, exist_ok=True)
    picture = Image.open(io.BytesIO(page.screenshot(full_page=whole)))
    picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(folder / f"{name}.png", optimize=True)


def test_a_student_hears_a_word_guesses_and_sees_why(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?mode=student&game=objects-4&agent=exact&step=3&seed=5&tricky=1&thoughts=1")
    expect(page.locator(".bubble.hers")).to_contain_text("“")
    expect(page.locator("#thoughts")).to_contain_text("Answer first")
    cards = page.get_by_role("button", name=re.compile("^Candidate"))
    expect(cards).to_have_count(4)
    said = page.locator(".bubble.hers .speech").inner_text().strip("“”")
    # Two of them fit the word: the other one is the cheap guess.
    fitting = page.locator("#candidates button", has=page.locator("b", has_text=said))
    expect(fitting).to_have_count(2)
    page.get_by_role("button", name=re.compile("blue sphere")).click()
    expect(page.locator(".verdict")).to_have_text("Right. She meant the small upper-right blue sphere.")
    expect(page.locator(".why")).to_contain_text(
        "For the small lower-left blue box she would have said “box” or “lower-left”"
    )
    expect(page.locator("#score")).to_contain_text("Score, 1 game")
    expect(page.locator("#next")).to_be_focused()
    shot(page, "student")
    address = page.url
    page.get_by_role("button", name="Next game").click()
    expect(page.locator(".verdict")).to_have_count(0)
    assert page.url != address
    page.go_back()
    expect(page.locator(".bubble.hers .speech")).to_have_text(f"“{said}”")


def test_a_teacher_speaks_until_he_finds_it(new_page: NewPage, server: str):
    page = new_page(dark=True)
    page.goto(f"{server}?mode=teacher&game=numbers-4&agent=pair&step=3&seed=3&tricky=1&thoughts=1")
    expect(page.locator(".task")).to_contain_text("You mean {0, 1, 3, 4}")
    expect(page.get_by_role("button", name="9, not true of the target")).to_be_visible()
    page.get_by_role("group", name="Words").get_by_role("button", name="0", exact=True).click()
    expect(page.locator(".bubble.his")).to_contain_text("guesses {0, 1, 3, 4}")
    expect(page.locator(".verdict")).to_have_text("Right. You meant {0, 1, 3, 4}.")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    shot(page, "teacher-dark")
    # The same word, said to the pair before its first phase: he cannot tell two of them apart.
    page.get_by_role("slider").fill("0")
    expect(page.locator("#step-name")).to_have_text("phase 0, literal")
    expect(page.locator(".beliefs li.meant .number")).to_have_text("48%")
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


def test_a_second_word_costs_and_helps(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?mode=teacher&game=three-objects&agent=exact&step=0&seed=8&tricky=1&rounds=2")
    page.get_by_role("button", name="blue", exact=True).click()
    expect(page.locator(".task")).to_have_text("He waits. Another word? You have 1 left.")
    page.get_by_role("button", name="sphere", exact=True).click()
    expect(page.locator(".verdict")).to_contain_text("Right.")
    expect(page.locator("#score li").first).to_contain_text("0.8")


def test_watching_and_the_slider_let_the_inference_appear(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}{THREE}")
    meant = page.locator(".beliefs li.meant .number")
    expect(page.locator(".verdict")).to_have_text("Not this one. She meant the blue sphere.")
    expect(meant).to_have_text("50%")
    expect(page.locator(".why")).to_contain_text("she would as soon have said “blue” as “cone”")
    shot(page, "slider-literal")
    page.get_by_role("slider").press("ArrowRight")
    expect(meant).to_have_text("99%")
    expect(page.locator(".why")).to_contain_text("For the blue cone she would have said “cone”")
    expect(page.locator(".verdict")).to_have_text("Right. She meant the blue sphere.")
    assert "step=1" in page.url
    shot(page, "watch")
    page.get_by_role("button", name="Next game").click()
    expect(page.locator(".verdict")).to_be_visible()


def test_the_guide_leads_through_three_games(new_page: NewPage, server: str):
    page = new_page()
    page.goto(server)
    page.get_by_role("link", name="Watch some and all").click()
    expect(page.locator(".bubble.hers .speech")).to_have_text("“some”")
    expect(page.locator(".beliefs li.meant .number")).to_have_text("50%")
    page.get_by_role("slider").fill("2")
    expect(page.locator(".why")).to_contain_text("For all four boys she would have said “all”")
    page.get_by_role("link", name="Play a hard game").click()
    expect(page.get_by_role("button", name=re.compile("^Candidate"))).to_have_count(7)
    shot(page, "hard")


def test_a_game_is_played_by_keyboard_alone(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?mode=student&game=numbers-4&agent=exact&step=3&seed=5&tricky=1&rounds=2")
    first = page.get_by_role("button", name=re.compile("^Candidate 1"))
    expect(first).to_be_visible()
    for _ in range(40):
        page.keyboard.press("Tab")
        if first.evaluate("element => element === document.activeElement"):
            break
    page.keyboard.press("w")
    expect(page.locator(".bubble.his")).to_have_text("You wait for another word")
    page.keyboard.press("1")
    expect(page.locator(".verdict")).to_be_visible()
    page.keyboard.press("t")
    expect(page.locator(".why").first).to_be_visible()
    expect(page.locator("#next")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".verdict")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("^Candidate 1"))).to_be_focused()


@pytest.mark.parametrize("mode", ["student", "teacher", "watch"])
def test_nothing_sticks_out_on_a_phone(mode: str, new_page: NewPage, server: str):
    page = new_page(width=390, height=844)
    page.goto(f"{server}?mode={mode}&game=objects-7&agent=exact&step=3&seed=4&tricky=1&thoughts=1")
    expect(page.locator("#candidates li")).to_have_count(7)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if mode == "student":
        page.get_by_role("button", name=re.compile("^Candidate 2")).click()
        expect(page.locator(".verdict")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        shot(page, "phone", whole=True)


def test_an_address_that_leads_nowhere_is_explained_and_left(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?game=nonsense")
    expect(page.get_by_role("alert")).to_contain_text("No game is called 'nonsense': choose one of numbers-4")
    shot(page, "error")
    page.get_by_role("button", name="Start afresh").click()
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.locator(".bubble.hers")).to_be_visible()


def test_own_candidates_and_a_mistake_in_them(new_page: NewPage, server: str):
    page = new_page()
    page.goto(f"{server}?mode=watch&game=numbers-4&agent=exact&step=3&seed=1&tricky=0")
    page.get_by_text("Your own candidates").click()
    page.get_by_label("One candidate, a semicolon, the next").fill("1,2; 1,77")
    page.get_by_role("button", name="Play with these").click()
    expect(page.get_by_role("alert")).to_contain_text("has no attribute '77'")
    page.get_by_label("One candidate, a semicolon, the next").fill("1,2,3,9; 1,2,4; 2,3; 3,4,5")
    page.get_by_role("button", name="Play with these").click()
    expect(page.get_by_role("img", name="Candidate 3: {2, 3}")).to_be_visible()
    assert "set=" in page.url


def test_who_agrees_is_recorded_until_the_tab_is_closed_and_who_does_not_is_not(
    new_page: NewPage, serving, tmp_path: Path
):
    file = tmp_path / "study.sqlite"
    question = "mode=student&game=three-objects&agent=exact&step=1&seed=8&tricky=1"
    with serving("--record", str(file), "--consent", "May we keep what you choose?") as (address, _):
        page = new_page()
        page.goto(f"{address}?participant=P07&{question}")
        expect(page.locator("#consent-line")).to_have_text("May we keep what you choose?")
        expect(page.get_by_label("Participant code")).to_have_value("P07")
        shot(page, "consent")
        page.get_by_role("button", name="I agree").click()
        expect(page.get_by_role("slider")).to_be_disabled()
        page.get_by_role("button", name=re.compile("blue sphere")).click()
        expect(page.locator(".verdict")).to_contain_text("Right.")
        expect(page.get_by_role("slider")).to_be_enabled()
        page.close()
        other = new_page()
        other.goto(f"{address}?participant=P08&{question}")
        other.get_by_role("button", name="Play without being recorded").click()
        other.get_by_role("button", name=re.compile("blue sphere")).click()
        expect(other.locator(".verdict")).to_contain_text("Right.")
        kept = decisions(file)
    assert [(one.participant, one.role, one.right, one.said) for one in kept] == [("P07", "student", True, ["blue"])]
    assert 0 < kept[0].milliseconds < 90_000


@pytest.mark.parametrize("dark", [False, True])
def test_the_report_is_read_on_a_phone_and_asks_for_nothing_outside(new_page: NewPage, tmp_path: Path, dark: bool):
    report(Path(__file__).parents[2] / "results", False, tmp_path / "report.html", False, None)
    page, asked = new_page(390, 800, dark=dark), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []
    # Tables are wider than a phone and scroll in their own frames; the page itself does not.
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("[...document.images].every(image => image.naturalWidth > 500)")
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(247, 245, 240)"
    assert light != dark
