"""Curves over time, and the look that all plots share.

The first seven colours are those of Okabe and Ito, which colour-blind readers can distinguish. The last two differ from
them clearly. Line styles differ as well.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ackclock.drawing.panels import style_axes
from ackclock.result import AnyResult
from ackclock.texts.names import in_figure, in_legend

Results = AnyResult | Sequence[AnyResult] | Mapping[str, AnyResult]
Floats = NDArray[np.float64]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#4411CC", "#880022")
STYLES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
BINS = 1200  # of a long curve, in each of which only its extremes are drawn
BAND_ALPHA = 0.16
SIZE = (8.0, 4.2)
DENSE = 60  # a line is thin if its rises and falls add up to more than this many times its height


@dataclass(frozen=True)
class Line:
    """One curve.

    Attributes
    ----------
    label : str
        Name in the legend.
    x, y : ndarray of shape (n,)
        Times in seconds, and values.
    thin : ndarray of shape (n,) or None
        A second quantity at the same times, drawn as a thin line: ssthresh, or a percentile.
    step : bool
        Whether a value holds until the next one.
    band : (ndarray, ndarray) or None
        Lower and upper ends of a band around the curve, at the same times.
    """

    label: str
    x: Floats
    y: Floats
    thin: Floats | None = None
    step: bool = True
    band: tuple[Floats, Floats] | None = None


def draw(axes: Axes, lines: Sequence[Line]) -> None:
    """Draw curves onto axes, each in its colour and line style; long curves are thinned out invisibly."""
    for index, line in enumerate(lines):
        shown = thin_out(line)
        colour, style = COLOURS[index % len(COLOURS)], STYLES[index % len(STYLES)]
        options: dict[str, Any] = {"color": colour, "drawstyle": "steps-post" if line.step else "default"}
        # Thick lines of several dense curves would hide each other.
        width, alpha = (0.5, 0.6) if len(lines) > 1 and _dense(shown) else (1.3, 1.0)
        axes.plot(
            shown.x, shown.y, linestyle=style, linewidth=width, alpha=alpha, label=in_legend(line.label), **options
        )
        if shown.band is not None:
            step: Literal["post"] | None = "post" if line.step else None
            axes.fill_between(shown.x, *shown.band, step=step, color=colour, alpha=BAND_ALPHA, linewidth=0)
        if shown.thin is not None and not np.all(np.isnan(shown.thin)):
            axes.plot(shown.x, shown.thin, linestyle="-", linewidth=0.5, alpha=0.7, label="_thin", **options)


def _dense(line: Line) -> bool:
    values = line.y[np.isfinite(line.y)]
    return len(values) > 1 and bool(np.abs(np.diff(values)).sum() > DENSE * np.ptp(values) > 0)


def thin_out(line: Line, bins: int = BINS) -> Line:
    """Reduce a long curve to the first, smallest, largest and last value of each bin, which looks the same."""
    if len(line.x) <= 4 * bins:
        return line
    span = (line.x[-1] - line.x[0]) or 1.0
    group = np.minimum(((line.x - line.x[0]) / span * bins).astype(np.int64), bins - 1)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(starts[1:], len(line.x))
    # Sorted by group, then by value: the first and the last of a group are its extremes.
    order = np.lexsort((line.y, group))
    keep = np.unique(np.concatenate([starts, ends - 1, order[starts], order[ends - 1]]))
    thin = None if line.thin is None else line.thin[keep]
    band = None if line.band is None else (line.band[0][keep], line.band[1][keep])
    return replace(line, x=line.x[keep], y=line.y[keep], thin=thin, band=band)


def new_figure(size: tuple[float, float]) -> Figure:
    """Return an empty figure of this width and height in inches."""
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def axes_of(axes: Axes | None) -> tuple[Figure, Axes]:
    """Return the axes to draw on, by default of a new figure, and their figure."""
    if axes is not None:
        return axes.get_figure(root=True), axes  # type: ignore[return-value]
    figure = new_figure(SIZE)
    return figure, figure.add_subplot()


def finish(axes: Axes, ylabel: str, title: str, *, legend: Literal["inside", "outside", "none"]) -> None:
    """Label axes and place their legend."""
    axes.set_xlabel("time (s)")
    axes.set_ylabel(in_figure(ylabel))
    axes.set_title(in_figure(title), loc="left", fontsize=10)
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)
    style_axes(axes)
    handles, labels = axes.get_legend_handles_labels()
    if legend != "none" and handles:
        place: dict[str, Any] = {"loc": "best"}
        if legend == "outside" and len(labels) > 1:
            labels = [textwrap.fill(label, 90) for label in labels]
            place = _outside(axes, labels)
        shown = axes.legend(handles, labels, frameon=False, fontsize=8.5, **place)
        for handle in shown.get_lines():
            handle.set(alpha=1.0, linewidth=max(1.0, handle.get_linewidth()))


def _outside(axes: Axes, labels: Sequence[str]) -> dict[str, Any]:
    """Place a legend at the right, or, if it is wide or long, below: the figure then grows."""
    lines = sum(label.count("\n") + 1 for label in labels)
    if max(map(len, labels)) <= 36 and lines <= 18:
        return {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    figure = axes.get_figure(root=True)
    if figure is not None and len(figure.axes) == 1:
        figure.set_size_inches(SIZE[0], SIZE[1] + 0.2 * lines)
    return {"loc": "upper left", "bbox_to_anchor": (0.0, -0.14 * SIZE[1] / (SIZE[1] - 0.8))}


def share_legend(figure: Figure, columns: int = 6) -> None:
    """Place one legend for all axes of a figure below them, in at most `columns` columns."""
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        entries.update(zip(labels, handles, strict=True))
    if entries:
        place: dict[str, Any] = {"loc": "outside lower center", "ncols": min(columns, len(entries))}
        figure.legend(entries.values(), entries.keys(), frameon=False, **place)


def lacking(results: Results, kind: str, traces: Sequence[str]) -> str | None:
    """Return a message about the traces that a kind of plot lacks; None: it lacks none."""
    recorded = [result.traces for result in labelled(results).values()]
    missing = [trace for trace in traces if not all(trace in names for names in recorded)]
    if not missing:
        return None
    names = " and ".join(f"'{trace}'" for trace in missing)
    wanted = ", ".join(f'"{trace}"' for trace in traces)
    noun, verb = ("trace", "was") if len(missing) == 1 else ("traces", "were")
    return f"{kind} needs the {noun} {names}, which {verb} not recorded; run again with record = [{wanted}]"


def bin_edges(duration: float, bin: float | None = None) -> Floats:  # noqa: A002
    """Return the edges of bins of `bin` seconds, at most the run; by default a hundredth of the run."""
    if bin is not None and bin <= 0:
        raise ValueError("bin must be above 0")
    return np.arange(0.0, duration + 1e-9, duration / 100 if bin is None else min(bin, duration))


def labelled(results: Results) -> dict[str, AnyResult]:
    """Return results by their labels: the names of their scenarios, numbered if they are not unique."""
    if isinstance(results, Mapping):
        return dict(results)
    if not isinstance(results, Sequence):
        return {results.name: results}
    names = [result.name for result in results]
    unique = len(set(names)) == len(names)
    labels = names if unique else [f"{name} ({index + 1})" for index, name in enumerate(names)]
    return dict(zip(labels, results, strict=True))
