"""A walk over the lessons of the playground in three windows: sliders and charts in view together, texts that agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock.files import toml
from ackclock.playground.page import Setup

from . import browser as browsers
from .playground import SHORT, Playground, built
from .serving import serving

pytestmark = browsers.needed

LESSONS = Path(__file__).resolve().parents[2] / "web" / "lessons"
NAMES = toml.read(LESSONS / "index.toml")["lessons"]
WINDOWS = {"a desktop": (1280, 800), "a tablet": (820, 1180), "a phone": (390, 844)}
TITLES = {
    "cwnd": "Congestion window",
    "queue": "Queue",
    "throughput": "Throughput",
    "sequence": "Sequence numbers",
    "rtt": "Round-trip time",
    "wait": "Waiting time in the queue",
}
READY = """(compared) => document.querySelectorAll(".kept li").length === compared
  && [...document.querySelectorAll(".toolbar button")].some((each) => each.innerText === "Run")
  && [...document.querySelectorAll(".lesson .knob input[type=text]")].every((each) => each.value)
  && document.querySelector(".numbers table") !== null"""
"""Whether all runs of a lesson are shown."""
FITTED = """(width) => innerWidth === width && [...document.querySelectorAll(".plot")].every((each) => {
  if (!each.checkVisibility()) return true;
  const drawn = each.querySelector(".uplot");
  return drawn.clientWidth === each.clientWidth && (width < 640) === (drawn.clientHeight === 110);
})"""
"""Whether the charts have followed the size of the window."""
HIDDEN = """(slider) => {
  slider.scrollIntoView({ block: "center" });
  const figures = [...document.querySelectorAll("figure.panel")].filter((each) => each.checkVisibility());
  const covered = (each) => {
    const { left, top, right, bottom } = each.getBoundingClientRect();
    const corners = [[left + 9, top + 3], [right - 9, top + 3], [left + 9, bottom - 3], [right - 9, bottom - 3]];
    return !corners.every(([x, y]) => each.contains(document.elementFromPoint(x, y)));
  };
  const slid = slider.closest(".knob");
  return [slid, ...figures].filter(covered).map((each) => each.innerText || each.className);
}"""
"""Which of a slider and the charts are not wholly in view, if the slider is scrolled into the window."""
CUT = """() => [...document.querySelectorAll("select, button, input, .cm-tooltip")].filter((each) => {
  const { left, right, width } = each.getBoundingClientRect();
  return each.checkVisibility() && width > 0 && (left < 0 || right > innerWidth);
}).map((each) => each.innerText || each.getAttribute("aria-label"))"""
"""Menus, buttons and fields that the window's edge cuts off."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browsers.launched() as launched:
        yield launched


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(Setup("native", name="short.toml", text=SHORT), built()) as started:
        yield started.url


def opened(chromium: Any, address: str, name: str) -> Playground:
    """Open a lesson, and wait for its runs."""
    playground = Playground(chromium, f"{address}#lesson={name}")
    playground.page.wait_for_function(READY, arg=len(toml.read(LESSONS / name / "lesson.toml")["compare"]))
    return playground


def slid(playground: Playground, place: str) -> dict[str, str]:
    """Return the value of each slider by its label."""
    knobs = playground.page.locator(f"{place} .knob").all()
    return {each.locator("label").inner_text(): each.locator("input[type=text]").input_value() for each in knobs}


def numbers_agree(playground: Playground) -> None:
    """Check that the text of a lesson says the values of its sliders, and that its curves have names."""
    text = " ".join(playground.page.locator(".lesson .prose").inner_text().split())
    path = slid(playground, ".sliders")
    for label, value in slid(playground, ".lesson").items():
        assert value == path[label] != "–"
        assert re.search(rf"(?<![0-9.]){re.escape(value)}(?![0-9a-z/])", text), (
            f"the text does not say {label}: {value}"
        )
    ((_, propagation),) = [item for item in path.items() if "propagation" in item[0]]
    stated = re.findall(r"propagation (?:of|is) ([0-9.]+ ms)", text)
    assert set(stated) <= {propagation}
    # Curves have the names of runs, or of flows that the scenario names.
    legends = playground.page.locator(".panel .entry").all_inner_texts()
    assert legends
    assert not [entry for entry in legends if re.match(r"flow ?[0-9]", entry)]


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_has_its_sliders_and_charts_in_view_together_and_its_numbers(
    chromium: Any, address: str, name: str
) -> None:
    playground = opened(chromium, address, name)
    page = playground.page
    numbers_agree(playground)
    lesson = toml.read(LESSONS / name / "lesson.toml")
    figures = page.locator("figure.panel:visible")
    assert {each.locator(".strong").inner_text() for each in figures.all()} == {
        TITLES[chart] for chart in lesson["charts"]
    }
    sliders = page.locator(".lesson .knob input[type=range]")
    assert sliders.count() == len(lesson["sliders"])
    for window, (width, height) in WINDOWS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(FITTED, arg=width)
        assert playground.overflow <= 0, window
        assert page.evaluate(CUT) == [], window
        for slider in sliders.all():
            assert slider.evaluate(HIDDEN) == [], window
    playground.close()


def test_several_flows_are_shown_of_one_run_at_a_time(chromium: Any, address: str) -> None:
    playground = opened(chromium, address, "exp")
    page = playground.page
    chart = page.get_by_role("figure", name="Throughput")
    names = ["Tahoe", "Reno", "NewReno", "MIMD", "PIPD", "EXP"]
    assert [each.strip() for each in chart.locator(".entry").all_inner_texts()] == names
    before = playground.drawn("Throughput")
    page.get_by_role("combobox", name="Run shown").select_option("RED")
    chart.get_by_text("with RED").wait_for()
    assert [each.strip() for each in chart.locator(".entry").all_inner_texts()] == names
    assert playground.drawn("Throughput") != before
    playground.close()


def test_a_call_without_acks_has_its_waiting_time(chromium: Any, address: str) -> None:
    playground = opened(chromium, address, "aqm")
    chart = playground.page.get_by_role("figure", name="Waiting time in the queue")
    chart.get_by_text("of call").wait_for()
    chart.locator(".entry").nth(3).wait_for()
    labels = [each.strip() for each in chart.locator(".entry").all_inner_texts()]
    assert labels == ["drop tail", "CoDel", "PIE", "FQ-CoDel"]
    playground.page.get_by_role("group", name="Charts.").focus()
    playground.page.keyboard.press("ArrowRight")
    values = chart.locator(".value").all_inner_texts()
    assert all(float(value) > 0 for value in values[:1]), values
    assert "–" not in values
    playground.close()


def test_the_smallest_buffer_still_delivers(chromium: Any, address: str) -> None:
    playground = opened(chromium, address, "bufferbloat")
    page = playground.page
    before = page.locator(".numbers table").first.inner_text()
    page.locator(".lesson").get_by_role("slider", name="Buffer").press("Home")
    rows = playground.finished(before).splitlines()
    assert "240 packets" not in rows[1]
    assert float(rows[1].split("\t")[2]) > 1, "Mbit/s"
    assert page.locator(".lesson .quantity").input_value() == "2 packets"
    playground.close()


def test_the_packets_open_at_the_first_loss(chromium: Any, address: str) -> None:
    playground = opened(chromium, address, "overshoot")
    page = playground.page
    (first,) = [
        link["first_drop_time"]
        for link in ackclock.run(ackclock.load(LESSONS / "overshoot" / "scenario.toml"), record=[]).summary["links"]
        if link["first_drop_time"] is not None
    ]
    packets = page.get_by_role("region", name="Packets")
    start, end = (float(packets.get_by_label(label).input_value()) for label in ("From, in seconds", "To, in seconds"))
    assert 0 < start < first < end < 2 * first
    packets.get_by_role("button", name="Show packets").click()
    shown = re.findall(r"[0-9.]+", packets.get_by_text(re.compile(r"^[0-9.]+ to [0-9.]+ s$")).inner_text())
    assert float(shown[0]) < first < float(shown[1])
    # A part that the reader marks stays.
    page.get_by_role("textbox", name="Charts from").fill("2")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.packets input.time').value === '2'")
    playground.close()


def test_the_list_of_completions_is_within_the_window(chromium: Any, address: str) -> None:
    playground = Playground(chromium, address)
    page = playground.page
    playground.finished()
    page.get_by_role("textbox", name="Scenario").focus()
    page.keyboard.press("Control+End")
    for width, height in WINDOWS.values():
        page.set_viewport_size({"width": width, "height": height})
        page.get_by_role("textbox", name="Scenario").evaluate("(each) => each.scrollIntoView({ block: 'end' })")
        page.keyboard.type("slow_s")
        page.get_by_role("option", name="slow_start").wait_for()
        boxes = [each.bounding_box() for each in page.locator(".cm-tooltip").all()]
        assert boxes
        for box in boxes:
            assert 0 <= box["x"] <= box["x"] + box["width"] <= width
            assert 0 <= box["y"] <= box["y"] + box["height"] <= height
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Z")
    playground.close()
