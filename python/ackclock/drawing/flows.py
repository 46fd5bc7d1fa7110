"""Plots of flows over time: congestion window, throughput, round-trip time and sequence numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ackclock.curves import Line, Results, cwnd_lines, per_flow, throughput_lines
from ackclock.drawing.curves import COLOURS, axes_of, draw, finish
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
    flows = per_flow(results, "sequence")
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


def rtt_lines(results: Results) -> list[Line]:
    """Return the curves that `rtt` draws, in milliseconds."""
    return [
        Line(flow.label, flow.columns["time"], flow.columns["rtt"] * 1e3, flow.columns["srtt"].astype(float) * 1e3)
        for flow in per_flow(results, "rtt")
    ]


def _kind(table: Mapping[str, NDArray[Any]], kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
    chosen = table["kind"] == kind
    return table["time"][chosen], table["seq"][chosen]
