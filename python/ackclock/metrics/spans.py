"""Measures over spans of time: arrived bytes, and the mean of the congestion window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars
from numpy.typing import NDArray

from ackclock.arrow import frame
from ackclock.metrics.derivation import Derivation, Rows, Run

Spans = Mapping[str, Sequence[float]]
"""Begin and end in seconds, by the column of the measured value."""


def arrivals(spans: Spans) -> Derivation:
    """Measure the bytes of a flow that arrived in spans of time."""

    def derive(measured: Rows, result: Run) -> None:
        for row in measured:
            own = _own(result, "delivered", row["flow"])
            total = np.concatenate([[0], own["bytes"].to_numpy()])
            for name, span in spans.items():
                first, last = np.searchsorted(own["time"].to_numpy(), span, side="right")
                row[name] = int(total[last]) - int(total[first])

    return Derivation("arrivals", tuple(spans), derive, ("delivered",), _settings(spans))


def windows(spans: Spans) -> Derivation:
    """Measure the mean of a flow's cwnd over spans of time, in segments; None if the span has no known cwnd."""

    def derive(measured: Rows, result: Run) -> None:
        for row in measured:
            own = _own(result, "cwnd", row["flow"])
            time, cwnd = own["time"].to_numpy(), own["cwnd"].to_numpy()
            for name, (begin, end) in spans.items():
                row[name] = time_mean(time, cwnd, begin, end)

    return Derivation("windows", tuple(spans), derive, ("cwnd",), _settings(spans))


def time_mean(time: NDArray[np.float64], value: NDArray[np.float64], begin: float, end: float) -> float | None:
    """Average a value that lasts until its next change; None if the span has no known value.

    The sums run from the first value to the last, so that every machine, and the page of a report, gets the same bits.
    """
    edges = np.clip(np.append(time, end), begin, end)
    lasts = np.diff(edges)
    known = float(np.cumsum(lasts)[-1]) if len(lasts) else 0.0
    return float(np.cumsum(value * lasts)[-1]) / known if known > 0 else None


def _own(result: Run, trace: str, flow: str) -> polars.DataFrame:
    table = frame(result.trace(trace))
    return table.filter(table["flow"].cast(polars.String) == flow)


def _settings(spans: Spans) -> tuple[list[object], ...]:
    return tuple([name, *span] for name, span in spans.items())
