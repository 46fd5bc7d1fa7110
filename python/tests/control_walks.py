"""Congestion controls on random paths, simulated and in a kernel in virtual time.

``python -m python.tests.control_walks`` runs all of them, or those named, on 100 paths, and writes their rows of
docs/validation/controls.csv anew; `test_world_own_controls` runs some. ``--paths`` and ``--pairs`` run fewer.

A path agrees if the data delivered and the lost packets are close (`NEAR`), or lie within the kernel's own spread over
`STARTS` runs. A control that decides at random (`RANDOM`) runs `STARTS` times in both worlds, each time with other
random numbers. There a path agrees if the means are close, or if a test of Kolmogorov and Smirnov does not tell the
samples apart at 1 %; for the test, values that are close are equal.
"""

from __future__ import annotations

import argparse
import bisect
import csv
import random
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars

import ackclock
from ackclock import Result, Scenario, _core
from ackclock.freeze import Frozen
from ackclock.linux import Built, built, packets, running
from ackclock.results import frame

from .conftest import ROOT

TABLE = ROOT / "docs" / "validation" / "controls.csv"
CONTROLS: dict[str, dict[str, Any]] = {
    "reno": {"slow_start": "standard", "avoidance": "reno"},
    "cubic": {},
    "vegas": {
        "slow_start": "standard",
        "avoidance": {"kind": "vegas", "rule": "linux", "alpha": "2 segments", "beta": "4 segments"},
    },
    "veno": {"slow_start": "standard", "avoidance": {"kind": "veno", "variant": "linux"}},
    "yeah": {"slow_start": "standard", "avoidance": {"kind": "yeah", "variant": "linux"}},
    "illinois": {"slow_start": "standard", "avoidance": {"kind": "illinois", "variant": "linux"}},
    "westwood": {"slow_start": "standard", "avoidance": "westwood_plus"},
    "nv": {"slow_start": "standard", "avoidance": "nv"},
    "lp": {"slow_start": "standard", "avoidance": {"kind": "lp", "variant": "linux"}},
    "cdg": {"slow_start": "standard", "avoidance": {"kind": "cdg", "variant": "linux"}},
    "highspeed": {"slow_start": "standard", "avoidance": {"kind": "highspeed", "variant": "linux"}},
    "scalable": {"slow_start": "standard", "avoidance": {"kind": "scalable", "variant": "linux"}},
    "htcp": {"slow_start": "standard", "avoidance": {"kind": "htcp", "variant": "linux", "rtt_scaling": True}},
    "hybla": {axis: {"kind": "hybla", "variant": "linux"} for axis in ("initial_window", "slow_start", "avoidance")},
    "bic": {
        "slow_start": "standard",
        "avoidance": {"kind": "bic", "variant": "linux", "max_increment": "16 segments", "beta": 819 / 1024},
    },
    "dctcp": {"slow_start": "standard", "avoidance": {"kind": "dctcp", "variant": "linux"}, "ecn": "dctcp"},
    "bbr": {"congestion_control": "bbr1"},
}
"""The kernel's controls that have a counterpart here: what a flow of the host `linux` names instead."""
MARKED = frozenset({"dctcp"})
"""Those whose queue marks packets."""
RANDOM = frozenset({"cdg"})
"""Those that decide at random, with other numbers than here."""
NOTES = {
    "bbr": "the kernel begins its cycle of probes at random, which decides many of the drops; what else differs where"
    " few segments fit is not known",
    "lp": "it estimates the rate of the receiver's clock from single milliseconds, of which not all are known here",
}
"""What is known to differ."""
PATHS = 100
PAIRS = 10
PHASES = 6
STARTS = 12
"""Runs of the kernel that show how its result varies, each with another start in the tick and other random numbers."""
MOST = 30_000
"""Most packets of a run."""
DEEPEST = 1500
"""Most packets in flight and in the queue."""
SEGMENT = 1448
EQUAL = {
    "receive_buffer": "6 MiB", "send_buffer": "6 MiB", "send_buffer_max": "6 MiB", "sack_compression": "0 s",
}  # fmt: skip
"""Settings with which versions of Linux do not differ: buffers that limit nothing from the start, and an ACK for each
segment above a hole."""
NEAR = {"delivered": (0.01, 0.0), "drops": (0.10, 1.0)}
"""What counts as the same: relative to the kernel's, or absolute."""
DISTANCE = 8 / STARTS
"""Distance of the distributions of two samples of `STARTS` from which they count as different. Two samples of one
distribution are as far apart with a probability of 0.79 % (Kolmogorov–Smirnov, exact, without ties)."""
APART = 0.10
"""Largest difference of the shares of two flows that counts as none."""


@dataclass(frozen=True)
class Walk:
    """The same flows on the same path in both worlds."""

    simulated: Scenario
    kernel: Scenario

    @classmethod
    def of(cls, control: str, seed: int) -> Walk:
        """Draw a path for one flow; all controls have the same paths."""
        draw = random.Random(f"control {seed}")
        path = _path(draw, 100)
        rate = float(path["rate"].split()[0])
        if draw.random() < 0.4:
            path["loss"] = {"kind": "bernoulli", "rate": f"{10 ** draw.uniform(-2, 0):.3f} %"}
        keys = {"duration": f"{min(20.0, MOST * 0.012 / rate):.3f} s", "seed": seed + 1}
        size = {"size": f"{round(10 ** draw.uniform(2, 3.7))} packets"} if draw.random() < 0.3 else {}
        return cls._both(f"{control}-{seed}", path, [(control, size)], keys)

    @classmethod
    def pair(cls, control: str, seed: int) -> Walk:
        """Draw a path for two flows: one of the control, and one of CUBIC."""
        draw = random.Random(f"pair {seed}")
        path = _path(draw, 15)
        keys = {"duration": "20 s", "seed": seed + 1}
        flows = [(control, {}), ("cubic", {"start": f"{draw.uniform(0, 1):.3f} s"})]
        return cls._both(f"{control}-cubic-{seed}", path, flows, keys)

    @classmethod
    def _both(
        cls, name: str, path: dict[str, Any], flows: list[tuple[str, dict[str, Any]]], keys: dict[str, Any]
    ) -> Walk:
        if any(control in MARKED for control, _ in flows):
            path = {**path, "queue": _marking(path)}
        topology = {"kind": "explicit", "node": ["a", "b"], "link": {**path, "reverse": {"queue": "unlimited"}}}
        own = {"from": "a", "to": "b", "packet_size": f"{SEGMENT} B", "modern": EQUAL}
        simulated = [{**own, "host": "linux", **CONTROLS[control], **more} for control, more in flows]
        real = [{**own, "profile": "kernel", "kernel": {"control": control}, **more} for control, more in flows]
        return cls(*(Scenario(name, topology=topology, flow=each, **keys) for each in (simulated, real)))

    def drawn(self, number: int) -> Walk:
        """Return the walk with other random numbers, the losses' as well; both worlds have equal losses."""
        seed = {"seed": self.simulated.seed + 1000 * number}
        return Walk(self.simulated.set(seed), self.kernel.set(seed))

    def informed(self, kernel: Built) -> Walk:
        """Return the walk whose simulation has the kernel's random start of timestamps, on which LP depends."""
        if Frozen(self.simulated).flows[0].get("avoidance", {}).get("kind") != "lp":
            return self
        of_peer = (polars.col("flow") == "flow0") & (polars.col("from") == "receiver")
        stamps = frame(self.run(kernel, capture=True).packets).filter(of_peer)["ts_value"].drop_nulls()
        return replace(self, simulated=self.simulated.set({"flow.0.avoidance.clock_start": int(stamps[0])}))

    def simulate(self, phase: float = 0.0, capture: bool = False) -> Result:
        """Run the simulation, which starts `phase` seconds after a tick."""
        scenario = packets.in_phase(self.simulated, phase)
        return ackclock.run(scenario, record=[], capture=packets.ends(scenario) if capture else [])

    def run(self, kernel: Built, phase: float = 0.0, capture: bool = False) -> Result:
        """Run the kernel."""
        ends = packets.ends(self.kernel) if capture else []
        return running.run_virtual(self.kernel, [], _core.Cancel(), ends, kernel=kernel, only_named=True, phase=phase)

    def identical(self, simulated: Result, real: Result) -> packets.Difference | None:
        """Return the first packet that differs."""
        return packets.judge(self.simulated, packets.Side.of(simulated), packets.Side.of(real)).difference


def _path(draw: random.Random, most: float) -> dict[str, Any]:
    """Draw a link of up to `most` Mbit/s, with 4 to 200 ms of round trip and a queue of a quarter to four BDP."""
    while True:
        rate, delay = most ** draw.random(), 10 ** draw.uniform(0.3, 2)
        bdp = rate * 2 * delay / 12
        waiting = max(8, round(bdp * draw.choice([0.25, 0.5, 1, 2, 4])))
        if bdp + waiting <= DEEPEST:
            place = {"from": "a", "to": "b", "queue": f"{waiting} packets"}
            return {**place, "rate": f"{rate:.2f} Mbit/s", "delay": f"{delay:.2f} ms"}


def _marking(path: dict[str, Any]) -> dict[str, Any]:
    """Mark every packet that waits for the time of half the queue: CoDel with a threshold, whose own law never acts."""
    most, rate = (float(path[key].split()[0]) for key in ("queue", "rate"))
    threshold = f"{most / 2 * 12 / rate:.3f} ms"
    return {"kind": "codel", "limit": path["queue"], "target": "1000 s", "ce_threshold": threshold}


def phases(kernel: Built, count: int = PHASES) -> list[float]:
    """Return times within a tick of the kernel."""
    return [place / count / kernel.hz for place in range(count)]


def measures(result: Result) -> dict[str, float]:
    """Return what is compared of the first flow: data delivered per second until it is complete, and lost packets."""
    flow = result.summary["flows"][0]
    took = flow["completion_time"] or result.scenario.duration
    return {"delivered": flow["delivered_bytes"] / took, "drops": float(flow["dropped_packets"])}


def share(result: Result) -> float:
    """Return the first flow's share of the data that both deliver."""
    one, other = (float(flow["delivered_bytes"]) for flow in result.summary["flows"])
    return one / (one + other)


@dataclass
class Sum:
    """What many comparisons of a control have in common."""

    control: str
    agree: int = 0
    same: int = 0
    apart: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in NEAR})
    shares: list[float] = field(default_factory=list)

    def add(self, walk: Walk, kernel: Built) -> str:
        """Compare a path with one flow; return how the two worlds differ, in words."""
        walk = walk.informed(kernel)
        simulated, real = walk.simulate(capture=True), walk.run(kernel, capture=True)
        first = walk.identical(simulated, real)
        self.same += first is None
        ours, theirs = [measures(simulated)], [measures(real)]
        if self.control in RANDOM:
            for number, phase in enumerate(phases(kernel, STARTS)[1:], 1):
                drawn = walk.drawn(number)
                ours.append(measures(drawn.simulate(phase)))
                theirs.append(measures(drawn.run(kernel, phase)))
        one, other = _mean(ours), _mean(theirs)
        for name, apart in self.apart.items():
            apart.append(abs(one[name] - other[name]) / max(other[name], 1.0))
        outside = {name for name in NEAR if not _near(name, one[name], other[name])}
        if outside and self.control not in RANDOM:
            theirs += (measures(walk.run(kernel, phase)) for phase in phases(kernel, STARTS)[1:])
        outside = {name for name in outside if self._is_outside(name, ours, theirs)}
        self.agree += not outside
        found = "" if first is None else f"; first {first.time:.6f} s at {first.place}, {', '.join(first.fields)}"
        what = f"{walk.kernel.name}: simulated {one}, kernel {other}{found}"
        return f"{what}; outside: {', '.join(sorted(outside))}" if outside else what

    def _is_outside(self, name: str, ours: list[dict[str, float]], theirs: list[dict[str, float]]) -> bool:
        one, other = ([run[name] for run in runs] for runs in (ours, theirs))
        if self.control in RANDOM:
            return distance(one, other, *NEAR[name]) >= DISTANCE - 1e-9
        return not min(other) <= one[0] <= max(other)

    def add_pair(self, walk: Walk, kernel: Built) -> str:
        """Compare the shares of two flows."""
        walk = walk.informed(kernel)
        drawn = [walk.drawn(number) if self.control in RANDOM else walk for number in range(PHASES)]
        starts = list(zip(drawn, phases(kernel), strict=True))
        shares = [
            statistics.mean(share(each.simulate(phase)) for each, phase in starts),
            statistics.mean(share(each.run(kernel, phase)) for each, phase in starts),
        ]
        self.shares.append(abs(shares[0] - shares[1]))
        return f"{walk.kernel.name}: share simulated {shares[0]:.3f}, kernel {shares[1]:.3f}"

    def row(self, peer: str) -> dict[str, str]:
        """Return the row of the table; differences are relative to the kernel's."""
        paths = len(self.apart["delivered"])
        row = {"control": self.control, "peer": peer, "paths": str(paths), "agree": f"{self.agree / paths:.3f}"}
        for name, apart in self.apart.items():
            row |= {f"{name}_median": f"{statistics.median(apart):.5f}", f"{name}_worst": f"{max(apart):.5f}"}
        near = sum(apart <= APART for apart in self.shares)
        row |= {"identical": str(self.same), "pairs": str(len(self.shares)), "pairs_agree": str(near)}
        return {**row, "share_worst": f"{max(self.shares, default=0):.3f}", "note": NOTES.get(self.control, "")}


def _mean(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.mean(run[name] for run in runs) for name in NEAR}


def distance(one: Iterable[float], other: Iterable[float], relative: float = 0.0, absolute: float = 0.0) -> float:
    """Return the largest distance of the distribution functions of two samples, as Kolmogorov and Smirnov measure it.

    Values count as equal if they differ by the share `relative` or by `absolute`, whichever is more.

    >>> distance([1, 2, 3, 4], [3, 4, 5, 6]), distance([1, 2, 3, 4], [3, 4, 5, 6], absolute=1)
    (0.5, 0.25)
    """

    def ahead(low: list[float], high: list[float]) -> float:
        ends = ((at, at + max(relative * at, absolute)) for at in low)
        return max(bisect.bisect(low, at) / len(low) - bisect.bisect(high, end) / len(high) for at, end in ends)

    first, second = sorted(one), sorted(other)
    return max(ahead(first, second), ahead(second, first))


def _near(name: str, one: float, other: float) -> bool:
    relative, absolute = NEAR[name]
    return abs(one - other) <= max(relative * other, absolute)


def walked(control: str, kernel: Built, paths: Iterable[int], pairs: Iterable[int] = (), *, show: bool = False) -> Sum:
    """Compare a control on the paths with these numbers, and against CUBIC on others."""
    total = Sum(control)
    for seed in paths:
        said = total.add(Walk.of(control, seed), kernel)
        if show:
            print(said, flush=True)
    for seed in pairs:
        said = total.add_pair(Walk.pair(control, seed), kernel)
        if show:
            print(said, flush=True)
    return total


def stored() -> list[dict[str, str]]:
    """Return the rows of the table."""
    if not TABLE.exists():
        return []
    with TABLE.open() as file:
        return list(csv.DictReader(file))


def write(rows: Iterable[Mapping[str, str]]) -> None:
    """Write the table, in the order of the controls."""
    order = list(CONTROLS)
    found = sorted(rows, key=lambda row: order.index(row["control"]))
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


def main() -> None:
    """Compare controls with the newest kernel that was built, and write their rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("controls", nargs="*", help="the controls; all by default")
    parser.add_argument("--paths", type=int, default=PATHS, help="number of paths with one flow")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="number of paths with a second flow of CUBIC")
    options = parser.parse_args()
    kernel = built()[0]
    for control in options.controls or CONTROLS:
        total = walked(control, kernel, range(options.paths), range(options.pairs), show=True)
        row = total.row(f"Linux {kernel.version}")
        print(row, flush=True)
        write([*(each for each in stored() if each["control"] != control), row])


if __name__ == "__main__":
    main()
