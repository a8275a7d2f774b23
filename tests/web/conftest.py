"""A real Chromium, and the exported page on a plain file server."""

import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browsing import NewPage
from playwright.sync_api import Browser, Page, expect, sync_playwright

from implicature.web.site import export_site

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
expect.set_options(timeout=20_000)  # a first game on the server is compiled, maybe beside much else


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as `implicature play --export` writes it. Not to be changed."""
    folder = tmp_path_factory.mktemp("site") / "site"
    export_site(folder)
    return folder


@pytest.fixture(scope="session")
def site(site_folder: Path) -> Iterator[str]:
    """The address of the exported page on a file server that knows nothing of it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(site_folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for each file: while it runs, so does Playwright's event loop, and no other may."""
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

    def open_page(width: int = 1280, height: int = 860, dark: bool = False, motion: bool = False, **options) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="no-preference" if motion else "reduce",
            **options,
        )
        context.set_default_timeout(20_000)
        page = context.new_page()
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield open_page
    for context in browser.contexts:
        context.close()
    assert [error for error in errors if "status of 422" not in error] == []
