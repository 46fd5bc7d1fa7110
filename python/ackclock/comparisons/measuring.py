"""Measurements of the runs of a comparison: of the flows under test, and of a reference flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars

from ackclock.experiments.measurement import Measurement
from ackclock.metrics import exits
from ackclock.metrics.groups import GROUPS, Group
from ackclock.metrics.registry import MEASURES
from ackclock.results import Result, frame

Row = dict[str, Any]
"""Numbers or None by their columns; in a stored run of the flows under test also its `WARNINGS`."""

REFERENCE = "reference-flow"
"""Name of the reference flow."""
SHARE = 0.95
"""The quantile of delays."""

TESTED = ("goodput_bps", "completion", "finished", "unfinished", "sojourn_p95", "resent", "jain", "rival_goodput_bps")
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

    @property
    def fingerprint(self) -> list[int]:
        """The versions of the measures."""
        return [MEASURES[name].version for name in TESTED]

    def take(self, result: Result) -> Row:
        """Measure a run: the measures `TESTED`, and the names and texts of the run's `WARNINGS`."""
        group = Group(result)
        warned = [{"name": each["name"], "text": each["text"]} for each in result.warnings]
        return {**{name: GROUPS[name](group) for name in TESTED}, WARNINGS: warned}


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
        return list(dict.fromkeys([*super().record, *exits.DERIVATION.traces]))

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
