"""Curves over time, and the look that all plots share.

The first seven colours are those of Okabe and Ito, which colour-blind readers can distinguish. The last two differ from
them clearly. Line styles differ as well.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ackclock.curves import Line, Results, labelled, thin_out
from ackclock.drawing.panels import style_axes
from ackclock.texts.names import in_figure, in_legend

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#4411CC", "#880022")
STYLES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
BAND_ALPHA = 0.16
SIZE = (8.0, 4.2)
DENSE = 60  # a line is thin if its rises and falls add up to more than this many times its height


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
