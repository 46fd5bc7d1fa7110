"""Random queues before random packets, simulated and in a kernel in virtual time.

``python -m python.tests.queue_walks`` runs 60 of each and writes their rows of docs/validation/queues.csv anew;
`test_world_queues` runs some.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from typing import Any

from ackclock.linux import Arrival, Packet, built, replay

from .queue_records import FLOW, Agreement, link, stored, write

QUEUES = ("pfifo", "bfifo", "pfifo_head_drop", "tbf", "fq")
"""Linux' disciplines that have a counterpart here, no chance, and no classes, which a scenario cannot set up."""
AGREE = {"tbf": 0.997, "fq": 0.97}
"""Least shares of equal fates where less than all were measured: an arrival and a departure may be at one time, and
the order of turns of `fq` is not known to the last detail."""
PACKET = 1500
"""The largest packet."""
MOST = 60


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
    """

    command: str
    queue: dict[str, Any]
    rate: str
    packets: list[Packet]

    @classmethod
    def of(cls, kind: str, seed: int) -> Walk:
        """Draw a queue of this kind, with packets at between half and three times its rate."""
        draw = random.Random(f"{kind} {seed}")
        rate = round(10 ** draw.uniform(6, 7.5), -3)
        command, queue = _drawn(kind, rate, draw)
        sizes = draw.choice([[PACKET], [PACKET, PACKET, 600, 100], [100, 101, 102], list(range(28, PACKET + 1))])
        load, mean = draw.uniform(0.5, 3), sum(sizes) / len(sizes)
        at, packets = 0.0, []
        for _ in range(1000):
            # Some arrive in bursts, with a microsecond between two packets.
            at += 1e3 if draw.random() < 0.3 else draw.expovariate(0.7 * load * rate / 8 / mean) * 1e9
            packets.append(Packet(round(at), draw.randrange(4), draw.choice(sizes), 0))
        fast = f"{rate / 1e6} Mbit/s" if kind not in {"tbf"} else "10 Gbit/s"
        return cls(command, queue, fast, packets)

    def run(self, on: str | None = None) -> list[Arrival | None]:
        """Send the packets through the simulated queue, or through the kernel's."""
        queue = {"kind": "qdisc", "command": self.command} if on else self.queue
        # The kernel counts no header of the link, so that the largest packet is one of 1500 bytes.
        scenario = link(queue, {**FLOW, "count": 4}, rate=self.rate, duration="1000 s")
        return replay(scenario, self.packets, **({"on": on} if on else {}))


def _drawn(kind: str, rate: float, draw: random.Random) -> tuple[str, dict[str, Any]]:
    packets, octets = draw.randint(1, 200), draw.randint(PACKET, 200_000)
    match kind:
        case "pfifo":
            return f"pfifo limit {packets}", {"kind": "droptail", "limit": f"{packets + 1} packets"}
        case "bfifo":
            return f"bfifo limit {octets}", {"kind": "droptail", "limit": f"{octets + 1} B"}
        case "pfifo_head_drop":
            return f"pfifo_head_drop limit {packets}", {"kind": "headdrop", "limit": f"{packets} packets"}
        case "tbf":
            burst = draw.randint(PACKET, 20_000)
            command = f"tbf rate {rate:.0f}bit burst {burst}b limit {octets}b"
            queue = {"kind": "tbf", "rate": f"{rate / 1e3} kbit/s", "burst": f"{burst} B", "limit": f"{octets} B"}
            if draw.random() < 0.3:
                peak, bucket = round(rate * draw.uniform(1.2, 4), -3), draw.randint(PACKET, 5000)
                command += f" peakrate {peak:.0f}bit mtu {bucket}b"
                queue |= {"peakrate": f"{peak / 1e3} kbit/s", "minburst": f"{bucket} B"}
            return command, queue
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
    raise AssertionError(kind)


@dataclass
class Sum:
    """What many comparisons have in common."""

    packets: int = 0
    fates: int = 0
    marks: int = 0
    both: int = 0

    def __post_init__(self) -> None:
        self.late: list[float] = []

    def add(self, ours: list[Arrival | None], theirs: list[Arrival | None]) -> None:
        """Add a comparison."""
        self.packets += len(ours)
        for one, other in zip(ours, theirs, strict=True):
            self.fates += (one is None) == (other is None)
            if one is not None and other is not None:
                self.both += 1
                self.marks += one.ecn == other.ecn
                self.late.append(abs(one.at - other.at))

    def agreement(self, queue: str, peer: str, note: str) -> Agreement:
        """Return the row of the table."""
        late = sorted(self.late)[int(0.999 * (len(self.late) - 1))] * 1e6
        return Agreement(queue, peer, self.packets, self.fates / self.packets, self.marks / self.both, late, note)


def walked(kind: str, seeds: range, on: str) -> Sum:
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
    rows = stored()
    for kind in kinds or QUEUES:
        found = walked(kind, range(MOST), f"linux:{kernel.path.name}").agreement(kind, peer, f"{MOST} random queues")
        rows = [row for row in rows if (row["queue"], row["peer"]) != (kind, peer)] + [found.row()]
        print(found, flush=True)
    write(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
