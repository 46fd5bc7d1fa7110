"""Compares losses and delays of links with netem of Linux, and writes docs/validation/effects.csv.

usage: python docs/effects.py

python/tests/data/netem.csv.gz holds what became of 4000 packets, one in each millisecond, in netem. Ackclock sends the
same packets over a link with the model that stands for each command, with 20 seeds. `ours` is the mean over the seeds,
and `deviation` is that of one seed: netem's figure should be no farther away than a few of these.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ackclock import Scenario
from ackclock.linux import Packet, replay

FOLDER = Path(__file__).resolve().parent
RECORDS = FOLDER.parent / "python" / "tests" / "data" / "netem.csv.gz"
WRITTEN = FOLDER / "validation" / "effects.csv"
SEEDS = range(1, 21)
COLUMNS = ("effect", "peer", "quantity", "theirs", "ours", "difference", "deviation")

Delays = Sequence["float | None"]
"""How many milliseconds each packet was on the way; None if it was lost."""
Quantities = dict[str, Callable[[Delays], float]]


def _jitter(**keys: str) -> dict[str, str]:
    return {"kind": "jitter", "delay": "50 ms", "jitter": "10 ms", "order": "free", **keys}


def _gilbert(p: str, r: str, **keys: str) -> dict[str, str]:
    return {"kind": "gilbert_elliott", "variant": "netem", "p": p, "r": r, **keys}


LOSSES: dict[str, Any] = {
    "loss": "5 %",
    "gemodel": _gilbert("1 %", "10 %", loss_bad="70 %", loss_good="0.1 %"),
    "gemodel-simple": _gilbert("2 %", "20 %"),
    "state": {"kind": "four_states", "p13": "2 %", "p31": "20 %", "p32": "30 %", "p23": "40 %", "p14": "0.5 %"},
}
DELAYS: dict[str, Any] = {
    "uniform": _jitter(),
    "correlated": _jitter(correlation="25 %"),
    "normal": _jitter(distribution="normal"),
    "pareto": _jitter(distribution="pareto"),
    "paretonormal": _jitter(distribution="paretonormal"),
    "reorder": {"kind": "reordering", "delay": "20 ms", "share": "25 %", "correlation": "50 %"},
    "reorder-gap": {"kind": "reordering", "delay": "20 ms", "share": "90 %", "gap": 5},
    "slot": ["10 ms", {"kind": "batches", "shortest": "20 ms", "longest": "40 ms", "packets": 8}],
}
"""The models of a link that stand for netem's commands, by the names of the records."""
PEERS = {"state": "netem, Linux 6.12", "pareto": "netem, Linux 6.12"}
PEER = "netem, Linux 7.2"


def _lost(delays: Delays) -> float:
    return 100 * sum(each is None for each in delays) / len(delays)


def _burst(delays: Delays) -> float:
    return statistics.mean(len(list(run)) for lost, run in itertools.groupby(each is None for each in delays) if lost)


def _arrived(delays: Delays) -> list[float]:
    return [each for each in delays if each is not None]


def _quantile(share: float) -> Callable[[Delays], float]:
    return lambda delays: sorted(_arrived(delays))[int(share * len(delays))]


def _at_once(delays: Delays) -> float:
    return 100 * sum(each < 1 for each in _arrived(delays)) / len(delays)


def _slots(delays: Delays) -> list[float]:
    """Return the times, in milliseconds, at which packets arrive together."""
    arrivals = sorted(at + delay for at, delay in enumerate(delays) if delay is not None)
    return [at for before, at in itertools.pairwise([-1.0, *arrivals]) if at - before > 0.5]


def _distance(delays: Delays) -> float:
    times = _slots(delays)
    return (times[-1] - times[0]) / (len(times) - 1)


def _correlation(delays: Delays) -> float:
    return statistics.correlation(_arrived(delays)[1:], _arrived(delays)[:-1])


OF_LOSSES: Quantities = {"lost packets (%)": _lost, "mean burst (packets)": _burst}
OF_DELAYS: Quantities = {
    "mean (ms)": lambda delays: statistics.mean(_arrived(delays)),
    "deviation (ms)": lambda delays: statistics.pstdev(_arrived(delays)),
    **{f"quantile {share:g} (ms)": _quantile(share) for share in (0.01, 0.25, 0.5, 0.75, 0.99)},
}
OF_CORRELATION: Quantities = {
    **{name: OF_DELAYS[name] for name in ("mean (ms)", "deviation (ms)")},
    "correlation with the packet before": _correlation,
}
OF_REORDERING: Quantities = {"packets at once (%)": _at_once}
OF_SLOTS: Quantities = {
    "packets in a slot": lambda delays: len(_arrived(delays)) / len(_slots(delays)),
    "distance of slots (ms)": _distance,
}


def _quantities(effect: str) -> Quantities:
    if effect in LOSSES:
        return OF_LOSSES
    special = {"correlated": OF_CORRELATION, "slot": OF_SLOTS, "reorder": OF_REORDERING, "reorder-gap": OF_REORDERING}
    return special.get(effect, OF_DELAYS)


def recorded() -> dict[str, Delays]:
    """Return what became of the packets in netem."""
    with gzip.open(RECORDS, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    # Records count units of 100 ns.
    return {name: [int(row[name]) / 1e4 if row[name] else None for row in rows] for name in rows[0]}


def simulated(effect: str, seed: int, count: int) -> Delays:
    """Return what becomes of `count` packets in Ackclock."""
    model = {"loss": LOSSES[effect], "delay": "0 s"} if effect in LOSSES else {"delay": DELAYS[effect]}
    link = {"from": "a", "to": "b", "rate": "100 Gbit/s", "queue": "unlimited", **model, "reverse": {"delay": "0 s"}}
    topology = {"kind": "explicit", "node": ["a", "b"], "link": link}
    scenario = Scenario(effect, topology=topology, flow={"from": "a", "to": "b"}, seed=seed, duration="100 s")
    packets = [Packet(1_000_000 * index, 0, 514) for index in range(count)]
    arrivals = replay(scenario, packets)
    return [None if each is None else 1e3 * each.at - at for at, each in enumerate(arrivals)]


class Row(NamedTuple):
    """A line of the table."""

    effect: str
    peer: str
    quantity: str
    theirs: float
    ours: float
    difference: float
    deviation: float


def compared() -> list[Row]:
    """Return the table."""
    rows = []
    for effect, theirs in recorded().items():
        runs = [simulated(effect, seed, len(theirs)) for seed in SEEDS]
        for quantity, of in _quantities(effect).items():
            peer, found = of(theirs), [of(run) for run in runs]
            ours = statistics.mean(found)
            row = Row(effect, PEERS.get(effect, PEER), quantity, peer, ours, ours - peer, statistics.stdev(found))
            rows.append(row)
    return rows


def written(rows: Sequence[Row]) -> list[list[str]]:
    """Return the table as texts."""
    return [[f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row] for row in rows]


def main() -> None:
    """Write the table."""
    with WRITTEN.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *written(compared())])


if __name__ == "__main__":
    main()
