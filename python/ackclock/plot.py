"""Plots of results: cwnd, throughput, queues and sequence numbers over time, several runs overlaid.

Every function takes one result, several, or a mapping from labels to results, and returns a matplotlib figure that
`save` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ackclock.drawing.curves import (
    COLOURS,
    FORMATS,
    Floats,
    Line,
    Results,
    axes_of,
    bin_edges,
    draw,
    encode,
    finish,
    labelled,
    new_figure,
    save,
    share_legend,
    thin_out,
)
from ackclock.drawing.internals import internal_lines, internal_panels, internals
from ackclock.drawing.queues import (
    NEEDED,
    Unit,
    probability,
    probability_lines,
    queue,
    queue_lines,
    queues,
    share_lines,
    sojourn,
    sojourn_lines,
    used_queues,
)
from ackclock.result import frame
from ackclock.texts.names import in_figure, in_legend

__all__ = [
    "FORMATS", "KINDS", "Floats", "Kind", "Line", "Panel", "Results", "Unit", "cwnd", "cwnd_lines", "draw",
    "encode", "internal_lines", "internal_panels", "internals", "panels", "probability", "probability_lines",
    "queue", "queue_lines", "queues", "rtt", "rtt_lines", "save", "sequence", "share_lines", "sojourn",
    "sojourn_lines", "thin_out", "throughput", "throughput_lines", "used_queues",
]  # fmt: skip


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
    figure, axes = axes_of(axes)
    lines = cwnd_lines(results)
    draw(axes, lines)
    if lines:
        axes.plot([], [], color="#777777", linewidth=0.6, label="ssthresh (thin)")
    finish(axes, "cwnd (segments)", title, legend="outside")
    return figure


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
    figure, axes = axes_of(axes)
    draw(axes, throughput_lines(results, bin))
    finish(axes, "throughput (Mbit/s)", title, legend="outside")
    return figure


def rtt(results: Results, *, axes: Axes | None = None, title: str = "") -> Figure:
    """Draw the round-trip time that each ACK showed, with the smoothed one as a thin line; needs the trace ``rtt``.

    Parameters and errors are those of `cwnd`.
    """
    figure, axes = axes_of(axes)
    lines = rtt_lines(results)
    draw(axes, lines)
    if lines:
        axes.plot([], [], color="#777777", linewidth=0.6, label="smoothed (thin)")
    finish(axes, "round-trip time (ms)", title, legend="outside")
    return figure


def sequence(results: Results, *, axes: Axes | None = None, title: str = "") -> Figure:
    """Draw the sequence numbers sent, sent again and acknowledged; needs the trace ``sequence``.

    Parameters are those of `cwnd`.
    """
    figure, axes = axes_of(axes)
    many = sum(1 for _ in _per_flow(results, "sequence")) > 1
    for index, (label, table) in enumerate(_per_flow(results, "sequence")):
        colour, prefix = COLOURS[index % len(COLOURS)], f"{in_legend(label)}: " if many else ""
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
    finish(axes, "sequence number (packets)", title, legend="inside")
    return figure


@dataclass(frozen=True)
class Kind:
    """A kind of plot.

    Attributes
    ----------
    traces : tuple of str
        The traces that it needs.
    draw : callable
        The function that draws it.
    shows : {"flows", "links", "link", "names"}
        A curve for each flow, for each link, or for one link; where it is links, the function takes `link`. For each
        quantity of a flow's own: then it takes `names`.
    """

    traces: tuple[str, ...]
    draw: Callable[..., Figure]
    shows: Literal["flows", "links", "link", "names"] = "flows"


KINDS = {
    "cwnd": Kind(("cwnd",), cwnd),
    "throughput": Kind(("delivered",), throughput),
    "rtt": Kind(("rtt",), rtt),
    "queue": Kind(NEEDED["queue"], queue, shows="links"),
    "sojourn": Kind(NEEDED["sojourn"], sojourn, shows="links"),
    "probability": Kind(NEEDED["probability"], probability, shows="links"),
    "queues": Kind(NEEDED["queues"], queues, shows="link"),
    "sequence": Kind(("sequence",), sequence),
    "internals": Kind(("internals",), internals, shows="names"),
}
"""Every kind of plot."""


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
    figure = new_figure((size[0] * columns, size[1] * count + 0.75))
    for index, panel in enumerate(grid):
        axes = figure.add_subplot(count, columns, index + 1)
        draw(axes, panel.lines)
        finish(axes, panel.ylabel if index % columns == 0 else "", panel.title, legend="none")
        if index + columns < len(grid):
            axes.set_xlabel("")
    share_legend(figure)
    if title:
        figure.suptitle(in_figure(title), fontsize=12, fontweight="bold")
    return figure


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
    durations = {name: result.duration for name, result in labelled(results).items()}
    lines = []
    for label, table, name in _per_flow_of(results, "delivered"):
        edges = bin_edges(durations[name], bin)
        # `bytes` counts up; its value at an edge is that of the last arrival before it.
        place = np.searchsorted(table["time"], edges, side="right")
        total = np.concatenate([[0.0], table["bytes"].astype(float)])[place]
        rate = np.diff(total) * 8 / edges[1] / 1e6
        if len(rate):
            lines.append(Line(label, edges, np.append(rate, rate[-1])))
    return lines


def rtt_lines(results: Results) -> list[Line]:
    """Give the curves that `rtt` draws, in milliseconds."""
    return [
        Line(label, table["time"], table["rtt"] * 1e3, table["srtt"].astype(float) * 1e3)
        for label, table in _per_flow(results, "rtt")
    ]


def _per_flow(results: Results, trace: str) -> list[tuple[str, dict[str, NDArray[Any]]]]:
    return [(label, table) for label, table, _ in _per_flow_of(results, trace)]


def _per_flow_of(results: Results, trace: str) -> list[tuple[str, dict[str, NDArray[Any]], str]]:
    """Split a trace by flow; a label names the run if there are several, and the flow if there are several."""
    import polars

    runs = labelled(results)
    curves = []
    for name, result in runs.items():
        table = frame(result.trace(trace)).with_columns(polars.col("flow").cast(polars.String))
        parts = table.partition_by("flow", maintain_order=True)
        for part in parts:
            flow = str(part["flow"][0])
            label = name if len(parts) == 1 and len(runs) > 1 else flow if len(runs) == 1 else f"{name}, {flow}"
            strings = {"kind"} & set(part.columns)
            columns = part.drop("flow")
            if strings:
                columns = columns.with_columns(polars.col(list(strings)).cast(polars.String))
            curves.append((label, {column: columns[column].to_numpy().copy() for column in columns.columns}, name))
    return curves


def _kind(table: Mapping[str, NDArray[Any]], kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
    chosen = table["kind"] == kind
    return table["time"][chosen], table["seq"][chosen]
