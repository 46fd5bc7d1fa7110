"""Measures of a tuned run: those that an objective or a constraint can name, and the values of rivals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from ackclock.experiments.measures import Measurement
from ackclock.result import Result, frame, rows
from ackclock.statistics.fairness import jain_index
from ackclock.statistics.harm import harm_to_less, harm_to_more

Row = dict[str, Any]
HARM = "harm"


@dataclass(frozen=True)
class Measure:
    """A measure.

    Attributes
    ----------
    unit : str
        Its unit; empty for shares, counts and indices.
    meaning : str
        What it measures.
    derive : callable or None
        Function of a run; None for `HARM`, which compares two runs.
    trace : str
        The trace that it needs; empty if it needs none.
    """

    unit: str
    meaning: str
    derive: Callable[[Run], float | None] | None
    trace: str = ""


class Run:
    """The tables of a run, read once.

    Parameters
    ----------
    result
        The run.
    tested
        Patterns of the names of the flows under test.
    """

    def __init__(self, result: Result, tested: Sequence[str]) -> None:
        self.result = result
        self.flows = rows(result.flows)
        self._patterns = tested
        self._transfers = rows(result.transfers)
        self._pages = rows(result.pages)
        # The application of each connection.
        self._owners = {row["flow"]: row["application"] for row in self._transfers if row["flow"] is not None}

    def is_tested(self, flow: str) -> bool:
        """Whether a flow, or the application of a connection, is under test."""
        return is_tested(self._owners.get(flow, flow), self._patterns)

    @property
    def tested(self) -> list[Row]:
        """The rows of the flows under test."""
        return [flow for flow in self.flows if self.is_tested(flow["name"])]

    @property
    def lasting(self) -> list[Row]:
        """The rows of flows that have no size and serve no application: their goodput is a share of the path."""
        return [flow for flow in self.flows if flow["size_packets"] is None and flow["name"] not in self._owners]

    @property
    def times(self) -> list[float]:
        """Load times of pages, or completion times of transfers, or of flows with a size.

        Unfinished ones count with the time until the end of the run.
        """
        own = [times for name, times in self._applications().items() if is_tested(name, self._patterns)]
        if own:
            return [time for times in own for time in times]
        return [completion(flow, self.result.duration) for flow in self.tested if flow["size_packets"] is not None]

    def _applications(self) -> dict[str, list[float]]:
        """Return the load times of the pages of each application, or else the completion times of its transfers."""
        found: dict[str, list[float]] = {}
        for table, time, start in (
            (self._pages, "load_time", "start_s"),
            (self._transfers, "completion_time", "queued_s"),
        ):
            here: dict[str, list[float]] = {}
            for row in table:
                taken = self.result.duration - row[start] if row[time] is None else float(row[time])
                here.setdefault(row["application"], []).append(taken)
            found = {**here, **found}
        return found

    def rivals(self) -> dict[str, list[float | bool]]:
        """Return the value of everything that is not under test, and whether more is better.

        It is the mean time of an application, the completion time of a flow with a size, or goodput.
        """
        found: dict[str, list[float | bool]] = {
            name: [math.fsum(times) / len(times), False]
            for name, times in self._applications().items()
            if not is_tested(name, self._patterns)
        }
        for flow in self.flows:
            if not self.is_tested(flow["name"]) and flow["name"] not in self._owners:
                sized = flow["size_packets"] is not None
                value = completion(flow, self.result.duration) if sized else flow["goodput_bps"]
                found[flow["name"]] = [value, not sized]
        return found

    @property
    def bottleneck(self) -> Row:
        """The row of the slowest link on the path of the first flow's data."""
        name = self.result.scenario.bottleneck
        return next(link for link in rows(self.result.links) if link["name"] == name)

    def share(self, column: str) -> float | None:
        """Return packets of the tested flows over the packets that they sent."""
        sent = sum(flow["sent_packets"] for flow in self.tested)
        return sum(flow[column] for flow in self.tested) / sent if sent else None


def completion(flow: Row, end: float) -> float:
    """Return the completion time of a flow, or its time until the end of the run."""
    time: float | None = flow["completion_time"]
    return max(0.0, end - (flow["start_s"] or 0.0)) if time is None else time


def _goodput(run: Run) -> float | None:
    return math.fsum(flow["goodput_bps"] for flow in run.tested) if run.tested else None


def _completion_mean(run: Run) -> float | None:
    times = run.times
    return math.fsum(times) / len(times) if times else None


def _completion_p95(run: Run) -> float | None:
    import numpy as np

    times = run.times
    return float(np.quantile(times, 0.95)) if times else None


def _sojourn_p95(run: Run) -> float | None:
    import polars

    trace = frame(run.result.trace("sojourn"))
    own = trace.filter(polars.col("link").cast(polars.String) == run.result.scenario.bottleneck)
    found: float | None = own["sojourn"].quantile(0.95, "linear")
    return found


def _jain(run: Run) -> float | None:
    goodputs = [flow["goodput_bps"] for flow in run.lasting]
    return jain_index(goodputs) if len(goodputs) > 1 else None


MEASURES = {
    "goodput_bps": Measure("bit/s", "goodput of the tested flows, added up", _goodput),
    "completion_mean": Measure("s", "mean completion time of flows, transfers or pages", _completion_mean),
    "completion_p95": Measure("s", "95th percentile of the completion times", _completion_p95),
    "retransmitted_share": Measure(
        "", "retransmitted packets over sent packets", lambda run: run.share("retransmitted_packets")
    ),
    "loss_rate": Measure("", "lost packets over sent packets", lambda run: run.share("dropped_packets")),
    "timeouts": Measure(
        "", "expired retransmission timers", lambda run: float(sum(flow["timeouts"] for flow in run.tested))
    ),
    "sojourn_mean": Measure(
        "s", "mean waiting time at the bottleneck", lambda run: run.bottleneck["sojourn_mean"]
    ),
    "sojourn_p95": Measure("s", "95th percentile of the waiting times at the bottleneck", _sojourn_p95, "sojourn"),
    "jain": Measure("", "Jain's index of the goodputs of all flows without a size or application", _jain),
    HARM: Measure("", "largest harm to a flow that is not under test", None),
}  # fmt: skip
"""Every measure."""


@dataclass(frozen=True)
class Score(Measurement[Row]):
    """The measurement of a run: every measure that needs no trace, and the wanted ones that need one."""

    tested: tuple[str, ...]
    traced: tuple[str, ...]

    @property
    def record(self) -> list[str]:
        """The traces of the wanted measures."""
        return sorted({MEASURES[name].trace for name in self.traced})

    @property
    def said(self) -> list[list[str]]:
        """The tested flows and the measures that need a trace."""
        return [list(self.tested), list(self.traced)]

    def take(self, result: Result) -> Row:
        """Measure a run: values by measure, and those of its rivals."""
        run = Run(result, self.tested)
        values = {
            name: measure.derive(run)
            for name, measure in MEASURES.items()
            if measure.derive is not None and (not measure.trace or name in self.traced)
        }
        return {"values": values, "rivals": run.rivals()}


def is_tested(name: str, patterns: Sequence[str]) -> bool:
    """Whether a flow of this name is under test."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def harm(alone: Mapping[str, Any], together: Mapping[str, Any]) -> float | None:
    """Largest harm to a rival: the relative loss of its goodput, or growth of its completion or load time.

    Parameters
    ----------
    alone, together
        The rivals of the run without the tested flows, and of the run with them.
    """
    found = []
    for name in together.keys() & alone.keys():
        (beside, more_is_better), solo = together[name], alone[name][0]
        found.append(harm_to_more(solo, beside) if more_is_better else harm_to_less(solo, beside))
    return max((each for each in found if each is not None), default=None)
