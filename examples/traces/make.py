"""Draw two paths from models that were published: `cellular.down` for Mahimahi and `leo.csv`.

usage: python make.py [SEED]

`cellular.down` is Sprout's model of a cellular link (Winstein, Sivaraman & Balakrishnan, NSDI 2013, §3.1): packets
leave as a Poisson process, whose rate wanders by a Brownian motion of 200 packets/s per √s between 0 and 1,000. At 0
the link is out, until it recovers after 1 s in the mean. The constants are quoted from memory of the paper.

`leo.csv` has the means of 15 s of a trace of Starlink, one after the other (LeoCC, SpaceNetLab/LeoCC, 2025), about
which the rate varies from step to step so that 5 and 95 % of it are those of the trace, 36 and 63 Mbit/s. The delay is
drawn evenly from 8 to 14 ms every 15 s, between two reconfigurations; that it is even is assumed.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent
WANDER, MOST, RECOVERY = 200.0, 1000.0, 1.0
STEP, LENGTH = 0.02, 30.0
MEANS = (58, 49, 42, 44, 47, 45, 46, 58)
DEVIATION = 6.0
"""Of the rate within 15 s, in Mbit/s: with the deviation of the means, it gives that of the trace."""


def opportunities(draw: random.Random) -> Iterator[int]:
    """Yield the milliseconds in which a packet may leave."""
    rate, at = MOST / 2, 0.0
    for step in range(round(LENGTH / STEP)):
        end = STEP * (step + 1)
        while rate > 0 and (at := at + draw.expovariate(rate)) < end:
            yield min(int(1000 * at) + 1, round(1000 * LENGTH))
        at = end
        change = draw.gauss(0, WANDER * STEP**0.5)
        if rate > 0:
            rate = min(max(rate + change, 0), MOST)
        elif draw.random() < STEP / RECOVERY:
            rate = abs(change)


def orbit(draw: random.Random) -> Iterator[str]:
    """Yield the lines of a table of rates and delays."""
    yield "time (s),rate (Mbit/s),delay (ms)"
    for number, mean in enumerate(MEANS):
        delay = draw.uniform(8, 14)
        for half in range(30):
            rate = max(draw.gauss(mean, DEVIATION), 1)
            yield f"{15 * number + half / 2:g},{rate:.2f},{delay:.2f}"


def main(seed: int = 5) -> None:
    """Write both files."""
    lines = {
        "cellular.down": map(str, opportunities(random.Random(seed))),
        "leo.csv": orbit(random.Random(seed)),
    }
    for name, rows in lines.items():
        (FOLDER / name).write_text("".join(f"{row}\n" for row in rows))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
