"""Measurements of a composition on a path; every number comes from the tables of flows and links."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ackclock.experiments.measures import Measurement
from ackclock.matrices.paths import is_tested
from ackclock.result import Result, rows
from ackclock.statistics.fairness import jain_index

Row = dict[str, Any]


@dataclass(frozen=True)
class Metric:
    """A metric that compares compositions.

    Attributes
    ----------
    key : str
        Name of its column.
    title : str
        Its title in tables and figures, with its unit.
    scale : float
        The factor to its unit in tables and figures.
    relation : {"ratio", "difference"}
        Its comparison with the baseline.
    better : {-1, 1}
        Whether larger values are better (1), or smaller ones (−1).
    """

    key: str
    title: str
    scale: float
    relation: Literal["ratio", "difference"]
    better: Literal[-1, 1]


MEASURED = {
    "goodput_bps": float, "completion_s": float, "loss_rate": float, "queue_delay_s": float, "jain": float,
    "unfinished": int, "min_rtt_s": float, "rival_goodput_bps": float,
}  # fmt: skip
"""The columns of a measured run and their types; a column without a meaning is None."""

METRICS = {
    metric.key: metric
    for metric in (
        Metric("goodput_bps", "goodput (Mbit/s)", 1e-6, "ratio", 1),
        Metric("completion_s", "completion (s)", 1, "ratio", -1),
        Metric("loss_rate", "loss (%)", 100, "difference", -1),
        Metric("queue_delay_s", "queueing delay (ms)", 1000, "ratio", -1),
        Metric("jain", "Jain's index", 1, "difference", 1),
        Metric("taken", "taken from rivals (%)", 100, "difference", -1),
    )
}
"""Every metric, in the order of the tables."""


@dataclass(frozen=True)
class Score(Measurement[Row]):
    """The measurement of a composition on a path; `sized` are the names of the flows that have an end."""

    sized: frozenset[str]

    @property
    def record(self) -> list[str]:
        """No traces: every number comes from the tables."""
        return []

    @property
    def said(self) -> list[str]:
        """The flows that have an end."""
        return sorted(self.sized)

    def take(self, result: Result) -> Row:
        """Measure a run."""
        return score(result, self.sized)


def score(result: Result, sized: Collection[str]) -> Row:
    """Measure a run: all metrics except ``taken``, and ``unfinished``, ``min_rtt_s`` and ``rival_goodput_bps``.

    Parameters
    ----------
    result
        The run.
    sized
        Names of the flows that have a size, and so a completion time.
    """
    flows = rows(result.flows)
    tested = [flow for flow in flows if is_tested(flow["name"])]
    rivals = [flow["goodput_bps"] for flow in flows if not is_tested(flow["name"])]
    goodput = [flow["goodput_bps"] for flow in tested]
    # Transfers of a size start and end at different times, so their rates do not measure fairness.
    lasting = [flow["goodput_bps"] for flow in tested if flow["name"] not in sized]
    sent = sum(flow["sent_packets"] for flow in tested)
    completions, unfinished = _completions([flow for flow in tested if flow["name"] in sized], result.duration)
    return {
        "goodput_bps": _mean(goodput),
        "completion_s": _mean(completions),
        "loss_rate": sum(flow["dropped_packets"] for flow in tested) / sent if sent else None,
        "queue_delay_s": max((link["sojourn_mean"] or 0.0 for link in rows(result.links)), default=None),
        "jain": jain_index(lasting) if len(lasting) > 1 else None,
        "unfinished": unfinished,
        "min_rtt_s": min((flow["min_rtt"] for flow in tested if flow["min_rtt"] is not None), default=None),
        "rival_goodput_bps": _mean(rivals),
    }


def _completions(flows: Sequence[Row], end: float) -> tuple[list[float], int]:
    """Return completion times and the number of unfinished flows, which count with the time until the end."""
    times = [flow["completion_time"] for flow in flows]
    had = [max(0.0, end - flow["start_s"]) for flow in flows]
    return [least if time is None else time for time, least in zip(times, had, strict=True)], times.count(None)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
