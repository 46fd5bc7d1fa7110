"""Measures over spans of time: arrived bytes, and the mean of the congestion window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ackclock.arrow import frame
from ackclock.metrics.derivation import Derivation, Rows, Run

Spans = Mapping[str, Sequence[float]]
"""Begin and end in seconds, by the column of the measured value."""


def arrivals(spans: Spans) -> Derivation:
    """Measure the bytes of a flow that arrived in spans of time."""

    def derive(measured: Rows, result: Run) -> None:
        for row in measured:
            time, arrived = _own(result, "delivered", "bytes", row["flow"])
            total = np.concatenate([[0], arrived])
            for name, span in spans.items():
                first, last = np.searchsorted(time, span, side="right")
                row[name] = int(total[last]) - int(total[first])

    return Derivation("arrivals", tuple(spans), derive, ("delivered",), _settings(spans))


def windows(spans: Spans) -> Derivation:
    """Measure the mean of a flow's cwnd over spans of time, in segments; None if the span has no known cwnd."""

    def derive(measured: Rows, result: Run) -> None:
        for row in measured:
            time, cwnd = _own(result, "cwnd", "cwnd", row["flow"])
            for name, (begin, end) in spans.items():
                row[name] = time_mean(time, cwnd, begin, end)

    return Derivation("windows", tuple(spans), derive, ("cwnd",), _settings(spans))


def time_mean(time: NDArray[np.float64], value: NDArray[np.float64], begin: float, end: float) -> float | None:
    """Average a value that lasts until its next change; None if the span has no known value.

    The sums run from the first value to the last, so that every machine, and the page of a report, gets the same bits.
    """
    # Values that end before the span, or begin after it, would add exact zeros.
    first, last = max(int(np.searchsorted(time, begin, side="right")) - 1, 0), int(np.searchsorted(time, end))
    edges = np.clip(np.append(time[first:last], end), begin, end)
    lasts = np.diff(edges)
    known = float(np.cumsum(lasts)[-1]) if len(lasts) else 0.0
    return float(np.cumsum(value[first:last] * lasts)[-1]) / known if known > 0 else None


def _own(result: Run, trace: str, column: str, flow: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the times and one column of a flow's rows in a trace."""
    table = frame(result.trace(trace))
    chosen = table["flow"] == flow
    if not chosen.all():
        table = table.filter(chosen)
    return table["time"].to_numpy(), table[column].to_numpy()


def _settings(spans: Spans) -> tuple[list[object], ...]:
    return tuple([name, *span] for name, span in spans.items())
