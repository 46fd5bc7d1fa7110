"""The figure of a comparison: a row for each place and contender; speed, delay and harm side by side."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from ackclock.comparisons.judging import METRICS, Judged
from ackclock.comparisons.places import Place
from ackclock.comparisons.words import winners
from ackclock.drawing.curves import COLOURS, new_figure
from ackclock.drawing.panels import MARKERS, style_axes
from ackclock.reports import Axis, Panel, Series
from ackclock.statistics.intervals import Interval
from ackclock.texts.names import in_figure, in_legend

FAR = 200.0  # percent; a larger change would flatten the others
LINEAR, WIDE = 10.0, 20.0
GREY = "#777777"
Value = Callable[[Place, int], "Interval | None"]


@dataclass(frozen=True)
class Shown:
    """A panel: its title, the value of a contender on a place, and the factor to its unit."""

    title: str
    value: Value
    scale: float = 1.0
    higher: bool = False

    @property
    def labelled(self) -> str:
        """The title, and the better direction."""
        return f"{self.title}, {'higher' if self.higher else 'lower'} is better"


def _shown(judged: Judged) -> list[Shown]:
    """Return the panels: speed against the reference, delay, time lost in start-up and harm if they are known."""
    base = judged.names[0]
    made = [Shown(f"faster than {base} (%)", lambda place, index: _speed(judged, place, index), higher=True)]
    for key in ("queue_p95_s", "exit_time_lost", "harm_goodput"):
        metric = METRICS[key]
        title = f"harm to {base}: goodput" if key == "harm_goodput" else metric.title
        if any(row[key] is not None for rows in judged.values.values() for row in rows):
            made.append(Shown(title, partial(_mean, judged, key), metric.scale))
    return made


def _mean(judged: Judged, key: str, place: Place, index: int) -> Interval | None:
    return judged.mean(place, index, key)


def panels(judged: Judged) -> list[Panel]:
    """Return the panels of the report's interactive figure: the same values, with the places side by side."""
    places = [_label(place) for place in judged.places]
    made = []
    for shown in _shown(judged):
        found = [_series(judged, shown, index) for index in range(len(judged.names))]
        series = [each for each in found if each is not None]
        lines = [0.0] if shown.higher else []
        band = (-100 * judged.margin, 100 * judged.margin) if shown.higher else None
        lows = [low for each in series for low in np.asarray(each.low, float).tolist()]
        means = [mean for each in series for mean in np.asarray(each.y, float).tolist()]
        wide = min(lows, default=0.0) > 0 and max(means) > WIDE * min(means)
        y = Axis(shown.title, log=wide)
        made.append(
            Panel(
                series,
                title=shown.labelled,
                x=Axis(names=places),
                y=y,
                references=lines,
                band=band,
                bars=_bars(judged, shown),
            )
        )
    return made


def _series(judged: Judged, shown: Shown, index: int) -> Series | None:
    known = {_label(place): value for place in judged.places if (value := shown.value(place, index)) is not None}
    if not known:
        return None
    ends = [(shown.scale * low, shown.scale * high) for low, high in map(_ends, known.values())]
    means = [shown.scale * value.mean for value in known.values()]
    name = judged.names[index]
    texts = [
        f"{name}: {mean:.3g} [{low:.3g}, {high:.3g}]".replace("-", "−")
        for mean, (low, high) in zip(means, ends, strict=True)
    ]
    hollow = [not _is_sure(judged, place, index, shown) for place in judged.places if _label(place) in known]
    lows, highs = [low for low, _ in ends], [high for _, high in ends]
    return Series(name, list(known), means, "points", lows, highs, texts, hollow=hollow)


def _ends(found: Interval) -> tuple[float, float]:
    return (found.low, found.high) if found.finite else (found.mean, found.mean)


def draw(judged: Judged) -> Figure:
    """Draw a row for each place and contender, with a panel for each of `_shown`.

    A filled point is better or worse than the reference, a hollow one is not shown to be. The tick of harm is the harm
    that the reference does to itself, the bar for deployment.
    """
    names, places, columns = judged.names, judged.places, _shown(judged)
    shown = len(names)
    height = 1.5 + max(1.2, len(places) * (0.28 + 0.2 * shown))
    figure = new_figure((2.2 + 2.6 * len(columns), height))
    all_axes: list[Axes] = []
    for number, panel in enumerate(columns):
        axes = figure.add_subplot(1, len(columns), number + 1, sharey=all_axes[0] if all_axes else None)
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
    width = int(11 * figure.get_figwidth())
    title = winners(judged) if len(places) > 1 else f"{' and '.join(names[1:])} against {names[0]} on {places[0].name}"
    figure.suptitle(textwrap.fill(in_figure(title), width), x=0.01, ha="left", fontsize=10.5, fontweight="bold")
    return figure


def _label(place: Place) -> str:
    return f"{place.name} ({len(place.paths)} paths)" if place.population else place.name


def _panel(axes: Axes, panel: Shown, judged: Judged, *, first: bool) -> None:
    count = len(judged.names)
    for index in range(count):
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        for row, place in enumerate(judged.places):
            found = panel.value(place, index)
            if found is None or not math.isfinite(found.mean):
                continue
            at = row + 0.7 * ((index + 0.5) / count - 0.5)
            sure = _is_sure(judged, place, index, panel)
            if first and place.population:
                _draw_paths(axes, judged, place, index, at)
            axes.plot(np.array(_ends(found)) * panel.scale, [at, at], color=colour, linewidth=1.4)
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
    elif bars := _bars(judged, panel):
        for row, place in enumerate(judged.places):
            if (own := bars.get(_label(place))) is not None:
                ends = [row - 0.42, row + 0.42]
                axes.plot([own, own], ends, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)))
    else:
        _limit(axes, panel, judged)
    style_axes(axes)
    arrow = "better →" if first else "← better"
    axes.set_xlabel(f"{in_figure(panel.title)}\n{arrow}", fontsize=9.5)
    axes.tick_params(axis="y", length=0)


def _draw_paths(axes: Axes, judged: Judged, place: Place, index: int, at: float) -> None:
    """Draw the single paths of a population as small points."""
    found = [100 * (ratio - 1) for _, ratio in judged.relative(place, index)] if index else []
    axes.plot(found, [at] * len(found), ".", color=COLOURS[index % len(COLOURS)], markersize=4, alpha=0.45)


def _limit(axes: Axes, panel: Shown, judged: Judged) -> None:
    """Let the axis begin at 0; it is logarithmic beyond `LINEAR` if small values would be hidden beside large ones."""
    found = [panel.value(place, index) for place in judged.places for index in range(len(judged.names))]
    ends = [end * panel.scale for value in found if value is not None for end in _ends(value)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    if high > WIDE * max(min(map(abs, ends), default=0.0), LINEAR):
        axes.set_xscale("symlog", linthresh=LINEAR)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.set_xlim(2 * low - 0.5, 2 * high)
    elif high > low:
        axes.set_xlim(low - 0.03 * (high - low), high + 0.05 * (high - low))


def _bars(judged: Judged, panel: Shown) -> dict[str, float]:
    """Return the harm that the reference does to itself on each place, for the panel of harm."""
    found = {_label(place): judged.mean(place, 0, "harm_goodput") for place in judged.places if "harm" in panel.title}
    return {place: own.mean for place, own in found.items() if own is not None}


def _is_sure(judged: Judged, place: Place, index: int, panel: Shown) -> bool:
    """Whether a point is filled: the tests show a difference; those of the reference always are."""
    if index == 0:
        return True
    key = next((metric.key for metric in METRICS.values() if metric.title == panel.title), None)
    if key is None:
        key = "harm_goodput" if "harm" in panel.title else judged.primary(place)
    found = judged.against(place, index, key)
    return found is not None and found.verdict in ("better", "worse")


def _speed(judged: Judged, place: Place, index: int) -> Interval | None:
    """Return how much faster a contender is than the reference, in percent."""
    found = judged.against(place, index, judged.primary(place))
    if index == 0:
        return Interval(0.0, 0.0, 0.0, 1)
    if found is None or not found.estimate.mean:
        return None
    value = found.estimate
    mean, low, high = (100 * (ratio - 1) for ratio in (value.mean, value.low, value.high))
    return Interval(mean, low, high, value.count, value.note)


def caption(judged: Judged) -> str:
    """Return the caption of both figures."""
    over = list(dict.fromkeys(judged.counted(place) for place in judged.places))
    return f"Speed, costs and harm: means with 95 % intervals over {' or '.join(over)}"


def key(judged: Judged) -> str:
    """Explain the signs of both figures."""
    base = judged.names[0]
    return (
        f"A filled point is better or worse than {base}, a hollow one is not shown to be: a difference of speed within "
        f"the grey band does not matter. Dashed bars: harm of {base} to itself."
    )


def small(judged: Judged) -> str:
    """Explain the small points of `draw`; empty without a population."""
    return "Small points: single paths." if any(place.population for place in judged.places) else ""
