"""What queues of Linux did with given packets, and how far simulated queues agree with them.

``python -m python.tests.queue_records`` writes their rows of docs/validation/queues.csv anew; `test_queue_records`
compares. Its other rows are those of `queue_walks`.

The records are of Linux 7.2 in virtual time, behind a link of 5 Mbit/s. They count Ethernet's 14 bytes, and have the
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
    packets: list[Packet] = []
    arrivals: list[Arrival | None] = []
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
    early_ns
        How much earlier packets arrive. In a record, a packet that arrives within a microsecond of a departure can be
        before it, and a queue that it fills then goes another way.
    share
        How far the numbers of drops and marks may differ if chance decides.
    late_us
        How far the times of departures may differ otherwise.
    """

    record: str
    queue: dict[str, Any]
    chance: bool = False
    shapes: bool = False
    note: str = ""
    early_ns: int = 0
    share: float = 0.03
    late_us: float = 2.0


def _codel(record: str, kind: str = "codel", **keys: Any) -> Case:
    ecn = {} if kind == "fq_codel" else {"ecn": "ecn" in record or "ce2ms" in record}
    return Case(record, {"kind": kind, "variant": "linux", "maxpacket": "1514 B", **ecn, **keys})


def _dualpi2(record: str, **keys: Any) -> Case:
    return Case(record, {"kind": "dualpi2", "variant": "linux", "mtu": "1514 B", **keys}, chance=True)


def _cake(record: str, **keys: Any) -> Case:
    chance, note = keys.pop("chance", False), keys.pop("note", "")
    queue = {"kind": "cake", "bandwidth": "5 Mbit/s", **keys}
    return Case(record, queue, chance=chance, shapes=True, note=note)


def _pie(record: str, kind: str = "pie", **keys: Any) -> Case:
    variant = {"variant": "linux"} if kind == "pie" else {}
    return Case(record, {"kind": kind, **variant, "maxpacket": "1514 B", "ecn": "ecn" in record, **keys}, chance=True)


def _choke(record: str, **more: Any) -> Case:
    limits = {"limit": "200 packets", "min_threshold": "20 packets", "max_threshold": "60 packets", "weight": 1 / 16}
    queue = {"kind": "choke", **limits, "max_p": "2 %", "wait": False, "mark_below": "100 %", "ecn": "ecn" in record}
    return Case(record, queue, chance=True, **more)


def _sfb(record: str) -> Case:
    steps = {"increment": "0.5 %", "decrement": "0.05 %"}
    queue = {"kind": "sfb", "variant": "linux", "limit": "300 packets", "target": 25, "max": 30, **steps}
    return Case(record, queue, chance=True)


def _tbf(record: str, burst: str, **keys: Any) -> Case:
    chance, note = keys.pop("chance", False), keys.pop("note", "")
    queue = {"kind": "tbf", "rate": "5 Mbit/s", "burst": burst, **keys}
    return Case(record, queue, chance=chance, shapes=True, note=note)


FORTY = {"kind": "droptail", "limit": "41 packets"}
"""Forty packets may wait: droptail counts as ns-2 does."""


def _htb(record: str, bursts: str, *classes: dict[str, Any], **more: Any) -> Case:
    bucket = {"burst": bursts, "cburst": bursts}
    inside = [{**bucket, "queue": FORTY, "quantum": "1514 B", **one} for one in classes]
    queue = {"kind": "htb", "class": {"rate": "5 Mbit/s", **bucket, "class": inside}}
    return Case(record, queue, shapes=True, early_ns=800, **more)


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
    Case("pfifo-bursts", {"kind": "droptail", "limit": "51 packets"}),
    Case("bfifo-steps", {"kind": "droptail", "limit": "40001 B"}),
    _choke("choke-steps"),
    _choke("choke-flows"),
    _choke("choke-ecn-wave-ect0", share=0.04, note="RED has the rules of ns-2 here"),
    _sfb("sfb-flows"),
    _sfb("sfb-ect0-steps-ect0"),
    _pie("pie-steps"),
    _pie("pie-wave"),
    _pie("pie-ecn-steps-ect0"),
    _pie("pie-ecn-wave-ect0"),
    _pie("pie-bytemode-wave", bytemode=True),
    _pie("pie-t5-wave", qdelay_ref="5 ms", t_update="5 ms"),
    _pie("fq_pie-wave", "fq_pie"),
    _pie("fq_pie-flows", "fq_pie"),
    _pie("fq_pie-ecn-wave-ect0", "fq_pie"),
    _tbf("tbf-steps", "15140 B", limit="60 kB"),
    _tbf("tbf-flows", "15140 B", limit="60 kB"),
    _tbf("tbf-1600-bursts", "1600 B", limit="30 kB"),
    _tbf("tbf-1600-wave", "1600 B", limit="30 kB"),
    _tbf(
        "tbf1514-codel-wave",
        "1514 B",
        queue={"kind": "codel", "variant": "linux", "maxpacket": "1514 B", "ecn": False},
        chance=True,
        note="the clock of the record costs 256 ns, which a full bucket loses",
    ),
    _tbf(
        "tbf1514-pie-wave",
        "1514 B",
        queue={"kind": "pie", "variant": "linux", "maxpacket": "1514 B", "ecn": False},
        chance=True,
    ),
    Case(
        "prio-flows",
        {
            "kind": "prio",
            "class": [{"flows": [2, 7], "queue": FORTY}, {"flows": [1, 4, 6], "queue": FORTY}, {"queue": FORTY}],
        },
        chance=True,
        note="two packets within a microsecond of a departure were before it or after it",
    ),
    _htb(
        "htb-2class-flows",
        "3028 B",
        {"rate": "2 Mbit/s", "ceil": "5 Mbit/s", "flows": [0, 1, 2, 3]},
        {"rate": "3 Mbit/s", "ceil": "4 Mbit/s", "quantum": "3028 B"},
    ),
    _htb(
        "htb-prio-flows",
        "1 B",
        {"rate": "1 Mbit/s", "ceil": "5 Mbit/s", "priority": 1, "flows": [0, 1, 2, 3]},
        {"rate": "1 Mbit/s", "ceil": "5 Mbit/s", "priority": 0},
        late_us=4,
        note="the clock of the record costs 256 ns, which a full bucket loses",
    ),
    Case("fq-steps", {"kind": "fq_paced", "limit": "200 packets", "flow_limit": "50 packets"}),
    Case(
        "fq-maxrate-flows",
        {"kind": "fq_paced", "flow_limit": "50 packets", "maxrate": "1 Mbit/s"},
        shapes=True,
        late_us=3,
        note="the timer of the record is 8 to 10 µs late",
    ),
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
        note="the limit, for 60 kB of buffers, was chosen so that the drops agree",
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
    packets = [packet._replace(at=max(packet.at - case.early_ns, 0)) for packet in packets]
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


def main() -> None:
    """Write the rows of records anew."""
    write([measured(case).row() for case in CASES] + [row for row in stored() if row["peer"] != "record"])


if __name__ == "__main__":
    main()
