"""Makes the tables of docs/concepts/red-notify.md: python docs/concepts/red_notify.py [SEEDS]."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import polars

import ackclock
from ackclock.intervals import interval
from ackclock.result import Result, frame

SCENARIOS = Path(__file__).parents[2] / "scenarios"
HEADERS = 1000 / 1040

Measure = Callable[[Result], float]


def completion(name: str) -> Measure:
    """A statistic of the completion times, in seconds."""
    return lambda result: float(result.completion()[name][0])


def share(part: str, whole: str) -> Measure:
    """One sum over the flows, in percent of another."""
    return lambda result: 100 * frame(result.flows)[part].sum() / frame(result.flows)[whole].sum()


def superfluous(result: Result) -> float:
    """Packets sent again though nobody had dropped them, in percent of those sent; no queue drops ACKs here."""
    flows = frame(result.flows)
    return 100 * float(flows["retransmitted_packets"].sum() - flows["dropped_packets"].sum()) / flows["sent_packets"].sum()


def per_thousand_flows(result: Result) -> float:
    """Timeouts of a thousand flows."""
    flows = frame(result.flows)
    return 1000 * float(flows["timeouts"].sum()) / flows.height


def bottleneck(result: Result) -> dict[str, float]:
    """The row of the queue under test."""
    return frame(result.links).filter(polars.col("name") == result.scenario.bottleneck).to_dicts()[0]


def goodput(result: Result) -> float:
    """What all flows deliver, in percent of what the bottleneck can carry of their data."""
    return 100 * frame(result.flows)["goodput_bps"].sum() / (HEADERS * bottleneck(result)["rate_bps"])


def fairness(result: Result) -> float:
    """Jain's index."""
    rates = frame(result.flows)["goodput_bps"]
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))


SHORT: dict[str, Measure] = {
    "mean (s)": completion("mean"),
    "median": completion("median"),
    "p95": completion("p95"),
    "p99": completion("p99"),
    "timeouts in 1000 flows": per_thousand_flows,
    "dropped (%)": share("dropped_packets", "sent_packets"),
    "superfluous (%)": superfluous,
}
LONG: dict[str, Measure] = {
    "goodput (%)": goodput,
    "dropped (%)": share("dropped_packets", "sent_packets"),
    "superfluous (%)": superfluous,
    "timeouts in 1000 flows": per_thousand_flows,
    "fairness": fairness,
    "wait (ms)": lambda result: 1000 * bottleneck(result)["sojourn_mean"],
}


def table(name: str, measures: dict[str, Measure], seeds: int) -> None:
    """Runs one scenario and prints means over seeds with 95 % intervals, and the first measure over RED's with the same seed."""
    variants = [(labels, it) for labels, it in ackclock.load(SCENARIOS / name).variants() if int(labels["seed"]) <= seeds]
    found: dict[tuple[str, str], dict[str, list[list[float]]]] = {}
    for (labels, _), result in zip(variants, ackclock.run_many([it for _, it in variants]), strict=True):
        queues = found.setdefault((labels["hosts"], labels["topology.bottleneck.rate"]), {})
        queues.setdefault(labels["queue"], []).append([measure(result) for measure in measures.values()])
    first, *others = measures
    for (hosts, rate), queues in found.items():
        print(f"\n### {name}: {hosts}, {rate}, {seeds} seeds\n")
        print("|", " | ".join(["queue", first, "of red's", *others]), "|")
        print("|---" * (2 + len(measures)) + "|")
        for queue, rows in queues.items():
            ratio = [mine[0] / red[0] for mine, red in zip(rows, queues["red"], strict=True)]
            columns = [list(column) for column in zip(*rows, strict=True)]
            shown = [written(column) for column in [columns[0], ratio, *columns[1:]]]
            print("|", " | ".join([f"`{queue}`", *shown]), "|")


def written(sample: list[float]) -> str:
    """The mean and half of its interval."""
    found = interval(sample, "seed")
    return f"{float(f'{found.mean:.3g}'):g} ± {float(f'{found.high - found.mean:.1g}'):g}"


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    table("red_notify.toml", SHORT, count)
    table("red_notify_long.toml", LONG, count)
