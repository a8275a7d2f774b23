"""The page in a real browser: each mode to its end, by mouse and keyboard, on a phone, in dark and light, with motion.

Most tests look at the exported page on a plain file server. With IMPLICATURE_SCREENSHOTS=docs/images/play the
screenshots of the docs are taken on the way.
"""

import re
from pathlib import Path

import pytest
from browsing import NewPage, axe_findings, card, screenshot, small_targets
from playwright.sync_api import expect

from implicature.cli.report import report

BLUE = "game=three-objects&objects=red.sphere_blue.sphere_blue.cone&target=2"
SETS = "game=numbers-4&objects=0.1.3.4_1.2.3_0.2.3_0.4.9"


@pytest.mark.parametrize("motion", [False, True])
def test_the_first_screen_asks_one_question_and_answers_it(new_page: NewPage, site: str, motion: bool):
    page = new_page(motion=motion)
    page.goto(site)
    expect(page.locator("button.card")).to_have_count(3)
    expect(page.locator(".task")).to_have_text("Which one does she mean?")
    for jargon in ("implicature is", "recursion", "pragmatic", "listener", "rational", "candidate"):
        assert jargon not in page.locator("main").inner_text().lower()
    screenshot(page, "first")
    card(page, "blue sphere").click()
    expect(page.locator(".verdict")).to_have_text("Yes, the blue sphere.")
    expect(page.locator(".reason")).to_contain_text("But for the cone she had a better word: “cone”")
    expect(page.locator(".would b")).to_have_text(["“red”", "“blue” or “sphere”", "“cone”"])
    expect(page.locator(".people-lines").first).to_contain_text(
        "180 people in the same game: 64% chose the blue sphere, as you did"
    )
    fill = page.locator("li", has_text="blue sphere").locator(".fill").first
    expect(fill).to_have_attribute("style", re.compile(r"width: 98\.\d+%"))
    screenshot(page, "first-answer")


def test_the_story_leads_from_some_to_a_hard_game(new_page: NewPage, site: str):
    page = new_page()
    page.goto(site)
    card(page, "blue cone").click()
    expect(page.locator(".verdict")).to_have_text("Not this one: the blue sphere.")
    page.get_by_role("button", name="How did that work?").click()
    expect(page.get_by_role("heading", name="Some is not all")).to_be_focused()
    card(page, "two of the four").click()
    expect(page.locator(".reason")).to_contain_text("For all four boys she would have said “all”")
    page.get_by_role("button", name="Next →").click()
    expect(page.locator(".belief .number").nth(2)).to_have_text("50%")
    screenshot(page, "literally")
    page.get_by_role("button", name="He asks why she said it").click()
    expect(page.locator(".belief .number").nth(2)).to_have_text("1%")
    screenshot(page, "one-step")
    page.get_by_role("button", name="Next →").click()
    for title in ("S₀", "L₀", "S₁", "L₁"):
        page.get_by_role("button", name="Next step").click()
        expect(page.locator(".step-title h3")).to_contain_text(title)
    expect(page.locator(".cell-reason")).to_contain_text("For the blue cone she would rather say “cone” (99%)")
    screenshot(page, "story")
    page.get_by_role("button", name="Next →", exact=True).click()
    card(page, "face with a moustache").click()
    # 58 people were asked: 44 of them chose so.
    expect(page.locator(".people-lines")).to_contain_text(
        "58 people in the same game: 76% chose the face with a moustache"
    )
    page.get_by_role("button", name="Next →").click()
    expect(page.locator("button.card")).to_have_count(7)
    page.locator("button.card").first.click()
    expect(page.locator(".reason")).to_be_visible()
    page.get_by_role("button", name="Play on").click()
    expect(page.locator("button.card")).to_have_count(4)


def test_a_shared_address_opens_the_same_game_in_a_second_browser_without_telling_the_target(
    new_page: NewPage, site: str
):
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{site}?mode=student&game=objects-4")
    page.locator("button.card").first.click()
    word, verdict = page.locator(".speech").first.inner_text(), page.locator(".verdict").inner_text()
    names = page.locator(".cards .caption").all_inner_texts()
    page.get_by_role("button", name=re.compile("copy a link", re.I)).click()
    expect(page.get_by_role("button", name=re.compile("^Copied"))).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    other = new_page()
    other.goto(link)
    expect(other.locator(".speech")).to_have_text(word)
    assert other.locator(".cards .caption").all_inner_texts() == names
    assert "target" not in link
    other.locator("button.card").first.click()
    expect(other.locator(".verdict")).to_have_text(verdict)
    screenshot(other, "student")


def test_another_depth_after_the_guess_leaves_what_she_said(new_page: NewPage, site: str):
    """She says 0 at depth 3; a teacher of depth 0 might have said something else."""
    page = new_page()
    page.goto(f"{site}?mode=student&{SETS}&target=1&variant=3")
    word = page.locator(".speech").inner_text()
    page.locator("button.card").first.click()
    expect(page.locator(".verdict")).to_be_visible()
    verdict, address = page.locator(".verdict").inner_text(), page.url
    for depth in "0126":
        page.get_by_role("slider").fill(depth)
        expect(page.locator(".slider .value")).to_contain_text("takes words literally" if depth == "0" else "deep")
        expect(page.locator(".speech")).to_have_text(word)
        expect(page.locator(".verdict")).to_have_text(verdict)
    assert page.url == address


def test_another_mode_is_another_game(new_page: NewPage, site: str):
    """Who has watched or taught a game knows its target, and is not to be asked for it."""
    page = new_page()
    page.goto(f"{site}?mode=teacher&game=objects-4")
    expect(page.locator(".cards .caption")).to_have_count(4)
    seen = set(page.locator(".cards .caption").all_inner_texts())
    page.get_by_role("button", name="Be the student").click()
    expect(page.locator("button.card")).to_have_count(4)
    assert set(page.locator(".cards .caption").all_inner_texts()) != seen


def test_the_table_is_stepped_and_every_cell_tells_its_sentence_without_a_request(new_page: NewPage, site: str):
    page, requested = new_page(motion=True), []
    page.goto(f"{site}?mode=reasoning")
    expect(page.locator(".matrix .cell")).to_have_count(12)
    page.on("request", lambda request: requested.append(request.url))
    cone = page.get_by_role("button", name=re.compile("^the blue cone, blue"))
    expect(cone).to_have_accessible_name("the blue cone, blue: true")
    for title in ("S₀", "L₀", "S₁", "L₁"):
        page.get_by_role("button", name="Next step").click()
        expect(page.locator(".step-title h3")).to_contain_text(title)
    cone.focus()
    expect(page.locator(".cell-reason")).to_have_text(
        "For the blue cone she would rather say “cone” (99%) than “blue” (1%); for the blue sphere she would say "
        "“blue” (50%). So “blue” takes his belief in the blue cone from 33% to 1%."
    )
    expect(page.locator(".word-panel .people-lines")).to_contain_text("64% chose the blue sphere. Qing & Franke 2015")
    screenshot(page, "reasoning")
    # α = 1 and the logarithm: 3/5 for the sphere, as in Frank & Goodman 2012 (tests/web/test_engine.py).
    page.get_by_label("its logarithm").check()
    page.get_by_label("truth alone").check()
    page.get_by_role("slider", name="Rationality").fill("0")
    page.get_by_role("slider", name="Depth").fill("1")
    expect(page.locator(".word-panel .number").first).to_have_text("60%")
    page.get_by_text("Cost of each word").click()
    page.get_by_role("slider", name="blue").fill("100")
    expect(page.locator(".word-panel .number").first).not_to_have_text("60%")
    page.get_by_text("Prior: how likely").click()
    page.get_by_role("slider", name="the blue cone").fill("5")
    assert [url for url in requested if not url.endswith("icon.svg")] == []  # Chromium's own, at a new address
    expect(page).to_have_url(re.compile("prior=1-1-5"))
    link = page.url
    other = new_page()
    other.goto(link)
    expect(other.locator(".word-panel .number")).to_have_text(page.locator(".word-panel .number").all_inner_texts())


def test_all_steps_play_by_themselves(new_page: NewPage, site: str):
    page = new_page(motion=True)
    page.goto(f"{site}?mode=reasoning&variant=0")
    page.get_by_role("button", name="Play all steps").click()
    expect(page.locator(".step-title h3")).to_contain_text("L₀")
    expect(page.get_by_role("button", name="Play all steps")).to_be_visible()


def test_a_teacher_sees_what_he_would_think_and_finds_out_who_he_is(new_page: NewPage, site: str):
    page = new_page(dark=True)
    page.goto(f"{site}?mode=teacher&{BLUE}&partner=one")
    expect(page.locator(".task")).to_contain_text("You mean the blue sphere")
    sphere = page.locator(".cards li", has_text="blue sphere").locator(".number")
    expect(sphere).to_have_text("33%")
    page.get_by_role("button", name="blue", exact=True).hover()
    expect(sphere).to_have_text("99%")
    page.get_by_role("button", name="cone, not true of it").focus()
    page.mouse.move(0, 0)
    expect(sphere).to_have_text("0%")
    screenshot(page, "teacher-dark")
    page.get_by_role("button", name="cone, not true of it").click()
    expect(page.locator(".verdict")).to_have_text("Not this one. You meant the blue sphere.")
    expect(page.locator(".reason")).to_contain_text(
        "“cone” is true only of the blue cone. It is not true of the blue sphere."
    )
    page.goto(f"{site}?mode=teacher")
    for _ in range(2):
        page.locator("button.word:not(.untrue)").first.click()
        expect(page.locator(".verdict")).to_be_visible()
        page.get_by_role("button", name="Next game").click()
        expect(page.locator("button.word").first).to_be_visible()
    expect(page.locator(".score")).to_contain_text("2 games")
    page.get_by_label("thinks one step").check()
    page.get_by_role("button", name="Name him: he thinks one step").click()
    expect(page.locator(".partner .verdict")).to_contain_text("he t")
    expect(page.locator(".partner")).to_contain_text(re.compile(r"thinks one step: \d of 2"))
    page.get_by_role("button", name="Meet another partner").click()
    expect(page.locator(".score")).to_have_count(0)


def test_a_second_word_costs_and_helps_and_the_reasons_count_all_cards(new_page: NewPage, site: str):
    """A literal student waits after “blue”. Then “sphere” fits two cards, of which he hardly believes in one."""
    page = new_page()
    page.goto(f"{site}?mode=teacher&{BLUE}&partner=literal&rounds=2")
    page.get_by_role("button", name="blue", exact=True).click()
    expect(page.locator(".task")).to_have_text("He waits. Another word? You have 1 left.")
    page.wait_for_timeout(300)  # a decision within a quarter of a second is a double click
    page.get_by_role("button", name="sphere", exact=True).click()
    expect(page.locator(".verdict")).to_contain_text("Right.")
    expect(page.locator(".reason").nth(1)).to_have_text(
        "“sphere” is true of the red sphere and the blue sphere. Before it he hardly believed in the red sphere. He "
        "takes you to say any true word; so he is sure of the blue sphere (100%)."
    )


def test_a_pair_learns_and_the_same_game_is_shown_after_each_phase(new_page: NewPage, site: str):
    page = new_page(motion=True)
    page.goto(f"{site}?mode=watch&{SETS}&target=1")
    rows = page.locator(".phases tbody tr")
    expect(rows).to_have_count(4)
    expect(page.locator(".curve")).to_contain_text("200 random games")
    beliefs = [int(text.rstrip("%")) for text in rows.locator("td:nth-child(3)").all_inner_texts()]
    assert beliefs[0] < 60 < 90 < beliefs[3]
    page.get_by_role("slider").fill("3")
    expect(page.locator(".slider .value")).to_have_text("after phase 3")
    expect(page.locator(".verdict")).to_contain_text("Right. She meant {0, 1, 3, 4}.")
    screenshot(page, "watch")
    page.locator(".slider .value").evaluate(
        """(value) => {
          window.shown = [];
          const options = { childList: true, characterData: true, subtree: true };
          new MutationObserver(() => window.shown.push(value.textContent)).observe(value, options);
        }"""
    )
    page.get_by_role("button", name="Let them learn").click()
    phases = ["before phase 1: literal", "after phase 1", "after phase 2", "after phase 3"]
    page.wait_for_function("(last) => window.shown.at(-1) === last", arg=phases[-1])
    assert page.evaluate("window.shown") == phases
    page.get_by_role("button", name="Play against them").click()
    page.locator("button.card").first.click()
    expect(page.locator(".score .label")).to_have_text(
        ["You", "A literal student", "One step deep", "Four steps deep", "The trained student"]
    )


def test_own_objects_are_made_by_clicking_kept_and_shared(new_page: NewPage, site: str):
    page = new_page()
    page.goto(f"{site}?mode=student")
    page.get_by_text("Change the game", exact=True).click()
    page.get_by_text("Make your own objects").click()
    page.get_by_role("group", name="colour of object 2").get_by_role("button", name="green").click()
    page.get_by_role("group", name="accessory of object 2").get_by_role("button", name="hat").click()
    page.get_by_role("button", name="Add an object").click()
    screenshot(page, "own")
    page.get_by_role("button", name="Remove object 4").click()
    page.get_by_label("this one is meant").nth(1).check()
    page.get_by_role("button", name="Play with these").click()
    expect(card(page, "green sphere with a hat")).to_be_in_viewport()
    link = page.url
    other = new_page()
    other.goto(link)
    card(other, "green sphere with a hat").click()
    expect(other.locator(".verdict")).to_contain_text("Right.")
    other.get_by_role("button", name="Next game").click()
    expect(card(other, "green sphere with a hat")).to_be_visible()
    page.goto(f"{site}?mode=teacher&game=own")
    expect(page.locator(".cards", has_text="green sphere with a hat")).to_be_visible()


@pytest.mark.parametrize("game", ["objects-4", "objects-7"])
def test_word_cards_and_verdict_are_on_one_screen_of_a_phone(new_page: NewPage, site: str, game: str):
    page = new_page(390, 844)
    page.goto(f"{site}?mode=student&game={game}")
    expect(page.locator("button.card").first).to_be_visible()
    assert small_targets(page) == []
    page.locator("button.card").last.click()
    expect(page.locator(".verdict")).to_be_visible()
    expect(page.get_by_role("button", name="Next game")).to_be_focused()
    assert page.evaluate("scrollY") == 0
    for part in [page.locator(".bubble").first, page.locator(".verdict"), *page.locator(".cards li").all()]:
        box = part.bounding_box()
        assert box is not None
        assert 0 <= box["y"] <= box["y"] + box["height"] <= 844
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    screenshot(page, f"phone-{game}")


def test_nothing_sticks_out_on_a_phone_and_targets_are_large(new_page: NewPage, site: str):
    page = new_page(390, 844)
    for state in (
        "",
        "?mode=story&step=3",
        "?mode=teacher",
        "?mode=reasoning&step=3",
        "?mode=reasoning&game=numbers-7",
        "?mode=watch",
        "?mode=student&game=numbers-7",
    ):
        page.goto(f"{site}{state}")
        expect(page.locator(".cards, .matrix").first).to_be_visible()
        for summary in page.locator("summary").all():
            summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, state
        assert small_targets(page) == [], state


def test_a_game_is_played_by_keyboard_alone_and_single_keys_can_be_turned_off(new_page: NewPage, site: str):
    page = new_page()
    page.goto(f"{site}?mode=student&game=numbers-4&rounds=2")
    first = page.locator("button.card").first
    expect(first).to_be_visible()
    for _ in range(20):
        page.keyboard.press("Tab")
        if first.evaluate("element => element === document.activeElement"):
            break
    page.keyboard.press("w")
    expect(page.locator(".bubble.student")).to_have_text("You wait for another word")
    page.wait_for_timeout(300)
    page.keyboard.press("Enter")
    expect(page.locator(".verdict")).to_be_visible()
    expect(page.get_by_role("button", name="Next game")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("button.card").first).to_be_visible()
    page.keyboard.press("1")
    expect(page.locator(".verdict")).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator(".verdict")).to_have_count(0)
    page.get_by_text("Change the game", exact=True).click()
    page.get_by_label("single-key shortcuts").uncheck()
    page.keyboard.press("1")
    page.reload()
    expect(page.locator("button.card").first).to_be_visible()
    page.keyboard.press("1")
    page.wait_for_timeout(300)
    expect(page.locator(".verdict")).to_have_count(0)


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_in_any_state(new_page: NewPage, site: str, dark: bool):
    page = new_page(dark=dark)
    findings: dict[str, list[str]] = {}

    def check(state: str) -> None:
        page.wait_for_timeout(150)
        if found := axe_findings(page):
            findings[state] = found

    page.goto(site)
    expect(page.locator(".board")).to_be_visible()
    check("first screen")
    card(page, "blue cone").click()
    check("first answer")
    for step in range(1, 6):
        page.goto(f"{site}?mode=story&step={step}")
        expect(page.locator(".board")).to_be_visible()
        check(f"story {step}")
    for mode in ("student", "teacher"):
        page.goto(f"{site}?mode={mode}&{SETS}&target=1&partner=hidden")
        expect(page.locator(".board")).to_be_visible()
        for summary in page.locator("summary").all():
            summary.click()
        check(mode)
        page.locator("button.card, button.word").first.click()
        expect(page.locator(".verdict")).to_be_visible()
        for summary in page.locator("aside summary").all():
            summary.click()
        check(f"{mode}, answered")
    for step in (0, 1, 2):
        page.goto(f"{site}?mode=reasoning&step={step}")
        expect(page.locator(".matrix")).to_be_visible()
        for summary in page.locator("summary").all():
            summary.click()
        page.locator(".cell").first.hover()
        check(f"reasoning {step}")
    page.goto(f"{site}?mode=watch&{SETS}&target=1")
    expect(page.locator(".curve")).to_contain_text("200 random games")
    check("watch")
    page.goto(f"{site}?mode=nonsense")
    expect(page.get_by_role("alert")).to_be_visible()
    check("error")
    assert findings == {}


def test_one_live_region_speaks_what_is_new(new_page: NewPage, site: str):
    page = new_page()
    page.goto(f"{site}?mode=student&{BLUE}")
    expect(page.locator("[aria-live=polite]")).to_have_count(1)
    live = page.locator("[aria-live=polite]")
    expect(live).to_contain_text("Which one does she mean?")
    card(page, "blue sphere").click()
    expect(live).to_have_text("Right. She meant the blue sphere.")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("mode=studnet", "“mode=studnet” is none of story, student, teacher, reasoning, watch."),
        ("game=nonsense", "“game=nonsense” is none of numbers-4,"),
        ("mode=student&seed=3", "only the server of “implicature play” deals games by seed"),
        ("game=three-objects&objects=blue.sphere_blue.box", "“box” is not a word of Three objects."),
        ("game=three-objects&objects=blue.sphere", "has 1 candidates, not 2 to 12"),
        ("rounds=9", "“rounds=9” is not a whole number from 1 to 4."),
        ("game=three-objects&objects=blue.sphere_blue.cone&prior=1-2-3", "“prior” has 3 numbers for 2 candidates."),
        ("game=faces&objects=-_hat&target=1", "no word is true of the one that is meant."),
        ("rationality=-1", "“rationality=-1” is not a number from 0 to 100."),
        ("mode=student&game=numbers-4&instances=1-x", "“instances=1-x” is not a list of numbers"),
    ],
)
def test_an_address_that_leads_nowhere_is_explained_and_left(new_page: NewPage, site: str, query: str, message: str):
    page = new_page()
    page.goto(f"{site}?{query}")
    expect(page.get_by_role("alert")).to_contain_text(message)
    assert page.locator(".cards, .matrix").count() == 0
    if query == "game=nonsense":
        screenshot(page, "error")
        page.get_by_role("button", name="Start afresh").click()
        expect(page.locator("button.card")).to_have_count(3)


def test_two_exact_agents_are_watched_at_each_depth(new_page: NewPage, site: str):
    page = new_page()
    page.goto(f"{site}?mode=watch&{BLUE}&agent=exact")
    target_belief = page.locator(".phases tbody tr td:nth-child(3)")
    expect(target_belief).to_have_count(11)
    assert target_belief.all_inner_texts()[:2] == ["50%", "99%"]
    page.get_by_role("slider").press("ArrowRight")
    expect(page.locator(".verdict")).to_have_text("Right. She meant the blue sphere.")
    expect(page).to_have_url(re.compile("variant=1"))


def test_the_exported_page_plays_with_the_network_cut(new_page: NewPage, site: str):
    """Nothing is asked of another host or of an API; and once it is open, nothing is asked at all."""
    page, requested = new_page(), []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(f"{site}?mode=watch&{SETS}&target=1")
    expect(page.locator(".curve")).to_contain_text("200 random games")
    assert all(url.startswith(site) and "/api/" not in url for url in requested)
    page.context.set_offline(True)
    page.get_by_role("button", name="Be the student").click()
    page.locator("button.card").first.click()
    expect(page.locator(".reason")).to_be_visible()
    page.get_by_role("button", name="The reasoning").click()
    expect(page.locator(".matrix")).to_be_visible()
    page.get_by_role("button", name="Next step").click()


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
