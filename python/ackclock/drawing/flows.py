"""Plots of flows over time: congestion window, throughput, round-trip time and sequence numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ackclock.drawing.curves import COLOURS, Line, Results, axes_of, bin_edges, draw, finish, labelled
from ackclock.result import frame
from ackclock.texts.names import in_legend

GREY = "#777777"


def cwnd(results: Results, *, axes: Axes | None = None, title: str = "") -> Figure:
    """Draw the congestion window, and ssthresh as a thin line; needs the trace ``cwnd``.

    Parameters
    ----------
    results
        The results to overlay.
    axes
        The axes to draw on; by default those of a new figure.
    title
        The title above the plot.

    Raises
    ------
    KeyError
        If a result lacks the trace.
    """
    figure, axes = axes_of(axes)
    lines = cwnd_lines(results)
    draw(axes, lines)
    if lines:
        axes.plot([], [], color=GREY, linewidth=0.6, label="ssthresh (thin)")
    finish(axes, "cwnd (segments)", title, legend="outside")
    return figure


def throughput(results: Results, *, bin: float | None = None, axes: Axes | None = None, title: str = "") -> Figure:  # noqa: A002
    """Draw the rate at which data arrive in order at the receiver; needs the trace ``delivered``.

    Parameters
    ----------
    results
        The results to overlay.
    bin
        Width of the averaging bins in seconds; by default a hundredth of the run.
    axes, title
        As in `cwnd`.

    Raises
    ------
    KeyError
        If a result lacks the trace.
    ValueError
        If `bin` is not positive.
    """
    figure, axes = axes_of(axes)
    draw(axes, throughput_lines(results, bin))
    finish(axes, "throughput (Mbit/s)", title, legend="outside")
    return figure


def rtt(results: Results, *, axes: Axes | None = None, title: str = "") -> Figure:
    """Draw the round-trip time that each ACK measures, and the smoothed one as a thin line; needs the trace ``rtt``.

    Parameters and errors are those of `cwnd`.
    """
    figure, axes = axes_of(axes)
    lines = rtt_lines(results)
    draw(axes, lines)
    if lines:
        axes.plot([], [], color=GREY, linewidth=0.6, label="smoothed (thin)")
    finish(axes, "round-trip time (ms)", title, legend="outside")
    return figure


def sequence(results: Results, *, axes: Axes | None = None, title: str = "") -> Figure:
    """Draw the sequence numbers sent, retransmitted and acknowledged; needs the trace ``sequence``.

    Parameters and errors are those of `cwnd`.
    """
    figure, axes = axes_of(axes)
    flows = _per_flow(results, "sequence")
    many = len(flows) > 1
    for index, flow in enumerate(flows):
        colour, prefix = COLOURS[index % len(COLOURS)], f"{in_legend(flow.label)}: " if many else ""
        for kind, marker, size in (("send", ".", 2.5), ("retransmit", "x", 5), ("ack", None, 0)):
            x, y = _kind(flow.columns, kind)
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


def cwnd_lines(results: Results) -> list[Line]:
    """Return the curves that `cwnd` draws."""
    lines = []
    for flow in _per_flow(results, "cwnd"):
        table = flow.columns
        threshold = table["ssthresh"].astype(float)
        # Before the first loss ssthresh may be infinite or the receiver's window, which would flatten the curves.
        threshold[~(threshold <= 1.3 * np.nanmax(table["cwnd"], initial=1.0))] = np.nan
        lines.append(Line(flow.label, table["time"], table["cwnd"].astype(float), threshold))
    return lines


def throughput_lines(results: Results, bin: float | None = None) -> list[Line]:  # noqa: A002
    """Return the curves that `throughput` draws, in Mbit/s."""
    durations = {name: result.duration for name, result in labelled(results).items()}
    lines = []
    for flow in _per_flow(results, "delivered"):
        edges = bin_edges(durations[flow.run], bin)
        # `bytes` is cumulative: at an edge it has the value of the last arrival before it.
        place = np.searchsorted(flow.columns["time"], edges, side="right")
        total = np.concatenate([[0.0], flow.columns["bytes"].astype(float)])[place]
        rate = np.diff(total) * 8 / edges[1] / 1e6
        if len(rate):
            lines.append(Line(flow.label, edges, np.append(rate, rate[-1])))
    return lines


def rtt_lines(results: Results) -> list[Line]:
    """Return the curves that `rtt` draws, in milliseconds."""
    return [
        Line(flow.label, flow.columns["time"], flow.columns["rtt"] * 1e3, flow.columns["srtt"].astype(float) * 1e3)
        for flow in _per_flow(results, "rtt")
    ]


@dataclass(frozen=True)
class Flow:
    """The rows of one flow in a trace.

    Attributes
    ----------
    label : str
        Name in the legend: the run if there are several runs, and the flow if there are several flows.
    run : str
        The label of its run.
    columns : dict
        The columns of the trace by name.
    """

    label: str
    run: str
    columns: dict[str, NDArray[Any]]


def _per_flow(results: Results, trace: str) -> list[Flow]:
    """Split a trace by flow."""
    runs = labelled(results)
    found = []
    for run, result in runs.items():
        table = frame(result.trace(trace)).with_columns(polars.col("flow").cast(polars.String))
        parts = table.partition_by("flow", maintain_order=True)
        for part in parts:
            flow = str(part["flow"][0])
            label = run if len(parts) == 1 and len(runs) > 1 else flow if len(runs) == 1 else f"{run}, {flow}"
            columns = part.drop("flow").with_columns(polars.col(polars.Categorical).cast(polars.String))
            found.append(Flow(label, run, {name: columns[name].to_numpy().copy() for name in columns.columns}))
    return found


def _kind(table: Mapping[str, NDArray[Any]], kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
    chosen = table["kind"] == kind
    return table["time"][chosen], table["seq"][chosen]
