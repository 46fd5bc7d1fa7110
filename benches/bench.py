"""Measures the simulator against ns-2.35: eight workloads and a row of queues; without `ns` the simulator alone.

Both programs run one after the other on the same machine. Prints a table and writes target/bench.json with rows of
workload, ours_pps, ns2_pps, ratio, peak_rss_mb, ns2_peak_rss_mb, setup_s, ns2_setup_s. Rates are data packets delivered
per CPU second without set-up.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NS2_DUMBBELL = "-topology dumbbell -delay 10ms -access_delay 5ms -window 20000"
NS2_RATES = {
    "100M": "-rate 100Mb -access 1Gb -limit 480 -time 400",
    "1G": "-rate 1Gb -access 10Gb -limit 4800 -time 20",
}
# Queue disciplines of the same dumbbell: ours, and ns-2's where it has it.
QUEUES = {
    "droptail": ('{ kind = "droptail", limit = "480 packets" }', "DropTail"),
    "red": ('{ kind = "red", limit = "480 packets" }', "RED"),
    "fq": ('{ kind = "fq", flow_limit = "480 packets" }', "FQ"),
    "sfq": ('{ kind = "sfq", limit = "480 packets" }', "SFQ"),
    "pi": ('{ kind = "pi", limit = "480 packets" }', "PI"),
    "vq": ('{ kind = "vq", limit = "480 packets" }', "Vq"),
    "rem": ('{ kind = "rem", limit = "480 packets" }', "REM"),
    "gk": ('{ kind = "gk", limit = "480 packets" }', "GK"),
    "drr": ('{ kind = "drr", limit = "499200 B", buckets = 48 }', "DRR"),
    "srr": ('{ kind = "srr", flow_limit = "480 packets" }', "SRR"),
    "codel": ('{ kind = "codel" }', None),
    "fq_codel": ('{ kind = "fq_codel" }', None),
    "pie": ('{ kind = "pie" }', None),
}
NS2_QUEUES = (
    "-topology dumbbell -rate 100Mb -access 1Gb -delay 40ms -access_delay 10ms -window 20000 -limit 480"
    " -time 200 -flows 20 -agents Tahoe,Tahoe,Reno,Reno,Newreno,Newreno"
)
WORKLOADS = [
    "chain",
    *(f"dumbbell_100M_{flows}" for flows in (1, 10, 100)),
    *(f"dumbbell_1G_{flows}" for flows in (1, 10, 100, 1000)),
    *(f"queue_{queue}" for queue in QUEUES),
]


# Runs of each program on a workload, of which the best counts.
RUNS = 3


@dataclass
class Measurement:
    """What one process used.

    Attributes
    ----------
    packets
        Data packets delivered.
    cpu_s
        CPU time of the process, seconds, set-up included.
    setup_s
        Time until the first event, seconds.
    peak_rss_mb
        Peak resident memory in 10⁶ bytes.
    """

    packets: int
    cpu_s: float
    setup_s: float
    peak_rss_mb: float

    @property
    def pps(self) -> float:
        """Packets per CPU second without set-up."""
        return self.packets / (self.cpu_s - self.setup_s)


def spawn(command: list[str]) -> tuple[str, float]:
    """Run a process; return what it printed and its CPU seconds."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with exit code {process.returncode}")
    return output, usage.ru_utime + usage.ru_stime


def scenario(workload: str, target: Path) -> Path:
    """Return the scenario file of a workload, written into the build's directory if it is one of the queues."""
    folder = ROOT / "benches" / "workloads"
    queue = workload.removeprefix("queue_")
    if queue == workload:
        return folder / f"{workload}.toml"
    path = target / f"{workload}.toml"
    path.write_text((folder / "queues.toml").read_text().replace("queue = QUEUE", f"queue = {QUEUES[queue][0]}"))
    return path


def measure_ours(binary: Path, file: Path) -> Measurement:
    """Run the simulator on a scenario."""
    output, cpu = spawn([str(binary), str(file)])
    row = json.loads(output)
    return Measurement(row["packets"], cpu, row["setup_s"], (row["peak_kb"] or 0) * 1024 / 1e6)


def measure_ns2(ns: str, workload: str) -> Measurement | None:
    """Run ns-2 on the same workload, unless it does not have the queue."""
    if workload == "chain":
        options = "-topology chain -rate 10Mb -access 100Mb -limit 50 -time 2500"
    elif workload.startswith("queue_"):
        queue = QUEUES[workload.removeprefix("queue_")][1]
        if queue is None:
            return None
        options = f"{NS2_QUEUES} -queue {queue}"
    else:
        _, rate, flows = workload.split("_")
        options = f"{NS2_DUMBBELL} {NS2_RATES[rate]} -flows {flows}"
    begin = time.time()
    output, cpu = spawn([ns, str(ROOT / "benches" / "ns2" / "bulk.tcl"), *options.split(), "-quiet", "1"])
    words = [line.split() for line in output.splitlines()]
    ready = next(int(line[1]) / 1000 for line in words if line[0] == "ready")
    total = next(line for line in words if line[0] == "total")
    return Measurement(int(total[2]), cpu, ready - begin, int(total[total.index("peak_kb") + 1]) * 1024 / 1e6)


COLUMNS = {
    "workload": ("workload", -20),
    "ours_pps": ("ours pkt/s", 12),
    "ns2_pps": ("ns-2 pkt/s", 12),
    "ratio": ("ratio", 8),
    "peak_rss_mb": ("MB", 8),
    "ns2_peak_rss_mb": ("ns-2 MB", 9),
    "setup_s": ("set-up s", 10),
    "ns2_setup_s": ("ns-2 s", 8),
}


def compare(workload: str, ours: Measurement, theirs: Measurement | None) -> dict[str, object]:
    """Make the row of one workload; what ns-2 was not there to measure is None."""
    return {
        "workload": workload,
        "ours_pps": round(ours.pps),
        "ns2_pps": round(theirs.pps) if theirs else None,
        "ratio": round(ours.pps / theirs.pps, 2) if theirs else None,
        "peak_rss_mb": round(ours.peak_rss_mb, 1),
        "ns2_peak_rss_mb": round(theirs.peak_rss_mb, 1) if theirs else None,
        "setup_s": round(ours.setup_s, 4),
        "ns2_setup_s": round(theirs.setup_s, 2) if theirs else None,
    }


def show(row: dict[str, object]) -> None:
    """Print a row of the table."""
    cells = [(str("-" if row[key] is None else row[key]), width) for key, (_, width) in COLUMNS.items()]
    print("".join(text.ljust(-width) if width < 0 else text.rjust(width) for text, width in cells), flush=True)


def main() -> None:
    """Measure every workload, print the table, write the file."""
    ns = shutil.which("ns")
    if ns is None:
        print("ns-2 is not installed (Debian package ns2): measuring the simulator alone", file=sys.stderr)
    build = "cargo build --release --quiet -p ackclock-sim --example workload"
    subprocess.run(build.split(), cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = target / "release" / "examples" / "workload"
    show({key: title for key, (title, _) in COLUMNS.items()})
    rows = []
    wanted = sys.argv[1:]
    for workload in (name for name in WORKLOADS if not wanted or name in wanted):
        file = scenario(workload, target)
        # Alternating, so that what else the machine does meets both.
        pairs = [(measure_ours(binary, file), measure_ns2(ns, workload) if ns else None) for _ in range(RUNS)]
        ours = max((ours for ours, _ in pairs), key=lambda run: run.pps)
        theirs = max((theirs for _, theirs in pairs if theirs), key=lambda run: run.pps, default=None)
        rows.append(compare(workload, ours, theirs))
        show(rows[-1])
    path = target / "bench.json"
    path.write_text(json.dumps(rows, indent=2) + "\n")
    print(f"written to {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
