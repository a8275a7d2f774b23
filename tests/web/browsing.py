"""What tests in a browser share: pictures of the page, its cards, and what axe-core and a ruler find."""

import io
import os
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page

SCREENSHOTS = os.environ.get("IMPLICATURE_SCREENSHOTS")
AXE = Path(__file__).with_name("axe-core") / "axe.min.js"
NewPage = Callable[..., Page]


def screenshot(page: Page, name: str, full_page: bool = False) -> None:
    """A screenshot for the docs, in few colours and so small."""
    if SCREENSHOTS is None:
        return
    folder = Path(SCREENSHOTS)
    folder.mkdir(parents=True, exist_ok=True)
    page.wait_for_timeout(300)
    if page.url.startswith("http"):
        wait_until_painted(page)
    page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished)).then(() => true)")  # nothing moves
    picture = Image.open(io.BytesIO(page.screenshot(full_page=full_page)))
    picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(folder / f"{name}.png", optimize=True)


def wait_until_painted(page: Page) -> None:
    """Until the pictures on the cards are loaded and painted, and so the time of a decision runs."""
    page.evaluate("import('/ui/measure.js').then(({ painted }) => painted())")


def card(page: Page, name: str) -> Locator:
    return page.locator("button.card", has_text=name)


def axe_findings(page: Page) -> list[str]:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    results = page.evaluate("axe.run(document)")
    return [f"{one['id']}: {node['html'][:120]}" for one in results["violations"] for node in one["nodes"]]


def small_targets(page: Page) -> list[str]:
    """Buttons, links and fields that are shown and smaller than 44 pixels, except those inside a label."""
    return page.evaluate(
        """() => [...document.querySelectorAll("button, select, summary, input, a")].filter((one) => {
          const { width, height } = one.getBoundingClientRect();
          return width && (width < 43.5 || height < 43.5) && !one.closest("label.choice");
        }).map((one) => one.outerHTML.slice(0, 100))"""
    )
