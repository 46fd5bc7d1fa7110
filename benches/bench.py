"""Measures the speed of the simulator against ns-2.35 and ns-3, and of the hosts `modern` against the hosts `ns2`.

The first table has eight workloads and one row per queue discipline; without `ns` it covers the simulator alone. The
second table has bulk flows between hosts of both kinds, and the third every slow start, avoidance and whole control on
hosts `modern`, relative to Reno. The fourth has ns-3 on the chain and the dumbbells, for a shorter time; it is skipped
if ns-3 is not installed. The programs run alternately on the same machine, several times each (ns-3 once), and the best
run counts. The tables are printed and written to target/bench.json under `ns2`, `hosts`, `controls` and `ns3`. Rates
are delivered data packets per CPU second without set-up.

Arguments name workloads and limit the measurement to them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import optimise
from scenarios import (
    HOST_WORKLOADS,
    HOSTS,
    QUEUES,
    REFERENCE,
    ROOT,
    TARGET,
    WORKLOADS,
    control_scenario,
    controls,
    host_scenario,
    scenario,
)

NS2_DUMBBELL = "-topology dumbbell -delay 10ms -access_delay 5ms -window 20000"
NS2_RATES = {
    "100M": "-rate 100Mb -access 1Gb -limit 480 -time 400",
    "1G": "-rate 1Gb -access 10Gb -limit 4800 -time 20",
}
NS2_QUEUES = (
    "-topology dumbbell -rate 100Mb -access 1Gb -delay 40ms -access_delay 10ms -window 20000 -limit 480"
    " -time 200 -flows 20 -agents Tahoe,Tahoe,Reno,Reno,Newreno,Newreno"
)
NS3_RATES = {
    "100M": ("100Mbps", "1Gbps", "10ms", "5ms", 480, 20),
    "1G": ("1Gbps", "10Gbps", "10ms", "5ms", 4800, 4),
    "chain": ("10Mbps", "100Mbps", "10ms", "10ms", 50, 125),
}
"""Rates and delays of bottleneck and access links, limit in packets, and simulated seconds: a part of the workload's
time, because ns-3 would take most of an hour for all of it."""
NS3_LIBRARIES = (
    "applications",
    "internet",
    "nix-vector-routing",
    "point-to-point",
    "traffic-control",
    "network",
    "core",
)
# Runs of each program on a workload; the best one counts.
RUNS = 3


@dataclass
class Measurement:
    """The resource use of one process.

    Attributes
    ----------
    packets
        Data packets delivered.
    cpu_s
        CPU time of the process, seconds, set-up included.
    setup_s
        Time until the first event, seconds: CPU time for ns-2 (up to a minute), wall-clock time for the simulator
        (milliseconds).
    peak_rss_mb
        Peak resident memory in 10⁶ bytes.
    """

    packets: int
    cpu_s: float
    setup_s: float
    peak_rss_mb: float

    @property
    def pps(self) -> float:
        """Delivered packets per CPU second without set-up."""
        return self.packets / (self.cpu_s - self.setup_s)


def spawn(command: list[str]) -> tuple[str, float]:
    """Run a process; return its output and its CPU seconds."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with exit code {process.returncode}")
    return output, usage.ru_utime + usage.ru_stime


def measure_ours(binary: Path, file: Path) -> Measurement:
    """Run the simulator on a scenario."""
    output, cpu = spawn([str(binary), str(file)])
    row = json.loads(output)
    return Measurement(row["packets"], cpu, row["setup_s"], (row["peak_kb"] or 0) * 1024 / 1e6)


def measure_ns2(ns: str, workload: str) -> Measurement | None:
    """Run ns-2 on the same workload; return None if ns-2 lacks the queue discipline."""
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
    output, cpu = spawn([ns, str(ROOT / "benches" / "ns2" / "bulk.tcl"), *options.split(), "-quiet", "1"])
    words = [line.split() for line in output.splitlines()]
    setup = next(int(line[1]) / 1e9 for line in words if line[0] == "ready")
    total = next(line for line in words if line[0] == "total")
    return Measurement(int(total[2]), cpu, setup, int(total[total.index("peak_kb") + 1]) * 1024 / 1e6)


def ns3_program() -> Path | str:
    """Compile the dumbbell for ns-3; return the program, or the reason why there is none."""
    compiler = shutil.which("c++")
    if compiler is None:
        return "the comparison with ns-3 needs a C++ compiler (Debian package g++)"
    made, source = TARGET / "ns3_dumbbell", ROOT / "benches" / "ns3" / "dumbbell.cc"
    libraries = [f"-lns3-{name}" for name in NS3_LIBRARIES]
    said = subprocess.run(
        [compiler, "-std=c++17", "-O2", str(source), "-o", str(made), *libraries],
        stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    if said.returncode == 0:
        return made
    if "ns3/" in said.stderr and "No such file" in said.stderr:
        return "ns-3 is not installed (Debian package libns3-dev)"
    sys.exit(said.stderr)


def ns3_seconds(workload: str) -> int | None:
    """Return for how long ns-3 simulates a workload; None if it does not."""
    kind = workload.split("_")
    if kind[0] not in ("chain", "dumbbell"):
        return None
    return NS3_RATES["chain" if workload == "chain" else kind[1]][-1]


def measure_ns3(program: Path, workload: str) -> Measurement:
    """Run ns-3 on a part of the same workload."""
    name, flows = ("chain", "1") if workload == "chain" else workload.split("_")[1:]
    rate, access, delay, access_delay, limit, seconds = NS3_RATES[name]
    window = 1000 if name == "chain" else 20000
    values = {
        "rate": rate, "access": access, "delay": delay, "access_delay": access_delay, "limit": limit, "time": seconds,
        "flows": flows, "window": window,
    }  # fmt: skip
    output, cpu = spawn([str(program), *(f"--{key}={value}" for key, value in values.items())])
    words = {line.split()[0]: line.split() for line in output.splitlines()}
    total = words["total"]
    return Measurement(int(total[2]), cpu, float(words["ready"][1]), int(total[4]) * 1024 / 1e6)


def shortened(file: Path, seconds: int) -> Path:
    """Write a scenario that lasts so long."""
    text = re.sub(r"^duration = .*$", f'duration = "{seconds} s"', file.read_text(), count=1, flags=re.MULTILINE)
    made = TARGET / f"short_{file.name}"
    made.write_text(text)
    return made


NS3_COLUMNS = {
    "workload": ("workload", -20),
    "ours_pps": ("ours pkt/s", 12),
    "ns3_pps": ("ns-3 pkt/s", 12),
    "ratio": ("ratio", 8),
    "peak_rss_mb": ("MB", 8),
    "ns3_peak_rss_mb": ("ns-3 MB", 9),
    "packets": ("packets", 10),
    "ns3_packets": ("of ns-3", 10),
}


def against_ns3(binary: Path, speeds: Mapping[str, int]) -> list[dict[str, object]]:
    """Measure ns-3 on those workloads that it simulates, and print the table. `speeds`: ours, by workload."""
    program = ns3_program()
    if isinstance(program, str):
        print(f"skipped: {program}", file=sys.stderr)
        return []
    show({key: title for key, (title, _) in NS3_COLUMNS.items()}, NS3_COLUMNS)
    rows = []
    for workload, pps in speeds.items():
        if (seconds := ns3_seconds(workload)) is None:
            continue
        short = measure_ours(binary, shortened(scenario(workload, TARGET), seconds))
        theirs = measure_ns3(program, workload)
        rows.append(
            {
                "workload": workload,
                "ours_pps": pps,
                "ns3_pps": round(theirs.pps),
                "ratio": round(pps / theirs.pps),
                "peak_rss_mb": round(short.peak_rss_mb, 1),
                "ns3_peak_rss_mb": round(theirs.peak_rss_mb, 1),
                "packets": short.packets,
                "ns3_packets": theirs.packets,
            }
        )
        show(rows[-1], NS3_COLUMNS)
    return rows


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
    """Make the row of one workload; ns-2's values are None if ns-2 did not run."""
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


HOST_COLUMNS = {
    "workload": ("workload", -20),
    "modern_pps": ("modern pkt/s", 14),
    "ns2_pps": ("ns2 pkt/s", 12),
    "ratio": ("ratio", 8),
    "modern_peak_rss_mb": ("modern MB", 11),
    "ns2_peak_rss_mb": ("ns2 MB", 9),
}


def compare_hosts(workload: str, modern: Measurement, ns2: Measurement) -> dict[str, object]:
    """Make the row of one workload of the second table."""
    return {
        "workload": workload,
        "modern_pps": round(modern.pps),
        "ns2_pps": round(ns2.pps),
        "ratio": round(modern.pps / ns2.pps, 2),
        "modern_peak_rss_mb": round(modern.peak_rss_mb, 1),
        "ns2_peak_rss_mb": round(ns2.peak_rss_mb, 1),
    }


CONTROL_COLUMNS = {"workload": ("workload", -30), "pps": ("pkt/s", 12), "ratio": ("of Reno's", 11)}


def best(runs: list[Measurement]) -> Measurement:
    """Return the fastest run."""
    return max(runs, key=lambda run: run.pps)


def show(row: dict[str, object], columns: dict[str, tuple[str, int]]) -> None:
    """Print one row of a table."""
    cells = [(str("-" if row[key] is None else row[key]), width) for key, (_, width) in columns.items()]
    print("".join(text.ljust(-width) if width < 0 else text.rjust(width) for text, width in cells), flush=True)


def main() -> None:
    """Measure the workloads, print the tables and write the file."""
    ns = shutil.which("ns")
    if ns is None:
        print("ns-2 is not installed (Debian package ns2): measuring the simulator alone", file=sys.stderr)
    wanted = sys.argv[1:]
    known = [*WORKLOADS, *HOST_WORKLOADS, *controls()]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"no workload is named {unknown[0]}; known: {', '.join(known)}")
    binary, optimised = optimise.workload()
    print(f"optimised by a profile: {'yes' if optimised else 'no'}", file=sys.stderr)
    rows: dict[str, list[dict[str, object]]] = {"ns2": [], "hosts": [], "controls": []}
    # The programs alternate, so other load on the machine affects both.
    show({key: title for key, (title, _) in COLUMNS.items()}, COLUMNS)
    for workload in (name for name in WORKLOADS if not wanted or name in wanted):
        file = scenario(workload, TARGET)
        pairs = [(measure_ours(binary, file), measure_ns2(ns, workload) if ns else None) for _ in range(RUNS)]
        theirs = [run for _, run in pairs if run]
        rows["ns2"].append(compare(workload, best([run for run, _ in pairs]), best(theirs) if theirs else None))
        show(rows["ns2"][-1], COLUMNS)
    show({key: title for key, (title, _) in HOST_COLUMNS.items()}, HOST_COLUMNS)
    for workload in (name for name in HOST_WORKLOADS if not wanted or name in wanted):
        files = {host: host_scenario(workload, host, TARGET) for host in HOSTS}
        runs = [{host: measure_ours(binary, file) for host, file in files.items()} for _ in range(RUNS)]
        rows["hosts"].append(compare_hosts(workload, *(best([run[host] for run in runs]) for host in HOSTS)))
        show(rows["hosts"][-1], HOST_COLUMNS)
    show({key: title for key, (title, _) in CONTROL_COLUMNS.items()}, CONTROL_COLUMNS)
    parts = controls()
    for workload, keys in parts.items():
        if wanted and workload not in wanted:
            continue
        # The reference runs in between, so that other load on the machine affects both.
        files = [control_scenario(name, key, TARGET) for name, key in ((REFERENCE, parts[REFERENCE]), (workload, keys))]
        pairs = [[measure_ours(binary, file) for file in files] for _ in range(RUNS)]
        reference, own = (best([pair[at] for pair in pairs]) for at in (0, 1))
        rows["controls"].append(
            {"workload": workload, "pps": round(own.pps), "ratio": round(own.pps / reference.pps, 2)}
        )
        show(rows["controls"][-1], CONTROL_COLUMNS)
    rows["ns3"] = against_ns3(binary, {row["workload"]: row["ours_pps"] for row in rows["ns2"]})
    path = TARGET / "bench.json"
    path.write_text(json.dumps({"optimised": optimised, **rows}, indent=2) + "\n")
    print(f"written to {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
