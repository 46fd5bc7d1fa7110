"""Charts of papers: points, bars, formulas and printed values with their scale, and maps with a colour bar."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from ackclock.drawing import curves, heatmaps
from ackclock.drawing.panels import MARKERS, errors, style_axes
from ackclock.statistics.intervals import Interval
from ackclock.texts.names import in_figure, in_legend
from ackclock.texts.numbers import number

WIDE = 20.0  # an axis is logarithmic if the largest mean is at least this many times the smallest
WIDE_RATIO = 3.0  # the same for ratios, whose axis does not start at zero
ROOM = 4.0  # a logarithmic axis shows intervals up to this factor beyond the means
RATIO_COLOURS = "PRGn"
PRINTED: dict[str, Any] = {
    "markersize": 7,
    "markerfacecolor": "white",
    "markeredgecolor": "#333333",
    "markeredgewidth": 1.8,
    "zorder": 5,
}
TITLE_WIDTH = 88  # letters of a title above a panel of 8 inches

Style = Literal["points", "lines", "bars", "formula"]
Printed = Iterable[tuple[str, str, float]]


@dataclass(frozen=True)
class Scale:
    """The axis of values.

    Attributes
    ----------
    log : bool
        Whether it is logarithmic.
    base : float
        The value at which bars begin: 1 for ratios, otherwise 0.
    """

    log: bool
    base: float


def scale_of(values: Iterable[float], *, ratio: bool) -> Scale:
    """Choose the scale of an axis: logarithmic if a linear one would hide small values beside large ones."""
    finite = [value for value in values if math.isfinite(value)]
    positive = bool(finite) and min(finite) > 0
    wide = positive and max(finite) >= (WIDE_RATIO if ratio else WIDE) * min(finite)
    return Scale(wide, 1.0 if ratio else 0.0)


def draw_series(
    axes: Axes,
    style: Style,
    index_and_count: tuple[int, int],
    name: str,
    points: tuple[Sequence[int], Sequence[Interval]],
    scale: Scale,
) -> None:
    """Draw one series: means with their intervals, in the colour of its index.

    On a logarithmic axis the length of a bar means nothing, so points replace bars.
    """
    (index, count), (at, means) = index_and_count, points
    values = np.array([mean.mean for mean in means])
    bars = errors(means)
    colour = curves.COLOURS[index % len(curves.COLOURS)]
    again = index // len(curves.COLOURS)  # how often every colour was used before
    marker: dict[str, Any] = {"marker": MARKERS[index % len(MARKERS)], "markersize": 5, "capsize": 2.5}
    if style == "bars":
        width = 0.84 / count
        shifted = np.array(at) + _place_of_bar(index, count)
        if scale.log:
            axes.errorbar(shifted, values, yerr=bars, color=colour, label=in_legend(name), linestyle="none", **marker)
            return
        hatch = "//" if again % 2 else None
        axes.bar(
            shifted, values - scale.base, width, bottom=scale.base, yerr=bars, color=colour,
            label=in_legend(name), hatch=hatch, error_kw={"linewidth": 0.8},
        )  # fmt: skip
        return
    dashes = curves.STYLES[again % len(curves.STYLES)]
    if style == "formula":
        axes.plot(at, values, color=colour, linewidth=1.6, linestyle=dashes, label=in_legend(name))
        return
    # Intervals of several series at one place would hide each other.
    shifted = np.array(at) + 0.04 * (index - (count - 1) / 2)
    line = "none" if style == "points" else dashes
    axes.errorbar(
        shifted, values, yerr=bars, color=colour, label=in_legend(name), linestyle=line, linewidth=1.2, **marker
    )


def _place_of_bar(index: int, count: int) -> float:
    return -0.42 + (index + 0.5) * 0.84 / count


def draw_printed(axes: Axes, printed: Printed, places: Sequence[str], series: Sequence[str], style: Style) -> bool:
    """Draw printed values as hollow diamonds in the colour of their series; return whether any was drawn.

    Values of unknown series or places are omitted; values without a series are black.
    """
    drawn = False
    for place, name, value in printed:
        if place not in places or (name and name not in series):
            continue
        index = series.index(name) if name else -1
        colour = curves.COLOURS[index % len(curves.COLOURS)] if name else "#000000"
        shift = _place_of_bar(index, len(series)) if name and style == "bars" else 0.0
        spot = [places.index(place) + shift]
        axes.plot(spot, [value], "D", label="_printed", **{**PRINTED, "markeredgecolor": colour})
        drawn = True
    return drawn


def finish(axes: Axes, scale: Scale, ends: Sequence[Interval], marks: Sequence[float]) -> None:
    """Set the scale, limits and grid of axes, so that every mean and every printed value is visible.

    Parameters
    ----------
    axes
        The axes to finish.
    scale
        The scale of the values.
    ends
        The means with their intervals.
    marks
        The printed values.
    """
    values = [*(item.mean for item in ends), *marks]
    if scale.log:
        axes.set_yscale("log")
        least, most = min(values), max(values)
        lows = [item.low for item in ends if item.low > 0]
        low = max(min([least, *lows]), least / ROOM)
        high = min(max([most, *(item.high for item in ends if math.isfinite(item.high))]), most * ROOM)
        axes.set_ylim(low / 1.15, high * 1.15)
        several = high / low > 30
        axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0,) if high / low > 3000 else (1.0, 2.0, 5.0)))
        axes.yaxis.set_minor_locator(LogLocator(base=10, subs=range(2, 10)) if several else NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value, 3)))
        axes.yaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    else:
        # Panels share an axis, whose limits suit all of them.
        ends_of_all = [*values, scale.base, *(end for item in ends for end in (item.low, item.high))]
        finite = [end for end in ends_of_all if math.isfinite(end)]
        room = 0.05 * (max(finite) - min(finite) or 1.0)
        from_zero = scale.base == 0.0 and min(values) >= 0.0
        axes.set_ylim(0.0 if from_zero else min(finite) - room, max(finite) + room)
    if scale.base:
        axes.axhline(scale.base, color="#444444", linewidth=0.9, linestyle=(0, (4, 3)), zorder=1.5)
    style_axes(axes, grid="y")


def legend(axes: Axes, *, printed: bool) -> None:
    """Place the legend beside the axes; printed values of all series share one entry."""
    handles, labels = axes.get_legend_handles_labels()
    if printed:
        handles.append(Line2D([], [], marker="D", linestyle="none", **PRINTED))
        labels.append("printed")
    axes.legend(handles, labels, frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def title(text: str, width: float = 8.0) -> str:
    """Break a title into lines that fit a figure of this width in inches."""
    return textwrap.fill(in_figure(text), max(30, int(TITLE_WIDTH * width / 8.0)))


def draw_map(
    axes: Axes,
    grid_and_labels: tuple[Any, list[str], list[str]],
    ends: tuple[float, float],
    axis_labels: tuple[str, str],
    *,
    ratio: bool = False,
    bounds: tuple[float, float] | None = None,
    mark: Mapping[str, str] | None = None,
) -> AxesImage:
    """Draw a grid of means, or of ratios on a logarithmic scale of colours around 1.

    Frames surround values within `bounds`, and the cell with the labels `mark`.
    """
    grid, xs, ys = grid_and_labels
    if ratio:
        with np.errstate(divide="ignore"):
            powers = np.log2(grid)
        texts = [[number(float(value), 2) for value in line] for line in grid]
        drawn = heatmaps.draw(axes, (powers, xs, ys), ends, colours=RATIO_COLOURS, text=texts)
    else:
        drawn = heatmaps.draw(axes, grid_and_labels, ends)
    x, y = axis_labels
    axes.set_xlabel(in_figure(x))
    axes.set_ylabel(in_figure(y))
    for (row, column), value in np.ndenumerate(grid):
        if bounds and bounds[0] <= value <= bounds[1]:
            axes.add_patch(_frame(column, row, 0.44, "black" if ratio else "white", 1.4))
        if mark and not np.isnan(value) and (mark.get(x), mark.get(y)) == (xs[column], ys[row]):
            axes.add_patch(_frame(column, row, 0.49, "#D55E00", 2.6))
    return drawn


def ends_of(grids: Iterable[Any], *, ratio: bool = False, share: bool = False) -> tuple[float, float]:
    """Return the values of the first and last colour of a map; for ratios, symmetric powers of two."""
    values = np.concatenate([np.ravel(grid) for grid in grids])
    values = values[np.isfinite(values)]
    if ratio:
        extent = float(np.abs(np.log2(values[values > 0])).max(initial=0.0))
        extent = max(1.0, math.ceil(extent))
        return -extent, extent
    if share:
        return 0.0, 1.0
    return float(values.min()), float(values.max())


def bar_of_map(figure: Figure, drawn: AxesImage, axes: Sequence[Axes], label: str, *, ratio: bool = False) -> None:
    """Draw the colour bar of a map."""
    bar = figure.colorbar(drawn, ax=axes, fraction=0.06, pad=0.02)
    if ratio:
        ticks = powers(drawn.get_clim())
        bar.set_ticks(list(ticks), labels=list(ticks.values()))
    bar.set_label(in_figure(label), fontsize=9)


def powers(ends: tuple[float, float]) -> dict[float, str]:
    """Return the names of the powers of two on a scale of their exponents.

    >>> powers((-1, 1))
    {-1.0: '1/2', 0.0: '1', 1.0: '2'}
    """
    low, high = ends
    exponents = range(math.ceil(low), math.floor(high) + 1, 1 if high - low <= 8 else 2)
    return {float(power): f"{2**power:g}" if power >= 0 else f"1/{2**-power:g}" for power in exponents}


def bar_of_names(figure: Figure, axes: Sequence[Axes], names: Sequence[str], label: str) -> None:
    """Draw the colour bar of a map of words."""
    import matplotlib
    from matplotlib.cm import ScalarMappable

    edges = np.arange(len(names) + 1) - 0.5
    mappable = ScalarMappable(BoundaryNorm(edges, 256), matplotlib.colormaps["viridis"])
    bar = figure.colorbar(mappable, ax=axes, fraction=0.06, pad=0.02)
    bar.ax.yaxis.set_major_locator(FixedLocator(range(len(names))))
    bar.set_ticks(list(range(len(names))), labels=[in_figure(name) for name in names], fontsize=8)
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.set_label(in_figure(label), fontsize=9)


def _frame(column: int, row: int, half: float, colour: str, width: float) -> Rectangle:
    return Rectangle(
        (column - half, row - half), 2 * half, 2 * half, fill=False, edgecolor=colour, linewidth=width, zorder=3
    )
