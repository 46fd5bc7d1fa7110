"""The tables of paths: seeded draws from published distributions, written as `.csv` files beside this file.

    python papers/startups/paths.py

`PLAN.md` says where each quantity comes from. Every row is a path with an amount of data for each load.
"""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ackclock.files import populations

HERE = Path(__file__).resolve().parent
SEED = 100
"""Country c, counted from 0, has the seed 100 + c."""
PACKET, DATA = 1500, 1448
"""Bytes of a packet on the wire, and of its data."""
LOADS = {
    "10 kB": (5e3, 14e3),
    "50 kB": (30e3, 100e3),
    "200 kB": (100e3, 500e3),
    "1 MB": (0.5e6, 2e6),
    "3 MB": (2e6, 5e6),
    "10 MB": (5e6, 20e6),
    "30 MB": (10e6, 100e6),
}
"""The amounts of data of each load, drawn by their logarithms."""
APPLICATIONS = {"page": 6e6, "requests": 1e6}
"""Bytes that a page, whose objects are drawn, and five responses with their pauses have at most."""
LEAST_BYTES, LEAST_PACKETS = 8000, 5
"""The smallest buffer."""
BUFFERS = (0.1, 8.0)
"""Buffers in bandwidth-delay products, drawn by logarithms."""
SPARE = 12
"""Rows beyond those that the study uses, for repetitions in the report's page."""


@dataclass(frozen=True)
class NetworkPath:
    """A path: rate in Mbit/s, round trip in ms without transmission, buffer in packets, further keys of its link."""

    country: str
    rate: float
    rtt: float
    buffer: int
    keys: tuple[tuple[str, str], ...] = ()

    @property
    def product(self) -> float:
        """Its bandwidth-delay product in packets."""
        trip = self.rtt / 1e3 + 8 * (PACKET + 52) / (self.rate * 1e6)
        return self.rate * 1e6 * trip / (8 * PACKET)

    @property
    def trip(self) -> float:
        """A round trip behind a full queue, in seconds."""
        return self.rtt / 1e3 + 8 * PACKET * (self.buffer + 1) / (self.rate * 1e6)


def between(low: float, high: float, generator: random.Random) -> float:
    """Draw a number whose logarithm is uniform."""
    return low * (high / low) ** generator.random()


def buffer(rate: float, rtt: float, generator: random.Random, span: tuple[float, float] = BUFFERS) -> int:
    """Draw a buffer in packets."""
    products = between(*span, generator)
    least = max(LEAST_PACKETS, math.ceil(LEAST_BYTES / PACKET))
    return max(least, round(products * NetworkPath("", rate, rtt, 0).product))


def of_countries(name: str) -> Iterator[NetworkPath]:
    """Draw paths without end, by turns one of each country; `name` makes them independent of other tables."""
    countries = populations.names()
    quantities = {country: {each.name: each for each in populations.read(country)} for country in countries}
    draws = {country: random.Random(f"{SEED + index}: {name}") for index, country in enumerate(countries)}
    while True:
        for country in countries:
            generator, given = draws[country], quantities[country]
            rate, rtt = (given[key].at(100 * generator.random()) for key in ("rate", "RTT"))
            yield NetworkPath(country, rate, rtt, buffer(rate, rtt, generator))


def chosen(name: str, count: int, keep: Callable[[NetworkPath], bool] = lambda _: True) -> list[NetworkPath]:
    """Return so many paths that satisfy a condition."""
    found = (path for path in of_countries(name) if keep(path))
    return [next(found) for _ in range(count + SPARE)]


def geostationary(count: int) -> list[NetworkPath]:
    """Draw paths over a geostationary satellite: 10 to 250 Mbit/s at 600 ms, buffers of 0.2 to 8 products."""
    generator = random.Random(f"{SEED}: geo")
    made = []
    for _ in range(count + SPARE):
        rate = between(10, 250, generator)
        made.append(NetworkPath("satellite", rate, 600.0, buffer(rate, 600.0, generator, (0.2, 8.0))))
    return made


def lossy(count: int) -> list[NetworkPath]:
    """Draw paths that lose 0.01 to 1 % of the packets, every second one in bursts of two to ten packets."""
    generator = random.Random(f"{SEED}: losses")
    made = []
    for index, path in enumerate(chosen("lossy", count)):
        share, burst = between(0.01, 1, generator), between(2, 10, generator)
        # Gilbert's model: every packet in the bad state is lost, and the state lasts as long as a burst.
        back = 100 / burst if index % 2 else 100.0
        into = back * share / (100 - share)
        made.append(replace(path, keys=(("loss.p (%)", f"{into:.4g}"), ("loss.r (%)", f"{back:.4g}"))))
    return made


def batched(count: int, *, on: bool) -> list[NetworkPath]:
    """Draw paths whose ACKs arrive in batches of 1 to 10 ms, as on Wi-Fi; without batches, the same paths."""
    generator = random.Random(f"{SEED}: batches")
    made = []
    for path in chosen("batched", count):
        every = between(1, 10, generator)
        keys = (
            ("reverse.delay.0 (ms)", f"{path.rtt / 2:.5g}"),
            ("reverse.delay.1.shortest (ms)", f"{every / 2:.3g}"),
            ("reverse.delay.1.longest (ms)", f"{every:.3g}"),
        )
        made.append(replace(path, keys=keys if on else ()))
    return made


def lasting(path: NetworkPath, begin: float, size: float) -> int:
    """Return the length of a run in seconds: 30 round trips behind a full queue, eight times the least time, more."""
    return math.ceil(begin + 30 * path.trip + 8 * 8 * size / (path.rate * 1e6) + 10)


def jittered(paths: list[NetworkPath], name: str) -> list[NetworkPath]:
    """Let the delay of data vary by up to 1 to 20 ms from packet to packet, in order, beyond the path's own."""
    generator = random.Random(f"{SEED}: {name}")
    made = []
    for path in paths:
        half = between(1, 20, generator) / 2
        keys = (
            ("delay.0 (ms)", f"{path.rtt / 2:.5g}"),
            ("delay.1.delay (ms)", f"{half:.3g}"),
            ("delay.1.jitter (ms)", f"{half:.3g}"),
        )
        made.append(replace(path, keys=keys))
    return made


def write(name: str, paths: list[NetworkPath], rivals: bool = False) -> None:
    """Write a table; `rivals` says whether an endless flow runs before the transfer starts."""
    generator = random.Random(f"{SEED}: {name}: loads")
    link = "topology.bottleneck"
    keys = [f"{link}.{key}" for key, _ in paths[0].keys]
    listed = any(key.startswith("delay.") for key, _ in paths[0].keys)
    head = ["label", f"{link}.rate (Mbit/s)", *([] if listed else [f"{link}.delay (ms)"])]
    head += [f"{link}.queue.limit (packets)", "flow.0.start (ms)"]
    saved = {"": 1.0, ", 4 times": 4.0, ", a quarter": 0.25}
    resumed = "flow.0.slow_start.saved"
    head += [f"startup=careful_resume{text}: {resumed}_cwnd (segments)" for text in saved]
    head += [f"startup=careful_resume{text}: {resumed}_rtt (ms)" for text in saved]
    head += ["startup=known threshold: flow.0.initial_ssthresh (segments)", *keys]
    for load in LOADS:
        head += [f"load={load}: flow.0.size (B)", f"load={load}: duration (s)"]
    head += [f"load={load}: duration (s)" for load in APPLICATIONS]
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines)
        writer.writerow(head)
        for number, path in enumerate(paths, start=1):
            begin = 0.0
            if rivals:
                begin = max(10.0, 20 * path.rtt / 1e3) + generator.random()
            row = [f"{number}: {path.country}", f"{path.rate:.4g}", *([] if listed else [f"{path.rtt / 2:.5g}"])]
            row += [path.buffer, round(1e3 * begin)]
            row += [max(1, round(factor * path.product)) for factor in saved.values()]
            row += [f"{path.rtt:.5g}" for _ in saved]
            row += [max(2, round(path.product)), *(value for _, value in path.keys)]
            for span in LOADS.values():
                size = round(between(*span, generator))
                row += [size, lasting(path, begin, size)]
            row += [lasting(path, begin, size) for size in APPLICATIONS.values()]
            writer.writerow(row)


def main() -> None:
    """Write all tables."""
    write("population", chosen("population", 400))
    write("shared", chosen("shared", 160, lambda path: path.rate <= 50), rivals=True)
    write("long", chosen("long", 200, lambda path: 50 <= path.rtt <= 650))
    write("geo", geostationary(160))
    write("geo-jittered", jittered(geostationary(160), "geo-jittered"))
    write("jittered", jittered(batched(160, on=False), "jittered"))
    write("slow", chosen("slow", 200, lambda path: path.rate < 5))
    write("lossy", lossy(160))
    write("batched", batched(160, on=True))
    write("unbatched", batched(160, on=False))
    write("mixed", chosen("mixed", 40, lambda path: 2 <= path.rate <= 20 and path.rtt <= 200))
    write("worlds", chosen("worlds", 40, lambda path: 1 <= path.rate <= 50 and path.rtt <= 200))


if __name__ == "__main__":
    main()
