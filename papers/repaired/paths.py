"""The table of paths: a seeded sample of published distributions, written as `paths.csv` beside this file.

Each row is a path with its cross traffic. The sources are those that PATHS in the README names.

    python papers/repaired/paths.py
"""

from __future__ import annotations

import csv
import math
import random
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("paths.csv")
SEED = 1
ROWS = 60
TRAFFIC = ("quiet", "bulk", "web")
"""Cross traffic: none; an endless flow, as the cross traffic of quic-interop-runner; short flows that load the link by
60 %, the least load of draft-irtf-iccrg-tcpeval-01."""
BUSY = 100.0
"""Largest rate in Mbit/s of a path with cross traffic, which a faster path seldom fills; faster paths are quiet."""

RATE_AT = (0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99)
RTT_AT = (0.05, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99)
COUNTRIES = {
    "US": ((3.1, 9.1, 38.9, 121, 322, 534, 697, 915), (1, 7, 15, 28, 46, 71, 208)),
    "GB": ((3.0, 8.1, 28, 73.5, 220, 463, 632, 902), (1, 6, 10, 19, 30, 49, 199)),
    "DE": ((1.6, 4.3, 17, 51, 116, 271, 441, 814), (4, 11, 17, 26, 36, 47, 171)),
    "FR": ((2.4, 6.6, 29.5, 101, 338, 631, 813, 1315), (1, 7, 16, 28, 43, 58, 201)),
    "JP": ((1.9, 5.0, 20, 69, 205, 436, 598, 926), (2, 7, 13, 27, 49, 62, 167)),
    "BR": ((1.7, 5.0, 21.6, 72, 192, 400, 539, 836), (3, 7, 15, 53, 144, 227, 257)),
    "IN": ((0.7, 1.9, 8.5, 30, 89, 197, 267, 424), (3, 12, 25, 44, 70, 97, 286)),
    "ID": ((0.6, 1.4, 4.8, 14.8, 37, 77, 103, 252), (3, 8, 16, 28, 42, 65, 200)),
    "NG": ((0.3, 0.6, 2.3, 8.7, 25.5, 59, 101, 261), (10, 22, 40, 140, 241, 297, 650)),
    "ZA": ((0.7, 1.7, 6.8, 21.9, 52, 105, 200, 483), (2, 4, 12, 22, 39, 59, 271)),
}
"""Quantiles of rate in Mbit/s and of minimum round-trip time in ms: M-Lab NDT, downloads of October 2025, as
m-lab/iqb publishes them. Each country counts the same."""
BUFFERS_BDP = (0.2, 1.0, 5.0)
"""Buffers of msquic's tests of wide-area networks, in bandwidth-delay products."""
BUFFERS_MS = (10, 20, 50, 100, 200)
"""Buffers of draft-irtf-iccrg-tcpeval-01: 10 to 200 % of what a round trip of 100 ms carries."""
LEAST_BUFFER = 6
"""Packets in 8 kB, the smaller buffer of the DSL line in neqo's tests."""
LOSSES = (0.0, 0.0, 0.0, 0.0, 0.01, 0.1, 0.4, 1.0)
"""Random loss in %, each with the same chance: none on half of the paths; 0.01 and 0.1 (msquic), 0.4 (Starlink with
light load, Michel et al. 2022), 1 (TEACUP)."""
PACKET = 1500


@dataclass(frozen=True)
class NetworkPath:
    """A path of the table: rate in Mbit/s, round-trip time in ms, buffer in packets, random loss in %."""

    label: str
    traffic: str
    rate: float
    rtt: float
    buffer: int
    loss: float

    @property
    def bdp(self) -> float:
        """Its bandwidth-delay product in packets."""
        return self.rate * 1e6 * self.rtt / 1e3 / (8 * PACKET)

    @property
    def shallow(self) -> bool:
        """Whether its buffer is smaller than its bandwidth-delay product."""
        return self.buffer < self.bdp


def quantile(at: tuple[float, ...], values: tuple[float, ...], u: float) -> float:
    """Return the quantile `u` of a distribution: between two published quantiles the logarithm is linear."""
    if u <= at[0]:
        return values[0]
    for low, high, a, b in zip(at, at[1:], values, values[1:], strict=False):
        if u <= high:
            return math.exp(math.log(a) + (u - low) / (high - low) * (math.log(b) - math.log(a)))
    return values[-1]


def draw(rows: int = ROWS, seed: int = SEED) -> list[NetworkPath]:
    """Draw paths. Rate and round-trip time of a country are independent: their joint distribution is not published."""
    generator = random.Random(seed)
    found = []
    for number in range(rows):
        country = generator.choice(sorted(COUNTRIES))
        rates, rtts = COUNTRIES[country]
        rate = round(quantile(RATE_AT, rates, generator.random()), 2)
        rtt = round(quantile(RTT_AT, rtts, generator.random()), 1)
        per_ms = rate * 1e3 / (8 * PACKET)
        buffer = generator.choice([each * rtt for each in BUFFERS_BDP] + list(BUFFERS_MS)) * per_ms
        loss = generator.choice(LOSSES)
        traffic = generator.choice(TRAFFIC)
        traffic = traffic if rate <= BUSY else "quiet"
        label = f"{number + 1:03} {country}"
        found.append(NetworkPath(label, traffic, rate, rtt, max(LEAST_BUFFER, round(buffer)), loss))
    return found


def read(file: Path = FILE) -> list[NetworkPath]:
    """Return the paths of the table."""
    with file.open(newline="", encoding="utf-8") as lines:
        return [
            NetworkPath(
                row["label"], row["traffic"], float(row["rate_mbps"]), float(row["rtt_ms"]),
                int(row["buffer_packets"]), float(row["loss_%"]),
            )
            for row in csv.DictReader(lines)
        ]  # fmt: skip


def write(file: Path = FILE) -> None:
    """Write the table."""
    with file.open("w", newline="", encoding="utf-8") as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerow(("label", "traffic", "rate_mbps", "rtt_ms", "buffer_packets", "loss_%"))
        table.writerows((path.label, path.traffic, path.rate, path.rtt, path.buffer, path.loss) for path in draw())


if __name__ == "__main__":
    write()
