"""Compares the simulated host `linux` with a kernel in virtual time, packet by packet, on random scenarios.

Prints, for each class of scenarios, how many have the same packets to the end, and how many have close results. Needs
a kernel (`ackclock kernel build`). With --store, writes hashes of what the kernel sent, for the tests.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import warnings
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scenarios import KINDS, make

from ackclock import Scenario, kernels
from ackclock.kernels import packets
from ackclock.kernels.packets import Compared, Side

MARGIN = 1e-4
"""How long before a difference the packets that are stored as the same end, in seconds."""
CLOSE = 0.005
"""Relative difference of results that counts as none."""


@dataclass(frozen=True)
class Outcome:
    """The comparison of a scenario: class, name, difference in words, results that are not close, a row to store."""

    kind: str
    name: str
    same: bool
    difference: str
    fields: tuple[str, ...]
    apart: tuple[str, ...]
    row: dict[str, Any]


def job(number: int, seed: int, on: str, phase: float) -> Outcome:
    """Compare one scenario."""
    warnings.simplefilter("ignore")
    kind, document = make(seed, number)
    scenario = Scenario(**document)
    compared = packets.compare(scenario, kernels.find(on), phase=phase)
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
    fields = () if first is None else first.fields
    return Outcome(kind, scenario.name, first is None, text, fields, apart(compared), row)


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
    parser.add_argument("--on", default="linux", help="the kernel, as linux:7.2")
    parser.add_argument("--phase", type=float, default=0.0, help="start of the run after a tick, in seconds")
    parser.add_argument("--store", type=Path, help="file for what the kernel sent")
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel comparisons")
    options = parser.parse_args()
    numbers = [n for n in range(options.count) if options.only in {None, KINDS[n % len(KINDS)]}]
    same: Counter[str] = Counter()
    close: Counter[str] = Counter()
    total: Counter[str] = Counter()
    causes: dict[tuple[str, ...], int] = defaultdict(int)
    rows = []
    with ProcessPoolExecutor(options.jobs) as pool:
        each = partial(job, seed=options.seed, on=options.on, phase=options.phase)
        for found in pool.map(each, numbers, chunksize=4):
            total[found.kind] += 1
            same[found.kind] += found.same
            close[found.kind] += not found.apart
            rows.append(found.row)
            if not found.same:
                causes[found.fields] += 1
                print(found.name, found.difference, *(f"[{name}]" for name in found.apart), flush=True)
    for kind in KINDS:
        if total[kind]:
            print(f"{kind:16} same {same[kind]:5} close {close[kind]:5} of {total[kind]}")
    print(f"{'all':16} same {same.total():5} close {close.total():5} of {total.total()}")
    for fields, count in sorted(causes.items(), key=lambda item: -item[1]):
        print(f"{count:5} {', '.join(fields)}")
    if options.store:
        options.store.write_bytes(gzip.compress(json.dumps(rows, indent=0).encode(), mtime=0))


if __name__ == "__main__":
    main()
