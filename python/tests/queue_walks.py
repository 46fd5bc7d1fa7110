"""Random queues before random packets, simulated and in a kernel in virtual time.

``python -m python.tests.queue_walks`` runs 60 of each kind, or of those named, and writes their rows of
docs/validation/queues.csv anew; `test_world_queues` runs some.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ackclock.linux import Arrival, Packet, built, replay

from .queue_records import FLOW, RATE, Agreement, link, stored, write

QUEUES = (
    "pfifo", "bfifo", "pfifo_head_drop", "codel", "fq_codel", "cake", "tbf", "tbf codel", "fq", "prio", "drr", "htb",
)  # fmt: skip
"""Linux' disciplines that have a counterpart here and no chance; ``tbf codel`` is a shaper with a discipline inside."""
AGREE = {"fq": 0.97, "tbf codel": 0.98}
"""Least share of equal fates where less than all were measured: the order of turns of `fq` is not known to the last
detail, and a full `codel` inside Linux' `tbf` takes a packet more at times."""
PACKET = 1500
"""The largest packet."""
ETHERNET = 1514
"""The largest packet where the packets have Ethernet's header, as in the records."""
MOST = 60
PORT = 1024
"""Port of the first flow in a kernel."""
PHASE = 704
"""Nanoseconds since the last tick of CoDel's clock, of 1024 ns, when a run in a built kernel begins."""
EXACT = [0.25e6, 0.5e6, 1e6, 2e6, 4e6, 5e6, 8e6, 10e6, 20e6, 40e6]
BUCKETS = range(1600, 20_000, 80)
"""Rates in bit/s, and sizes of buckets in bytes, whose quotients are whole microseconds and whole units of 64 ns: `tc`
drops the rest."""
BOOTED = 4.0
"""When a kernel has forgotten its boot, which is CoDel's last drop for 16 intervals, in seconds."""
FAST = "10 Gbit/s"
"""The rate of a link whose queue shapes."""


@dataclass(frozen=True)
class Walk:
    """A queue in both worlds, and the packets that it gets.

    Attributes
    ----------
    command
        The queue as `tc` sets it up.
    queue
        The simulated queue.
    rate
        Rate of the link.
    packets
        What arrives.
    size
        Size of a full packet.
    phase
        How much later the packets arrive in the simulation, in nanoseconds.
    """

    command: str
    queue: dict[str, Any]
    rate: str
    packets: list[Packet]
    size: int = PACKET
    phase: int = 0

    @classmethod
    def of(cls, kind: str, seed: int) -> Walk:
        """Draw a queue of this kind and its packets."""
        draw = random.Random(f"{kind} {seed}")
        if kind in {"codel", "fq_codel", "cake"}:
            command, queue = _managed(kind, draw)
            packets = _waves(seed)
            if kind == "fq_codel" and queue["limit"] != "1000 packets":
                # Which of two equally long queues loses a packet depends on Linux' secret hash.
                packets = [packet._replace(flow=0) for packet in packets]
            return cls(command, queue, f"{RATE / 1e6} Mbit/s", packets, ETHERNET, PHASE)
        fast = kind.startswith("tbf") or kind == "htb"
        rate = draw.choice(EXACT[2:-1]) if fast else round(10 ** draw.uniform(6, 7.5), -3)
        command, queue = _fifo(kind, draw) if "fifo" in kind else _shared(kind, rate, draw)
        managed = "codel" in kind
        packets = _offered(rate, draw, BOOTED if managed else 0.0)
        return cls(command, queue, FAST if fast else f"{rate / 1e6} Mbit/s", packets, phase=PHASE if managed else 0)

    def run(self, on: str | None = None) -> list[Arrival | None]:
        """Send the packets through the simulated queue, or through the kernel's."""
        queue = {"kind": "qdisc", "command": self.command} if on else self.queue
        flows = {**FLOW, "count": 8, "packet_size": f"{self.size - 52} B"}
        scenario = link(queue, flows, rate=self.rate, duration="1000 s")
        if on:
            return replay(scenario, self.packets, on=on)
        late = [packet._replace(at=packet.at + self.phase) for packet in self.packets]
        return [one and one._replace(at=one.at - self.phase / 1e9) for one in replay(scenario, late)]


def _offered(rate: float, draw: random.Random, start: float) -> list[Packet]:
    """Return packets of four flows at between half and three times this rate."""
    sizes = draw.choice([[PACKET], [PACKET, PACKET, 600, 100], [100, 101, 102], list(range(28, PACKET + 1))])
    load, mean = draw.uniform(0.5, 3), sum(sizes) / len(sizes)
    at, packets = start * 1e9, []
    for _ in range(1000):
        # Some arrive in bursts, with a microsecond between two packets.
        at += 1e3 if draw.random() < 0.3 else draw.expovariate(0.7 * load * rate / 8 / mean) * 1e9
        packets.append(Packet(round(at), draw.randrange(4), draw.choice(sizes), 0))
    return packets


def _waves(seed: int) -> list[Packet]:
    """Return packets of up to eight flows, whose load changes once a second between 0.6 and 1.6 of 5 Mbit/s."""
    draw, at, packets = random.Random(seed), BOOTED, []
    flows, sizes = draw.randint(1, 8), draw.choice([[1514], [1514, 1514, 1514, 80], [1514, 1000, 600, 100]])
    loads, burst = [draw.uniform(0.6, 1.6) for _ in range(5)], draw.choice([1, 1, 4, 20])
    codepoints = draw.choice([[0], [2], [0, 1, 2]])
    while at < BOOTED + 5:
        flow, ecn = draw.randrange(flows), draw.choice(codepoints)
        for _ in range(draw.randint(1, burst)):
            size = draw.choice(sizes)
            packets.append(Packet(round(at * 1e9), flow, size, ecn))
            # Within a burst, packets come a microsecond apart.
            at += 1e-6
        at += draw.expovariate(RATE * loads[min(4, int(at - BOOTED))] / 8 / statistics.mean(sizes) / (1 + burst) * 2)
    return packets


def _managed(kind: str, draw: random.Random) -> tuple[str, dict[str, Any]]:
    """Return an active queue management: the command for Linux, and ours."""
    target, interval = draw.choice([1, 2, 5, 10, 20]), draw.choice([20, 50, 100, 200])
    if kind == "cake":
        mode = draw.choice(["flowblind", "srchost", "dsthost", "hosts"])
        rate, rtt = draw.choice([2, 4, 4.5, 5]), draw.choice([5, 20, 100, 300])
        overhead, mpu = draw.choice([0, 18, 44]), draw.choice([0, 64, 100])
        cells, ingress = draw.choice(["noatm", "atm", "ptm"]), draw.random() < 0.3
        queue: dict[str, Any] = {
            "kind": kind,
            "bandwidth": f"{rate} Mbit/s",
            "flow_mode": mode,
            "rtt": f"{rtt} ms",
            "ingress": ingress,
            "overhead": f"{overhead} B",
            "mpu": f"{mpu} B",
            "cells": "none" if cells == "noatm" else cells,
        }
        command = f"cake bandwidth {rate}mbit besteffort {mode} rtt {rtt}ms overhead {overhead} mpu {mpu} {cells}"
        return command + (" ingress" if ingress else ""), queue
    ecn, limit = draw.random() < 0.6, draw.choice([20, 60, 200, 1000])
    queue = {"kind": kind, "variant": "linux", "maxpacket": "1514 B", "ecn": ecn, "limit": f"{limit} packets"}
    queue |= {"target": f"{target} ms", "interval": f"{interval} ms"}
    command = f"{kind} limit {limit} target {target}ms interval {interval}ms {'ecn' if ecn else 'noecn'}"
    if draw.random() < 0.4:
        threshold = draw.choice([1, 3, 10])
        queue["ce_threshold"] = f"{threshold} ms"
        command += f" ce_threshold {threshold}ms"
    if kind == "fq_codel":
        quantum, batch = draw.choice([300, 1514, 3000]), draw.choice([1, 8, 64])
        # So many queues that no two flows share one.
        queue |= {"quantum": f"{quantum} B", "drop_batch": batch, "flows": 65_536}
        command += f" quantum {quantum} drop_batch {batch} flows 65536"
    return command, queue


def _fifo(kind: str, draw: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a queue that is first in, first out: the command for Linux, and ours."""
    packets, octets = draw.randint(1, 200), draw.randint(PACKET, 200_000)
    match kind:
        case "pfifo":
            return f"pfifo limit {packets}", {"kind": "droptail", "limit": f"{packets + 1} packets"}
        case "bfifo":
            return f"bfifo limit {octets}", {"kind": "droptail", "limit": f"{octets + 1} B"}
        case "pfifo_head_drop":
            return f"pfifo_head_drop limit {packets}", {"kind": "headdrop", "limit": f"{packets} packets"}
    raise AssertionError(kind)


def _shared(kind: str, rate: float, draw: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a shaper or a discipline that divides the link: the command for Linux, and ours."""
    packets, octets = draw.randint(1, 200), draw.randint(PACKET, 200_000)
    match kind:
        case "tbf":
            command, queue = _bucket(rate, draw)
            queue["limit"] = f"{octets} B"
            return f"{command} limit {octets}b", queue
        case "tbf codel":
            return _inside(rate, draw, packets + 1, octets)
        case "fq":
            flow, quantum, initial = draw.randint(1, 100), draw.randint(300, 9000), draw.randint(1500, 30_000)
            command = f"fq limit {packets + 20} flow_limit {flow} quantum {quantum} initial_quantum {initial}"
            queue = {
                "kind": "fq_paced",
                "limit": f"{packets + 20} packets",
                "flow_limit": f"{flow} packets",
                "quantum": f"{quantum} B",
                "initial_quantum": f"{initial} B",
            }
            if draw.random() < 0.3:
                most = round(rate * draw.uniform(0.1, 0.5), -3)
                command += f" maxrate {most:.0f}bit"
                queue["maxrate"] = f"{most / 1e3} kbit/s"
            return command, queue
        case "prio":
            bands = draw.randint(2, 4)
            lines = [f"handle 1: prio bands {bands} priomap {' '.join(16 * [str(bands - 1)])}"]
            return _classes(kind, bands, lines, [{} for _ in range(bands)], draw)
        case "drr":
            quanta = [draw.choice([PACKET, 3000, 4000, 10_000]) for _ in range(draw.randint(2, 4))]
            lines = ["handle 1: drr"]
            lines += [
                f"class add parent 1: classid 1:{number} drr quantum {quantum}"
                for number, quantum in enumerate(quanta, 1)
            ]
            return _classes("wrr", len(quanta), lines, [{"quantum": f"{quantum} B"} for quantum in quanta], draw)
        case "htb":
            return _hierarchy(rate, draw)
    raise AssertionError(kind)


def _bucket(rate: float, draw: random.Random) -> tuple[str, dict[str, Any]]:
    burst = draw.choice(BUCKETS)
    command, queue = f"tbf rate {rate:.0f}bit burst {burst}b", {"kind": "tbf", "burst": f"{burst} B"}
    queue["rate"] = f"{rate / 1e3} kbit/s"
    if draw.random() < 0.3:
        peak, bucket = draw.choice([each for each in EXACT if each > rate]), draw.choice(BUCKETS[:5])
        command += f" peakrate {peak:.0f}bit mtu {bucket}b"
        queue |= {"peakrate": f"{peak / 1e3} kbit/s", "minburst": f"{bucket} B"}
    return command, queue


def _inside(rate: float, draw: random.Random, limit: int, octets: int) -> tuple[str, dict[str, Any]]:
    """Return a shaper whose packets wait in a CoDel; `limit` also counts the one the shaper has taken, but not here."""
    command, queue = _bucket(rate, draw)
    target, interval = draw.choice([2, 5, 20]), draw.choice([50, 100])
    inside = f"codel limit {limit} target {target}ms interval {interval}ms noecn"
    queue["queue"] = {
        "kind": "codel",
        "variant": "linux",
        "maxpacket": "1500 B",
        "ecn": False,
        "limit": f"{limit - 1} packets",
        "target": f"{target} ms",
        "interval": f"{interval} ms",
    }
    return f"handle 1: {command} limit {octets}b\nqdisc add parent 1: handle 2: {inside}", queue


def _classes(
    kind: str, count: int, lines: list[str], classes: list[dict[str, Any]], draw: random.Random
) -> tuple[str, dict[str, Any]]:
    """Give each class a FIFO, and each of four flows a class; the last class has those that are left."""
    lines, of = list(lines), [draw.randrange(count) for _ in range(4)]
    for number, keys in enumerate(classes, 1):
        limit = draw.randint(1, 100)
        # A droptail inside counts no packet in transmission.
        keys["queue"] = {"kind": "droptail", "limit": f"{limit + 1} packets"}
        lines.append(f"qdisc add parent 1:{number} pfifo limit {limit}")
        if number < count:
            # No flow has the number 9; an empty list would mean all flows.
            keys["flows"] = [flow for flow in range(4) if of[flow] == number - 1] or [9]
    lines += [
        f"filter add parent 1: protocol ip u32 match ip sport {PORT + flow} 0xffff flowid 1:{number + 1}"
        for flow, number in enumerate(of)
    ]
    return "\n".join(lines), {"kind": kind, "class": classes}


def _hierarchy(rate: float, draw: random.Random) -> tuple[str, dict[str, Any]]:
    """Return classes that borrow from one another."""
    count = draw.randint(2, 4)
    bucket = draw.choice(BUCKETS)
    outer = {"burst": f"{bucket} B", "cburst": f"{bucket} B"}
    lines = [
        f"handle 1: htb default {count}",
        f"class add parent 1: classid 1:100 htb rate {rate:.0f}bit burst {bucket}b cburst {bucket}b",
    ]
    classes: list[dict[str, Any]] = []
    for number in range(1, count + 1):
        own = draw.choice([each for each in EXACT if each <= max(rate / 2, EXACT[0])])
        most = draw.choice([each for each in EXACT if own <= each <= rate])
        priority, quantum = draw.randrange(3), draw.choice([1500, 3000, 6000])
        lines.append(
            f"class add parent 1:100 classid 1:{number} htb rate {own:.0f}bit ceil {most:.0f}bit burst {bucket}b"
            f" cburst {bucket}b prio {priority} quantum {quantum}"
        )
        keys = {"rate": f"{own / 1e3} kbit/s", "ceil": f"{most / 1e3} kbit/s", "quantum": f"{quantum} B"}
        classes.append({**keys, **outer, "priority": priority})
    command, queue = _classes("htb", count, lines, classes, draw)
    return command, {"kind": "htb", "class": {"rate": f"{rate / 1e3} kbit/s", **outer, "class": queue["class"]}}


@dataclass
class Sum:
    """What many comparisons have in common."""

    packets: int = 0
    fates: int = 0
    marks: int = 0
    both: int = 0
    cases: int = 0
    whole: int = 0
    late: list[float] = field(default_factory=list)

    def add(self, ours: list[Arrival | None], theirs: list[Arrival | None]) -> None:
        """Add a comparison."""
        self.packets += len(ours)
        fates = sum((one is None) == (other is None) for one, other in zip(ours, theirs, strict=True))
        pairs = zip(ours, theirs, strict=True)
        both = [(one, other) for one, other in pairs if one is not None and other is not None]
        marks = sum(one.ecn == other.ecn for one, other in both)
        late = [abs(one.at - other.at) for one, other in both]
        self.fates, self.marks, self.both = self.fates + fates, self.marks + marks, self.both + len(both)
        self.cases += 1
        self.whole += fates == len(ours) and marks == len(both) and max(late, default=0) <= 2e-6
        self.late += late

    def agreement(self, queue: str, peer: str, note: str) -> Agreement:
        """Return the row of the table."""
        late = sorted(self.late)[int(0.999 * (len(self.late) - 1))] * 1e6
        return Agreement(queue, peer, self.packets, self.fates / self.packets, self.marks / self.both, late, note)


def walked(kind: str, seeds: Iterable[int], on: str) -> Sum:
    """Compare the queues of these seeds."""
    total = Sum()
    for seed in seeds:
        walk = Walk.of(kind, seed)
        total.add(walk.run(), walk.run(on))
    return total


def main(kinds: list[str]) -> None:
    """Compare queues of these kinds with the newest kernel that was built, and write their rows."""
    kernel = built()[0]
    peer = f"Linux {kernel.version}"
    for kind in kinds or QUEUES:
        total = walked(kind, range(MOST), f"linux:{kernel.path.name}")
        note = f"{total.whole} of {total.cases} random configurations agree in every packet"
        found = total.agreement(kind, peer, note)
        print(found, flush=True)
        rows = [row for row in stored() if (row["queue"], row["peer"]) != (kind, peer)] + [found.row()]
        # Records first, then the walks in their order.
        records = [row for row in rows if row["peer"] == "record"]
        walks = [row for row in rows if row["peer"] != "record"]
        write(records + sorted(walks, key=lambda row: QUEUES.index(row["queue"])))


if __name__ == "__main__":
    main(sys.argv[1:])
