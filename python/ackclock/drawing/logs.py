"""Figures of logs in the format qlog: windows, round-trip times, pacing rates and data sent of several connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars

from ackclock.curves import Floats, Line, thin_out
from ackclock.drawing.figure import Axis, Figure, Panel, Series, from_lines
from ackclock.drawing.overtime import TIME, visible
from ackclock.qlogs import Qlog

CURVES = "curves"
USUAL = ("slow_start", "congestion_avoidance", "application_limited", "avoidance", "init", "hystart", "steady")
"""States in which a sender does not recover from a loss or a mark, in the words of the drafts and of stacks."""
Logs = Mapping[str, Qlog]


def labelled(logs: Sequence[Qlog]) -> dict[str, Qlog]:
    """Return logs by their labels: the file if there are several, and the title if a file has several."""
    many = len({log.file for log in logs}) > 1
    found: dict[str, Qlog] = {}
    for log in logs:
        alone = sum(other.file == log.file for other in logs) == 1
        words = [log.file.stem] if many and alone else [log.file.stem, log.title] if many else [log.title]
        label, number = ", ".join(words), 2
        while label in found:
            label, number = f"{', '.join(words)} ({number})", number + 1
        found[label] = log
    return found


def cwnd(logs: Logs) -> list[Series]:
    """Return windows, bytes in flight as thin lines, losses as marks, and the times of recovery as bands."""
    made: list[Series] = []
    for label, log in logs.items():
        window = _line(label, log, "congestion_window", 1e3)
        flight = _line(label, log, "bytes_in_flight", 1e3)
        made += from_lines([window])
        made += [
            Series(f"{label}, in flight", each.x, each.y, each.style, faint=True, like=label, aside="in flight (thin)")
            for each in from_lines([flight])
            if len(flight.x)
        ]
        if (band := _recovery(log, window)) is not None:
            x, high = band
            name, low = f"{label}, recovery", np.where(np.isnan(high), np.nan, 0.0)
            made.append(Series(name, x, high, "step", low, high, faint=True, like=label, aside="recovery (band)"))
        lost = log.packets.filter(polars.col("event") == "lost")["time"].to_numpy()
        if len(lost):
            times = visible(lost, float(lost[-1]) or 1.0)
            zeros = np.zeros(len(times))
            made.append(Series(f"{label}, lost", times, zeros, "points", like=label, aside="lost", marker="x"))
    return made


def rtt(logs: Logs) -> list[Series]:
    """Return the round-trip times that ACKs measure, and the smoothed ones as thin lines."""
    made: list[Series] = []
    for label, log in logs.items():
        made += from_lines([_line(label, log, "latest_rtt", 1e-3)])
        smooth = _line(label, log, "smoothed_rtt", 1e-3)
        made += [
            Series(f"{label}, smoothed", each.x, each.y, each.style, faint=True, like=label, aside="smoothed (thin)")
            for each in from_lines([smooth])
            if len(smooth.x)
        ]
    return made


def pacing(logs: Logs) -> list[Series]:
    """Return the pacing rates."""
    return from_lines(_line(label, log, "pacing_rate", 1e6) for label, log in logs.items())


def sequence(logs: Logs) -> list[Series]:
    """Return the data sent so far, with headers and retransmissions."""
    lines = []
    for label, log in logs.items():
        sent = log.packets.filter(polars.col("event") == "sent").drop_nulls("size")
        lines.append(Line(label, sent["time"].to_numpy(), sent["size"].cum_sum().to_numpy() / 1e6))
    return from_lines(lines)


KINDS: Mapping[str, tuple[Callable[[Logs], list[Series]], str, str]] = {
    "cwnd": (cwnd, "Congestion window of each connection", "cwnd (kB)"),
    "rtt": (rtt, "Round-trip time of each connection", "round-trip time (ms)"),
    "pacing": (pacing, "Pacing rate of each connection", "pacing rate (Mbit/s)"),
    "sequence": (sequence, "Data sent by each connection", "data sent (MB)"),
}
"""Kinds of figures of logs: what they show, their titles, and those of their axes."""


def figure(logs: Logs, kind: str = CURVES) -> Figure:
    """Return a figure of logs: one of `KINDS`, or ``curves`` for all that the logs have, below each other.

    Raises
    ------
    ValueError
        If no log has what the figure shows.
    """
    panels = []
    for each in KINDS if kind == CURVES else (kind,):
        found, title, unit = KINDS[each]
        series = [series for series in found(logs) if len(np.asarray(series.y))]
        if series:
            panels.append(Panel(series, x=TIME, y=Axis(unit)))
    if not panels:
        what = "packets or metrics" if kind == CURVES else KINDS[kind][2].partition(" (")[0]
        places = ", ".join(str(file) for file in dict.fromkeys(log.file for log in logs.values()))
        raise ValueError(f"{places}: no connection has {what} to draw")
    title = "Logs of connections" if kind == CURVES else KINDS[kind][1]
    return Figure(title, panels, kind, stacked=len(panels) > 1)


def name(logs: Logs, kind: str) -> str:
    """Return the name of a figure's file: with that of the log, if there is one."""
    files = list(dict.fromkeys(log.file for log in logs.values()))
    return f"{files[0].stem if len(files) == 1 else 'logs'}-{kind}"


def _line(label: str, log: Qlog, column: str, unit: float) -> Line:
    found = log.metrics.select("time", column).drop_nulls()
    return Line(label, found["time"].to_numpy(), found[column].to_numpy() / unit)


def _recovery(log: Qlog, window: Line) -> tuple[Floats, Floats] | None:
    """Return the window while the sender recovers, with a gap after each recovery; None if it never does."""
    starts = log.states["time"].to_numpy()
    recovers = ~log.states["state"].str.to_lowercase().is_in(USUAL).to_numpy()
    if not recovers.any() or not len(window.x):
        return None
    drawn = thin_out(window)
    ends = np.append(starts[1:], max(window.x[-1], starts[-1]))
    x: list[Floats] = []
    y: list[Floats] = []
    for start, end in zip(starts[recovers], ends[recovers], strict=True):
        first, last = np.searchsorted(drawn.x, [start, end], side="right")
        if not last:  # the window is not known yet
            continue
        # The window at the begin, its changes, and its last value up to the end, where the gap begins.
        values = np.concatenate([drawn.y[max(first - 1, 0) : last], drawn.y[max(last - 1, 0) : max(last, 1)]])
        x.append(np.concatenate([[start], drawn.x[first:last] if first else drawn.x[1:last], [end, end]]))
        y.append(np.append(values, np.nan))
    return (np.concatenate(x), np.concatenate(y)) if x else None
