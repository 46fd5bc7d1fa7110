"""Figures of a path: rate, delay and losses of a link over time, from its models and without flows."""

from __future__ import annotations

import numpy as np

from ackclock.drawing.figure import Axis, Figure, Panel, Series
from ackclock.files import checks
from ackclock.freeze import Frozen
from ackclock.scenario import Scenario

TIME = Axis("time (s)")
PARTS = 300
"""Parts of the time by default."""
MOST = 10_000


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
    count = PARTS if bin is None else max(1, round(scenario.duration / bin)) if bin > 0 else 0
    if not 0 < count <= MOST:
        raise ValueError(f"--bin {bin:g}: expected from {scenario.duration / MOST:g} to {scenario.duration:g} s")
    rates, delays, losses = [], [], []
    for name in _links(scenario, link):
        rows = np.array(scenario.core.busy_link(name, count), float)
        bits, packets, lost, total, least, largest = rows.T
        width = scenario.duration / count
        starts = np.arange(count) * width
        # A step holds its value until the next one, the last until the end.
        edges = np.append(starts, scenario.duration)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(packets > 0, 1e3 * total / packets, np.nan)
            share = np.where(packets > 0, 100 * lost / packets, np.nan)
        low, high = (np.where(packets > 0, 1e3 * each, np.nan) for each in (least, largest))
        rates.append(Series(name, edges, _held(bits / width / 1e6), "step"))
        delays.append(Series(name, starts + width / 2, mean, low=low, high=high))
        losses.append(Series(name, edges, _held(share), "step"))
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
    links = Frozen(scenario).links
    ends = {f"{each['from']}>{each['to']}": (each["from"], each["to"]) for each in links}
    start, end = ends[scenario.bottleneck]
    back = next((name for name, each in ends.items() if each == (end, start)), None)
    return [scenario.bottleneck, *([back] if back is not None else [])]
