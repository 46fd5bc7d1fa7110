"""What queues of Linux did with given packets, and how far simulated queues agree with them.

``python -m python.tests.queue_records`` writes docs/validation/queues.csv anew, and with names of queues (``codel
fq_codel cake``) its rows of random walks against a built kernel; `test_queue_records` compares.

The records are of Linux 7.2 in virtual time, behind a link of 5 Mbit/s. They count Ethernet's 14 bytes, and have the
beginning of each transmission. A shaper whose leaf they are (htb) takes a packet when the last one has left, and does
not ask an empty leaf.
"""

from __future__ import annotations

import csv
import gzip
import random
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock import Scenario
from ackclock.linux import Arrival, Packet, built, replay

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
        note="60 kB of buffers hold about 40 kB of packets",
    ),
]
"""Every comparison with a record; a new queue adds its own."""


WALKED = 60
"""Random configurations of a queue in the table."""


PHASE = 704
"""Nanoseconds since the last tick of CoDel's clock, of 1024 ns, when a run in a built kernel begins."""


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


def drawn(seed: int) -> list[Packet]:
    """Return packets of up to eight flows, whose load changes once a second between 0.6 and 1.6 of 5 Mbit/s.

    They begin so late that a kernel has forgotten its boot, which is CoDel's last drop for 16 intervals.
    """
    draw, at, packets = random.Random(seed), 4.0, []
    flows, sizes = draw.randint(1, 8), draw.choice([[1514], [1514, 1514, 1514, 80], [1514, 1000, 600, 100]])
    loads, burst = [draw.uniform(0.6, 1.6) for _ in range(5)], draw.choice([1, 1, 4, 20])
    codepoints = draw.choice([[0], [2], [0, 1, 2]])
    while at < 9:
        flow, ecn = draw.randrange(flows), draw.choice(codepoints)
        for _ in range(draw.randint(1, burst)):
            size = draw.choice(sizes)
            packets.append(Packet(round(at * 1e9), flow, size, ecn))
            # Within a burst, packets come a microsecond apart.
            at += 1e-6
        at += draw.expovariate(RATE * loads[min(4, int(at) - 4)] / 8 / statistics.mean(sizes) / (1 + burst) * 2)
    return packets


def configuration(kind: str, seed: int) -> tuple[dict[str, Any], str]:
    """Return a queue without chance in a random configuration: ours, and the command for Linux."""
    draw = random.Random(f"{kind} {seed}")
    target, interval = draw.choice([1, 2, 5, 10, 20]), draw.choice([20, 50, 100, 200])
    if kind == "cake":
        mode = draw.choice(["flowblind", "srchost", "dsthost", "hosts"])
        rate, rtt = draw.choice([2, 4, 4.5, 5]), draw.choice([5, 20, 100, 300])
        overhead, mpu = draw.choice([0, 18, 44]), draw.choice([0, 64, 100])
        cells, ingress = draw.choice(["noatm", "atm", "ptm"]), draw.random() < 0.3
        ours = {"bandwidth": f"{rate} Mbit/s", "flow_mode": mode, "rtt": f"{rtt} ms", "ingress": ingress}
        ours |= {
            "overhead": f"{overhead} B",
            "mpu": f"{mpu} B",
            "cells": cells.removeprefix("no") if cells != "noatm" else "none",
        }
        command = f"cake bandwidth {rate}mbit besteffort {mode} rtt {rtt}ms overhead {overhead} mpu {mpu} {cells}"
        return {"kind": kind, **ours}, command + (" ingress" if ingress else "")
    ecn, limit = draw.random() < 0.6, draw.choice([20, 60, 200, 1000])
    ours = {"variant": "linux", "maxpacket": "1514 B", "ecn": ecn, "limit": f"{limit} packets"}
    ours |= {"target": f"{target} ms", "interval": f"{interval} ms"}
    command = f"{kind} limit {limit} target {target}ms interval {interval}ms {'ecn' if ecn else 'noecn'}"
    if draw.random() < 0.4:
        threshold = draw.choice([1, 3, 10])
        ours["ce_threshold"] = f"{threshold} ms"
        command += f" ce_threshold {threshold}ms"
    if kind == "fq_codel":
        quantum, batch = draw.choice([300, 1514, 3000]), draw.choice([1, 8, 64])
        # So many queues that no two flows share one.
        ours |= {"quantum": f"{quantum} B", "drop_batch": batch, "flows": 65_536}
        command += f" quantum {quantum} drop_batch {batch} flows 65536"
    return {"kind": kind, **ours}, command


def live(kind: str, seed: int, on: str) -> Agreement:
    """Send random packets through a random configuration of a queue, in the simulation and in a kernel."""
    packets = drawn(seed)
    queue, command = configuration(kind, seed)
    if kind == "fq_codel" and queue["limit"] != "1000 packets":
        # Which of two equally long queues loses a packet depends on Linux' secret hash.
        packets = [packet._replace(flow=0) for packet in packets]
    flows = {**FLOW, "count": 8, "packet_size": "1462 B"}
    theirs = replay(link({"kind": "qdisc", "command": command}, flows, duration="60 s"), packets, on=on)
    late = [packet._replace(at=packet.at + PHASE) for packet in packets]
    ours = [
        one if one is None else one._replace(at=one.at - PHASE / 1e9)
        for one in replay(link(queue, flows, duration="60 s"), late)
    ]
    return agreement(kind, on, ours, theirs, command)


def walked(kind: str, found: list[Agreement], peer: str) -> Agreement:
    """Return the agreement over many random cases."""
    packets = sum(each.packets for each in found)
    whole = sum(each.fate_agreement == each.mark_agreement == 1 and each.departure_us <= 2 for each in found)
    fates, marks = (
        sum(getattr(each, name) * each.packets for each in found) / packets
        for name in ("fate_agreement", "mark_agreement")
    )
    note = f"{whole} of {len(found)} random configurations agree in every packet"
    return Agreement(kind, peer, packets, fates, marks, max(each.departure_us for each in found), note)


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


def main(kinds: list[str]) -> None:
    """Write the table: the rows of records, or those of random walks of these kinds against the newest built kernel."""
    if not kinds:
        write([measured(case).row() for case in CASES] + [row for row in stored() if row["peer"] != "record"])
        return
    kernel = built()[0]
    rows = []
    for kind in kinds:
        found = [live(kind, seed, f"linux:{kernel.path.name}") for seed in range(WALKED)]
        for each in found:
            if each.fate_agreement < 1 or each.mark_agreement < 1:
                print(each)
        rows.append(walked(kind, found, f"Linux {kernel.version}").row())
    write([row for row in stored() if row["peer"] == "record" or row["queue"] not in kinds] + rows)


if __name__ == "__main__":
    main(sys.argv[1:])
