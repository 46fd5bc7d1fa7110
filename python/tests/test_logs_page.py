"""The page that draws logs of connections in a browser, without a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock import Scenario
from ackclock.playground import page as pages
from ackclock.qlogs import TRACES

from . import browser, playground

EXAMPLES = Path(__file__).parent / "data" / "qlog"
LARGEST = 100_000
"""Bytes of the page's own script."""
DRAWN = "[...document.querySelectorAll('figure')].filter((each) => !each.hidden).map((each) => each.dataset.drawn)"
NAMES = "[...document.querySelectorAll('figure:first-of-type .legend button')].map((each) => each.textContent)"
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
}"""


def test_the_page_is_small() -> None:
    assert len(playground.built().files["logs.js"]) <= LARGEST


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playground.built()
    with browser.launched() as made:
        yield made


@browser.needed
def test_logs_are_chosen_dropped_drawn_together_and_closed(chromium: Any, tmp_path: Path) -> None:
    flows = [{"name": "one", "profile": "modern"}, {"name": "two", "congestion_control": "bbr1"}]
    made = Scenario("s", duration="2 s", topology={"kind": "dumbbell"}, flow=flows)
    ackclock.run(made, record=TRACES).write_qlog(tmp_path / "run.qlog")
    opened = browser.Opened(chromium, pages.FOLDER / "logs.html")
    page = opened.page
    page.set_input_files("input", [tmp_path / "run.qlog", EXAMPLES / "quic-go.sqlog"])
    page.wait_for_selector("figure[data-drawn=yes]")
    for figure in page.query_selector_all("figure:not([hidden])"):
        figure.scroll_into_view_if_needed()
        page.wait_for_function("(each) => each.dataset.drawn === 'yes'", arg=figure)
    assert page.evaluate(DRAWN) == ["yes"] * 4
    assert {"run, one", "run, one, lost", "run, one, recovery", "run, two", "quic-go"} <= set(page.evaluate(NAMES))
    assert page.evaluate("document.querySelector('.plot').data.length") >= 8
    page.evaluate(DROP, ["quiche.sqlog", (EXAMPLES / "quiche.sqlog").read_text()])
    page.wait_for_function("document.querySelectorAll('.files button').length === 3")
    assert "quiche" in page.evaluate(NAMES)
    page.evaluate(DROP, ["bad.qlog", "hello"])
    page.wait_for_selector(".fault")
    assert page.inner_text(".fault").startswith("bad.qlog: is no qlog: it is not JSON: ")
    assert "quiche" in page.evaluate(NAMES), "what is open stays"
    page.click("text=run.qlog ✕")
    assert "run, one" not in page.evaluate(NAMES)
    assert len(page.evaluate(DRAWN)) == 4
    page.click("text=quiche.sqlog ✕")
    assert len(page.evaluate(DRAWN)) == 3, "quic-go does not log its pacing rate"
    assert (opened.errors, opened.foreign) == ([], [])
    page.close()
