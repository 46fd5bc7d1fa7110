"""The playground in a headless browser, for tests: a server for each engine, and a page that notes what goes wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ackclock.playground import page as pages

from .conftest import ROOT

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI} (${event.sourceFile}:${event.lineNumber})`);
});
"""
TEXT = """() => {
  const box = document.querySelector(".editor-box > div");
  return box.shadowRoot.querySelector(".cm-content").cmTile.view.state.doc.toString();
}"""
"""The scenario in the editor."""
SHORT = """\
name = "short"
duration = "4 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "4 Mbit/s", delay = "10 ms", queue = { kind = "droptail", limit = "20 packets" } }

[[flow]]
name = "a" # the only flow
"""
"""A scenario that runs in a moment."""


def built() -> pages.Page:
    """Return the built page, or skip the test."""
    try:
        return pages.load()
    except FileNotFoundError as error:
        pytest.skip(str(error))


class Playground:
    """An open playground, with all that went wrong in it.

    Parameters
    ----------
    browser
        The browser.
    url
        Where the page is.
    width
        Width of the window, in pixels.
    scheme
        ``light`` or ``dark``.
    """

    def __init__(self, browser: Any, url: str, width: int = 1280, scheme: str = "light") -> None:
        self.origin = url.partition("#")[0]
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.page = context.new_page()
        self.page.set_default_timeout(20_000)
        self.wrong: list[str] = []
        self.requests: list[str] = []
        self.page.add_init_script(VIOLATIONS)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on(
            "console", lambda message: message.type in ("error", "warning") and self.wrong.append(message.text)
        )
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(url)

    def close(self) -> None:
        """Close the page, and check that nothing went wrong."""
        violations = self.page.evaluate("window.violations")
        self.page.context.close()
        own = (self.origin.rsplit("/", 1)[0], "data:", "blob:")
        wrong = self.wrong + violations + [url for url in self.requests if not url.startswith(own)]
        assert not wrong, "\n".join(wrong)

    def finished(self, before: str = "") -> str:
        """Wait for the end of a run whose key numbers differ from those before, and return its key numbers."""
        self.page.wait_for_function(
            """(before) => {
              if (document.querySelector("main .error")?.checkVisibility()) return true;
              const numbers = document.querySelector(".numbers table")?.innerText ?? "";
              const run = [...document.querySelectorAll(".toolbar button")].some((each) => each.innerText === "Run");
              return run && numbers !== "" && numbers !== before;
            }""",
            arg=before,
        )
        assert not self.errors(), "\n".join(self.errors())
        return str(self.page.locator(".numbers table").first.inner_text())

    def errors(self) -> list[str]:
        """Return the errors of the scenario that the page shows."""
        return [each.inner_text() for each in self.page.locator("main .error").all() if each.is_visible()]

    def drawn(self, chart: str) -> str:
        """Return the picture of a chart."""
        return str(self.page.get_by_role("figure", name=chart).locator("canvas").evaluate("(each) => each.toDataURL()"))

    def text(self) -> str:
        """Return the scenario in the editor."""
        return str(self.page.evaluate(TEXT))

    def type(self, text: str) -> None:
        """Replace the scenario in the editor, by the clipboard."""
        self.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        self.page.get_by_role("textbox", name="Scenario").focus()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.press("Control+V")

    def faults(self) -> list[str]:
        """Return what axe finds wrong for readers with a screen reader or a keyboard."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']})")
        return [
            f"{fault['id']}: {node['html']}: {' '.join(node['failureSummary'].split())}"
            for fault in found["violations"]
            for node in fault["nodes"]
        ]

    @property
    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def field(name: str) -> re.Pattern[str]:
    """Return the pattern of the exact-value field of a slider."""
    return re.compile(rf"^{re.escape(name)}, exact value")


def stored(place: Any, button: str, path: Path) -> Path:
    """Press a button that saves a file, and return the file."""
    with place.page.expect_download() as download:
        place.get_by_role("button", name=button, exact=True).click()
    download.value.save_as(path)
    return path
