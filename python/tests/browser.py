"""A headless Chromium for tests of reports: that of the system, driven by Playwright. Nothing is downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def found() -> str | None:
    """Return the path of a browser."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def missing() -> str:
    """Return why no browser can be driven; empty if one can."""
    if found() is None:
        return f"no browser: none of {', '.join(NAMES)} is installed"
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "no Playwright: pip install playwright"
    return ""


needed = pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is there")


@contextmanager
def launched() -> Iterator[Any]:
    """Start a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found(), args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    """A page in the browser, with all that went wrong in it.

    Parameters
    ----------
    browser
        The browser.
    file
        The HTML file.
    width
        Width of the window, in pixels.
    scheme
        ``light`` or ``dark``.
    """

    def __init__(self, browser: Any, file: Path, width: int = 1400, scheme: str = "light") -> None:
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())

    def open_all(self) -> None:
        """Unfold everything, and draw every figure."""
        self.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        for figure in self.page.query_selector_all("figure[data-figure]"):
            figure.scroll_into_view_if_needed()
            self.page.wait_for_function("(each) => each.dataset.drawn === 'yes'", arg=figure)

    @property
    def foreign(self) -> list[str]:
        """Requests that left the file."""
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]

    @property
    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))
