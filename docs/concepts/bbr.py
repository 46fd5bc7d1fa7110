"""Makes the picture and the table of docs/concepts/bbr.md: python docs/concepts/bbr.py [SEEDS]."""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure

import ackclock
from ackclock.results import Result, rows
from ackclock.statistics.intervals import Interval, interval

SCENARIO = Path(__file__).parents[2] / "scenarios" / "bbr_cubic.toml"
PICTURE = Path(__file__).parents[1] / "images" / "bbr_share.png"
COLOURS = {"draft": "#1b6ca8", "linux": "#c8553d"}
GREY = "#888888"

Shares = dict[str, dict[float, Interval]]


def ware(buffer: float) -> float:
    """Give BBRv1's share against CUBIC in a buffer of one BDP or more, by the model of Ware et al. (2019)."""
    return 0.5 + 0.5 / buffer


def share(result: Result) -> float:
    """Give BBR's share of what both flows deliver."""
    goodput = {row["name"]: float(row["goodput_bps"]) for row in rows(result.flows)}
    return goodput["bbr"] / sum(goodput.values())


def shares(seeds: int) -> Shares:
    """Run the scenario: for each set of constants the mean share over seeds, by the buffer in BDPs."""
    variants = [(labels, it) for labels, it in ackclock.load(SCENARIO).variants() if int(labels["seed"]) <= seeds]
    found: dict[str, dict[float, list[float]]] = {}
    for (labels, _), result in zip(variants, ackclock.run_many([it for _, it in variants]), strict=True):
        constants = found.setdefault(labels["flow.0.congestion_control.variant"], {})
        constants.setdefault(float(labels["topology.bottleneck.queue"].split()[0]), []).append(share(result))
    return {
        constants: {buffer: interval(sample, "seed") for buffer, sample in by_buffer.items()}
        for constants, by_buffer in found.items()
    }


def draw(found: Shares) -> None:
    """Draw the shares over the buffer, beside the model of BBRv1."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    buffers = sorted(next(iter(found.values())))
    axes.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":", label="fair")
    deep = [buffer for buffer in buffers if buffer >= 1]
    axes.plot(deep, [ware(buffer) for buffer in deep], color=GREY, linestyle="--", label="BBRv1, model of Ware et al.")
    for constants, by_buffer in found.items():
        means = [by_buffer[buffer].mean for buffer in buffers]
        ends = [
            [by_buffer[buffer].mean - by_buffer[buffer].low for buffer in buffers],
            [by_buffer[buffer].high - by_buffer[buffer].mean for buffer in buffers],
        ]
        label, colour = f"BBRv3, {constants}: mean and 95 %", COLOURS[constants]
        axes.errorbar(buffers, means, yerr=ends, label=label, color=colour, marker="o", markersize=4, capsize=3)
    axes.set_xscale("log", base=2)
    axes.set_xticks(buffers, [f"{buffer:g}" for buffer in buffers])
    axes.set_ylim(0, 1)
    axes.set_xlabel("buffer (BDP)")
    axes.set_ylabel("BBR's share against one CUBIC flow")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8.5)
    figure.savefig(PICTURE, dpi=150)


def written(found: Interval) -> str:
    """Write the mean and half of its interval, in percent."""
    return f"{100 * found.mean:.0f} ± {100 * (found.high - found.mean):.0f}"


if __name__ == "__main__":
    measured = shares(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    draw(measured)
    print("| buffer (BDP) |", " | ".join(f"`{constants}` (%)" for constants in measured), "|")
    print("|---" * (1 + len(measured)) + "|")
    for size in sorted(next(iter(measured.values()))):
        print(f"| {size:g} |", " | ".join(written(by_buffer[size]) for by_buffer in measured.values()), "|")
