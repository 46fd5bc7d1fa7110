"""Figures of reports as data: arrays and labels, from which the page draws interactive panels.

A `Figure` has panels. A `Panel` has series (lines, points, bars) or a heat map. Equal names have equal colours in all
panels of a figure, and one legend shows or hides them everywhere. The page chooses colours, since they follow its dark
or light look; a figure contains none.

>>> import numpy as np
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
from numpy.typing import ArrayLike

from ackclock.curves import Line, thin_out
from ackclock.reports.grids import Table
from ackclock.texts.names import shown
from ackclock.texts.numbers import number

DIGITS = 4
"""Significant digits of a drawn value."""
TIME_DIGITS = 6
Style = Literal["line", "step", "joined", "points", "bars", "printed"]
Colours = Literal["sequence", "gain", "loss", "ratio"]
Spec = dict[str, Any]


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
        Its ends; None: the page chooses them.
    """

    title: str = ""
    log: bool = False
    names: Sequence[str] = ()
    limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Series:
    """One curve, set of points, or set of bars.

    Attributes
    ----------
    name : str
        Name in the legend; its colour follows from it.
    x : array of float or sequence of str
        Positions; strings are names of the axis.
    y : array of float
        Values; NaN leaves a gap.
    style : {"line", "step", "joined", "points", "bars", "printed"}
        ``step`` holds a value until the next one. ``joined`` draws points and a line. ``printed`` draws hollow
        diamonds: values that another source printed.
    low, high : array of float or None
        Ends of intervals: a band around a line, error bars otherwise.
    texts : sequence of str
        Text of each point under the pointer; empty: the value.
    faint : bool
        Whether it is drawn thin, beside a curve of the same colour.
    like : str
        Name of the series whose colour it has; empty: its own.
    base : float
        The value at which bars begin.
    hollow : sequence of bool
        Which points are hollow; empty: none.
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
    base: float = 0.0
    hollow: Sequence[bool] = ()


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
    framed : sequence of (str, str)
        Column and row of the cells with a frame.
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
        Values with a dashed horizontal line, such as 1 for ratios.
    band : (float, float) or None
        Values between which the panel is grey, such as a margin.
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
        Its values as a table, folded under the figure.
    note : str
        A second line of the caption.
    stacked : bool
        Whether the panels are below each other also on a wide page.
    again : mapping or None
        What a live report shows of the runs that it repeats: `web/src/report/data.ts` declares it. None: no runs.
    """

    title: str
    panels: Sequence[Panel]
    anchor: str = ""
    numbers: Table | None = None
    note: str = ""
    stacked: bool = False
    again: Mapping[str, Any] | None = None

    @property
    def names(self) -> list[str]:
        """Names of all series, in the order of the legend."""
        return list(dict.fromkeys(series.name for panel in self.panels for series in panel.series))

    def spec(self) -> Spec:
        """Return the data that the page draws; `web/src/page/spec.ts` declares them."""
        owners = {series.name: series.like or series.name for panel in self.panels for series in panel.series}
        colours = {owner: index for index, owner in enumerate(dict.fromkeys(owners.values()))}
        legend = [{"name": shown(name), "colour": colours[owners[name]]} for name in self.names]
        drawn: Spec = {
            "legend": _with_styles(legend, self.panels),
            "panels": [_panel(panel, colours) for panel in self.panels],
        }
        return drawn if self.again is None else {**drawn, "again": dict(self.again)}


def from_lines(lines: Iterable[Line]) -> list[Series]:
    """Return the series of curves over time; a second quantity becomes a thin series of the same colour."""
    made = []
    for line in lines:
        it = thin_out(line)
        low, high = it.band if it.band is not None else (None, None)
        style: Style = "step" if it.step else "line"
        made.append(Series(it.label, it.x, it.y, style, low, high))
        if it.thin is not None and not np.all(np.isnan(it.thin)):
            made.append(Series(f"{it.label} (second)", it.x, it.thin, style, faint=True, like=it.label))
    return made


def _with_styles(legend: list[Spec], panels: Sequence[Panel]) -> list[Spec]:
    styles = {shown(series.name): series for panel in reversed(panels) for series in reversed(panel.series)}
    for entry in legend:
        series = styles[entry["name"]]
        entry["style"] = series.style
        if series.faint:
            entry["faint"] = True
    return legend


def _panel(panel: Panel, colours: Mapping[str, int]) -> Spec:
    made: Spec = {"title": shown(panel.title), "x": _axis(panel.x), "y": _axis(panel.y)}
    if panel.references:
        made["references"] = list(panel.references)
    if panel.band is not None:
        made["band"] = list(panel.band)
    if panel.bars:
        made["bars"] = [[list(panel.x.names).index(name), value] for name, value in panel.bars.items()]
    if panel.heatmap is not None:
        made["heatmap"] = _heatmap(panel.heatmap)
    else:
        made["series"] = [_series(series, colours[series.like or series.name]) for series in panel.series]
    return made


def _axis(axis: Axis) -> Spec:
    made: Spec = {"title": shown(axis.title)}
    if axis.log:
        made["log"] = True
    if axis.names:
        made["names"] = [shown(name) for name in axis.names]
    if axis.limits is not None:
        made["limits"] = list(axis.limits)
    return made


def _series(series: Series, colour: int) -> Spec:
    made: Spec = {"name": shown(series.name), "colour": colour, "style": series.style, "y": _values(series.y)}
    made.update(_positions(series.x))
    if series.low is not None and series.high is not None:
        made["low"], made["high"] = _values(series.low), _values(series.high)
    if series.texts:
        made["texts"] = [shown(text) for text in series.texts]
    if series.faint:
        made["faint"] = True
    if series.like:
        made["group"] = shown(series.like)
    if series.base:
        made["base"] = series.base
    if any(series.hollow):
        made["hollow"] = list(series.hollow)
    return made


def _positions(x: ArrayLike) -> Spec:
    """Return positions; evenly spaced ones are a start and a step."""
    found = np.asarray(x)
    if found.dtype.kind in "UO":
        return {"x": [shown(str(place)) for place in found.tolist()]}
    found = found.astype(float)
    if len(found) > 2:
        step = (found[-1] - found[0]) / (len(found) - 1)
        even = found[0] + step * np.arange(len(found))
        if step > 0 and np.allclose(found, even, rtol=0, atol=1e-6 * step):
            return {"x0": float(found[0]), "dx": float(step)}
    return {"x": _values(found, TIME_DIGITS)}


def _heatmap(it: Heatmap) -> Spec:
    values = np.asarray(it.values, float)
    finite = values[np.isfinite(values)]
    ends = it.ends or ((float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0))
    texts = it.texts or [["" if math.isnan(cell) else number(cell, 3) for cell in row] for row in values.tolist()]
    made: Spec = {
        "x": [shown(name) for name in it.xs],
        "y": [shown(name) for name in it.ys],
        "z": [_values(row) for row in values],
        "texts": [["\n".join(map(shown, text.split("\n"))) for text in row] for row in texts],
        "ends": list(ends),
        "colours": it.colours,
        "unit": shown(it.unit),
    }
    if it.ticks:
        made["ticks"] = [[place, shown(name)] for place, name in it.ticks.items()]
    if it.framed:
        made["framed"] = [[list(it.xs).index(x), list(it.ys).index(y)] for x, y in it.framed]
    return made


def _values(values: ArrayLike, digits: int = DIGITS) -> list[float | int | None]:
    """Return numbers with few digits, which JSON holds in little space; a number that is not finite becomes None."""
    return [_short(value, digits) for value in np.asarray(values, float).tolist()]


def _short(value: float, digits: int) -> float | int | None:
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
