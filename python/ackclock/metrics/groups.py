"""Measures of a group of flows, such as those under test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from ackclock.arrow import frame, rows
from ackclock.metrics.derivation import Run
from ackclock.statistics.fairness import jain_index

Row = Mapping[str, Any]

TESTED = ("tested*",)
"""Patterns of the names of flows under test, unless others are given."""
EVERY = ("*",)
"""Patterns of all names."""


def is_tested(name: str, patterns: Sequence[str] = TESTED) -> bool:
    """Whether a flow of this name is under test: it, or the flow whose connection it is, fits a pattern.

    A connection that an application opens has the name of its flow and a number, as in ``page.0``.
    """
    return any(fnmatchcase(each, pattern) for each in (name, name.rpartition(".")[0]) for pattern in patterns)


def patterns(names: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns of the flows under test: `TESTED`, or `EVERY` if no name fits."""
    return TESTED if any(map(is_tested, names)) else EVERY


def under_test(names: Iterable[str]) -> frozenset[str]:
    """Return the names of the flows under test: those that fit `TESTED`, or all if none does."""
    every = frozenset(names)
    # Once, not for each name: a scenario may have thousands of flows.
    wanted = patterns(every)
    return frozenset(name for name in every if is_tested(name, wanted))


def completion(flow: Row, end: float) -> float:
    """Return the completion time of a flow in seconds; of an unfinished one the time from its start to `end`."""
    return _until(flow["completion_time"], flow["start_s"], end)


def _until(took: float | None, start: float | None, end: float) -> float:
    return max(0.0, end - (start or 0.0)) if took is None else float(took)


@dataclass(frozen=True)
class Transfer:
    """A transfer of a known amount of data: a flow with a size, a page, or a response.

    Attributes
    ----------
    owner : str
        Its flow, or its application.
    time : float
        Its completion or load time in seconds; of an unfinished one the time until the end of the run.
    finished : bool
        Whether it is complete.
    """

    owner: str
    time: float
    finished: bool


class Group:
    """Flows of a run that are measured together, and the rest of the run.

    Parameters
    ----------
    run
        The run.
    named
        Patterns of the names of its flows and applications; None: the flows under test, see `under_test`.
    """

    def __init__(self, run: Run, named: Sequence[str] | None = None) -> None:
        self.run = run
        self._all = rows(run.flows)
        self._patterns = patterns(flow["name"] for flow in self._all) if named is None else tuple(named)

    def has(self, name: str) -> bool:
        """Whether a flow, or an application, belongs to the group."""
        return is_tested(name, self._patterns)

    @cached_property
    def flows(self) -> list[Row]:
        """The rows of its flows."""
        return [flow for flow in self._all if self.has(flow["name"])]

    @cached_property
    def others(self) -> list[Row]:
        """The rows of all other flows of the run."""
        return [flow for flow in self._all if not self.has(flow["name"])]

    @property
    def lasting(self) -> list[Row]:
        """The rows of its flows that have no size and serve no application: they share the path until the end."""
        return [flow for flow in self.flows if flow["size_packets"] is None and not self._serves(flow)]

    def _serves(self, flow: Row) -> bool:
        return flow["name"] in self._connections

    @cached_property
    def _tables(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Transfers and pages of the run's applications."""
        return rows(self.run.transfers), rows(self.run.pages)

    @cached_property
    def _connections(self) -> frozenset[str]:
        """Names of the connections of applications."""
        return frozenset(row["flow"] for row in self._tables[0] if row["flow"] is not None)

    @property
    def transfers(self) -> list[Transfer]:
        """The transfers of its flows with a size and of its applications."""
        return [transfer for transfer in self._transfers(self.flows) if self.has(transfer.owner)]

    def _transfers(self, flows: Sequence[Row]) -> Iterator[Transfer]:
        """Yield the transfers of some flows and of all applications: pages, or transfers if one loads no pages."""
        end = self.run.duration
        for flow in flows:
            if flow["size_packets"] is not None:
                yield Transfer(flow["name"], completion(flow, end), flow["completion_time"] is not None)
        transfers, pages = self._tables
        loading = {row["application"] for row in pages}
        for row in pages:
            yield Transfer(
                row["application"], _until(row["load_time"], row["start_s"], end), row["load_time"] is not None
            )
        for row in transfers:
            if row["application"] not in loading:
                took = row["completion_time"]
                yield Transfer(row["application"], _until(took, row["queued_s"], end), took is not None)

    @property
    def media(self) -> list[Row]:
        """The rows of its applications of media."""
        return [row for row in rows(self.run.media) if self.has(row["application"])]

    @property
    def bottleneck(self) -> Row | None:
        """The row of the slowest link on the path of the first flow's data; None without links on it."""
        name = self.run.scenario.bottleneck
        return next((link for link in rows(self.run.links) if link["name"] == name), None)

    def rivals(self) -> dict[str, list[float | bool]]:
        """Return the value of everything that is not in the group, and whether more is better.

        It is the mean time of an application, the completion time of a flow with a size, or goodput.
        """
        times: dict[str, list[float]] = {}
        for transfer in self._transfers(self.others):
            if not self.has(transfer.owner):
                times.setdefault(transfer.owner, []).append(transfer.time)
        found: dict[str, list[float | bool]] = {name: [_average(own), False] for name, own in times.items()}
        for flow in self.others:
            if flow["size_packets"] is None and not self._serves(flow):
                found[flow["name"]] = [flow["goodput_bps"], True]
        return found


def _average(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _mean(values: Sequence[float]) -> float | None:
    return _average(values) if values else None


def _share(group: Group, column: str) -> float | None:
    """Return packets of the group over the packets that it sent; None if a flow does not tell them."""
    sent = sum(flow["sent_packets"] for flow in group.flows)
    counts = [flow[column] for flow in group.flows]
    return sum(counts) / sent if sent and None not in counts else None


def _completion_tail(group: Group) -> float | None:
    import numpy as np

    times = [transfer.time for transfer in group.transfers]
    return float(np.quantile(times, 0.95)) if times else None


def _jain(group: Group) -> float | None:
    goodputs = [flow["goodput_bps"] for flow in group.lasting]
    return jain_index(goodputs) if len(goodputs) > 1 else None


def _sojourn_mean(group: Group) -> float | None:
    link = group.bottleneck
    return None if link is None else link["sojourn_mean"]


def _sojourn_p95(group: Group) -> float | None:
    import polars

    trace = frame(group.run.trace("sojourn"))
    own = trace.filter(polars.col("link").cast(polars.String) == group.run.scenario.bottleneck)
    found: float | None = own["sojourn"].quantile(0.95, "linear")
    return found


def _min_rtt(group: Group) -> float | None:
    return min((flow["min_rtt"] for flow in group.flows if flow["min_rtt"] is not None), default=None)


def _of_media(column: str) -> Callable[[Group], float | None]:
    """Return the mean of a column over the applications of media that have a value."""
    return lambda group: _mean([row[column] for row in group.media if row[column] is not None])


MEDIA = (
    *("bitrate_bps", "switches", "startup_time", "stalls", "stall_time", "played_time"),
    *("late_share", "frame_delay_median", "frame_delay_p95", "frame_delay_p99"),
)
"""The columns of the table ``media`` that are measures."""

GROUPS: Mapping[str, Callable[[Group], float | None]] = {
    "goodput_bps": lambda group: _mean([flow["goodput_bps"] for flow in group.flows]),
    "completion": lambda group: _mean([transfer.time for transfer in group.transfers]),
    "completion_tail": _completion_tail,
    "finished": lambda group: float(sum(transfer.finished for transfer in group.transfers)),
    "unfinished": lambda group: float(sum(not transfer.finished for transfer in group.transfers)),
    "resent": lambda group: _share(group, "retransmitted_packets"),
    "loss_rate": lambda group: _share(group, "dropped_packets"),
    "timeouts": lambda group: float(sum(flow["timeouts"] for flow in group.flows)),
    "sojourn_mean": _sojourn_mean,
    "sojourn_p95": _sojourn_p95,
    "jain": _jain,
    "min_rtt": _min_rtt,
    "rival_goodput_bps": lambda group: _mean([flow["goodput_bps"] for flow in group.others]),
    **{name: _of_media(name) for name in MEDIA},
}
"""The measures of a group by name; those of its bottleneck are the run's."""

TRACES = {"sojourn_p95": "sojourn"}
"""The trace that a measure of a group needs; others need none."""
