"""Makes the picture and the tables of docs/guides/l4s.md: python docs/concepts/l4s.py [PHASES]."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars
from matplotlib.figure import Figure

import ackclock
from ackclock.results import rows
from ackclock.statistics.intervals import interval

PICTURE = Path(__file__).parents[1] / "images" / "l4s.png"
BEGIN, END = 15, 45
"""Seconds: what is measured begins after the start-up."""
RATES, RTTS = (4, 12, 40, 120, 200), (5, 10, 20, 50, 100)
"""Mbit/s and milliseconds: the grid of De Schepper et al. (2019)."""
PRAGUE = {"name": "l4s", "host": "linux", "ecn": "accurate", "slow_start": "standard", "avoidance": "prague"}
CUBIC = {"name": "classic", "host": "linux"}
RIVALS: dict[str, dict[str, Any]] = {
    "CUBIC": CUBIC,
    "CUBIC with ECN": {**CUBIC, "ecn": True},
    "Reno": {**CUBIC, "slow_start": "standard", "avoidance": "reno"},
    "BBRv3": {**CUBIC, "congestion_control": "bbr"},
    "Prague": {**PRAGUE, "name": "classic"},
}
QUEUES: dict[str, Any] = {
    "DualPI2": {"kind": "dualpi2"},
    "DualPI2 of Linux": {"kind": "dualpi2", "variant": "linux"},
    "FQ-CoDel, threshold 1 ms": {"kind": "fq_codel", "ce_threshold": "1 ms", "ce_threshold_ecn": "ect1"},
    "CoDel": {"kind": "codel"},
    "RED": {"kind": "red", "mean_packet": "1500 B", "limit": "2 BDP", "target_delay": "15 ms"},
    "droptail, 1 BDP": "1 BDP",
}


class Cell(NamedTuple):
    """One run: a queue, a rival, rate in Mbit/s, round-trip time in milliseconds and the number of its phase."""

    queue: str
    rival: str
    rate: int
    rtt: int
    phase: int


class Found(NamedTuple):
    """What a run shows: Prague's share, the use of the link, and quantiles of both flows' waits in milliseconds."""

    share: float
    utilisation: float
    l4s: tuple[float, float]
    classic: tuple[float, float]


def scenario(cell: Cell) -> ackclock.Scenario:
    """Build the scenario of a cell: two flows over one bottleneck, whose starts differ from phase to phase."""
    bottleneck = {"rate": f"{cell.rate} Mbit/s", "delay": f"{cell.rtt / 2 - 0.2} ms", "queue": QUEUES[cell.queue]}
    topology = {"kind": "dumbbell", "access": {"rate": "10 Gbit/s", "delay": "0.1 ms"}, "bottleneck": bottleneck}
    flows = [{**flow, "start_jitter": "1 s"} for flow in (PRAGUE, RIVALS[cell.rival])]
    return ackclock.Scenario(
        "l4s", topology=topology, flow=flows, duration=f"{END} s", seed=cell.phase + 1, record=["sojourn", "delivered"]
    )


def measure(cell: Cell) -> Found:
    """Run a cell and take from it what the tables need."""
    result = ackclock.run(scenario(cell))
    delivered, sojourn = (polars.DataFrame(result.trace(name)) for name in ("delivered", "sojourn"))
    after = sojourn.filter((polars.col("time") > BEGIN) & (polars.col("link") == "r1>r2"))
    bits, waits = [], []
    for name in ("l4s", "classic"):
        mine = delivered.filter(polars.col("flow") == name)
        before = mine.filter(polars.col("time") <= BEGIN)["bytes"].max()
        bits.append(8.0 * (int(mine["bytes"].max() or 0) - int(before or 0)))
        times = after.filter(polars.col("flow") == name)["sojourn"].to_numpy() * 1e3
        median, tail = np.quantile(times, [0.5, 0.99])
        waits.append((float(median), float(tail)))
    use = next(float(row["utilisation"]) for row in rows(result.links) if row["name"] == "r1>r2")
    return Found(bits[0] / sum(bits), use, *waits)


Table = dict[tuple[str, str, int, int], list[Found]]


def measured(cells: list[Cell]) -> Table:
    """Run cells on two threads, and gather what the phases of each show."""
    found: Table = {}
    with ThreadPoolExecutor(2) as pool:
        for cell, it in zip(cells, pool.map(measure, cells), strict=True):
            found.setdefault(cell[:4], []).append(it)
    return found


def ratio(runs: list[Found]) -> tuple[float, float, float]:
    """Give Prague's rate over that of its rival: the mean over phases between the ends of its 95 % interval."""
    share = interval([run.share for run in runs], "start time")
    low, mean, high = (it / (1 - it) for it in (max(share.low, 0.0), share.mean, min(share.high, 0.999)))
    return low, mean, high


def written(runs: list[Found]) -> str:
    """Write the ratio and its interval."""
    low, mean, high = ratio(runs)
    return f"{mean:.2f} ({low:.2f} … {high:.2f})"


def draw(found: Table) -> None:
    """Draw the ratio of rates and both flows' waiting times in DualPI2 over the grid: a column for each rate."""
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    axes = figure.subplots(2, len(RATES), sharex=True, sharey="row")
    for column, rate in enumerate(RATES):
        upper, lower = axes[0][column], axes[1][column]
        upper.axhline(1, color="#888888", linewidth=0.8, linestyle=":")
        runs = [found["DualPI2", "CUBIC", rate, rtt] for rtt in RTTS]
        ends = np.array([ratio(each) for each in runs])
        bars = (ends[:, 1] - ends[:, 0], ends[:, 2] - ends[:, 1])
        upper.errorbar(RTTS, ends[:, 1], yerr=bars, marker="o", markersize=3.5, capsize=2, color="#c8553d")
        for which, colour, label in (("classic", "#1b6ca8", "CUBIC"), ("l4s", "#c8553d", "Prague")):
            waits = np.array([np.mean([getattr(run, which) for run in each], axis=0) for each in runs])
            lower.plot(RTTS, waits[:, 0], marker="o", markersize=3.5, color=colour, label=f"{label}, median")
            lower.plot(
                RTTS, waits[:, 1], marker="o", markersize=3.5, color=colour, linestyle="--", label=f"{label}, 99 %"
            )
        upper.set_title(f"{rate} Mbit/s", fontsize=9)
        upper.set_yscale("log")
        lower.set_yscale("log")
        lower.set_xscale("log")
        lower.set_xticks(RTTS, [str(rtt) for rtt in RTTS], fontsize=8)
        lower.minorticks_off()
        for panel in (upper, lower):
            panel.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel("Prague's rate over CUBIC's", fontsize=8.5)
    axes[1][0].set_ylabel("waiting time (ms)", fontsize=8.5)
    figure.supxlabel("round-trip time (ms)", fontsize=9)
    figure.legend(
        *axes[1][0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False, fontsize=8
    )
    figure.savefig(PICTURE, dpi=150)


def table(title: str, header: list[str], lines: list[list[str]]) -> None:
    """Print a table in Markdown."""
    print(f"\n{title}\n\n| {' | '.join(header)} |\n" + "|---" * len(header) + "|")
    print("\n".join(f"| {' | '.join(line)} |" for line in lines))


if __name__ == "__main__":
    phases = range(int(sys.argv[1]) if len(sys.argv) > 1 else 6)
    grid = measured([Cell("DualPI2", "CUBIC", *rest) for rest in product(RATES, RTTS, phases)])
    draw(grid)
    lines = [[str(rate), *(written(grid["DualPI2", "CUBIC", rate, rtt]) for rtt in RTTS)] for rate in RATES]
    table("Prague over CUBIC in DualPI2", ["Mbit/s", *(f"{rtt} ms" for rtt in RTTS)], lines)
    queues = measured([Cell(queue, rival, 40, 20, phase) for queue, rival, phase in product(QUEUES, RIVALS, phases)])
    lines = []
    for queue, rival in product(QUEUES, RIVALS):
        runs = queues[queue, rival, 40, 20]
        waits = [np.mean([getattr(run, which) for run in runs], axis=0) for which in ("l4s", "classic")]
        use = float(np.mean([run.utilisation for run in runs]))
        cells = (f"{it[0]:.1f}, {it[1]:.1f}" for it in waits)
        lines.append([queue, rival, written(runs), f"{100 * use:.1f} %", *cells])
    table("40 Mbit/s, 20 ms", ["queue", "beside", "ratio", "use", "Prague waits (ms)", "rival waits (ms)"], lines)
