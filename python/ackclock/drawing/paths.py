"""Figures of a path: rate, delay and losses of a link over time, from its models and without flows."""

from __future__ import annotations

import numpy as np

from ackclock.drawing.figure import Axis, Figure, Panel, Series
from ackclock.files import checks
from ackclock.scenario import Scenario

TIME = Axis("time (s)")
MOST = 10_000
"""Parts of the time at most."""


def path(scenario: Scenario, *, link: str | None = None, bin: float | None = None) -> Figure:  # noqa: A002
    """Return the rate, the delay and the losses of a link that always has a packet to send.

    The models are those of the scenario with its seed. Each packet has 1500 bytes, or more on a link that carries
    millions.

    Parameters
    ----------
    scenario
        The scenario; its flows do not matter.
    link
        The link; by default the bottleneck, and the link in the other direction.
    bin
        Width of the parts of the time in seconds; by default 1/300 of the run.

    Raises
    ------
    ValueError
        If there is no such link, or the parts are too many.
    """
    wanted = [] if bin is None else [max(1, round(scenario.duration / bin)) if bin > 0 else 0]
    if any(not 0 < count <= MOST for count in wanted):
        raise ValueError(f"--bin {bin:g}: expected from {scenario.duration / MOST:g} to {scenario.duration:g} s")
    rates, delays, losses = [], [], []
    for name in _links(scenario, link):
        rate, mean, least, largest, share = np.array(scenario.core.busy_link(name, *wanted)).T
        width = scenario.duration / len(rate)
        starts = np.arange(len(rate)) * width
        # A step holds its value until the next one, the last until the end.
        edges = np.append(starts, scenario.duration)
        rates.append(Series(name, edges, _held(rate / 1e6), "step"))
        delays.append(Series(name, starts + width / 2, 1e3 * mean, low=1e3 * least, high=1e3 * largest))
        losses.append(Series(name, edges, _held(100 * share), "step"))
    panels = [
        Panel(rates, x=TIME, y=Axis("rate (Mbit/s)")),
        Panel(delays, x=TIME, y=Axis("delay (ms)")),
        Panel(losses, x=TIME, y=Axis("losses (%)")),
    ]
    return Figure(f"The path of {scenario.name}", panels, "path", stacked=True)


def _held(values: np.ndarray) -> np.ndarray:
    return np.append(values, values[-1])


def _links(scenario: Scenario, link: str | None) -> list[str]:
    if link is not None:
        checks.words("--link", "link", [link], scenario.links)
        return [link]
    return scenario.core.both_ways
