"""Measurements of a run, simulated or on the kernel: numbers of its flows and links, and curves of cwnd."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ackclock.curves import cwnd_lines, sampled
from ackclock.experiments.measurement import Measurement
from ackclock.judging.tolerances import OWN, SAME, Tolerance
from ackclock.linux.facts import facts
from ackclock.metrics.groups import completion
from ackclock.metrics.registry import MEASURES
from ackclock.results import Result, frame

DIGITS = 5
"""Significant digits of a stored window."""
FLOW = (
    *("delivered_bytes", "completion_time", "slow_start_exit_cwnd", "retransmitted_packets", "timeouts"),
    *("start_s", "size_packets", "path_rtt", "control"),
)
"""The columns of a flow that a measurement holds."""
PATH = ("queue_drops", "losses", "sojourn_mean")
"""The numbers of all links: packets dropped by queues, packets lost, mean waiting time at the bottleneck in seconds."""


@dataclass(frozen=True)
class Run:
    """The measurement of a run.

    Attributes
    ----------
    flows : dict
        The numbers `FLOW` of each flow by its name; a number that does not exist is None.
    path : dict
        The numbers `PATH`.
    curves : dict
        For each flow its cwnd in segments at equal distances from the run's start to its end; None before its start.
    facts : dict
        Those of the facts `FACTS` that its world has, and `UNFOLLOWED`, of a run on a kernel; empty for a simulation.
    """

    flows: Mapping[str, Mapping[str, Any]]
    path: Mapping[str, float | None]
    curves: Mapping[str, list[float | None]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunMeasurement(Measurement[Run]):
    """The measurement of a run for a comparison of simulation and kernel.

    Attributes
    ----------
    curves : bool
        Whether it has curves of cwnd.
    """

    curves: bool = True

    @property
    def record(self) -> tuple[str, ...]:
        """The trace of the curves."""
        return ("cwnd",) if self.curves else ()

    @property
    def fingerprint(self) -> bool:
        """Whether it has curves."""
        return self.curves

    def take(self, result: Result) -> Run:
        """Measure a run."""
        flows = {row["name"]: {name: row[name] for name in FLOW} for row in frame(result.flows).to_dicts()}
        links = frame(result.links).to_dicts()
        bottleneck = next((row for row in links if row["name"] == result.scenario.bottleneck), None)
        path = {
            "queue_drops": float(sum(row["drops"] for row in links)),
            "losses": float(sum(row["losses"] for row in links)),
            "sojourn_mean": None if bottleneck is None else bottleneck["sojourn_mean"],
        }
        return Run(flows, path, _curves(result) if self.curves else {}, facts(result))

    def pack(self, measured: Run) -> dict[str, Any]:
        """Return a run as a value of JSON."""
        return dict(vars(measured))  # `asdict` would copy every number

    def unpack(self, value: Any) -> Run:  # noqa: ANN401 - any JSON
        """Return a run from a value of `pack`."""
        return Run(**value)


def _curves(result: Result) -> dict[str, list[float | None]]:
    lines = cwnd_lines({result.name: result})
    return {line.label: [_short(value) for value in sampled(line, result.duration).y.tolist()] for line in lines}


def _short(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


@dataclass(frozen=True)
class Compared:
    """A measure that simulation and kernel have in common.

    Attributes
    ----------
    key : str
        Its name.
    unit : str
        Its unit on a page.
    tolerance : Tolerance
        Largest difference that is no difference, see `ackclock.judging.tolerances`.
    primary : bool
        Whether it is what the comparison is about: data delivered, or time taken.
    scale : float
        Factor from the unit of a run to that of the page.
    digits : int
        Decimals on a page.
    """

    key: str
    unit: str
    tolerance: Tolerance
    primary: bool = False
    scale: float = 1.0
    digits: int = 0

    @property
    def title(self) -> str:
        """Its name on a page."""
        return MEASURES[self.key].title


DELIVERED = Compared("delivered_bytes", "MB", SAME, primary=True, scale=1e-6, digits=3)
COMPLETION = Compared("completion", "s", SAME, primary=True, digits=4)
EXIT = Compared("slow_start_exit_cwnd", "segments", OWN["slow_start_exit_cwnd"], digits=1)
RETRANSMITTED = Compared("retransmitted_packets", "packets", OWN["retransmitted_packets"], digits=1)
DROPS = Compared("queue_drops", "packets", OWN["queue_drops"], digits=1)
WAITING = Compared("sojourn_mean", "ms", OWN["sojourn_mean"], scale=1e3, digits=2)
COMPARED = {each.key: each for each in (DELIVERED, COMPLETION, EXIT, RETRANSMITTED, DROPS, WAITING)}
TOTAL = ""
"""In place of a flow: all flows together, or the links."""


def values(run: Run, duration: float) -> dict[tuple[str, str], float]:
    """Return the values of a run by measure and flow, in the unit of the run; those that do not exist are left out.

    An unfinished transfer counts with the time until the end of the run.
    """
    found: dict[tuple[str, str], float | None] = {}
    endless = [name for name, row in run.flows.items() if row["size_packets"] is None]
    for name, row in run.flows.items():
        if name in endless:
            found[DELIVERED.key, name] = row["delivered_bytes"]
        else:
            found[COMPLETION.key, name] = completion(row, duration)
    if len(endless) > 1:
        found[DELIVERED.key, TOTAL] = sum(run.flows[name]["delivered_bytes"] for name in endless)
    for name, row in run.flows.items():
        found[EXIT.key, name] = row["slow_start_exit_cwnd"]
        found[RETRANSMITTED.key, name] = row["retransmitted_packets"]
    found[DROPS.key, TOTAL] = run.path["queue_drops"]
    found[WAITING.key, TOTAL] = run.path["sojourn_mean"]
    return {place: float(value) for place, value in found.items() if value is not None}
