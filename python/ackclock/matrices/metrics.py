"""Measurements of a composition on a path; every number comes from the tables of flows and links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ackclock.experiments.measurement import Measurement
from ackclock.metrics.groups import GROUPS, TESTED, Group
from ackclock.metrics.metric import Metric
from ackclock.metrics.registry import MEASURES
from ackclock.result import Result

Row = dict[str, Any]

MEASURED = (
    *("goodput_bps", "completion", "loss_rate", "sojourn_mean", "jain"),
    *("unfinished", "min_rtt", "rival_goodput_bps"),
)
"""The measures of a run; one without a meaning is None."""

METRICS = {
    metric.key: metric
    for metric in (
        Metric("goodput_bps", "ratio"),
        Metric("completion", "ratio"),
        Metric("loss_rate", "difference"),
        Metric("sojourn_mean", "ratio"),
        Metric("jain", "difference"),
        Metric("taken", "difference"),
    )
}
"""The measures that are compared, in the order of the tables."""


@dataclass(frozen=True)
class Score(Measurement[Row]):
    """The measurement of the flows under test on a path."""

    @property
    def record(self) -> list[str]:
        """No traces: every number comes from the tables."""
        return []

    @property
    def said(self) -> list[int]:
        """The versions of the measures."""
        return [MEASURES[name].version for name in MEASURED]

    def take(self, result: Result) -> Row:
        """Measure a run."""
        tested = Group(result, TESTED)
        return {name: GROUPS[name](tested) for name in MEASURED}
