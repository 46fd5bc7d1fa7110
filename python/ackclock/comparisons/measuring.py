"""Measurements of the runs of a comparison: of the flows under test, and of a reference flow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars

from ackclock.comparisons.places import under_test
from ackclock.experiments import exits
from ackclock.experiments.freeze import Frozen
from ackclock.experiments.measures import Measurement
from ackclock.result import Result, frame

Row = dict[str, Any]
"""Numbers or None by their columns; in a stored run of the flows under test also its `WARNINGS`."""

REFERENCE = "reference-flow"
"""Name of the reference flow."""
SHARE = 0.95
"""The quantile of delays."""

TESTED = ("goodput_bps", "completion_s", "finished", "unfinished", "queue_p95_s", "resent")
"""The columns of `Tested`."""
START = (*exits.IDEAL_EXIT, "exit_lost")
"""The columns of `Alone`, beside those of `Reference`: of its exit from slow start."""
REFERENCE_COLUMNS = ("reference_bps", "reference_rtt_s", "reference_loss")
"""The columns of `Reference`."""
COLUMNS = (*TESTED, *START, *REFERENCE_COLUMNS)
"""The columns of numbers."""
WARNINGS = "warnings"
"""The column of a run's warnings, each with `name` and `text`."""


@dataclass(frozen=True)
class Tested(Measurement[Row]):
    """The flows under test: goodput, completion, the delay that they cause, and retransmissions."""

    @property
    def record(self) -> list[str]:
        """The trace of waiting times."""
        return ["sojourn"]

    def take(self, result: Result) -> Row:
        """Measure a run.

        Returns
        -------
        dict
            - ``goodput_bps``: mean goodput of the flows without a size, in bits per second;
            - ``completion_s``: mean completion time of the flows with a size; an unfinished one counts with the time
              until the end of the run, and in ``unfinished``;
            - ``finished``, ``unfinished``: number of the flows with a size that finished, and that did not;
            - ``queue_p95_s``: 95th percentile of the waiting times at the link where it is largest, in seconds;
            - ``resent``: retransmitted over sent packets;
            - ``warnings``: names and texts of the run's warnings.
        """
        names = under_test(flow["name"] for flow in Frozen(result.scenario).flows)
        rows = frame(result.flows).to_dicts()
        tested = [row for row in rows if row["name"] in names or row["name"].rpartition(".")[0] in names]
        sized = [row for row in tested if row["size_packets"] is not None]
        completions = [row["completion_time"] for row in sized]
        ends = [max(0.0, result.duration - row["start_s"]) for row in sized]
        sent = sum(row["sent_packets"] for row in tested)
        return {
            "goodput_bps": _mean([row["goodput_bps"] for row in tested if row["size_packets"] is None]),
            "completion_s": _mean([end if own is None else own for own, end in zip(completions, ends, strict=True)]),
            "finished": float(len(completions) - completions.count(None)),
            "unfinished": float(completions.count(None)),
            "queue_p95_s": _queueing(result),
            "resent": sum(row["retransmitted_packets"] for row in tested) / sent if sent else None,
            WARNINGS: [{"name": each["name"], "text": each["text"]} for each in result.warnings],
        }


@dataclass(frozen=True)
class Reference(Measurement[Row]):
    """The flow `REFERENCE`: its goodput, round-trip time and losses."""

    @property
    def record(self) -> list[str]:
        """The trace of round-trip times."""
        return ["rtt"]

    def take(self, result: Result) -> Row:
        """Measure a run.

        Returns
        -------
        dict
            ``reference_bps``, its goodput in bits per second; ``reference_rtt_s``, the 95th percentile of its
            round-trip times in seconds; ``reference_loss``, its lost over its sent packets.
        """
        row = _row(result)
        trips = frame(result.trace("rtt")).filter(polars.col("flow").cast(polars.String) == REFERENCE)["rtt"]
        return {
            "reference_bps": row["goodput_bps"],
            "reference_rtt_s": float(np.quantile(trips.to_numpy(), SHARE)) if len(trips) else None,
            "reference_loss": row["dropped_packets"] / row["sent_packets"] if row["sent_packets"] else None,
        }


@dataclass(frozen=True)
class Alone(Reference):
    """The flow `REFERENCE` without competition: also the distance of its slow start from the ideal exit."""

    @property
    def record(self) -> list[str]:
        """The traces of the reference flow and of the measure `ideal_exit`."""
        return list(dict.fromkeys([*super().record, *exits.MEASURE.traces]))

    def take(self, result: Result) -> Row:
        """Measure a run.

        Returns
        -------
        dict
            The columns of `Reference`, those of the measure `ideal_exit`, and ``exit_lost``, the segments that the
            first overshoot lost; None without an exit.
        """
        row = {**_row(result), "flow": REFERENCE}
        exits.ideal_exit([row], result)
        left = row["slow_start_exit_time"] is not None
        lost = {"exit_lost": float(row["first_overshoot_losses"]) if left else None}
        return super().take(result) | {name: row[name] for name in exits.IDEAL_EXIT} | lost


def _row(result: Result) -> dict[str, Any]:
    (row,) = frame(result.flows).filter(polars.col("name") == REFERENCE).to_dicts()
    return row


def _queueing(result: Result) -> float | None:
    """Return the largest of the links' 95th percentiles of waiting times."""
    table = frame(result.trace("sojourn")).group_by("link").agg(polars.col("sojourn").quantile(SHARE, "linear"))
    return max(table["sojourn"].to_list(), default=None)


def _mean(values: Sequence[Any]) -> float | None:
    return math.fsum(values) / len(values) if values else None
