"""Curves over time of results, as they are measured and drawn; this module has nothing of their look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from ackclock.arrow import frame
from ackclock.files import checks
from ackclock.summaries import AnyResult

Results = AnyResult | Sequence[AnyResult] | Mapping[str, AnyResult]
Floats = NDArray[np.float64]
BINS = 1200  # of a long curve, in each of which only its extremes are drawn
SAMPLES = 500
"""Samples of one run's curve."""


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


def bin_edges(duration: float, bin: float | None = None) -> Floats:  # noqa: A002
    """Return the edges of bins of `bin` seconds, at most the run; by default a hundredth of the run."""
    if bin is not None and bin <= 0:
        raise ValueError("bin must be above 0")
    return np.arange(0.0, duration + 1e-9, duration / 100 if bin is None else min(bin, duration))


def per_flow(results: Results, trace: str) -> list[Flow]:
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


def cwnd_lines(results: Results) -> list[Line]:
    """Return the congestion windows, and ssthresh as `thin`."""
    lines = []
    for flow in per_flow(results, "cwnd"):
        table = flow.columns
        threshold = table["ssthresh"].astype(float)
        # Before the first loss ssthresh may be infinite or the receiver's window, which would flatten the curves.
        threshold[~(threshold <= 1.3 * np.nanmax(table["cwnd"], initial=1.0))] = np.nan
        lines.append(Line(flow.label, table["time"], table["cwnd"].astype(float), threshold))
    return lines


def throughput_lines(results: Results, bin: float | None = None) -> list[Line]:  # noqa: A002
    """Return the rates at which data arrive in order at the receivers, in Mbit/s."""
    durations = {name: result.duration for name, result in labelled(results).items()}
    lines = []
    for flow in per_flow(results, "delivered"):
        edges = bin_edges(durations[flow.run], bin)
        # `bytes` is cumulative: at an edge it has the value of the last arrival before it.
        place = np.searchsorted(flow.columns["time"], edges, side="right")
        total = np.concatenate([[0.0], flow.columns["bytes"].astype(float)])[place]
        rate = np.diff(total) * 8 / edges[1] / 1e6
        if len(rate):
            lines.append(Line(flow.label, edges, np.append(rate, rate[-1])))
    return lines


def rtt_lines(results: Results) -> list[Line]:
    """Return the round-trip time that each ACK measures, in milliseconds, and the smoothed one as `thin`."""
    return [
        Line(
            flow.label, flow.columns["time"], flow.columns["rtt"].astype(float) * 1e3,
            flow.columns["srtt"].astype(float) * 1e3,
        )
        for flow in per_flow(results, "rtt")
    ]  # fmt: skip


def internal_lines(results: Results, names: Sequence[str] | None = None) -> dict[str, list[Line]]:
    """Return the internal quantities of congestion controls, by quantity; see `drawing.overtime.internals`."""
    found: dict[str, list[Line]] = {}
    runs = labelled(results)
    for run, result in runs.items():
        table = frame(result.trace("internals")).with_columns(polars.col("flow", "name").cast(polars.String))
        for part in table.partition_by("flow", "name", maintain_order=True):
            flow, name = part["flow"][0], part["name"][0]
            prefix = [run] if len(runs) > 1 else []
            prefix += [flow] if len(frame(result.flows)) > 1 else []
            line = Line(
                ": ".join([", ".join(prefix), name] if prefix else [name]),
                part["time"].to_numpy().copy(),
                part["value"].to_numpy().copy(),
            )
            found.setdefault(name, []).append(line)
    if not found:
        raise ValueError("no flow has internal quantities; the parts of Westwood, for example, have some")
    checks.words("internals", "quantity", names or (), found)
    return {name: found[name] for name in (names or found)}


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


def sampled(line: Line, end: float) -> Line:
    """Sample a step curve at equal distances from 0 to `end` seconds; NaN before its first point."""
    times = (np.arange(SAMPLES) + 0.5) * (end / SAMPLES)
    place = np.searchsorted(line.x, times, side="right") - 1
    values = np.where(place >= 0, line.y[place], np.nan) if len(line.y) else np.full(len(times), np.nan)
    return Line(line.label, times.astype(np.float32), values.astype(np.float32), None, step=False)
