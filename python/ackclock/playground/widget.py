"""The function `ackclock.widget`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from ackclock import extras
from ackclock.scenario import Scenario

if TYPE_CHECKING:
    from ackclock.playground.notebook import Widget

Range = tuple[str | float, str | float]
"""Ends of a slider: numbers, or texts with their units."""


def widget(
    scenario: Scenario,
    *,
    sliders: Mapping[str, Range] | Sequence[str] | None = None,
    menus: Sequence[str] | None = None,
    charts: Sequence[str] | None = None,
    height: int | None = None,
    engine: Literal["auto", "kernel"] = "auto",
) -> Widget:
    """Return a live plot of a scenario for a notebook, with sliders and menus.

    Each change runs the scenario again and draws the curves while it runs. `Widget.scenario` is the scenario that the
    plot shows, and `Widget.result` runs it in Python.

    Parameters
    ----------
    scenario
        The scenario; of a ``[sweep]``, its base.
    sliders
        ``rate``, ``rtt``, ``buffer`` and ``loss`` of the bottleneck, or the path of a key, as in `Scenario.set`. A
        mapping gives the ends of each slider: ``{"rate": ("1 Mbit/s", "1 Gbit/s"), "flow.rwnd": ("10 packets", "1000
        packets")}``. By default the four sliders of the bottleneck.
    menus
        Keys with menus of parts, such as ``flow.avoidance``. By default host, initial window, slow start, avoidance,
        loss response and whole control of a flow, and the queue of the bottleneck.
    charts
        ``cwnd``, ``queue``, ``throughput``, ``sequence`` and ``delay``; by default all but ``sequence``.
    height
        Height of each chart, in pixels; by default 130 to 170.
    engine
        ``auto`` runs the scenario in the browser if it can (WebAssembly), otherwise in the kernel. ``kernel`` always
        runs it in the kernel, which answers only while no cell runs.

    Raises
    ------
    MissingError
        If anywidget is not installed.
    FileNotFoundError
        If this installation was built without the page.
    ScenarioError
        If a slider's key or an end is invalid, or a control is written in Python.
    ValueError
        If another argument is invalid.
    """
    if not isinstance(scenario, Scenario):
        raise TypeError(f"widget: expected a scenario, not {scenario!r}; ackclock.load reads a file")
    from ackclock.playground import options

    made = options.checked(scenario, sliders, menus, charts, height, engine)
    with extras.needed("notebook", "widget"):
        from ackclock.playground.notebook import Widget
    return Widget(scenario, made)
