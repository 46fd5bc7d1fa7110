"""The figure of a comparison: a row for each place and contender; speed, delay and harm side by side."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from ackclock.comparisons.judging import METRICS, Judged
from ackclock.comparisons.places import OWN, Place
from ackclock.comparisons.words import winners
from ackclock.drawing.curves import COLOURS, new_figure
from ackclock.drawing.panels import MARKERS, style_axes
from ackclock.statistics.intervals import Interval
from ackclock.texts.names import in_figure, in_legend

FAR = 200.0  # percent; a larger change would flatten the others
LINEAR, WIDE = 10.0, 20.0
GREY = "#777777"
Value = Callable[[Place, int], "Interval | None"]


@dataclass(frozen=True)
class Panel:
    """A panel: its title, the value of a contender on a place, and the factor to its unit."""

    title: str
    value: Value
    scale: float = 1.0


def draw(judged: Judged) -> Figure:
    """Draw the speed against the reference, the delay, the time lost in start-up if known, and the harm.

    A filled point is a shown difference, a hollow one is not. The tick of harm is the harm that the reference does to
    itself, the bar for deployment.
    """
    base, names, places = judged.names[0], judged.names, judged.places
    panels = [
        Panel(f"faster than {base} (%)", lambda place, index: _speed(judged, place, index)),
        Panel(METRICS["queue_p95_s"].title, lambda place, index: judged.mean(place, index, "queue_p95_s"), 1e3),
    ]
    if _known(judged, "exit_time_lost"):
        panels.append(
            Panel(
                METRICS["exit_time_lost"].title, lambda place, index: judged.mean(place, index, "exit_time_lost"), 1e3
            )
        )
    if _known(judged, "harm_goodput"):
        panels.append(Panel(f"harm to {base}: goodput", lambda place, index: judged.mean(place, index, "harm_goodput")))
    shown = len(names)
    height = 1.5 + max(1.2, len(places) * (0.28 + 0.2 * shown))
    figure = new_figure((2.2 + 2.6 * len(panels), height))
    all_axes: list[Axes] = []
    for number, panel in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), number + 1, sharey=all_axes[0] if all_axes else None)
        all_axes.append(axes)
        _panel(axes, panel, judged, first=number == 0)
    all_axes[0].set_yticks(range(len(places)), [in_figure(_label(place)) for place in places])
    all_axes[0].set_ylim(len(places) - 0.5, -0.5)
    for axes in all_axes[1:]:
        axes.tick_params(labelleft=False)
    handles = [
        Line2D([], [], color=COLOURS[index % len(COLOURS)], marker=MARKERS[index % len(MARKERS)], linewidth=1.4,
               label=in_legend(f"{name} (reference)" if index == 0 else name))
        for index, name in enumerate(names)
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=min(6, len(names)), frameon=False, fontsize=9)
    width = int(13 * figure.get_figwidth())
    title = winners(judged) if len(places) > 1 else f"{names[0]} against {' and '.join(names[1:])}"
    figure.suptitle(textwrap.fill(in_figure(title), width), x=0.01, ha="left", fontsize=10.5, fontweight="bold")
    return figure


def _label(place: Place) -> str:
    return f"{place.name} ({len(place.paths)} paths)" if place.population else place.name


def _known(judged: Judged, metric: str) -> bool:
    return any(row[metric] is not None for rows in judged.values.values() for row in rows)


def _panel(axes: Axes, panel: Panel, judged: Judged, *, first: bool) -> None:
    count = len(judged.names)
    for index in range(count):
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        for row, place in enumerate(judged.places):
            found = panel.value(place, index)
            if found is None or not math.isfinite(found.mean):
                continue
            at = row + 0.7 * ((index + 0.5) / count - 0.5)
            sure = index == 0 or _is_sure(judged, place, index, panel)
            ends = (found.low, found.high) if found.finite else (found.mean, found.mean)
            axes.plot(np.array(ends) * panel.scale, [at, at], color=colour, linewidth=1.4)
            axes.plot(
                [found.mean * panel.scale], [at], marker, color=colour, markersize=6,
                markerfacecolor=colour if sure else "white",
            )  # fmt: skip
    for row in range(1, len(judged.places)):
        axes.axhline(row - 0.5, color="#bbbbbb", linewidth=0.6)
    if first:
        axes.axvline(0, color=COLOURS[0], linewidth=1.0, linestyle=(0, (4, 3)))
        margin = 100 * judged.margin
        axes.axvspan(-margin, margin, color="#000000", alpha=0.06, linewidth=0)
        low, high = axes.get_xlim()
        axes.set_xlim(max(low, -1.05 * FAR), min(high, 1.05 * FAR))
    elif "harm" in panel.title:
        _bars(axes, judged)
    else:
        _limit(axes, panel, judged)
    style_axes(axes)
    arrow = "better →" if first else "← better"
    axes.set_xlabel(f"{in_figure(panel.title)}\n{arrow}", fontsize=9.5)
    axes.tick_params(axis="y", length=0)


def _limit(axes: Axes, panel: Panel, judged: Judged) -> None:
    """Let the axis begin at 0; it is logarithmic beyond `LINEAR` if small values would be hidden beside large ones."""
    found = [panel.value(place, index) for place in judged.places for index in range(len(judged.names))]
    ends = [
        end * panel.scale
        for value in found
        if value is not None
        for end in ((value.low, value.high) if value.finite else (value.mean, value.mean))
    ]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    if high > WIDE * max(min(map(abs, ends), default=0.0), LINEAR):
        axes.set_xscale("symlog", linthresh=LINEAR)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.set_xlim(2 * low - 0.5, 2 * high)
    elif high > low:
        axes.set_xlim(low - 0.03 * (high - low), high + 0.05 * (high - low))


def _bars(axes: Axes, judged: Judged) -> None:
    """Draw the harm that the reference does to itself as a line through the rows of its place."""
    for row, place in enumerate(judged.places):
        if own := judged.mean(place, 0, "harm_goodput"):
            axes.plot([own.mean, own.mean], [row - 0.42, row + 0.42], color=GREY, linewidth=1.2, linestyle=(0, (4, 3)))


def _is_sure(judged: Judged, place: Place, index: int, panel: Panel) -> bool:
    key = next((metric.key for metric in METRICS.values() if metric.title == panel.title), None)
    if key is None:
        key = "harm_goodput" if "harm" in panel.title else judged.primary(place)
    found = judged.against(place, index, key)
    return found is not None and found.verdict in ("better", "worse")


def _speed(judged: Judged, place: Place, index: int) -> Interval | None:
    """Return how much faster a contender is than the reference, in percent; for a completion time the rate counts."""
    metric = METRICS[judged.primary(place)]
    found = judged.against(place, index, metric.key)
    if found is None:
        return None
    value = found.found

    def percent(ratio: float) -> float:
        rate = ratio if metric.better > 0 else 1 / ratio if ratio > 0 else math.inf
        return 100 * (rate - 1)

    low, high = sorted((percent(value.low), percent(value.high))) if value.finite else (-math.inf, math.inf)
    return Interval(percent(value.mean), low, high, value.count, value.note)


def caption(judged: Judged) -> str:
    """Return the caption of the figure."""
    base = judged.names[0]
    over = sorted({judged.counted(place) for place in judged.places})
    where = "" if [place.name for place in judged.places] == [OWN] else "by path; "
    return (
        f"{where}Means with 95 % intervals over {' or '.join(over)}. A filled point differs from {base} by the tests. "
        f"Grey band: no difference. Dashed: {base} itself"
    )
