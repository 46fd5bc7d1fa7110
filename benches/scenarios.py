"""The workloads of the benchmarks: their names, their scenario files, and the program that runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
# The program that runs one workload, and the command that builds it.
BUILD: list[str | Path] = ["cargo", "build", "--release", "--quiet", "-p", "ackclock-sim", "--example", "workload"]
PROGRAM = Path("release", "examples", "workload")
FOLDER = ROOT / "benches" / "workloads"
# Queue disciplines of the same dumbbell: ours, and ns-2's counterpart, if any.
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
    "dualpi2": ('{ kind = "dualpi2" }', None),
    "cobalt": ('{ kind = "cobalt" }', None),
    "fq_cobalt": ('{ kind = "fq_cobalt" }', None),
    "cake": ('{ kind = "cake" }', None),
}
WORKLOADS = [
    "chain",
    *(f"dumbbell_100M_{flows}" for flows in (1, 10, 100)),
    *(f"dumbbell_1G_{flows}" for flows in (1, 10, 100, 1000)),
    *(f"queue_{queue}" for queue in QUEUES),
]
# Congestion controls of the second table, as keys of a flow.
CONTROLS = {
    "reno": 'avoidance = "reno"',
    "cubic": 'avoidance = "cubic"',
    "bbr": 'congestion_control = "bbr"',
}
# Hosts of the second table, with a receiver window that never limits.
HOSTS = {
    "modern": 'profile = "modern"\nmodern = { receive_buffer = "20 MB" }',
    "ns2": 'rwnd = "20000 packets"',
}
# Those, and the preset that follows a kernel.
ALL_HOSTS = HOSTS | {"linux": 'host = "linux"'}
# Paths of the second table, by the number of flows: what stands for the placeholders of hosts.toml.
SLOW = {"DURATION": '"60 s"', "ACCESS": '"1 Gbit/s"', "BOTTLENECK": '"100 Mbit/s"', "QUEUE": '"480 packets"'}
FAST = {"DURATION": '"8 s"', "ACCESS": '"10 Gbit/s"', "BOTTLENECK": '"1 Gbit/s"', "QUEUE": '"4800 packets"'}
PATHS = {1: SLOW, 10: SLOW, 100: SLOW, 1000: FAST}
# A flow of BBR over a path that holds so many packets, with losses; its window is up to twice as large.
LOSSES = '"2 BDP", loss = "0.001 %"'
WINDOWS = {
    10_000: {"DURATION": '"4 s"', "ACCESS": '"20 Gbit/s"', "BOTTLENECK": '"2 Gbit/s"', "QUEUE": LOSSES},
    100_000: {"DURATION": '"2 s"', "ACCESS": '"200 Gbit/s"', "BOTTLENECK": '"20 Gbit/s"', "QUEUE": LOSSES},
}
WIDE_HOSTS = {
    "modern": 'profile = "modern"\nmodern = { receive_buffer = "1 GB" }',
    "ns2": 'rwnd = "1000000 packets"',
}
HOST_WORKLOADS = [
    *(f"hosts_{control}_{flows}" for control in CONTROLS for flows in PATHS),
    *(f"window_{packets}" for packets in WINDOWS),
]

# The axes whose parts have a row of the third table, ten flows between `modern` hosts, and what their names begin with.
AXES = {"avoidance": "", "slow_start": "start_", "congestion_control": ""}
REFERENCE = "control_reno"


def controls() -> dict[str, str]:
    """Return the workloads of the third table, with the keys of a flow that name the part."""
    # Here, because the builds that an optimisation makes come before the package.
    from ackclock import _core

    registry = json.loads(_core.registry())
    return {
        f"control_{begin}{part['name']}": f'{axis} = "{part["name"]}"'
        for axis, begin in AXES.items()
        for part in registry[axis]
    }


def control_scenario(workload: str, keys: str, target: Path) -> Path:
    """Write the scenario file of a workload of the third table into the build directory."""
    return _hosts_scenario(workload, SLOW, f"{HOSTS['modern']}\n{keys}", 10, target)


def build() -> Path:
    """Build the program of the benchmark as developers do; return it."""
    subprocess.run(BUILD, cwd=ROOT, check=True)
    return TARGET / PROGRAM


def scenario(workload: str, target: Path) -> Path:
    """Return the scenario file of a workload; for a queue workload, write it into the build directory first."""
    queue = workload.removeprefix("queue_")
    if queue == workload:
        return FOLDER / f"{workload}.toml"
    path = target / f"{workload}.toml"
    path.write_text((FOLDER / "queues.toml").read_text().replace("queue = QUEUE", f"queue = {QUEUES[queue][0]}"))
    return path


def host_scenario(workload: str, host: str, target: Path) -> Path:
    """Write the scenario file of a workload of the second table into the build directory."""
    if workload.startswith("window_"):
        path, flows = WINDOWS[int(workload.removeprefix("window_"))], "1"
        keys = f"{WIDE_HOSTS[host]}\n{CONTROLS['bbr']}"
    else:
        _, control, flows = workload.split("_")
        path, keys = PATHS[int(flows)], f"{ALL_HOSTS[host]}\n{CONTROLS[control]}"
    return _hosts_scenario(f"{workload}_{host}", path, keys, int(flows), target)


def _hosts_scenario(name: str, path: dict[str, str], keys: str, flows: int, target: Path) -> Path:
    # The first line is a comment that names the placeholders.
    comment, text = (FOLDER / "hosts.toml").read_text().split("\n", 1)
    for place, value in path.items():
        text = text.replace(f"= {place}", f"= {value}")
    text = text.replace("= COUNT", f"= {flows}").replace("\nHOST\n", f"\n{keys}\n")
    file = target / f"{name}.toml"
    file.write_text(f"{comment}\n{text}")
    return file


def shortened(text: str, seconds: int) -> str:
    """Return the text of a scenario file with another duration."""
    return re.sub(r'(?m)^duration = ".*"$', f'duration = "{seconds} s"', text)
