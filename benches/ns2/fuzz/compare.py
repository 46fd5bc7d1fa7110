"""Runs a network in both programs and compares their counters."""

from __future__ import annotations

import math
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars
from networks import Network
from written import tcl, toml

import ackclock

SCRIPT = Path(__file__).with_name("net.tcl")
# Flow counters. The last four are not compared once all data is acknowledged, since ns-2's timer still expires then.
COUNTERS = ["bytes", "sent", "retransmitted", "timeouts", "reductions", "cwnd", "ssthresh"]
KEYS = [
    "delivered_bytes", "sent_packets", "retransmitted_packets", "timeouts", "window_reductions", "cwnd_final",
    "ssthresh_final",
]  # fmt: skip
WHILE_SENDING = {"timeouts", "reductions", "cwnd", "ssthresh"}


# Time, "send" or "ack", and sequence number.
Event = tuple[float, str, int]


@dataclass
class Outcome:
    """The results of a run.

    Attributes
    ----------
    flows
        For each flow the values of `COUNTERS`.
    link
        Arrivals and drops at the bottleneck's queue.
    drops
        Time in whole microseconds, flow and sequence number of each packet dropped there.
    order
        Nodes in the order in which ns-2 resets their agents; empty for the simulator.
    done
        Flows that have delivered all data; for the simulator only.
    """

    flows: list[list[float]]
    link: tuple[int, int]
    drops: list[tuple[int, int, int]]
    order: list[int] = field(default_factory=list)
    done: set[int] = field(default_factory=set)


@dataclass
class Comparison:
    """The scenario, ns-2's description, a text for each counter that differs, and the first difference in time."""

    toml: str
    tcl: str
    differences: list[str]
    first: str = ""


def compare(network: Network, ns: str) -> Comparison:
    """Run a network in both programs.

    Raises
    ------
    RuntimeError
        If ns-2 fails.
    """
    description = tcl(network)
    with tempfile.TemporaryDirectory() as folder:
        theirs = _run_ns2(description, Path(folder), ns)
    scenario = toml(network, theirs.order)
    ours = _read(network, _run_ours(scenario, "drops"))
    differences = _differences(ours, theirs)
    first = _divergence(network, scenario, description, ns) if differences else ""
    return Comparison(scenario, description, differences, first)


def _run_ours(text: str, trace: str) -> ackclock.Result:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network.toml")
        path.write_text(text)
        return ackclock.run(ackclock.load(path), record=[trace])


def _run_ns2(text: str, folder: Path, ns: str, *words: str) -> Outcome:
    description = folder / "network.tcl"
    description.write_text(text)
    command = [ns, str(SCRIPT), str(description), str(folder / "run"), *words]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line.split() for line in run.stdout.splitlines()]
    if run.returncode or not lines or lines[-1][0] != "order":
        raise RuntimeError(f"{' '.join(command)} failed:\n{run.stdout[-300:]}{run.stderr[-2000:]}\n{text}")
    flows = [[float(word) for word in line[2:]] for line in lines if line[0] == "flow"]
    arrivals, drops = next((int(line[1]), int(line[2])) for line in lines if line[0] == "link")
    times = []
    for line in (folder / "run.drops").read_text().splitlines():
        words_ = line.split()
        times.append((round(float(words_[1]) * 1e6), int(words_[7]) - 1, int(words_[10])))
    return Outcome(flows, (arrivals, drops), sorted(times), [int(word) for word in lines[-1][1:]])


def _read(network: Network, result: ackclock.Result) -> Outcome:
    summary = result.summary
    flows = [[_number(row[key]) for key in KEYS] for row in summary["flows"]]
    name = "n{}>n{}".format(*network.links[network.bottleneck].ends)
    link = next(row for row in summary["links"] if row["name"] == name)
    drops = [
        (round(row["time"] * 1e6), int(row["flow"].removeprefix("flow")), row["seq"])
        for row in _rows(result, "drops")
        if row["link"] == name and row["reason"] != "random"
    ]
    done = {index for index, row in enumerate(summary["flows"]) if row["size_packets"] == row["delivered_packets"]}
    return Outcome(flows, (link["arrivals"], link["drops"]), sorted(drops), done=done)


def _number(value: float | None) -> float:
    return math.inf if value is None else float(value)


def _rows(result: ackclock.Result, trace: str) -> list[dict[str, Any]]:
    return polars.DataFrame(result.trace(trace)).to_dicts()


def _differences(ours: Outcome, theirs: Outcome) -> list[str]:
    found = []
    for index, (mine, other) in enumerate(zip(ours.flows, theirs.flows, strict=True)):
        for name, ours_, theirs_ in zip(COUNTERS, mine, other, strict=True):
            # ns-2 prints the window with a few digits, and its threshold is a whole number.
            if name in WHILE_SENDING and index in ours.done:
                continue
            same = math.isclose(ours_, theirs_, rel_tol=1e-5) or (name == "ssthresh" and int(ours_) == theirs_)
            if not same:
                found.append(f"flow {index} {name}: ns-2 {theirs_:.10g}, ours {ours_:.10g}")
    for name, ours_, theirs_ in zip(("arrivals", "drops"), ours.link, theirs.link, strict=True):
        if ours_ != theirs_:
            found.append(f"link {name}: ns-2 {theirs_}, ours {ours_}")
    # Rounding to microseconds may separate equal times by one.
    for mine, other in zip(ours.drops, theirs.drops, strict=False):
        if mine[1:] != other[1:] or abs(mine[0] - other[0]) > 1:
            found.append(f"drop: ns-2 {_drop(other)}, ours {_drop(mine)}")
            break
    return found


def _drop(drop: tuple[int, int, int]) -> str:
    return f"packet {drop[2]} of flow {drop[1]} at {drop[0] / 1e6:.6f} s"


def _divergence(network: Network, scenario: str, description: str, ns: str) -> str:
    """Describe the first packet that a sender sends or receives in only one of the programs."""
    result = _run_ours(scenario, "sequence")
    ours: list[list[Event]] = [[] for _ in network.flows]
    for row in _rows(result, "sequence"):
        # An ACK's number is the next expected one here, but the last received one in ns-2.
        event = ("ack", row["seq"] - 1) if row["kind"] == "ack" else ("send", row["seq"])
        ours[int(row["flow"].removeprefix("flow"))].append((row["time"], *event))
    with tempfile.TemporaryDirectory() as folder:
        _run_ns2(description, Path(folder), ns, "trace")
        theirs = _events(network, Path(folder, "run.packets"))
    parts = [_first_difference(mine, other) for mine, other in zip(ours, theirs, strict=True)]
    time, text, index = min((time, text, index) for index, (time, text) in enumerate(parts))
    return f"from {time:.6f} s: flow {index}, {text}" if math.isfinite(time) else "nowhere at the senders"


def _events(network: Network, path: Path) -> list[list[Event]]:
    """Read the packets that ns-2's senders send and receive."""
    events: list[list[Event]] = [[] for _ in network.flows]
    with path.open() as lines:
        for line in lines:
            what, time, start, end, kind, _, _, number, _, _, seq, _ = line.split()
            index = int(number) - 1
            sender = str(network.flows[index].ends[0])
            if (what, start, kind) == ("+", sender, "tcp"):
                events[index].append((float(time), "send", int(seq)))
            elif (what, end, kind) == ("r", sender, "ack"):
                events[index].append((float(time), "ack", int(seq)))
    return events


def _first_difference(ours: list[Event], theirs: list[Event]) -> tuple[float, str]:
    for mine, other in zip(ours, theirs, strict=False):
        if mine[1:] != other[1:] or abs(mine[0] - other[0]) > 2e-6:
            texts = [f"{event} {seq} at {time:.6f} s" for time, event, seq in (other, mine)]
            return min(mine[0], other[0]), f"ns-2 {texts[0]}, ours {texts[1]}"
    if len(ours) == len(theirs):
        return math.inf, ""
    program, longer = ("ours", ours) if len(ours) > len(theirs) else ("ns-2", theirs)
    time, event, seq = longer[min(len(ours), len(theirs))]
    return time, f"only {program}: {event} {seq}"
