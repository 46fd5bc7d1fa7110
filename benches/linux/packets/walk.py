"""Compares the simulated host `linux` with a kernel in virtual time, packet by packet, on random scenarios.

Prints, for each class of scenarios, how many have the same packets to the end, how many of these also have the same
states of the sender after every ACK, and how many have close results. Needs a kernel (`ackclock kernel build`). With
--store, writes hashes of what the kernel sent, for the tests; with --table, a row for each scenario, for
docs/validation.md. With --phases, each scenario starts at as many times after a tick, and the data delivered, the
retransmissions and the losses of both worlds are compared as distributions.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scenarios import KINDS, make
from scipy import stats

from ackclock import Scenario, linux
from ackclock.linux import packets
from ackclock.linux.packets import Compared, Side

MARGIN = 1e-4
"""How long before a difference the packets that are stored as the same end, in seconds."""
CLOSE = 0.005
"""Relative difference of results that counts as none."""

LONGEST = 0.256
"""Phases are spread over this time, in seconds: the coarsest tick of timers below 2 s."""
LEVEL = 0.05
"""Level of the test of two distributions."""
COLUMNS = ("scenario", "class", "flows", "packets", "close", "latest_us", "first_difference", "first_state")
"""Columns of the table."""


@dataclass(frozen=True)
class Outcome:
    """The comparison of a scenario: class, name, differences in words, results that are not close, a row to store."""

    kind: str
    name: str
    difference: str
    cause: str
    apart: tuple[str, ...]
    latest: float
    state: str
    row: dict[str, Any]

    @property
    def same(self) -> bool:
        """Whether all packets are the same."""
        return not self.cause


def job(number: int, seed: int, on: str, phase: float) -> Outcome:
    """Compare one scenario."""
    warnings.simplefilter("ignore")
    kind, document = make(seed, number)
    scenario = Scenario(**document)
    compared = packets.compare(scenario, linux.find(on), phase=phase)
    first = compared.difference
    until = math.inf if first is None else first.time - MARGIN
    text = ""
    if first is not None:
        text = f"{first.time:.6f} s: {first.flow} at {first.place}, packet {first.index}, {', '.join(first.fields)}"
    row = {
        "scenario": document,
        "until": None if first is None else until,
        "packets": len(compared.kernel.packets),
        "hash": packets.digest(compared.kernel.packets, until),
    }
    state = " ".join(compared.state.values) if compared.state else ""
    return Outcome(kind, scenario.name, text, cause(compared), apart(compared), compared.latest, state, row)


def distributed(number: int, seed: int, on: str, phases: int) -> tuple[str, float]:
    """Compare the results of one scenario over phases; return its name, and the smallest p of a result."""
    warnings.simplefilter("ignore")
    scenario, kernel = Scenario(**make(seed, number)[1]), linux.find(on)
    found = [packets.compare(scenario, kernel, phase=LONGEST * place / phases) for place in range(phases)]
    one, other = (
        [results(side) for side in sides] for sides in zip(*((f.simulation, f.kernel) for f in found), strict=True)
    )
    samples = ([[row[name] for row in world] for world in (one, other)] for name in one[0])
    return scenario.name, min(float(stats.ks_2samp(*pair).pvalue) for pair in samples)


def cause(compared: Compared) -> str:
    """Return what differs first, in words; empty if nothing does."""
    first = compared.difference
    if first is None:
        return ""
    both = [side.around(first, 0).to_dicts() for side in (compared.simulation, compared.kernel)]
    sends = [bool(rows) and rows[-1]["direction"] == "sent" for rows in both]
    # The flows begin at a.
    at_sender = first.place == "a"
    if first.fields == ("time",):
        return "time of a timer" if all(sends) else "time of arrival"
    if not any(sends):
        return "what the network delivers"
    if not all(sends):
        return "whether data leaves" if at_sender else "whether an ACK leaves"
    if not at_sender:
        return "what an ACK reports"
    if first.fields == ("flags",):
        return "where a block ends"
    return "which segment leaves" if "seq" in first.fields else "what a segment carries"


def apart(compared: Compared) -> tuple[str, ...]:
    """Return the names of the results that differ by more than 0.5 % and one packet."""
    one, other = (results(side) for side in (compared.simulation, compared.kernel))
    return tuple(name for name in one if abs(one[name] - other[name]) > max(CLOSE * other[name], 1.0))


def results(side: Side) -> dict[str, float]:
    """Return the numbers of packets delivered, sent again, and lost."""
    data = side.packets.filter(side.packets["from"] == "sender")
    arrived = data.filter(data["direction"] == "received")
    sent = data.filter((data["direction"] == "sent") & (data["bytes"] > 0))
    unique = arrived.filter(arrived["bytes"] > 0).unique(["flow", "seq"])
    again = len(sent) - len(sent.unique(["flow", "seq"]))
    return {"delivered": float(len(unique)), "resent": float(again), "lost": float(len(data) - 2 * len(arrived))}


def main() -> None:
    """Compare the requested scenarios, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=260, help="number of scenarios")
    parser.add_argument("--seed", type=int, default=1, help="seed of the scenarios")
    parser.add_argument("--only", choices=KINDS, help="only scenarios of this class")
    parser.add_argument("--numbers", type=int, nargs="+", help="only scenarios with these numbers")
    parser.add_argument("--on", default="linux", help="the kernel, as linux:7.2")
    parser.add_argument("--phase", type=float, default=0.0, help="start of the run after a tick, in seconds")
    parser.add_argument("--store", type=Path, help="file for what the kernel sent; its other scenarios stay")
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel comparisons")
    parser.add_argument("--table", type=Path, help="file for a row of each scenario")
    parser.add_argument("--phases", type=int, help="number of phases of each scenario")
    options = parser.parse_args()
    chosen = options.numbers or range(options.count)
    numbers = [n for n in chosen if options.only in {None, KINDS[n % len(KINDS)]}]
    if options.phases:
        with ProcessPoolExecutor(options.jobs) as pool:
            each_phase = partial(distributed, seed=options.seed, on=options.on, phases=options.phases)
            pairs = list(pool.map(each_phase, numbers))
        for name, least in sorted(pairs, key=lambda pair: pair[1]):
            print(f"{least:8.4f} {name}")
        # Each of three results may be the one that differs by chance.
        print(f"{sum(least >= LEVEL / 3 for _, least in pairs)} of {len(pairs)} agree")
        return
    same: Counter[str] = Counter()
    known: Counter[str] = Counter()
    close: Counter[str] = Counter()
    total: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    rows, table = [], []
    with ProcessPoolExecutor(options.jobs) as pool:
        each = partial(job, seed=options.seed, on=options.on, phase=options.phase)
        for found in pool.map(each, numbers, chunksize=4):
            total[found.kind] += 1
            same[found.kind] += found.same
            known[found.kind] += found.same and not found.state
            close[found.kind] += not found.apart
            rows.append(found.row)
            flows = len(found.row["scenario"]["flow"])
            late = f"{1e6 * found.latest:.1f}"
            counts = [flows, found.row["packets"], int(not found.apart), late]
            table.append([found.name, found.kind, *counts, found.cause, found.state])
            if not found.same:
                causes[found.cause] += 1
                print(found.name, found.difference, *(f"[{name}]" for name in found.apart), flush=True)
    for kind in KINDS:
        if total[kind]:
            _print(kind, same[kind], known[kind], close[kind], total[kind])
    _print("all", same.total(), known.total(), close.total(), total.total())
    for name, count in causes.most_common():
        print(f"{count:5} {name}")
    if options.table:
        with options.table.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *table])
    if options.store:
        new = {row["scenario"]["name"] for row in rows}
        stored = json.loads(gzip.decompress(options.store.read_bytes())) if options.store.exists() else []
        rows = [row for row in stored if row["scenario"]["name"] not in new] + rows
        options.store.write_bytes(gzip.compress(json.dumps(rows, indent=0).encode(), mtime=0))


def _print(kind: str, same: int, known: int, close: int, total: int) -> None:
    print(f"{kind:16} same {same:5} with states {known:5} close {close:5} of {total}")


if __name__ == "__main__":
    main()
