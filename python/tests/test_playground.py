"""The playground in a browser: with each engine, by mouse and by keyboard, from a server and from the disk."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ackclock.serving.page import Setup
from ackclock.serving.site import export

from . import browser as browsers
from .playground import AXE, SHORT, Playground, built, field
from .serving import serving

pytestmark = [browsers.needed, pytest.mark.xdist_group("playground")]
needs_engine = "the engine as WebAssembly was not built: make web"

Open = Callable[..., Playground]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browsers.launched() as launched:
        yield launched


@pytest.fixture(scope="module", params=["wasm", "native"])
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a page with each engine."""
    page = built()
    if request.param == "wasm" and not page.has_engine:
        pytest.skip(needs_engine)
    with serving(Setup(request.param, name="short.toml", text=SHORT), page) as started:
        yield started.url


@pytest.fixture(scope="module")
def any_server() -> Iterator[str]:
    """The address of a page with one engine, for tests that do not depend on it."""
    with serving(Setup("native", name="short.toml", text=SHORT), built()) as started:
        yield started.url


@pytest.fixture
def opened(chromium: Any) -> Iterator[Open]:
    """Return a function that opens a page; at the end, nothing may have gone wrong in any."""
    pages: list[Playground] = []

    def open_page(url: str, width: int = 1280, scheme: str = "light") -> Playground:
        pages.append(Playground(chromium, url, width, scheme))
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()


def test_a_slider_and_a_menu_change_the_curves(opened: Open, server: str) -> None:
    playground = opened(server)
    page = playground.page
    numbers = playground.finished()
    assert numbers.splitlines()[1].startswith("a\t")
    window = playground.drawn("Congestion window")
    # A slider, by the keyboard.
    page.get_by_role("slider", name="Bottleneck rate").focus()
    for _ in range(3):
        page.keyboard.press("PageDown")
    slower = playground.finished(numbers)
    assert float(slower.split("\t")[7]) < float(numbers.split("\t")[7])
    assert playground.drawn("Congestion window") != window
    # An exact value.
    rate = page.get_by_role("textbox", name=field("Bottleneck rate"))
    rate.fill("4 Mbit/s")
    rate.press("Enter")
    assert playground.finished(slower) == numbers
    # A part.
    page.get_by_role("combobox", name="Slow start").select_option("staged")
    assert playground.finished(numbers) != slower


def test_a_kept_run_stays_in_the_charts(opened: Open, any_server: str) -> None:
    playground = opened(any_server)
    page = playground.page
    numbers = playground.finished()
    page.get_by_role("button", name="Keep this run").click()
    page.get_by_role("slider", name="Buffer").focus()
    page.keyboard.press("PageUp")
    page.keyboard.press("PageUp")
    both = playground.finished(numbers)
    rows = both.splitlines()[1:]
    assert len(rows) == 2, "the flow of each run"
    assert numbers.splitlines()[1] in rows[1], "the kept run has the same numbers"
    page.get_by_role("textbox", name="Name of the kept run").fill("short buffer")
    page.keyboard.press("Enter")
    assert "short buffer" in playground.finished(both)
    page.get_by_role("button", name="Remove").click()
    assert len(playground.finished().splitlines()) == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(opened: Open, any_server: str, scheme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: `npm ci` in web/")
    playground = opened(any_server, scheme=scheme)
    playground.finished()
    assert playground.faults() == []


def test_the_dark_page_is_dark(opened: Open, any_server: str) -> None:
    dark, light = (opened(any_server, scheme=scheme) for scheme in ("dark", "light"))
    shade = "getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number)"
    assert max(dark.page.evaluate(shade)) < 60
    assert min(light.page.evaluate(shade)) > 200


def test_a_narrow_page_does_not_scroll_sideways(opened: Open, any_server: str) -> None:
    playground = opened(any_server, width=400)
    playground.finished()
    assert playground.overflow <= 0


def test_the_exported_page_runs_from_the_disk(opened: Open, tmp_path: Path) -> None:
    page = built()
    if not page.has_engine:
        pytest.skip(needs_engine)
    export(page, Setup("wasm", name="short.toml", text=SHORT), tmp_path / "site")
    playground = opened((tmp_path / "site" / "index.html").as_uri())
    assert "a\t" in playground.finished()


def test_a_page_without_an_engine_says_so(opened: Open, tmp_path: Path) -> None:
    page = built()
    bare = dataclasses.replace(page, files={**page.files, "engine.js": b"// nothing\n"})
    for name, data in bare.files.items():
        (tmp_path / name).write_bytes(data)
    playground = opened((tmp_path / "index.html").as_uri())
    playground.page.get_by_text("ackclock serve").wait_for()
