"""Compares the host `linux` with earlier measurements of the kernel, and makes their tables in docs/validation.md.

usage: python docs/validation.py [--accept | SCENARIO ...]

It prints the comparisons; --accept writes those outside the tolerance as known (docs/validation/outside.csv).
docs/generate.py writes the tables into the page. docs/validation/linux-6.18.csv holds the measurements: a row for each
flow of each repetition. The page explains how they were made.
"""

from __future__ import annotations

import csv
import math
import re
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars

import ackclock

FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER / "validation.md"
MEASURED = FOLDER / "validation" / "linux-6.18.csv"
OUTSIDE = FOLDER / "validation" / "outside.csv"
"""Comparisons outside their tolerance: scenario, flow and measure."""
HOST = {"kind": "linux", "version": "6.18"}
SETTINGS = {"packet_memory": "power_of_two", "send_buffer": "16 MiB", "send_buffer_max": "16 MiB"}
"""The connections ran over TUN devices, and their send buffers were no limit."""
DURATION = 20.0
SEEDS = range(1, 21)
"""Seeds of a scenario with random losses whose packets are unknown; any other scenario has no random numbers."""
OFFSETS_MS = [offset + 0.5 for offset in range(-5, 5)]
"""Starts of the second flow, relative to the scenario's: milliseconds determine which packets two flows lose."""
FRAME = re.compile(r"(<!-- tables: made by docs/validation\.py -->\n).*(<!-- end of tables -->)", re.DOTALL)


@dataclass(frozen=True)
class Measure:
    """A number that kernel and simulation have in common."""

    name: str
    column: str
    tolerance: float
    """Largest relative difference."""
    digits: int
    factor: float = 1.0
    """From the unit of the file to the unit of the page."""
    slack: float = 0.0
    """Absolute difference that is always allowed, in the unit of the file."""


COMPLETION = Measure("completion (s)", "completion_s", 0.02, 4)
DELIVERED = Measure("delivered (MB)", "delivered_end", 0.01, 3, 1e-6)
SHARE = Measure("share of all data (%)", "share", 0.05, 1, 100)
DROPS = Measure("drops", "drops", 0.10, 1, slack=1)
EXIT = Measure("cwnd at the exit (segments)", "exit_cwnd", 0.05, 1)
RATIO = Measure("segments per ACK", "segments_per_ack", 0.05, 2)
RANDOM_TOLERANCE = 0.02


@dataclass(frozen=True)
class Reference:
    """A scenario that was run on the kernel, with the rows of all its flows and repetitions."""

    name: str
    rows: list[dict[str, str]]

    @property
    def random(self) -> bool:
        """Whether packets are lost at random."""
        return self.rows[0]["loss_percent"] not in ("", "0")

    @property
    def sampled(self) -> bool:
        """Whether the simulation is a sample: its random losses or the phase of two flows are not the kernel's."""
        return len(self.flows()) > 1 or (self.random and not all(row["lost"] for row in self.rows))

    def flows(self) -> list[dict[str, str]]:
        """Return the settings of each flow: its row in the first repetition."""
        return [row for row in self.rows if row["repetition"] == self.rows[0]["repetition"]]

    def measured(self, flow: int) -> list[dict[str, Any]]:
        """Return the row of a flow in each repetition, with the flow's share of all data."""
        total: dict[str, float] = {}
        for row in self.rows:
            total[row["repetition"]] = total.get(row["repetition"], 0) + float(row["delivered_end"])
        name = self.flows()[flow]["flow"]
        rows = [row for row in self.rows if row["flow"] == name]
        return [{**row, "share": float(row["delivered_end"]) / total[row["repetition"]]} for row in rows]

    def waiting(self) -> int:
        """Return the packets that may wait beside the one in transmission."""
        rate, rtt, bdp = (float(self.rows[0][key]) for key in ("rate_mbit", "rtt_ms", "queue_bdp"))
        return max(1, round(bdp * rate * 1e6 * rtt / 1e3 / 12_000))

    def scenarios(self) -> list[ackclock.Scenario]:
        """Return the runs whose mean is compared: with the losses of each repetition, or a sample."""
        if len(self.flows()) > 1:
            return [self._scenario(self.rows[0], offset=offset) for offset in OFFSETS_MS]
        if self.sampled:
            return [self._scenario({**self.rows[0], "lost": ""}, seed=seed) for seed in SEEDS]
        return [self._scenario(row) for row in (self.rows if self.random else self.rows[:1])]

    def _scenario(self, row: dict[str, str], seed: int = 1, offset: float = 0) -> ackclock.Scenario:
        lost = row["lost"].split()
        # SYNs and the ACK of the SYN/ACK come first.
        syns = [number + 1 for number, word in enumerate(lost) if word == "syn"]
        packets = syns + [int(word) + len(syns) + 2 for word in lost if word.isdigit()]
        loss: Any = {"kind": "listed", "packets": packets} if packets else f"{row['loss_percent'] or 0} %"
        back: Any = {"kind": "listed", "packets": [1]} if "synack" in lost else "none"
        link = {
            "from": "a", "to": "b", "rate": f"{row['rate_mbit']} Mbit/s", "delay": f"{float(row['rtt_ms']) / 2} ms",
            "queue": {"kind": "droptail", "limit": f"{self.waiting() + 1} packets"}, "loss": loss,
            "reverse": {"queue": "unlimited", "loss": back},
        }  # fmt: skip
        return ackclock.Scenario(
            self.name,
            duration=f"{DURATION} s",
            seed=seed,
            topology={"kind": "explicit", "node": ["a", "b"], "link": [link]},
            flow=[self._flow(flow, abs(offset) + number * offset) for number, flow in enumerate(self.flows())],
        )

    def _flow(self, row: dict[str, str], later: float) -> dict[str, Any]:
        start = f"{1000 * float(row['start_s'] or 0) + later} ms"
        flow: dict[str, Any] = {"from": "a", "to": "b", "host": HOST, "packet_size": "1448 B", "start": start}
        if row["control"] == "reno":
            flow |= {"slow_start": "standard", "avoidance": "reno"}
        elif row["hystart"] == "0":
            flow["slow_start"] = "standard"
        if row["initial_window"] not in ("", "10"):
            flow["initial_window"] = f"{row['initial_window']} segments"
        flow["modern"] = {**SETTINGS, "fin": "alone" if row["close"] == "later" else "with_data"}
        if row["segments"]:
            flow["size"] = f"{row['segments']} packets"
        return flow


@dataclass(frozen=True)
class Comparison:
    """A measure of one flow on the kernel and in the simulation."""

    reference: Reference
    flow: int
    measure: Measure
    kernel: list[float]
    simulated: list[float]

    @property
    def place(self) -> tuple[str, int, str]:
        """Return scenario, number of the flow, and measure."""
        return self.reference.name, self.flow + 1, self.measure.column

    @property
    def difference(self) -> float:
        """Return the relative difference of the means."""
        kernel, simulated = statistics.mean(self.kernel), statistics.mean(self.simulated)
        return simulated / kernel - 1 if kernel else float(simulated > 0)

    @property
    def interval(self) -> float:
        """Return the half-width of a 95 % interval for the difference of the means, if the simulation is a sample."""
        if not self.reference.sampled:
            return 0.0
        return 1.96 * statistics.stdev(self.simulated) * math.sqrt(1 / len(self.kernel) + 1 / len(self.simulated))

    @property
    def within(self) -> bool:
        """Whether the simulation is as close as required: within the tolerance, or between the kernel's own results."""
        kernel, simulated = statistics.mean(self.kernel), statistics.mean(self.simulated)
        tolerance = max(self.measure.tolerance, RANDOM_TOLERANCE if self.reference.random else 0)
        near = abs(simulated - kernel) <= max(self.measure.slack, tolerance * kernel, self.interval)
        return near or min(self.kernel) <= simulated <= max(self.kernel)


def references() -> list[Reference]:
    """Read the measurements."""
    found: dict[str, list[dict[str, str]]] = {}
    with MEASURED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["scenario"], []).append(row)
    return [Reference(name, rows) for name, rows in found.items()]


def simulate(reference: Reference) -> list[list[dict[str, float | None]]]:
    """Run a scenario; return the measures of each flow in each run."""
    return [_measured(ackclock.run(run)) for run in reference.scenarios()]


def _measured(result: ackclock.Result) -> list[dict[str, float | None]]:
    forward, back = polars.DataFrame(result.links).sort("name").iter_rows(named=True)
    flows = polars.DataFrame(result.flows).to_dicts()
    total = sum(flow["delivered_bytes"] for flow in flows)
    # Data packets: SYNs do not count, as in the measurements.
    arrived = sum(flow["sent_packets"] - 1 for flow in flows) - forward["drops"] - forward["losses"]
    return [
        {
            "completion_s": flow["completion_time"],
            "delivered_end": flow["delivered_bytes"],
            "share": flow["delivered_bytes"] / total,
            "drops": forward["drops"],
            "exit_cwnd": flow["slow_start_exit_cwnd"],
            "segments_per_ack": arrived / back["delivered_packets"],
        }
        for flow in flows
    ]


def compare(reference: Reference) -> Iterator[Comparison]:
    """Compare every measure that a scenario has."""
    runs = simulate(reference)
    settings = reference.flows()
    for flow, row in enumerate(settings):
        measures = [SHARE] if len(settings) > 1 else [COMPLETION] if row["segments"] else [DELIVERED]
        if len(settings) == 1:
            measures += [RATIO]
            # Random losses determine the end of slow start, and thus the drops of the queue. After a listed loss, the
            # kernel's window was sampled when its reduction had begun.
            measures += [] if reference.random else [DROPS] if row["lost"] else [DROPS, EXIT]
        for measure in measures:
            kernel = [_number(found, measure) for found in reference.measured(flow)]
            simulated = [run[flow][measure.column] for run in runs]
            known = [value for value in kernel if value is not None]
            if known and len(known) == len(kernel) and None not in simulated:
                yield Comparison(reference, flow, measure, known, [value for value in simulated if value is not None])


def _number(row: dict[str, Any], measure: Measure) -> float | None:
    return None if row[measure.column] == "" else float(row[measure.column])


def all_comparisons() -> list[Comparison]:
    """Compare every scenario."""
    return [comparison for reference in references() for comparison in compare(reference)]


def known_outside() -> set[tuple[str, int, str]]:
    """Return the scenario, the flow and the measure of each comparison that is known to be outside its tolerance."""
    with OUTSIDE.open(encoding="utf-8", newline="") as file:
        return {(row["scenario"], int(row["flow"]), row["measure"]) for row in csv.DictReader(file)}


def tables() -> str:
    """Make the tables of the page."""
    found = all_comparisons()
    missed = sum(not comparison.within for comparison in found)
    scenarios = len({comparison.reference.name for comparison in found})
    lines = [
        f"{len(found) - missed} of {len(found)} comparisons in {scenarios} scenarios are within the tolerance.",
        "",
    ]
    lines += _table(["measure", "comparisons", "within", "median difference", "largest difference"], _summary(found))
    lines += ["", "Those outside, with the kernel's mean and range:", ""]
    head = ["scenario", "measure", "kernel", "range", "simulation", "difference"]
    outside = [each for each in found if not each.within]
    lines += _table(head, (_cells(each) for each in outside), left=2)
    return "\n".join(lines)


def _summary(found: Sequence[Comparison]) -> Iterator[list[str]]:
    groups: dict[str, list[Comparison]] = {}
    for comparison in found:
        groups.setdefault(comparison.measure.name, []).append(comparison)
    for name, group in groups.items():
        sizes = [100 * abs(comparison.difference) for comparison in group]
        within = sum(comparison.within for comparison in group)
        yield [name, str(len(group)), str(within), f"{statistics.median(sizes):.1f} %", f"{max(sizes):.1f} %"]


def _cells(each: Comparison) -> list[str]:
    name, kernel, spread, simulated, difference, _ = _row(each)
    return [name, each.measure.name, kernel, spread, simulated, difference]


def _row(comparison: Comparison) -> list[str]:
    def written(value: float) -> str:
        return f"{value * measure.factor:,.{measure.digits}f}".replace(",", " ")

    measure, reference = comparison.measure, comparison.reference
    name = reference.name if len(reference.flows()) == 1 else f"{reference.name}, flow {comparison.flow + 1}"
    low, high = min(comparison.kernel), max(comparison.kernel)
    spread = written(low) if low == high else f"{written(low)} … {written(high)}"
    return [
        name, written(statistics.mean(comparison.kernel)), spread, written(statistics.mean(comparison.simulated)),
        f"{100 * comparison.difference:+.1f} %", "yes" if comparison.within else "no",
    ]  # fmt: skip


def write_outside() -> None:
    """Write the comparisons outside their tolerance as known."""
    with OUTSIDE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["scenario", "flow", "measure"])
        writer.writerows(each.place for each in all_comparisons() if not each.within)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * left + "---:|" * (len(head) - left)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def page() -> str:
    """Return docs/validation.md with new tables."""
    return FRAME.sub(lambda frame: f"{frame[1]}\n{tables()}\n\n{frame[2]}", PAGE.read_text(encoding="utf-8"))


def main() -> int:
    """Print the comparisons of the scenarios whose names contain one of the arguments; returns the exit code."""
    wanted = sys.argv[1:]
    if wanted == ["--accept"]:
        write_outside()
        return 0
    for reference in references():
        if not wanted or any(word in reference.name for word in wanted):
            for comparison in compare(reference):
                name, kernel, spread, simulated, difference, within = _row(comparison)
                mark = "" if within == "yes" else "  <--"
                measure = comparison.measure.name
                print(f"{name:44} {measure:28} {kernel:>12} [{spread}] {simulated:>12} {difference}{mark}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
