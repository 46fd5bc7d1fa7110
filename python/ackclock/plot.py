"""Plots of results: cwnd, throughput, queue and sequence numbers over time, several runs overlaid.

Every function takes one result, several, or a mapping from labels to results, and returns a matplotlib figure that
`save` writes. Colours are those of Okabe and Ito, which the colour-blind can tell apart; line styles differ as well.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ackclock import storage
from ackclock.result import AnyResult, frame

Results = AnyResult | Sequence[AnyResult] | Mapping[str, AnyResult]
Floats = NDArray[np.float64]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
FORMATS = ("png", "svg", "pdf")
BINS = 1200
PNG_DPI = 144
SIZE = (8.0, 4.2)
DENSE = 60  # ups and downs, in heights of the curve, from which on its line is thin


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
        A second quantity at the same times, drawn as a thin line: ssthresh.
    step : bool
        Whether a value stays until the next one.
    """

    label: str
    x: Floats
    y: Floats
    thin: Floats | None = None
    step: bool = True


@dataclass(frozen=True)
class Panel:
    """One pair of axes in a grid: its title and what it shows."""

    title: str
    lines: Sequence[Line]
    ylabel: str


def cwnd(results: Results, *, axes: Axes | None = None, title: str = "") -> Figure:
    """Draw the congestion window over time, with ssthresh as a thin line; needs the trace ``cwnd``.

    Parameters
    ----------
    results
        What to overlay.
    axes
        Where to draw; by default a new figure.
    title
        Above the plot.

    Raises
    ------
    KeyError
        If a result has no such trace.
    """
    return _figure(cwnd_lines(results), "cwnd (segments)", axes, title)


def throughput(results: Results, *, bin: float | None = None, axes: Axes | None = None, title: str = "") -> Figure:  # noqa: A002
    """Draw what arrives in order at the receiver per second; needs the trace ``delivered``.

    Parameters
    ----------
    results
        What to overlay.
    bin
        Width of the averaging bins in seconds; by default a hundredth of the run.
    axes, title
        As in `cwnd`.

    Raises
    ------
    KeyError
        If a result has no such trace.
    ValueError
        If `bin` is not above 0.
    """
    return _figure(throughput_lines(results, bin), "throughput (Mbit/s)", axes, title)


def queue(results: Results, *, axes: Axes | None = None, title: str = "") -> Figure:
    """Draw the packets waiting in every limited queue, and drops as marks; needs the trace ``queue``.

    Parameters are those of `cwnd`; drops are shown if the trace ``drops`` is there.
    """
    figure, axes = _axes(axes)
    draw(axes, queue_lines(results))
    _mark_drops(axes, results)
    _finish(axes, "queue (packets)", title, legend="outside")
    return figure


def sequence(results: Results, *, axes: Axes | None = None, title: str = "") -> Figure:
    """Draw the sequence numbers sent, sent again and acknowledged; needs the trace ``sequence``.

    Parameters are those of `cwnd`.
    """
    figure, axes = _axes(axes)
    many = sum(1 for _ in _per_flow(results, "sequence")) > 1
    for index, (label, table) in enumerate(_per_flow(results, "sequence")):
        colour, prefix = COLOURS[index % len(COLOURS)], f"{label}: " if many else ""
        for kind, marker, size in (("send", ".", 2.5), ("retransmit", "x", 5), ("ack", None, 0)):
            x, y = _kind(table, kind)
            if not len(x):
                continue
            if marker is None:
                axes.step(x, y, where="post", color=colour, linewidth=0.8, alpha=0.6, label=f"{prefix}acknowledged")
            else:
                shade = "#D55E00" if kind == "retransmit" and not many else colour
                word = {"send": "sent", "retransmit": "sent again"}[kind]
                axes.plot(x, y, marker, markersize=size, color=shade, label=prefix + word, rasterized=len(x) > 5000)
    _finish(axes, "sequence number (packets)", title, legend="inside")
    return figure


KINDS: dict[str, tuple[str, Callable[..., Figure]]] = {
    "cwnd": ("cwnd", cwnd),
    "throughput": ("delivered", throughput),
    "queue": ("queue", queue),
    "sequence": ("sequence", sequence),
}
"""Every kind of plot: the trace it needs and the function that draws it."""


def panels(
    grid: Sequence[Panel], *, columns: int = 3, title: str = "", size: tuple[float, float] = (4.2, 2.9)
) -> Figure:
    """Draw a grid of panels with one legend for all.

    Parameters
    ----------
    grid
        The panels, row by row.
    columns
        Panels side by side.
    title
        Above all.
    size
        Width and height of one panel, in inches.
    """
    columns = max(1, min(columns, len(grid)))
    count = -(-len(grid) // columns)
    figure = _new((size[0] * columns, size[1] * count + 0.75))
    for index, panel in enumerate(grid):
        axes = figure.add_subplot(count, columns, index + 1)
        draw(axes, panel.lines)
        _finish(axes, panel.ylabel if index % columns == 0 else "", panel.title, legend="none")
        if index + columns < len(grid):
            axes.set_xlabel("")
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        entries.update(zip(labels, handles, strict=True))
    if entries:
        place: dict[str, Any] = {"loc": "outside lower center", "ncols": min(6, len(entries))}
        figure.legend(entries.values(), entries.keys(), frameon=False, **place)
    if title:
        figure.suptitle(title, fontsize=12, fontweight="bold")
    return figure


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure at once, in the format that the name ends in: png, svg or pdf.

    Raises
    ------
    ValueError
        If the format is another.
    """
    path = Path(path)
    kind = path.suffix.lstrip(".")
    if kind not in FORMATS:
        raise ValueError(f"{path}: unknown format {kind!r}; known: {', '.join(FORMATS)}")
    storage.write_bytes(path, encode(figure, kind))
    return path


def encode(figure: Figure, kind: str) -> bytes:
    """Give a figure as the bytes of a file, the same for the same figure."""
    buffer = io.BytesIO()
    # No date in the file: equal results give equal files.
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    figure.savefig(buffer, format=kind, dpi=PNG_DPI, metadata=metadata)
    return buffer.getvalue()


def cwnd_lines(results: Results) -> list[Line]:
    """Give the curves that `cwnd` draws."""
    lines = []
    for label, table in _per_flow(results, "cwnd"):
        threshold = table["ssthresh"].astype(float)
        # Before the first loss ssthresh may be unlimited or the receiver's window; drawing that would flatten
        # everything else.
        threshold[~(threshold <= 1.3 * np.nanmax(table["cwnd"], initial=1.0))] = np.nan
        lines.append(Line(label, table["time"], table["cwnd"].astype(float), threshold))
    return lines


def throughput_lines(results: Results, bin: float | None = None) -> list[Line]:  # noqa: A002
    """Give the curves that `throughput` draws, in Mbit/s."""
    if bin is not None and bin <= 0:
        raise ValueError("bin must be above 0")
    durations = {name: result.duration for name, result in _labelled(results).items()}
    lines = []
    for label, table, name in _per_flow_of(results, "delivered"):
        width = bin or durations[name] / 100
        edges = np.arange(0.0, durations[name] + 1e-9, width)
        # `bytes` counts up; its value at an edge is that of the last arrival before it.
        place = np.searchsorted(table["time"], edges, side="right")
        total = np.concatenate([[0.0], table["bytes"].astype(float)])[place]
        rate = np.diff(total) * 8 / width / 1e6
        if len(rate):
            lines.append(Line(label, edges, np.append(rate, rate[-1])))
    return lines


def queue_lines(results: Results) -> list[Line]:
    """Give the curves that `queue` draws: queues in which anything ever waited."""
    lines = []
    for label, table in _per_flow(results, "queue", key="link"):
        if table["packets"].max(initial=0) > 0:
            lines.append(Line(label, table["time"], table["packets"].astype(float)))
    return lines


def draw(axes: Axes, lines: Sequence[Line]) -> None:
    """Draw curves onto axes, each with its colour and line style; long ones are thinned out to what can be seen."""
    for index, line in enumerate(lines):
        shown = thin_out(line)
        colour, style = COLOURS[index % len(COLOURS)], STYLES[index % len(STYLES)]
        options: dict[str, Any] = {"color": colour, "drawstyle": "steps-post" if line.step else "default"}
        # Thick lines of several restless curves would hide each other.
        width, alpha = (0.5, 0.6) if len(lines) > 1 and _dense(shown) else (1.3, 1.0)
        axes.plot(shown.x, shown.y, linestyle=style, linewidth=width, alpha=alpha, label=line.label, **options)
        if shown.thin is not None and not np.all(np.isnan(shown.thin)):
            axes.plot(shown.x, shown.thin, linestyle="-", linewidth=0.5, alpha=0.7, label="_ssthresh", **options)


def _dense(line: Line) -> bool:
    values = line.y[np.isfinite(line.y)]
    return len(values) > 1 and bool(np.abs(np.diff(values)).sum() > DENSE * np.ptp(values) > 0)


def thin_out(line: Line, bins: int = BINS) -> Line:
    """Keep of a long curve the first, smallest, largest and last value in each of `bins` spans: it looks the same."""
    if len(line.x) <= 4 * bins:
        return line
    span = (line.x[-1] - line.x[0]) or 1.0
    group = np.minimum(((line.x - line.x[0]) / span * bins).astype(np.int64), bins - 1)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(starts[1:], len(line.x))
    # Sorting by group, then value: the first and last of each group are its extremes.
    order = np.lexsort((line.y, group))
    keep = np.unique(np.concatenate([starts, ends - 1, order[starts], order[ends - 1]]))
    return replace(line, x=line.x[keep], y=line.y[keep], thin=None if line.thin is None else line.thin[keep])


def until(line: Line, end: float) -> Line:
    """Cut a curve off after `end` seconds; its last value stays until then."""
    count = int(np.searchsorted(line.x, end, side="right"))
    last = max(0, count - 1)

    def cut(values: Floats) -> Floats:
        return np.append(values[:count], values[last : last + 1])

    x = np.append(line.x[:count], [end] * len(line.x[last : last + 1]))
    return replace(line, x=x, y=cut(line.y), thin=None if line.thin is None else cut(line.thin))


def _new(size: tuple[float, float]) -> Figure:
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _axes(axes: Axes | None) -> tuple[Figure, Axes]:
    if axes is not None:
        return axes.get_figure(root=True), axes  # type: ignore[return-value]
    figure = _new(SIZE)
    return figure, figure.add_subplot()


def _figure(lines: Sequence[Line], ylabel: str, axes: Axes | None, title: str) -> Figure:
    figure, axes = _axes(axes)
    draw(axes, lines)
    if any(line.thin is not None for line in lines):
        axes.plot([], [], color="#777777", linewidth=0.6, label="ssthresh (thin)")
    _finish(axes, ylabel, title, legend="outside")
    return figure


def _finish(axes: Axes, ylabel: str, title: str, *, legend: Literal["inside", "outside", "none"]) -> None:
    axes.set_xlabel("time (s)")
    axes.set_ylabel(ylabel)
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
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
    """Place a legend at the right, or below if it would take the room of the curves; the figure then grows."""
    lines = sum(label.count("\n") + 1 for label in labels)
    if max(map(len, labels)) <= 36 and lines <= 18:
        return {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    figure = axes.get_figure(root=True)
    if figure is not None and len(figure.axes) == 1:
        figure.set_size_inches(SIZE[0], SIZE[1] + 0.2 * lines)
    return {"loc": "upper left", "bbox_to_anchor": (0.0, -0.14 * SIZE[1] / (SIZE[1] - 0.8))}


def _mark_drops(axes: Axes, results: Results) -> None:
    for index, result in enumerate(_labelled(results).values()):
        if "drops" not in result.traces:
            continue
        times = frame(result.trace("drops"))["time"].to_numpy()
        if len(times):
            colour = COLOURS[index % len(COLOURS)]
            zeros = np.zeros(len(times))
            axes.plot(times, zeros, "|", color=colour, markersize=8, label="_drops", clip_on=False, zorder=5)
    if any(line.get_label() == "_drops" for line in axes.lines):
        axes.plot([], [], "|", color="#777777", markersize=8, label="dropped")


def _labelled(results: Results) -> dict[str, AnyResult]:
    if isinstance(results, Mapping):
        return dict(results)
    if not isinstance(results, Sequence):
        return {results.name: results}
    names = [result.name for result in results]
    unique = len(set(names)) == len(names)
    labels = names if unique else [f"{name} ({index + 1})" for index, name in enumerate(names)]
    return dict(zip(labels, results, strict=True))


def _per_flow(results: Results, trace: str, key: str = "flow") -> list[tuple[str, dict[str, NDArray[Any]]]]:
    return [(label, table) for label, table, _ in _per_flow_of(results, trace, key)]


def _per_flow_of(results: Results, trace: str, key: str = "flow") -> list[tuple[str, dict[str, NDArray[Any]], str]]:
    """Split a trace by flow or link; a label names the run if there are several, and the flow if there are several."""
    import polars

    runs = _labelled(results)
    curves = []
    for name, result in runs.items():
        table = frame(result.trace(trace)).with_columns(polars.col(key).cast(polars.String))
        parts = table.partition_by(key, maintain_order=True)
        for part in parts:
            flow = str(part[key][0])
            label = name if len(parts) == 1 and len(runs) > 1 else flow if len(runs) == 1 else f"{name}, {flow}"
            strings = {"kind"} & set(part.columns)
            columns = part.drop(key)
            if strings:
                columns = columns.with_columns(polars.col(list(strings)).cast(polars.String))
            curves.append((label, {column: columns[column].to_numpy().copy() for column in columns.columns}, name))
    return curves


def _kind(table: Mapping[str, NDArray[Any]], kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
    chosen = table["kind"] == kind
    return table["time"][chosen], table["seq"][chosen]
