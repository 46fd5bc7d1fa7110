"""Measurements of a run, simulated or on the kernel: numbers of its flows and links, and curves of cwnd."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ackclock.curves import cwnd_lines, sampled
from ackclock.judging.tolerances import OWN, SAME, Tolerance
from ackclock.result import Result, frame

RECORD = ("cwnd",)
"""The trace that a run records."""
DIGITS = 5
"""Significant digits of a stored window."""
FLOW = (
    *("delivered_bytes", "completion_time", "slow_start_exit_cwnd", "retransmitted_packets", "timeouts"),
    *("start_s", "size_packets", "path_rtt", "control"),
)
"""The columns of a flow that a measurement holds."""
PATH = ("drops", "losses", "waiting")
"""The numbers of all links: packets dropped by queues, packets lost, mean waiting time at the bottleneck in seconds."""
FACTS = ("world", "release", "phase_s", "lateness_p50", "lateness_p99", "lateness_max", "tainted", "attempts")
"""Facts of a run on a kernel: the world and the release of the kernel; in virtual time, the start after a tick in
seconds; in real time, lateness of the emulator in seconds, whether the run was disturbed, and its attempts."""
UNFOLLOWED = "warnings"
"""A further fact: texts that name settings which the kernel does not follow."""


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

    def document(self) -> dict[str, Any]:
        """Return it as a value of JSON."""
        return asdict(self)

    @classmethod
    def read(cls, found: object) -> Run | None:
        """Return the run of a value of JSON; None if it is another one."""
        if not isinstance(found, dict) or set(found) != {"flows", "path", "curves", "facts"}:
            return None
        return cls(**found)


def take(result: Result) -> Run:
    """Measure a run that recorded `RECORD`."""
    flows = {row["name"]: {name: row[name] for name in FLOW} for row in frame(result.flows).to_dicts()}
    links = frame(result.links).to_dicts()
    bottleneck = next((row for row in links if row["name"] == result.scenario.bottleneck), None)
    path = {
        "drops": float(sum(row["drops"] for row in links)),
        "losses": float(sum(row["losses"] for row in links)),
        "waiting": None if bottleneck is None else bottleneck["sojourn_mean"],
    }
    return Run(flows, path, _curves(result), _facts(result))


def _curves(result: Result) -> dict[str, list[float | None]]:
    lines = cwnd_lines({result.name: result})
    return {line.label: [_short(value) for value in sampled(line, result.duration).y.tolist()] for line in lines}


def _short(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _facts(result: Result) -> dict[str, Any]:
    found = getattr(result, "kernel", None)
    if found is None:
        return {}
    # A warning has a name, its flows, and a text.
    own = {name: found[name] for name in FACTS if name in found}
    return {**own, UNFOLLOWED: [text for _, _, text in found[UNFOLLOWED]]}


@dataclass(frozen=True)
class Measure:
    """A number that simulation and kernel have in common.

    Attributes
    ----------
    key : str
        Its name in tables and options.
    title, unit : str
        Its name and unit on a page.
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
    title: str
    unit: str
    tolerance: Tolerance
    primary: bool = False
    scale: float = 1.0
    digits: int = 0


DELIVERED = Measure("delivered", "data delivered", "MB", SAME, primary=True, scale=1e-6, digits=3)
COMPLETION = Measure("completion", "completion time", "s", SAME, primary=True, digits=4)
EXIT = Measure("exit_cwnd", "cwnd at the exit", "segments", OWN["exit_cwnd"], digits=1)
RESENT = Measure("retransmitted", "retransmissions", "packets", OWN["retransmitted"], digits=1)
DROPS = Measure("drops", "queue drops", "packets", OWN["drops"], digits=1)
WAITING = Measure("waiting", "mean waiting time", "ms", OWN["waiting"], scale=1e3, digits=2)
MEASURES = {each.key: each for each in (DELIVERED, COMPLETION, EXIT, RESENT, DROPS, WAITING)}
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
            spent = duration - (row["start_s"] or 0.0)
            found[COMPLETION.key, name] = spent if row["completion_time"] is None else row["completion_time"]
    if len(endless) > 1:
        found[DELIVERED.key, TOTAL] = sum(run.flows[name]["delivered_bytes"] for name in endless)
    for name, row in run.flows.items():
        found[EXIT.key, name] = row["slow_start_exit_cwnd"]
        found[RESENT.key, name] = row["retransmitted_packets"]
    found[DROPS.key, TOTAL] = run.path["drops"]
    found[WAITING.key, TOTAL] = run.path["waiting"]
    return {place: float(value) for place, value in found.items() if value is not None}
