"""Makes the tables of docs/concepts/red-notify.md: python docs/concepts/red_notify.py [SEEDS]."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import ackclock
from ackclock.results import Result, rows
from ackclock.statistics.intervals import interval

SCENARIOS = Path(__file__).parents[2] / "scenarios"
HEADERS = 1000 / 1040

Measure = Callable[[Result], float]


def completion(name: str) -> Measure:
    """Give a measure: a statistic of the completion times, in seconds."""
    return lambda result: float(result.completion()[name][0])


def total(result: Result, column: str) -> float:
    """Sum a column up over the flows."""
    return float(sum(row[column] for row in rows(result.flows)))


def dropped(result: Result) -> float:
    """Compare packets dropped to those sent, in percent; no queue drops ACKs here."""
    return 100 * total(result, "dropped_packets") / total(result, "sent_packets")


def superfluous(result: Result) -> float:
    """Compare packets sent again though nobody had dropped them to those sent, in percent."""
    excess = total(result, "retransmitted_packets") - total(result, "dropped_packets")
    return 100 * excess / total(result, "sent_packets")


def per_thousand_flows(result: Result) -> float:
    """Count the timeouts of a thousand flows."""
    return 1000 * total(result, "timeouts") / len(rows(result.flows))


def bottleneck(result: Result, column: str) -> float:
    """Look at the queue under test."""
    return next(float(row[column]) for row in rows(result.links) if row["name"] == result.scenario.bottleneck)


def goodput(result: Result) -> float:
    """Compare what all flows deliver to what the bottleneck can carry of their data, in percent."""
    return 100 * total(result, "goodput_bps") / (HEADERS * bottleneck(result, "rate_bps"))


def fairness(result: Result) -> float:
    """Compute Jain's index."""
    rates = [row["goodput_bps"] for row in rows(result.flows)]
    return float(sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates)))


SHORT: dict[str, Measure] = {
    "mean (s)": completion("mean"),
    "median": completion("median"),
    "p95": completion("p95"),
    "p99": completion("p99"),
    "timeouts in 1000 flows": per_thousand_flows,
    "dropped (%)": dropped,
    "superfluous (%)": superfluous,
}
LONG: dict[str, Measure] = {
    "goodput (%)": goodput,
    "dropped (%)": dropped,
    "superfluous (%)": superfluous,
    "timeouts in 1000 flows": per_thousand_flows,
    "fairness": fairness,
    "wait (ms)": lambda result: 1000 * bottleneck(result, "sojourn_mean"),
}


def table(name: str, measures: dict[str, Measure], seeds: int) -> None:
    """Run one scenario and print means over seeds with 95 % intervals, the first also over RED's of the same seed."""
    variants = ackclock.load(SCENARIOS / name).variants()
    variants = [(labels, it) for labels, it in variants if int(labels["seed"]) <= seeds]
    found: dict[tuple[str, str], dict[str, list[list[float]]]] = {}
    for (labels, _), result in zip(variants, ackclock.run_many([it for _, it in variants]), strict=True):
        queues = found.setdefault((labels["hosts"], labels["topology.bottleneck.rate"]), {})
        queues.setdefault(labels["queue"], []).append([measure(result) for measure in measures.values()])
    first, *others = measures
    for (hosts, rate), queues in found.items():
        print(f"\n### {name}: {hosts}, {rate}, {seeds} seeds\n")
        print("|", " | ".join(["queue", first, "of red's", *others]), "|")
        print("|---" * (2 + len(measures)) + "|")
        for queue, runs in queues.items():
            ratio = [mine[0] / red[0] for mine, red in zip(runs, queues["red"], strict=True)]
            columns = [list(column) for column in zip(*runs, strict=True)]
            shown = [written(column) for column in [columns[0], ratio, *columns[1:]]]
            print("|", " | ".join([f"`{queue}`", *shown]), "|")


def written(sample: list[float]) -> str:
    """Write the mean, and half of its interval unless all values are equal."""
    found = interval(sample, "seed")
    spread = "" if len(set(sample)) == 1 else f" ± {float(f'{found.high - found.mean:.1g}'):g}"
    return f"{float(f'{found.mean:.3g}'):g}{spread}"


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    table("red_notify.toml", SHORT, count)
    table("red_notify_long.toml", LONG, count)
