"""Reports as pages: their data, and their behaviour in a headless browser."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ackclock import reports
from ackclock.curves import Line
from ackclock.drawing import figure as drawn
from ackclock.drawing import plotly
from ackclock.files import built
from ackclock.reports import Answer, Axis, Cell, Column, Figure, Heatmap, Panel, Section, Series, Table, Text
from ackclock.reports.grids import MOST_ROWS, numbers
from tests import browser

LARGEST = 5_000_000
pytestmark = pytest.mark.skipif(built.report_program() is None, reason="the program of reports is not built: make page")


def example() -> str:
    """A page with every kind of item."""
    time = np.linspace(0.0, 10.0, 101)
    curves = [Series(name, time, values, low=values - 1, high=values + 1) for name, values in (
        ("reno", 10 + np.sin(time)), ("cubic", 20 + np.cos(time)))]  # fmt: skip
    lead = Figure("cwnd", [Panel(curves, x=Axis("time (s)"), y=Axis("cwnd (segments)"))], "cwnd")
    places = ["10 packets", "a queue with a long name", "1 BDP"]
    points = [Series(name, places, [1.0, 2.0, 3.0], "joined", [0.5, 1.5, 2.5], [1.5, 2.5, 3.5]) for name in ("a", "b")]
    panels = [
        Panel([*points, Series("a, printed", places, [1.1, 2.1, 3.1], "printed", like="a")], title=title,
              x=Axis("queue", names=places), y=Axis("goodput (Mbit/s)"), references=[1.0])
        for title in ("first", "second")
    ]  # fmt: skip
    bars = Panel([Series("bars", places, [1.5, 0.5, 1.0], "bars", base=1.0)], x=Axis(names=places), y=Axis("ratio"))
    heat = Heatmap(["x1", "x2"], ["y1", "y2"], [[1.0, float("nan")], [2.0, 3.0]], unit="s", framed=[("x1", "y2")])
    flows = Table(
        [Column("flow"), Column("goodput", "number", "Mbit/s"), Column("verdict")],
        [[f"f{index:02}", None if index == 3 else float(index * 7 % 10), Cell("holds", mark="holds")]
         for index in range(10)],
        title="Flows", anchor="flows",
    )  # fmt: skip
    sections = [
        Section("Means", [Figure("means", panels), Figure("bars", [bars]), Figure("map", [Panel(heatmap=heat)])]),
        Section("Tables", [Text("Every flow."), Section("All flows", [flows], printed=True)], printed=True),
    ]
    return reports.page("Two <b>controls</b>", Answer(["reno keeps to 10.", "cubic keeps to 20."], lead), sections)


def test_points_can_be_hollow_beside_a_band_and_bars_of_single_names() -> None:
    names = ["10 packets", "1 BDP"]
    points = Series("a", names, [1.0, 2.0], "points", hollow=[True, False])
    described = Panel([points], x=Axis(names=names), band=(-1.0, 1.0), bars={"1 BDP": 0.5})
    (panel,) = plotly.spec(Figure("f", [described]))["panels"]
    assert (panel["series"][0]["hollow"], panel["band"], panel["bars"]) == ([True, False], [-1.0, 1.0], [[1, 0.5]])


def test_a_page_contains_the_library_with_its_licence() -> None:
    page = example()
    library = zlib.decompress(base64.b64decode(page.partition('id="library">')[2].partition("<")[0])).decode()
    assert "plotly.js (cartesian - minified) v" in library[:200]
    assert "Permission is hereby granted" in page


def test_a_page_has_its_texts_escaped_and_its_figures_once() -> None:
    page = example()
    assert "Two &lt;b&gt;controls&lt;/b&gt;" in page
    assert page.count('id="data"') == 1
    data = page.partition('id="data">')[2].partition("<")[0]
    specs = json.loads(zlib.decompress(base64.b64decode(data)))
    assert [len(spec["panels"]) for spec in specs] == [1, 2, 1, 1]
    assert specs[0]["panels"][0]["series"][0]["dx"] == pytest.approx(0.1)
    assert specs[1]["panels"][0]["series"][2]["colour"] == specs[1]["panels"][0]["series"][0]["colour"]
    assert specs[3]["panels"][0]["heatmap"]["z"] == [[1, None], [2, 3]]


def test_a_page_without_figures_has_no_library() -> None:
    page = reports.page("Nothing", Answer("Nothing was run."), [])
    assert 'id="library"' not in page
    assert len(page) < 80_000


def test_lines_become_series_with_band_and_second_quantity() -> None:
    x = np.array([0.0, 1.0, 3.0])
    band = (x - 1, x + 1)
    first, second = drawn.from_lines([Line("a", x, x * 2, thin=x, band=band)])
    assert (first.style, first.like, second.like, second.faint) == ("step", "", "a", True)
    figure = Figure("", [Panel([first, second])])
    one, two = plotly.spec(figure)["panels"][0]["series"]
    assert one["x"] == [0, 1, 3]
    assert one["low"] == [-1, 0, 2]
    assert two["colour"] == one["colour"]


def test_long_tables_are_cut_with_a_note() -> None:
    table = Table([Column("n", "number")], [[index] for index in range(MOST_ROWS + 7)])
    assert table.omitted == 7
    assert "7 more rows are not shown" in reports.page("t", Answer("a"), [Section("s", [table])])


def test_formatted_numbers_sort_as_numbers() -> None:
    table = numbers(["flow", "value"], [["a", "×1,250 [1, 2]"], ["b", "−3.5 %"], ["c", "–"]])
    assert [row[1].key for row in table.cells] == [1250.0, -3.5, ""]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.launched() as started:
        yield started


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(example(), encoding="utf-8")
    return path


@browser.needed
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_a_page_opens_without_errors_network_or_overflow(chromium: Any, file: Path, width: int, scheme: str) -> None:
    opened = browser.Opened(chromium, file, width, scheme)
    opened.open_all()
    assert opened.errors == []
    assert opened.foreign == []
    assert opened.overflow <= 0
    assert opened.page.locator("figure .main-svg").count() >= 5
    assert file.stat().st_size <= LARGEST
    opened.page.close()


@browser.needed
def test_colours_follow_the_scheme(chromium: Any, file: Path) -> None:
    opened = browser.Opened(chromium, file)
    colours = {}
    for scheme in ("light", "dark"):
        opened.page.emulate_media(color_scheme=scheme)
        opened.page.wait_for_timeout(300)
        colours[scheme] = opened.page.evaluate("""() => [
            getComputedStyle(document.body).backgroundColor,
            getComputedStyle(document.querySelector('figure .xtick text')).fill,
            document.querySelector('figure .plot').data.at(-1).line.color,
        ]""")
    assert all(light != dark for light, dark in zip(colours["light"], colours["dark"], strict=True))
    assert opened.errors == []
    opened.page.close()


@browser.needed
def test_the_pointer_shows_values(chromium: Any, file: Path) -> None:
    opened = browser.Opened(chromium, file)
    opened.page.wait_for_selector("figure#cwnd[data-drawn]")
    plot = opened.page.locator("figure#cwnd .nsewdrag").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    opened.page.mouse.move(box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2)
    opened.page.wait_for_selector("figure#cwnd .hoverlayer text")
    shown = " ".join(opened.page.locator("figure#cwnd .hoverlayer text").all_text_contents())
    assert "reno" in shown
    assert "cubic" in shown
    opened.page.close()


@browser.needed
def test_a_drag_zooms_and_a_double_click_resets(chromium: Any, file: Path) -> None:
    opened = browser.Opened(chromium, file)
    opened.page.wait_for_selector("figure#cwnd[data-drawn]")
    plot = opened.page.locator("figure#cwnd .nsewdrag").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    middle = box["y"] + box["height"] / 2
    before = opened.page.evaluate("document.querySelector('#cwnd .plot').layout.xaxis.range")
    opened.page.mouse.move(box["x"] + 0.2 * box["width"], middle)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 0.4 * box["width"], middle, steps=5)
    opened.page.mouse.up()
    low, high = opened.page.evaluate("document.querySelector('#cwnd .plot').layout.xaxis.range")
    assert 1.5 < low < 2.5
    assert 3.5 < high < 4.5
    plot.dblclick()
    opened.page.wait_for_function(
        "(before) => String(document.querySelector('#cwnd .plot').layout.xaxis.range) === String(before)", arg=before
    )
    opened.page.close()


@browser.needed
def test_the_legend_hides_and_isolates_curves_in_all_panels(chromium: Any, file: Path) -> None:
    opened = browser.Opened(chromium, file)
    opened.open_all()
    visible = """() => [...document.querySelectorAll('figure')[1].querySelectorAll('.plot')].map(
        (plot) => plot.data.filter((trace) => trace.visible !== false).map((trace) => trace.name))"""
    assert opened.page.evaluate(visible) == [["a", "b", "a, printed"]] * 2
    button = opened.page.locator("figure").nth(1).locator(".legend button", has_text="b").first
    button.click()
    assert opened.page.evaluate(visible) == [["a", "a, printed"]] * 2
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    assert opened.page.evaluate(visible) == [["a", "b", "a, printed"]] * 2
    button.dblclick()
    assert opened.page.evaluate(visible) == [["b"]] * 2
    button.dblclick()
    assert opened.page.evaluate(visible) == [["a", "b", "a, printed"]] * 2
    opened.page.close()


@browser.needed
def test_tables_sort_and_filter(chromium: Any, file: Path) -> None:
    opened = browser.Opened(chromium, file)
    opened.open_all()
    page = opened.page
    column = """() => [...document.querySelectorAll('#flows tbody tr:not([hidden]) td:nth-child(2)')].map(
        (cell) => cell.textContent)"""
    heading = page.locator("#flows th").nth(1)
    heading.click()
    assert page.evaluate(column) == ["9", "8", "7", "6", "5", "4", "3", "2", "0", "–"]
    assert heading.get_attribute("aria-sort") == "descending"
    heading.press("Enter")
    assert page.evaluate(column) == ["0", "2", "3", "4", "5", "6", "7", "8", "9", "–"]
    page.locator("#flows input").fill("f07 holds")
    assert page.evaluate(column) == ["9"]
    page.locator("#flows input").fill("")
    assert len(page.evaluate(column)) == 10
    page.close()


@browser.needed
def test_a_link_opens_the_sections_around_its_target(chromium: Any, file: Path) -> None:
    opened = browser.Opened(chromium, file)
    assert not opened.page.locator("#flows").is_visible()
    opened.page.evaluate("location.hash = 'flows'")
    opened.page.wait_for_selector("#flows", state="visible")
    opened.page.close()


@browser.needed
def test_print_is_light_and_opens_what_matters(chromium: Any, file: Path) -> None:
    opened = browser.Opened(chromium, file, scheme="dark")
    opened.page.wait_for_selector("figure#cwnd .main-svg")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    opened.page.emulate_media(media="print")
    assert opened.page.locator("#flows").is_visible()
    assert not opened.page.get_by_role("heading", name="Means").is_visible()
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    opened.page.wait_for_function("document.querySelector('#cwnd .plot').data.at(-1).line.color === '#D55E00'")
    opened.page.emulate_media(media="screen")
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not opened.page.locator("#flows").is_visible()
    assert opened.errors == []
    opened.page.close()
