"""What queues of Linux did with given packets, and how far simulated queues agree with them.

``python -m python.tests.queue_records`` writes docs/validation/queues.csv anew; `test_queue_records` compares. The
records are of Linux 7.2 in virtual time, behind a link of 5 Mbit/s. They count Ethernet's 14 bytes, and have the
beginning of each transmission. A shaper whose leaf they are (htb) takes a packet when the last one has left, and does
not ask an empty leaf.
"""

from __future__ import annotations

import csv
import gzip
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock import Scenario
from ackclock.linux import Arrival, Packet, replay

from .conftest import ROOT

RECORDS = Path(__file__).parent / "data" / "queues"
TABLE = ROOT / "docs" / "validation" / "queues.csv"
FLOW = {"from": "a", "to": "b", "host": "linux"}
RATE = 5e6

UNKNOWN = Arrival(-1, 0)
"""Stands for what later packets, which a record does not have, decide."""


def link(queue: Any, *flows: dict[str, Any], rate: str = "5 Mbit/s", delay: str = "0 s", **keys: Any) -> Scenario:
    """Return a scenario with one link each way."""
    path = {"from": "a", "to": "b", "rate": rate, "delay": delay, "queue": queue, "reverse": {"queue": "unlimited"}}
    topology = {"kind": "explicit", "node": ["a", "b"], "link": path}
    keys.setdefault("duration", "10 s")
    return Scenario("queues", topology=topology, flow=list(flows) or {**FLOW, "count": 8}, **keys)


def recorded(name: str) -> tuple[str, list[Packet], list[Arrival | None]]:
    """Return the command of a record, its packets, and when they have left a link of 5 Mbit/s."""
    packets, arrivals = [], []
    with gzip.open(RECORDS / f"{name}.csv.gz", "rt") as file:
        command = file.readline().removeprefix("# ").strip()
        for row in csv.DictReader(file):
            size, began = int(row["bytes"]), row["t_dep_ns"]
            packets.append(Packet(int(row["t_arr_ns"]), int(row["flow"]), size, int(row["ecn"])))
            if began == "?":
                arrivals.append(UNKNOWN)
            else:
                arrivals.append(Arrival(int(began) / 1e9 + size * 8 / RATE, int(row["ecn_out"])) if began else None)
    return command, packets, arrivals


@dataclass(frozen=True)
class Case:
    """A simulated queue and its record.

    Attributes
    ----------
    record
        Name of the record.
    queue
        The simulated queue.
    chance
        Whether the queue decides by chance: only the numbers of drops and marks can agree, within 3 % or their own
        spread over seeds.
    shapes
        Whether the queue itself has the rate of 5 Mbit/s, before a fast link.
    note
        What the row of the table says besides.
    """

    record: str
    queue: dict[str, Any]
    chance: bool = False
    shapes: bool = False
    note: str = ""


def _codel(record: str, kind: str = "codel", **keys: Any) -> Case:
    ecn = {} if kind == "fq_codel" else {"ecn": "ecn" in record or "ce2ms" in record}
    return Case(record, {"kind": kind, "variant": "linux", "maxpacket": "1514 B", **ecn, **keys})


def _dualpi2(record: str, **keys: Any) -> Case:
    return Case(record, {"kind": "dualpi2", "variant": "linux", "mtu": "1514 B", **keys}, chance=True)


def _cake(record: str, **keys: Any) -> Case:
    chance, note = keys.pop("chance", False), keys.pop("note", "")
    queue = {"kind": "cake", "bandwidth": "5 Mbit/s", **keys}
    return Case(record, queue, chance=chance, shapes=True, note=note)


DITHER = "the division of quanta is a matter of chance"

CASES = [
    _codel("codel-steps"),
    _codel("codel-wave"),
    _codel("codel-flows"),
    _codel("codel-ecn-steps-ect0"),
    _codel("codel-ecn-wave-ect0"),
    _codel("codel-ecn-flows"),
    _codel("codel-15-200-wave", target="15 ms", interval="200 ms"),
    _codel("codel-ce2ms-wave-ect0", ce_threshold="2 ms"),
    _codel("codel-limit50-steps", limit="50 packets"),
    _codel("fq_codel-wave", "fq_codel"),
    _codel("fq_codel-flows", "fq_codel"),
    _codel("fq_codel-bursts", "fq_codel"),
    _codel("fq_codel-noecn-q300-steps", "fq_codel", ecn=False, quantum="300 B"),
    _codel("fq_codel-limit60-steps", "fq_codel", limit="60 packets", flows=16),
    Case(
        "fq_codel-ce1ms-l4s",
        {"kind": "fq_codel", "variant": "linux", "maxpacket": "1514 B", "ce_threshold": "1 ms"},
        chance=True,
        note="the shaper of the record does not ask an empty leaf, so that queues keep their turns",
    ),
    _dualpi2("dualpi2-l4s"),
    _dualpi2("dualpi2-l4s-ecn"),
    _dualpi2("dualpi2-wave"),
    _dualpi2("dualpi2-flows"),
    _dualpi2("dualpi2-t5-s500us-l4s", target="5 ms", step="0.5 ms"),
    _dualpi2("dualpi2-steppkts-l4s", step_packets=5),
    _dualpi2("dualpi2-dropearly-l4s", drop_early=True),
    _dualpi2("dualpi2-limit40-l4s", limit="40 packets"),
    _cake("cake-flowblind-steps", flow_mode="flowblind"),
    _cake("cake-flowblind-steps-ect0", flow_mode="flowblind"),
    _cake("cake-flowblind-wave", flow_mode="flowblind"),
    _cake("cake-rtt20-wave-ect0", flow_mode="flowblind", rtt="20 ms"),
    _cake("cake-dsthost-flows", flow_mode="dsthost"),
    _cake("cake-default-l4s"),
    _cake("cake-flows-flows", flow_mode="flows", chance=True, note=DITHER),
    _cake("cake-default-flows", chance=True, note=DITHER),
    _cake(
        "cake-memlimit-flows",
        flow_mode="flows",
        limit="40 kB",
        chance=True,
        note="60 kB of buffers hold about 40 kB of packets",
    ),
]
"""Every comparison with a record; a new queue adds its own."""


@dataclass(frozen=True)
class Agreement:
    """How far a simulated queue agrees with a real one: a row of the table."""

    queue: str
    peer: str
    packets: int
    fate_agreement: float
    mark_agreement: float
    departure_us: float
    note: str = ""

    def row(self) -> dict[str, str]:
        """Return the row as text."""
        shares = {name: f"{getattr(self, name):.5f}" for name in ("fate_agreement", "mark_agreement")}
        return {
            **{key: str(value) for key, value in vars(self).items()},
            **shares,
            "departure_us": f"{self.departure_us:.1f}",
        }


def agreement(
    queue: str, peer: str, ours: list[Arrival | None], theirs: list[Arrival | None], note: str = ""
) -> Agreement:
    """Compare what two queues did with the same packets; `departure_us` is the 99.9th percentile of differences."""
    pairs = [pair for pair in zip(ours, theirs, strict=True) if pair[1] != UNKNOWN]
    fates = sum((one is None) == (other is None) for one, other in pairs)
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    late = sorted(abs(one.at - other.at) for one, other in both)
    return Agreement(
        queue,
        peer,
        len(pairs),
        fates / len(pairs),
        sum(one.ecn == other.ecn for one, other in both) / len(both),
        late[int(0.999 * (len(late) - 1))] * 1e6,
        note,
    )


def sent(case: Case, packets: list[Packet], seed: int = 1) -> list[Arrival | None]:
    """Send packets through the simulated queue, and return when they would have left a link of 5 Mbit/s."""
    flows = {**FLOW, "count": 8, "packet_size": "1462 B"}
    if not case.shapes:
        return replay(link(case.queue, flows, duration="30 s", seed=seed), packets)
    fast = 1e11
    ours = replay(link(case.queue, flows, rate="100 Gbit/s", duration="30 s", seed=seed), packets)
    return [
        one if one is None else one._replace(at=one.at + packet.size * 8 * (1 / RATE - 1 / fast))
        for one, packet in zip(ours, packets, strict=True)
    ]


def counts(packets: list[Packet], arrivals: list[Arrival | None]) -> tuple[int, int]:
    """Return the numbers of drops and marks."""
    pairs = [pair for pair in zip(packets, arrivals, strict=True) if pair[1] != UNKNOWN]
    marks = sum(one is not None and one.ecn == 3 != packet.ecn for packet, one in pairs)
    return sum(one is None for _, one in pairs), marks


def measured(case: Case) -> Agreement:
    """Send the packets of a record through the simulated queue."""
    _, packets, theirs = recorded(case.record)
    note = case.note
    if case.chance:
        means = (statistics.mean(numbers) for numbers in zip(*of_seeds(case, packets), strict=True))
        sums = [
            f"{ours:.0f} {word} instead of {there}"
            for ours, word, there in zip(means, ("drops", "marks"), counts(packets, theirs), strict=True)
        ]
        note = "; ".join([*filter(None, [note]), f"{' and '.join(sums)}, mean of five seeds"])
    return agreement(case.record, "record", sent(case, packets), theirs, note)


def of_seeds(case: Case, packets: list[Packet]) -> list[tuple[int, int]]:
    """Return the numbers of drops and marks with five seeds."""
    return [counts(packets, sent(case, packets, seed)) for seed in range(1, 6)]


def stored() -> list[dict[str, str]]:
    """Return the rows of the table."""
    with TABLE.open() as file:
        return list(csv.DictReader(file))


def write(rows: list[dict[str, str]]) -> None:
    """Write the table."""
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(Agreement.__dataclass_fields__), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    kept = [row for row in stored() if row["peer"] != "record"] if TABLE.exists() else []
    write([measured(case).row() for case in CASES] + kept)
