"""Figures as matplotlib draws them, for files."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib import patches
from matplotlib.axes import Axes
from matplotlib.axis import Axis as MplAxis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap
from matplotlib.figure import Figure as MplFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator
from numpy.typing import ArrayLike, NDArray

from ackclock.drawing.figure import CURVES, Axis, Figure, Heatmap, Panel, Series
from ackclock.drawing.look import Look
from ackclock.formatting.names import in_figure, in_legend
from ackclock.formatting.numbers import number

PRINTED = "printed"
STYLES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
MARKERS = "os^Dv*P"
BAND_ALPHA = 0.16
GREY, DASHED = "#777777", (0, (4, 3))
DENSE = 60  # a line is thin if its rises and falls add up to more than this many times its height
SIZE, STACKED, GRID = (8.0, 4.2), (8.0, 2.3), (4.3, 3.2)  # inches: one panel, each of a stack, each of a grid
ASPECT = 0.62  # height of a narrow figure over its width
COLUMNS = 3
LEAST_OF_ROWS = 1.5  # inches of a panel with rows
LEAST_SHARE = 0.7  # of the width that a panel asks for
IN_FULL = 1e4  # numbers from here on have commas, and no power of ten at the end of the axis
MOST_TICKS = 4  # of a panel with rows
MOST_BESIDE = 36  # letters of a legend at the right
BARS, ASIDE, NEAR = 0.84, 0.7, 0.05  # widths of a place: its bars, its points in rows, the distance of its points
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of red, green and blue, ITU-R BT.709
LETTERS_OF_MAP = 0.07  # inches of a letter beside a map
LETTER = 0.6  # width of a letter over the size of the font
MAPS = {
    "sequence": matplotlib.colormaps["viridis"],
    "gain": LinearSegmentedColormap.from_list("gain", ["#b2182b", "#ef8a62", "#f7f7f7", "#67a9cf", "#2166ac"]),
    "loss": LinearSegmentedColormap.from_list("loss", ["#2166ac", "#67a9cf", "#f7f7f7", "#ef8a62", "#b2182b"]),
    "ratio": matplotlib.colormaps["PRGn"],
}


@dataclass(frozen=True)
class Pen:
    """Colour, marker and dashes of a series; equal numbers have equal pens in all figures."""

    colour: str
    marker: str
    dashes: Any

    @classmethod
    def of(cls, index: int) -> Pen:
        """Return the pen of a number, in the colours of the look."""
        colours = matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
        dashes = STYLES[(index + index // len(colours)) % len(STYLES)]
        return cls(colours[index % len(colours)], MARKERS[index % len(MARKERS)], dashes)


def draw(figure: Figure, look: Look | None = None, *, axes: Axes | None = None) -> MplFigure:
    """Draw a figure.

    Parameters
    ----------
    figure
        What to draw.
    look
        Its size, fonts and colours.
    axes
        Axes of a figure of your own, on which a figure with one panel is drawn with its legend.

    Raises
    ------
    ValueError
        If `axes` are given, and the figure has several panels.
    """
    look = look or Look()
    with look.applied():
        if axes is not None:
            if len(figure.panels) != 1:
                raise ValueError(f"axes show one panel, and this figure has {len(figure.panels)}")
            _panel(axes, figure, figure.panels[0], axes.get_window_extent().width / axes.figure.dpi)
            if handles := _handles(figure):
                axes.legend(handles=handles)
            return axes.get_figure(root=True)  # type: ignore[return-value]
        return _new(figure, look)


def _new(figure: Figure, look: Look) -> MplFigure:
    count = max(1, len(figure.panels))
    across = count if figure.rows else 1 if figure.stacked or look.narrow else min(COLUMNS, count)
    if look.width is not None and across > 1:
        least = LEAST_OF_ROWS if figure.rows else LEAST_SHARE * _natural(figure, 2, 1)[0] / 2
        across = max(1, min(across, int(look.width // least)))
    down = math.ceil(count / across)
    handles = _handles(figure)
    columns, beside = _legend(handles, look, _natural(figure, across, down)[0])
    beside = beside and not figure.stacked
    width, height = _size(figure, (across, down), look, 0 if beside else math.ceil(len(handles) / columns))
    drawn = MplFigure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(drawn)
    for index, panel in enumerate(figure.panels):
        first = drawn.axes[0] if drawn.axes else None
        shared = {"sharex": first} if figure.stacked else {"sharey": first} if figure.rows else {}
        axes = drawn.add_subplot(down, across, index + 1, **shared)
        _panel(axes, figure, panel, width / across)
        if figure.stacked and index + 1 < count:
            axes.tick_params(labelbottom=False)
            axes.set_xlabel("")
        if figure.rows and index % across:
            axes.tick_params(labelleft=False)
    _share_titles(drawn, figure, across)
    if handles:
        place: dict[str, Any] = {"loc": "outside right upper" if beside else "outside lower center"}
        drawn.legend(handles=handles, ncols=1 if beside else columns, **place)
    title = look.title if look.title is not None else "" if look.narrow else figure.title
    if title:
        letters = max(20, int(width * 72 / (LETTER * 0.92 * look.font)))
        drawn.suptitle(textwrap.fill(in_figure(title), letters), x=0.01, ha="left")
    return drawn


def _natural(figure: Figure, across: int, down: int) -> tuple[float, float]:
    """Return the size that the content asks for, in inches."""
    if figure.rows:
        names = max(len(panel.x.names) for panel in figure.panels)
        series = len(figure.colours)
        return 2.2 + 2.7 * across, down * (1.5 + max(1.2, names * (0.28 + 0.2 * series)))
    maps = [panel.heatmap for panel in figure.panels if panel.heatmap is not None]
    if maps:
        columns, rows = [it.xs for it in maps], [it.ys for it in maps]
        wide, high = (max(len(names) for names in axes) for axes in (columns, rows))
        below, left = (
            LETTERS_OF_MAP * min(34, max(len(it) for names in axes for it in names)) for axes in (columns, rows)
        )
        cell = min(1.0, max(0.42, 0.085 * max(_longest(it)[0] for it in maps)))
        row = 0.27 if max(_longest(it)[1] for it in maps) == 1 else 0.43
        height = 1.5 + row * high + (below if below > cell else 0.0)
        return across * max(4.2, 1.3 + left + cell * wide), down * max(2.9, height)
    if figure.stacked:
        return STACKED[0], STACKED[1] * down + 0.4
    return SIZE if across == down == 1 else (max(SIZE[0], GRID[0] * across), GRID[1] * down)


def _left(it: Heatmap) -> float:
    """Return the width of the names of a map's rows in inches."""
    return LETTERS_OF_MAP * min(34, max((len(name) for name in it.ys), default=0))


def _longest(it: Heatmap) -> tuple[int, int]:
    """Return the letters of the longest line in the cells, and the lines of the highest text."""
    texts = [text.split("\n") for row in it.written for text in row]
    return max((len(line) for text in texts for line in text), default=0), max(map(len, texts), default=1)


def _size(figure: Figure, grid: tuple[int, int], look: Look, rows: int) -> tuple[float, float]:
    width, height = _natural(figure, *grid)
    legend = 0.022 * look.font * rows
    if look.width is not None:
        # Rows need their height in any width.
        if look.narrow and not figure.rows and not any(panel.heatmap for panel in figure.panels):
            height = look.width * ASPECT * (grid[1] if grid[1] == 1 else 0.7 * grid[1])
        elif not figure.rows and figure.panels and figure.panels[0].heatmap is None:
            height *= max(look.width / width, 0.5)
        width = look.width
    return width, look.height or height + legend


def _legend(handles: Sequence[Any], look: Look, width: float) -> tuple[int, bool]:
    """Return the columns of the legend, and whether it is at the right."""
    longest = max((len(handle.get_label()) for handle in handles), default=0)
    width = look.width or width
    columns = max(1, min(6, int(width * 72 / (0.85 * LETTER * look.font * (longest + 6)))))
    beside = not look.narrow and longest <= MOST_BESIDE and len(handles) <= 18 and len(handles) > columns
    return min(columns, max(1, len(handles))), beside


def _handles(figure: Figure) -> list[Any]:
    """Return the entries of the legend: one for each series, and one for all that show the same beside them."""
    colours: dict[str, int] = figure.colours
    made: dict[str, Any] = {}
    every = [series for panel in figure.panels for series in panel.series]
    if _named_by_axes(figure):
        return []
    for series in every:
        pen = Pen.of(colours[series.owner])
        key = series.aside or (PRINTED if series.style == "printed" else series.name)
        if key in made:
            continue
        colour = GREY if series.aside else pen.colour
        look: dict[str, Any] = {"color": colour, "label": in_legend(key)}
        if series.style in ("bars", "box"):
            alpha = 0.5 if series.style == "box" else 1.0
            made[key] = patches.Patch(facecolor=colour, alpha=alpha, label=in_legend(key))
        elif series.style == "printed":
            made[key] = Line2D([], [], label=in_legend(key), **_printed("#333333"))
        elif series.style in CURVES:
            look |= {"linestyle": "-", "linewidth": 0.6} if series.faint else {"linestyle": pen.dashes}
            made[key] = Line2D([], [], **look)
        else:
            look |= {"linestyle": pen.dashes if series.style == "joined" else "none"}
            look |= {"marker": series.marker or ("." if series.faint else pen.marker)}
            made[key] = Line2D([], [], **look)
    aside = {series.aside for series in every}
    return [made[key] for key in sorted(made, key=lambda key: key in aside or key == PRINTED)]


def _named_by_axes(figure: Figure) -> bool:
    """Whether each panel has one series, which its axis names, so that neither colours nor a legend are needed."""
    one = len(figure.panels) == 1
    return all(
        len(panel.series) == 1 and (one or panel.y.title.startswith(panel.series[0].name)) for panel in figure.panels
    )


def _share_titles(drawn: MplFigure, figure: Figure, across: int) -> None:
    """Leave a title that all axes share to the first panel of each row, and to the last of each column."""
    own = drawn.axes[: len(figure.panels)]
    same = {name: len({getattr(panel, name).title for panel in figure.panels}) == 1 for name in ("x", "y")}
    for index, axes in enumerate(own):
        if same["y"] and index % across and not figure.rows:
            axes.set_ylabel("")
        if same["x"] and index + across < len(own) and not figure.rows:
            axes.set_xlabel("")


def _panel(axes: Axes, figure: Figure, panel: Panel, room: float) -> None:
    """Draw a panel into axes of about `room` inches."""
    x, y = (axes.yaxis, axes.xaxis) if figure.rows else (axes.xaxis, axes.yaxis)
    left = 0.3 if panel.heatmap is None else 0.3 + _left(panel.heatmap)
    letters = max(10, int((room - left) * 72 / (LETTER * 0.92 * matplotlib.rcParams["axes.titlesize"])))
    axes.set_title(textwrap.fill(in_figure(panel.title), letters))
    if panel.heatmap is not None:
        _heatmap(axes, panel, room)
        return
    colours = dict.fromkeys(figure.colours, 0) if _named_by_axes(figure) else figure.colours
    owners = [each for each in colours if any(it.owner == each and it.style not in CURVES for it in panel.series)]
    curves = sum(it.style in CURVES for it in panel.series)
    for series in panel.series:
        slot = (owners.index(series.owner) if series.owner in owners else 0, len(owners))
        _series(axes, panel, series, Pen.of(colours[series.owner]), (slot, figure.rows, curves))
    _references(axes, panel, rows=figure.rows)
    set_scale = axes.set_xscale if figure.rows else axes.set_yscale
    if panel.y.log:
        set_scale("log")
    elif panel.y.linear:
        set_scale("symlog", linthresh=panel.y.linear)
        decades = math.ceil(math.log10(max(panel.limits or (1.0, 10.0))) - math.log10(panel.y.linear))
        ticks = [panel.y.linear * 10**power for power in range(0, decades + 1, 1 + decades // MOST_TICKS)]
        (axes.set_xticks if figure.rows else axes.set_yticks)([0.0, *ticks])
        y.set_major_formatter(FuncFormatter(lambda value, _: number(value, 3)))
    if (limits := panel.limits) is not None:
        (axes.set_xlim if figure.rows else axes.set_ylim)(*limits)
    _numbers(y, panel.y, rows=figure.rows)
    if panel.x.names:
        _names(axes, panel.x.names, room - 0.1 * matplotlib.rcParams["font.size"], rows=figure.rows)
    else:
        if panel.x.log:
            axes.set_xscale("log")
        if panel.x.limits is not None:
            axes.set_xlim(*panel.x.limits)
        elif not panel.x.log:
            over_time = all(it.style in CURVES or it.marker for it in panel.series)
            axes.margins(x=0.01 if over_time else 0.05)
        _numbers(x, panel.x)
    x.set_label_text(textwrap.fill(in_figure(panel.x.title), letters))
    # The title of a panel of rows already names the quantity.
    named = figure.rows and panel.title.startswith(panel.y.title)
    y.set_label_text("" if named else textwrap.fill(in_figure(panel.y.title), letters if figure.rows else 48))
    axes.grid(visible=False, axis="y" if figure.rows else "x") if panel.x.names else None


def _numbers(axis: MplAxis, described: Axis, *, rows: bool = False) -> None:
    """Write numbers in full: 1, 2 and 5 of each decade on a logarithmic axis, unless it has many decades."""
    if not described.log:
        if max(map(abs, axis.get_view_interval())) >= IN_FULL and not described.linear:
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        if rows and not described.linear:
            axis.set_major_locator(MaxNLocator(nbins=MOST_TICKS, steps=[1, 2, 2.5, 5, 10]))
        return
    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high / low) if low > 0 else 1.0
    subs = (1.0,) if decades > 3 else (1.0, 3.0) if decades > 2 else (1.0, 2.0, 5.0)
    if decades < 0.7:
        axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    else:
        axis.set_major_locator(LogLocator(base=10, subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value, 3)))
    axis.set_minor_formatter(NullFormatter())
    axis.set_minor_locator(LogLocator(base=10, subs=range(2, 10)) if decades > 1 else NullLocator())


def _names(axes: Axes, names: Sequence[str], room: float, *, rows: bool) -> None:
    size = matplotlib.rcParams["xtick.labelsize"]
    if rows:
        axes.set_yticks(range(len(names)), [textwrap.fill(in_figure(name), 30) for name in names])
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        for row in range(1, len(names)):
            axes.axhline(row - 0.5, color="#bbbbbb", linewidth=0.6)
        return
    letters = max(4, int(room * 72 / len(names) / (LETTER * size)))
    shown = [textwrap.fill(in_figure(name), letters, break_long_words=False) for name in names]
    longest = max(len(line) for name in shown for line in name.split("\n"))
    turned = longest > letters
    axes.set_xticks(range(len(names)), [in_figure(name) for name in names] if turned else shown)
    if turned:
        axes.tick_params(axis="x", rotation=90 if 72 * room / len(names) < 1.6 * size or longest > 24 else 30)
    axes.set_xlim(-0.5, len(names) - 0.5)


Points = tuple[NDArray[np.float64], NDArray[np.float64]]
Place = tuple[tuple[int, int], bool, int]
"""Index of a series and number of all at a place; whether places are rows; and number of curves."""


def _series(axes: Axes, panel: Panel, series: Series, pen: Pen, place: Place) -> None:
    slot, rows, curves = place
    y = np.asarray(series.y, float)
    if series.style in CURVES:
        _curve(axes, series, (_positions(panel.x, series.x), y), pen, curves)
        return
    x = _positions(panel.x, series.x) + _aside(panel, series, slot, rows=rows)
    if series.style == "box":
        _boxes(axes, series, x, pen, slot[1])
    elif series.style == "bars":
        bars = _errors(series, y)
        width, hatch = BARS / slot[1], "//" if (slot[0] // 9) % 2 else None
        look: dict[str, Any] = {"color": pen.colour, "hatch": hatch, "error_kw": {"linewidth": 0.8}}
        axes.bar(x, y - series.base, width, bottom=series.base, yerr=bars, **look)
    elif series.style == "printed":
        axes.plot(x, y, **_printed(pen.colour))
    else:
        _points(axes, panel, series, (x, y), pen, rows=rows)


def _curve(axes: Axes, series: Series, xy: Points, pen: Pen, curves: int) -> None:
    (x, y), step = xy, series.style == "step"
    normal = matplotlib.rcParams["lines.linewidth"]
    # Thick lines of several dense curves would hide each other.
    width, alpha = (0.4 * normal, 0.6) if curves > 1 and _dense(y) else (normal, 1.0)
    if series.faint:
        width, alpha = 0.4 * normal, 0.7
    drawn = "steps-post" if step else "default"
    style = "-" if series.faint else pen.dashes
    axes.plot(x, y, color=pen.colour, drawstyle=drawn, linestyle=style, linewidth=width, alpha=alpha)
    if series.low is not None and series.high is not None:
        low, high = np.asarray(series.low, float), np.asarray(series.high, float)
        look: dict[str, Any] = {"color": pen.colour, "alpha": BAND_ALPHA, "linewidth": 0}
        axes.fill_between(x, low, high, step="post" if step else None, **look)


def _dense(y: NDArray[np.float64]) -> bool:
    values = y[np.isfinite(y)]
    return len(values) > 1 and bool(np.abs(np.diff(values)).sum() > DENSE * np.ptp(values) > 0)


def _points(axes: Axes, panel: Panel, series: Series, xy: Points, pen: Pen, *, rows: bool) -> None:
    x, y = xy
    bars = _errors(series, y)
    at = (y, x) if rows else (x, y)
    if bars is not None:
        errors: dict[str, Any] = {"xerr" if rows else "yerr": bars}
        width = matplotlib.rcParams["lines.linewidth"]
        axes.errorbar(*at, **errors, fmt="none", ecolor=pen.colour, capsize=0 if rows else 2.5, elinewidth=width)
    if series.style == "joined":
        axes.plot(*at, color=pen.colour, linestyle=pen.dashes)
    size = matplotlib.rcParams["lines.markersize"]
    look: dict[str, Any] = {"linestyle": "none", "color": pen.colour, "marker": series.marker or pen.marker}
    look["clip_on"] = False  # points at the end of an axis are whole
    if series.marker:
        scale = {".": 0.5, "*": 2.2}.get(series.marker, 1.0)
        look |= {"zorder": 4, "rasterized": len(x) > 5000, "markersize": scale * size}
    if series.faint and not series.marker:
        look |= {"marker": ".", "alpha": 0.45, "markersize": 0.8 * size}
    low, high = panel.limits or (-math.inf, math.inf)
    inside, hollow = (low <= y) & (y <= high), np.array(series.hollow or [False] * len(x), bool)
    for chosen, face in ((inside & ~hollow, pen.colour), (inside & hollow, matplotlib.rcParams["axes.facecolor"])):
        if chosen.any():
            axes.plot(at[0][chosen], at[1][chosen], **look, markerfacecolor=face)


def _boxes(axes: Axes, series: Series, x: NDArray[np.float64], pen: Pen, count: int) -> None:
    assert series.quartiles is not None
    names = ("med", "whislo", "whishi", "q1", "q3")
    found = zip(*(np.asarray(it, float) for it in (series.y, series.low, series.high, *series.quartiles)), strict=True)
    made = axes.bxp(
        [dict(zip(names, each, strict=True)) for each in found], positions=x, widths=0.7 / count, showfliers=False,
        patch_artist=True, manage_ticks=False,
    )  # fmt: skip
    for box in made["boxes"]:
        box.set(facecolor=pen.colour, alpha=0.45, edgecolor=pen.colour)
    for line in made["medians"]:
        line.set(color=matplotlib.rcParams["text.color"])


def _errors(series: Series, y: NDArray[np.float64]) -> NDArray[np.float64] | None:
    if series.low is None or series.high is None:
        return None
    found = np.array([y - np.asarray(series.low, float), np.asarray(series.high, float) - y])
    return np.where(np.isfinite(found), np.maximum(found, 0.0), 0.0)


def _positions(axis: Axis, x: ArrayLike) -> NDArray[np.float64]:
    found = np.asarray(x)
    if found.dtype.kind not in "UO":
        return found.astype(float)
    places = {name: index for index, name in enumerate(axis.names)}
    return np.array([places[str(name)] for name in found.tolist()], float)


def _aside(panel: Panel, series: Series, slot: tuple[int, int], *, rows: bool) -> float:
    """Return how far a series steps aside at its places, so that its intervals do not hide those of others."""
    index, count = slot
    if not panel.x.names or count < 2:
        return 0.0
    kinds = {each.style for each in panel.series}
    if "bars" in kinds or "box" in kinds:
        named = series.style != "printed" or series.like
        return BARS * ((index + 0.5) / count - 0.5) if named else 0.0
    if series.style == "printed":
        return 0.0
    if rows or kinds == {"points"}:
        return (1 if rows else 0.6) * ASIDE * ((index + 0.5) / count - 0.5)
    return NEAR * (index - (count - 1) / 2)


def _references(axes: Axes, panel: Panel, *, rows: bool) -> None:
    line, span = (axes.axvline, axes.axvspan) if rows else (axes.axhline, axes.axhspan)
    for value in panel.references:
        line(value, color="#444444", linewidth=0.9, linestyle=DASHED, zorder=1.5)
    if panel.band is not None:
        span(*panel.band, color="#000000", alpha=0.07, linewidth=0, zorder=0.5)
    for name, value in panel.bars.items():
        at = list(panel.x.names).index(name)
        ends = ([value, value], [at - 0.42, at + 0.42])
        axes.plot(*(ends if rows else ends[::-1]), color=GREY, linewidth=1.2, linestyle=DASHED)


def _printed(colour: str) -> dict[str, Any]:
    size = matplotlib.rcParams["lines.markersize"]
    return {
        "marker": "D", "markersize": 1.4 * size, "markerfacecolor": "white", "markeredgecolor": colour,
        "markeredgewidth": 1.8, "linestyle": "none", "zorder": 5,
    }  # fmt: skip


def _heatmap(axes: Axes, panel: Panel, room: float) -> None:
    it = panel.heatmap
    assert it is not None
    grid, (low, high), colours = np.asarray(it.values, float), it.scale, MAPS[it.colours]
    axes.grid(visible=False)
    axes.tick_params(length=0)
    words = it.ticks is not None and it.colours == "sequence"
    norm = BoundaryNorm(np.arange(low, high + 2) - 0.5, colours.N) if words else None
    ends: dict[str, Any] = {} if words else {"vmin": low, "vmax": high}
    image = axes.imshow(grid, origin="upper", aspect="auto", cmap=colours, norm=norm, **ends)
    size = matplotlib.rcParams["xtick.labelsize"]
    height = axes.figure.get_figheight() / max(1, axes.get_subplotspec().get_gridspec().nrows)  # type: ignore[union-attr]
    left = _left(it)
    cell = 72 * max(0.5, room - left - 1.0) / max(1, len(it.xs)), 72 * max(0.5, height - 1.2) / max(1, len(it.ys))
    small = min(size, cell[1] / 1.1)
    across = [in_figure(name) for name in it.xs]
    fits = all(LETTER * size * len(name) <= cell[0] for name in it.xs)
    turned = {} if fits else {"rotation": 90, "fontsize": min(size, 0.9 * cell[0])}
    axes.set_xticks(range(len(it.xs)), across, **turned)
    axes.set_yticks(range(len(it.ys)), [textwrap.shorten(in_figure(name), 60) for name in it.ys], fontsize=small)
    _cells(axes, it, grid, (cell, size), norm)
    if it.divided:
        for names, line in ((it.xs, axes.axvline), (it.ys, axes.axhline)):
            for at in range(1, len(names)):
                first, sign, _ = names[at].partition(it.divided)
                if sign and first != names[at - 1].partition(it.divided)[0]:
                    line(at - 0.5, color="black", linewidth=0.8)
    axes.set_xlabel(in_figure(panel.x.title))
    axes.set_ylabel(in_figure(panel.y.title))
    extend = "both" if it.colours in ("gain", "loss") else "neither"
    bar = axes.figure.colorbar(image, ax=axes, extend=extend, fraction=0.06, pad=0.02)
    if it.ticks is not None:
        bar.set_ticks(list(it.ticks), labels=[in_figure(name) for name in it.ticks.values()])
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.set_label(textwrap.fill(in_figure(it.unit), 40))


def _cells(
    axes: Axes,
    it: Heatmap,
    grid: NDArray[np.float64],
    room: tuple[tuple[float, float], float],
    norm: BoundaryNorm | None,
) -> None:
    """Write the texts of the cells if they fit, in black or white, and mark cells."""
    (cell_width, cell_height), size = room
    (low, high), texts, (longest, most) = it.scale, it.written, _longest(it)
    size = min(size, cell_width / (LETTER * (longest + 0.6)), cell_height / (1.25 * most))
    share = norm(np.nan_to_num(grid)) if norm is not None else np.nan_to_num((grid - low) / (high - low))
    shades = MAPS[it.colours](share)[..., :3] @ LUMINANCE
    if size >= 4:
        for (row, column), value in np.ndenumerate(grid):
            if not np.isnan(value):
                written = "\n".join(map(in_figure, texts[row][column].split("\n")))
                ink = "black" if shades[row, column] > 0.5 else "white"
                axes.text(column, row, written, ha="center", va="center", fontsize=size, color=ink)
    for x, y in it.framed:
        at = (list(it.xs).index(x) - 0.47, list(it.ys).index(y) - 0.47)
        axes.add_patch(patches.Rectangle(at, 0.94, 0.94, fill=False, edgecolor="#D55E00", linewidth=2.0, zorder=3))
    dots = [(list(it.xs).index(x) + 0.36, list(it.ys).index(y) - 0.34) for x, y in it.dotted]
    if dots:
        x_of_dots, y_of_dots = zip(*dots, strict=True)
        axes.scatter(x_of_dots, y_of_dots, s=0.4 * matplotlib.rcParams["font.size"], color="black")
