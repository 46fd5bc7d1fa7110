"""Generates ns2_runs.csv, ns2_vegas.csv and ns2_queues.csv in crates/sim/tests/data, the data of the conformance tests.

Needs `ns` (Debian package ns2). Run it from the repository root: python3 benches/ns2/reference.py
"""

from __future__ import annotations

import csv
import itertools
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

AGENTS = ["Tahoe", "Reno", "Newreno", "Sack1"]
COLUMNS = [
    "rate", "access", "limit", "agent", "iw", "max_ssthresh", "loss", "loss_position", "loss_seed", "delayed_ack",
    "window", "access_limit", "set",
    "bytes", "sent", "retransmitted", "timeouts", "reductions", "cwnd", "ssthresh", "drops", "access_drops",
]  # fmt: skip
BASE = {
    "rate": "10Mb", "access": "100Mb", "limit": "50", "agent": "Sack1", "iw": "1", "max_ssthresh": "0", "loss": "0",
    "loss_position": "after", "loss_seed": "0", "delayed_ack": "0", "window": "1000", "access_limit": "0", "set": "",
}  # fmt: skip
LINKS = [("0.3Mb", "10Mb"), ("10Mb", "100Mb")]

VEGAS_COLUMNS = ["delay", "size", "vegas", *COLUMNS]
VEGAS_BASE = BASE | {"agent": "Vegas", "delay": "10ms", "size": "1000", "vegas": "", "time": "100"}


# Six flows over one bottleneck: name of the setup, ns-2's queue, settings of the queue, ECN of the flows.
QUEUES = [
    ("red_ecn", "RED", "setbit_ true", "1"),
    ("red_packets_ecn", "RED", "setbit_ true bytes_ false queue_in_bytes_ false q_weight_ 0.002", "1"),
    ("red_adaptive", "RED", "adaptive_ 1", "0"),
    ("red_steep", "RED", "gentle_ false wait_ false thresh_ 8 maxthresh_ 24", "0"),
    ("pi_ecn", "PI", "setbit_ true qref_ 20", "1"),
    ("rem_ecn", "REM", "markpkts_ true", "1"),
    ("vq_ecn", "Vq", "markpkts_ true", "1"),
    ("vq_packets_ecn", "Vq", "markpkts_ true queue_in_bytes_ false", "1"),
]
MIXES = ["Tahoe,Tahoe,Reno,Reno,Newreno,Newreno", "Sack1,Sack1,Reno,Tahoe,Newreno,Sack1"]
QUEUE_COLUMNS = [
    "queue", "seed", "flow", "agent", "start",
    "bytes", "sent", "retransmitted", "timeouts", "reductions", "drops",
]  # fmt: skip
DUMBBELL = {
    "topology": "dumbbell", "flows": "6", "rate": "1.5Mb", "delay": "40ms", "access": "10Mb", "access_delay": "10ms",
    "limit": "50", "time": "100",
}  # fmt: skip


def runs() -> Iterator[dict[str, str]]:
    """Yield the settings of every run."""
    losses = [
        ("0.01", "after", "0"),
        ("0.01", "before", "12345"),
        ("0.05", "after", "12345"),
        ("0.2", "after", "0"),
        ("0.2", "before", "0"),
    ]
    for agent, (rate, access), (share, position, seed) in itertools.product(AGENTS, LINKS, losses):
        yield {
            "agent": agent,
            "rate": rate,
            "access": access,
            "loss": share,
            "loss_position": position,
            "loss_seed": seed,
        }
    # A lost SYN: with seed 7 the first random number is below 0.01.
    for agent, iw in itertools.product(AGENTS, ["1", "4", "table"]):
        yield {"agent": agent, "iw": iw, "loss": "0.01", "loss_seed": "7"}
    for agent, limit, threshold in itertools.product(AGENTS, ["50", "200"], ["50", "100"]):
        yield {"agent": agent, "limit": limit, "max_ssthresh": threshold}
    for agent, threshold in itertools.product(AGENTS, ["20", "50"]):
        yield {"agent": agent, "max_ssthresh": threshold, "loss": "0.01", "loss_seed": "7"}
        yield {"agent": agent, "max_ssthresh": threshold, "loss": "0.002", "loss_seed": "0"}
    for agent, limit, loss in itertools.product(AGENTS, ["15", "50"], ["0", "0.01"]):
        yield {"agent": agent, "limit": limit, "delayed_ack": "1", "loss": loss}
    for agent in AGENTS:
        yield {"agent": agent, "set": "singledup_ 0", "loss": "0.05"}
        yield {"agent": agent, "set": "minrto_ 1.0", "loss": "0.05"}
        yield {"agent": agent, "set": "tcpTick_ 0.1", "loss": "0.05"}
        yield {"agent": agent, "set": "rtxcur_init_ 1.0", "loss": "0.2"}
        yield {"agent": agent, "window": "20", "loss": "0.01"}
        yield {"agent": agent, "window": "64", "limit": "15"}
    # A short queue at the sender itself: ACKs arrive exactly when packets leave.
    for agent, limit, access in itertools.product(AGENTS, ["10", "30"], ["10Mb", "5Mb", "3Mb"]):
        yield {"agent": agent, "access": access, "access_limit": limit}


def vegas_runs() -> Iterator[dict[str, str]]:
    """Yield the settings of the Vegas runs in the separate table."""
    for (rate, access), loss, seed in itertools.product(
        LINKS, ["0.002", "0.01", "0.03", "0.1"], ["0", "12345678", "87654321"]
    ):
        yield {"rate": rate, "access": access, "loss": loss, "loss_seed": seed}
    for window, loss, seed in itertools.product(["20", "32", "64"], ["0", "0.01", "0.03"], ["0", "7654321"]):
        yield {"window": window, "loss": loss, "loss_seed": seed}
    for size, delay, limit in itertools.product(["500", "1460"], ["3ms", "47ms"], ["6", "12"]):
        yield {"rate": "2Mb", "size": size, "delay": delay, "limit": limit}
        yield {"rate": "2Mb", "size": size, "delay": delay, "limit": limit, "loss": "0.005"}
    for limits in ["v_alpha_ 2 v_beta_ 4", "v_alpha_ 2 v_beta_ 2 v_gamma_ 2", "v_alpha_ 4 v_beta_ 8 v_gamma_ 0"]:
        yield {"vegas": limits, "limit": "20"}
        yield {"vegas": limits, "limit": "20", "loss": "0.004"}
    for iw, limit in itertools.product(["2", "3", "10"], ["8", "30"]):
        yield {"iw": iw, "limit": limit}
    for loss in ["0", "0.01"]:
        yield {"delayed_ack": "1", "loss": loss}
    # A lost SYN.
    yield {"loss": "0.01", "loss_seed": "7"}
    yield from _vegas_corners()


def _vegas_corners() -> Iterator[dict[str, str]]:
    """Yield the settings of runs that depend on Vegas' rules after losses."""
    # The SYN is lost once or twice.
    for seed, iw in itertools.product(["101751", "113685"], ["1", "10", "table"]):
        yield {"loss": "0.05", "loss_seed": seed, "iw": iw}
    for loss in ["0", "0.004"]:
        yield {"vegas": "v_alpha_ 0.5 v_beta_ 2.5 v_gamma_ 0.7", "limit": "20", "loss": loss}
    # Avoidance from the start; slow start only after timeouts.
    for window, loss in itertools.product(["5", "8"], ["0.01", "0.03", "0.05"]):
        yield {"window": window, "iw": "10", "loss": loss}
    # Duplicate ACKs soon after the start, while the round-trip estimate still depends on the SYN.
    for seed in ["0", "11111", "22222", "33333"]:
        path = {"rate": "2Mb", "size": "1460", "delay": "17ms"}
        yield {**path, "loss": "0.05", "loss_seed": seed, "set": "minrto_ 0.5"}
    for loss, seed in itertools.product(["0.03", "0.1"], ["0", "87654321"]):
        yield {"delayed_ack": "1", "loss": loss, "loss_seed": seed}


def execute(ns: str, options: dict[str, str]) -> Iterator[list[str]]:
    """Run ns-2 once and yield the words of each output line."""
    script = str(Path(__file__).with_name("bulk.tcl"))
    flags = itertools.chain.from_iterable((f"-{key}", value) for key, value in options.items())
    for line in subprocess.run([ns, script, *flags], capture_output=True, text=True, check=True).stdout.splitlines():
        yield line.split()


def measure(ns: str, settings: dict[str, str]) -> dict[str, str]:
    """Run ns-2 once and return its table row."""
    row = BASE | settings
    for words in execute(ns, row):
        if words[0] == "flow":
            row.update(zip(words[2::2], words[3::2], strict=True))
        if words[0] == "total":
            row.update(zip(words[1::2], words[2::2], strict=True))
    return row


def measure_queue(ns: str, setup: tuple[str, str, str, str], agents: str, seed: int) -> list[dict[str, str]]:
    """Run six flows through a queue of ns-2 and return a row per flow; `drops` counts the drops of all flows."""
    name, queue, settings, ecn = setup
    options = DUMBBELL | {"queue": queue, "queue_set": settings, "ecn": ecn, "agents": agents, "seed": str(seed)}
    rows, total = [], {}
    for words in execute(ns, options):
        if words[0] == "flow":
            agent = agents.split(",")[int(words[1])]
            row = {"queue": name, "seed": str(seed), "flow": words[1], "agent": agent}
            rows.append(row | dict(zip(words[2::2], words[3::2], strict=True)))
        if words[0] == "total":
            total = dict(zip(words[1::2], words[2::2], strict=True))
    return [row | {"drops": total["drops"]} for row in rows]


def write(name: str, columns: list[str], rows: list[dict[str, str]]) -> None:
    """Write a table."""
    path = Path("crates/sim/tests/data", name)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(rows)} rows in {path}")


def main() -> None:
    """Write the tables."""
    ns = sys.argv[1] if len(sys.argv) > 1 else "ns"
    with ThreadPoolExecutor(2) as pool:
        write("ns2_runs.csv", COLUMNS, list(pool.map(lambda settings: measure(ns, settings), runs())))
        vegas = pool.map(lambda settings: measure(ns, VEGAS_BASE | settings), vegas_runs())
        write("ns2_vegas.csv", VEGAS_COLUMNS, list(vegas))
        cases = [(ns, setup, agents, seed) for setup in QUEUES for agents in MIXES for seed in (1, 2, 3)]
        queues = pool.map(lambda case: measure_queue(*case), cases)
        write("ns2_queues.csv", QUEUE_COLUMNS, list(itertools.chain.from_iterable(queues)))


if __name__ == "__main__":
    main()
