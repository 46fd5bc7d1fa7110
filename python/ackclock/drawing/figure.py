"""Figures, described once: data, marks and axes.

A `Figure` has panels. A `Panel` has series (lines, points, bars, boxes) or a heat map. Equal names have equal colours
in all panels of a figure, and one legend. A figure contains no colours and no sizes: `plotly` makes the data that a
page draws in its dark or light look, and `matplotlib` draws the same figure into a file.

>>> time = np.linspace(0.0, 10.0, 200)
>>> curve = Series("reno", time, np.sqrt(time), style="step")
>>> Figure("cwnd", [Panel([curve], x=Axis("time (s)"), y=Axis("cwnd (segments)"))]).names
['reno']
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ackclock.curves import Floats, Line, thin_out
from ackclock.drawing.bands import BAND
from ackclock.formatting.numbers import number
from ackclock.statistics.intervals import Interval

ROOM = 0.05
"""Room beyond the outermost values, as a share of their distance."""
MOST_ROOM = 4.0
"""A logarithmic axis shows intervals up to this factor beyond the values."""
LEAST_SPAN = 0.1
"""Least span of an axis around a base other than 0: a ratio of 1.001 should not look like a large one."""
WIDE = 20.0
"""An axis is logarithmic if its largest value is at least this many times the smallest."""
MOST_BINS, LEAST_OF_BIN = 24, 12
"""Bins of many points over a label, and points in a bin."""
Style = Literal["line", "step", "joined", "points", "bars", "printed", "box"]
Colours = Literal["sequence", "gain", "loss", "ratio"]
CURVES = ("line", "step")


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes
    ----------
    title : str
        Its title with the unit.
    log : bool
        Whether it is logarithmic.
    names : sequence of str
        The names on it, in their order; empty for an axis of numbers.
    limits : (float, float) or None
        Its ends; None: `Panel.limits` chooses those of `y`, and the data those of `x`.
    linear : float
        In files, the axis is linear up to this value and logarithmic beyond, so that it shows 0 beside wide values. 0:
        it is not.
    """

    title: str = ""
    log: bool = False
    names: Sequence[str] = ()
    limits: tuple[float, float] | None = None
    linear: float = 0.0


@dataclass(frozen=True)
class Series:
    """One curve, set of points, bars or boxes.

    Attributes
    ----------
    name : str
        Its name in the legend; its colour follows from it.
    x : array of float or sequence of str
        Positions; strings are names of the axis.
    y : array of float
        Values; NaN leaves a gap.
    style : {"line", "step", "joined", "points", "bars", "printed", "box"}
        ``step`` holds a value until the next one. ``joined`` draws points and a line. ``printed`` draws hollow
        diamonds: values that another source printed. ``box`` draws quartiles around medians.
    low, high : array of float or None
        Ends of intervals: a band around a line, the whiskers of boxes, error bars otherwise.
    texts : sequence of str
        Text of each point under the pointer; empty: the value.
    faint : bool
        Whether it is drawn thin or small, beside a series of the same colour.
    like : str
        Name of the series whose colour it has; empty: its own.
    aside : str
        What it shows beside the series `like`, such as ssthresh: in files, all such series share one entry of the
        legend.
    base : float
        The value at which bars begin.
    hollow : sequence of bool
        Which points are hollow; empty: none.
    quartiles : (array of float, array of float) or None
        Lower and upper quartile of each box.
    marker : str
        Marker of matplotlib in files; empty: that of its colour.
    """

    name: str
    x: ArrayLike
    y: ArrayLike
    style: Style = "line"
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    texts: Sequence[str] = ()
    faint: bool = False
    like: str = ""
    aside: str = ""
    base: float = 0.0
    hollow: Sequence[bool] = ()
    quartiles: tuple[ArrayLike, ArrayLike] | None = None
    marker: str = ""

    @property
    def owner(self) -> str:
        """Name of the series whose colour it has."""
        return self.like or self.name


@dataclass(frozen=True)
class Heatmap:
    """A grid of values as colours.

    Attributes
    ----------
    xs, ys : sequence of str
        Names of columns and rows. The first row is at the top.
    values : array of shape (len(ys), len(xs))
        Values; NaN leaves a cell empty.
    texts : sequence of sequence of str
        Texts in the cells; empty: the values.
    unit : str
        Title of the scale of colours.
    ends : (float, float) or None
        Values of the first and the last colour; None: the extremes.
    colours : {"sequence", "gain", "loss", "ratio"}
        ``sequence`` runs from low to high. ``gain`` has blue for high values and red for low ones, with white in the
        middle; ``loss`` is its reverse. ``ratio`` runs from purple to green.
    ticks : mapping from float to str
        Names on the scale of colours; empty: numbers.
    framed, dotted : sequence of (str, str)
        Column and row of the cells with a frame, or with a dot.
    divided : str
        Sign that ends the first part of a name: a line parts neighbours whose first parts differ. Empty: no lines.
    """

    xs: Sequence[str]
    ys: Sequence[str]
    values: ArrayLike
    texts: Sequence[Sequence[str]] = ()
    unit: str = ""
    ends: tuple[float, float] | None = None
    colours: Colours = "sequence"
    ticks: Mapping[float, str] | None = None
    framed: Sequence[tuple[str, str]] = ()
    dotted: Sequence[tuple[str, str]] = ()
    divided: str = ""

    @property
    def scale(self) -> tuple[float, float]:
        """Values of the first and the last colour, which differ."""
        values = np.asarray(self.values, float)
        finite = values[np.isfinite(values)]
        low, high = self.ends or ((float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0))
        return (low, high) if high > low else (low, low + 1.0)

    @property
    def written(self) -> list[list[str]]:
        """The texts of the cells."""
        if self.texts:
            return [list(row) for row in self.texts]
        rows = np.asarray(self.values, float).tolist()
        return [["" if math.isnan(cell) else number(cell, 3) for cell in row] for row in rows]


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes
    ----------
    series : sequence of Series
        What it shows.
    heatmap : Heatmap or None
        What it shows instead of series.
    title : str
        Its title, if the figure has several panels.
    x, y : Axis
        Its axes.
    references : sequence of float
        Values with a dashed line across the panel, such as 1 for ratios.
    band : (float, float) or None
        Values between which the panel is grey, such as a tolerance.
    bars : mapping from str to float
        Values with a short dashed line at a name of the axis x, such as a bound of its own.
    """

    series: Sequence[Series] = ()
    heatmap: Heatmap | None = None
    title: str = ""
    x: Axis = Axis()
    y: Axis = Axis()
    references: Sequence[float] = ()
    band: tuple[float, float] | None = None
    bars: Mapping[str, float] = field(default_factory=dict)

    @property
    def curves(self) -> bool:
        """Whether it has curves only."""
        return bool(self.series) and all(series.style in CURVES for series in self.series)

    @property
    def limits(self) -> tuple[float, float] | None:
        """The ends of the axis y, so that every value is visible and no small difference looks like a large one.

        An axis of values that are not negative begins at 0; one with a reference or a band shows these. A logarithmic
        axis cuts intervals that would flatten everything else.
        """
        if self.y.limits is not None or self.heatmap is not None:
            return self.y.limits
        values = _finite(each.y for each in self.series)
        ends = _finite(end for each in self.series for end in (each.low, each.high) if end is not None)
        if not len(values):
            return None
        if self.y.log:
            low, high = values[values > 0].min(initial=math.inf), values.max()
            low = max(min([low, *ends[ends > 0]]), low / MOST_ROOM)
            high = min(max([high, *ends]), high * MOST_ROOM)
            return (low / 1.15, high * 1.15) if low < math.inf else None
        bases = [*self.references, *(self.band or ()), *(each.base for each in self.series if each.style == "bars")]
        every = np.concatenate([values, ends, bases, list(self.bars.values())])
        low, high = float(every.min()), float(every.max())
        if 1.0 in self.references:
            return _around(min(low, 1 - LEAST_SPAN / 2), max(high, 1 + LEAST_SPAN / 2))
        if values.min() >= 0 and 0 not in self.references:
            return 0.0, (high * (1 + ROOM) or 1.0)
        return _around(low, max(high, 0.0))


@dataclass(frozen=True)
class Figure:
    """A figure: panels with one title and one legend.

    Attributes
    ----------
    title : str
        Its caption: one sentence that says what it shows.
    panels : sequence of Panel
        Its panels.
    anchor : str
        Its name in links within the page; empty: none.
    numbers : Table or None
        Its values as a table of the package `reports`, folded under the figure.
    note : str
        A second line of the caption.
    stacked : bool
        Whether the panels are below each other also on a wide page.
    again : mapping or None
        What a live report shows of the runs that it repeats: `web/src/report/data.ts` declares it. None: no runs.
    rows : bool
        Whether files show the names of the axes x as rows that all panels share.
    """

    title: str
    panels: Sequence[Panel]
    anchor: str = ""
    numbers: Any = None
    note: str = ""
    stacked: bool = False
    again: Mapping[str, Any] | None = None
    rows: bool = False

    @property
    def names(self) -> list[str]:
        """Names of all series, in the order of the legend."""
        return list(dict.fromkeys(series.name for panel in self.panels for series in panel.series))

    @property
    def colours(self) -> dict[str, int]:
        """The number of the colour of each series that has its own."""
        owners = dict.fromkeys(series.owner for panel in self.panels for series in panel.series)
        return {owner: index for index, owner in enumerate(owners)}


def from_lines(lines: Iterable[Line], second: str = "second") -> list[Series]:
    """Return the series of curves over time.

    A second quantity, named `second`, becomes a thin series of the same colour.
    """
    made = []
    for line in lines:
        it = thin_out(line)
        low, high = it.band if it.band is not None else (None, None)
        style: Style = "step" if it.step else "line"
        made.append(Series(it.label, it.x, it.y, style, low, high))
        if it.thin is not None and not np.all(np.isnan(it.thin)):
            name = f"{it.label}, {second}"
            made.append(Series(name, it.x, it.thin, style, faint=True, like=it.label, aside=f"{second} (thin)"))
    return made


def with_intervals(
    name: str,
    x: ArrayLike,
    found: Sequence[Interval],
    style: Style = "joined",
    scale: float = 1.0,
    **more: Any,  # noqa: ANN401 - further fields of a series
) -> Series:
    """Return means with their intervals, in units of 1 / `scale`; infinite ends are not drawn."""
    lows, highs = ([scale * (end if math.isfinite(end) else it.mean) for it, end in zip(found, ends, strict=True)]
                   for ends in ([it.low for it in found], [it.high for it in found]))  # fmt: skip
    means = [scale * it.mean for it in found]
    known = any(low != high for low, high in zip(lows, highs, strict=True))
    return Series(name, x, means, style, lows if known else None, highs if known else None, **more)


def binned(
    x: Sequence[float], y: Sequence[float], *, log: bool = False
) -> tuple[Floats, Floats, Literal["line"], Floats, Floats]:
    """Return many points as one curve: position, median, and the ends of the band, of bins with equally many points.

    Parameters
    ----------
    x, y
        Positions and values of the points.
    log
        Whether the axis of positions is logarithmic.

    Returns
    -------
    tuple
        The arguments of a `Series` after its name.
    """
    order = np.argsort(np.asarray(x, float), kind="stable")
    parts = np.array_split(order, max(1, min(MOST_BINS, len(order) // LEAST_OF_BIN)))
    xs, ys = np.asarray(x, float), np.asarray(y, float)
    at = np.array([np.exp(np.log(xs[part]).mean()) if log else xs[part].mean() for part in parts])
    low, median, high = np.array([np.percentile(ys[part], (BAND[0], 50.0, BAND[1])) for part in parts]).T
    return at, median, "line", low, high


def is_wide(values: Iterable[float], factor: float = WIDE) -> bool:
    """Whether a linear axis would hide small values beside large ones."""
    finite = [value for value in values if math.isfinite(value)]
    return bool(finite) and min(finite) > 0 and max(finite) >= factor * min(finite)


def powers(ends: tuple[float, float]) -> dict[float, str]:
    """Return the names of the powers of two on a scale of their exponents.

    >>> powers((-1, 1))
    {-1.0: '1/2', 0.0: '1', 1.0: '2'}
    """
    low, high = ends
    exponents = range(math.ceil(low), math.floor(high) + 1, 1 if high - low <= 8 else 2)
    return {float(power): f"{2**power:g}" if power >= 0 else f"1/{2**-power:g}" for power in exponents}


def _around(low: float, high: float) -> tuple[float, float]:
    room = ROOM * (high - low) or 1.0
    return low - room, high + room


def _finite(arrays: Iterable[ArrayLike]) -> NDArray[np.float64]:
    found = [np.asarray(each, float).ravel() for each in arrays]
    joined = np.concatenate(found) if found else np.empty(0)
    return joined[np.isfinite(joined)]
