"""Measures sweeps: points per second, the overhead of a point, the gain of a second worker, and memory.

`python benches/sweeps.py` prints the numbers of docs/speed.md. Every sweep runs in its own process. Alternating runs of
both numbers of workers alternate on the same machine, and the best of each counts. With `--ray`, two workers of a local
Ray cluster run the same points.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = """
duration = "{duration}"

[topology.bottleneck]
rate = "10 Mbit/s"

[flow]

[sweep]
"topology.bottleneck.delay" = {{ from = "5 ms", to = "100 ms", count = {delays} }}
"topology.bottleneck.queue.limit" = {{ from = "10 packets", to = "{most} packets", count = {limits} }}
"""
RUNS = 3


def one(text: str, jobs: int, engine: str) -> dict[str, float]:
    """Run a sweep in this process; return its times and its peak memory."""
    import resource

    from ackclock.experiments.sweeping import sweep

    import ackclock
    from ackclock import _core
    from ackclock.experiments.engines.local import Local
    from ackclock.scenario import Scenario

    scenario = Scenario.from_core(_core.Scenario.from_toml(text, "sweep"))
    if engine == "ray":
        from ackclock.experiments.engines.ray import Ray

        chosen = Ray(jobs=jobs)
    else:
        chosen = Local(jobs)
    with tempfile.TemporaryDirectory() as folder:
        # Libraries are loaded when they are used first; that does not count.
        sweep(scenario.set({"sweep": {"seed": [1, 2, 3]}}), Path(folder) / "first", engine=chosen)
        ackclock.open(Path(folder) / "first").runs.collect()
        wall, cpu = time.perf_counter(), time.process_time()
        outcome = sweep(scenario, Path(folder) / "o", engine=chosen)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        runs = ackclock.open(Path(folder) / "o").runs.collect()
    chosen.close()
    assert runs.height == outcome.planned
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return {
        "points": runs.height,
        "wall_s": wall,
        "cpu_s": cpu,
        "engine_cpu_s": float(runs["cpu_s"].sum()),
        "engine_wall_s": float(runs["wall_s"].sum()),
        "peak_mb": peak,
    }


def spawned(text: str, jobs: int, engine: str = "local") -> dict[str, float]:
    """Run a sweep in a process of its own."""
    command = [sys.executable, __file__, "--one", text, "--jobs", str(jobs), "--engine", engine]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
    return json.loads(found.stdout)


def best(text: str, engines: list[tuple[int, str]]) -> dict[tuple[int, str], dict[str, float]]:
    """Alternate between engines; return the fastest sweep of each."""
    found: dict[tuple[int, str], dict[str, float]] = {}
    for _ in range(RUNS):
        for jobs, engine in engines:
            now = spawned(text, jobs, engine)
            if (jobs, engine) not in found or now["wall_s"] < found[jobs, engine]["wall_s"]:
                found[jobs, engine] = now
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--engine", default="local")
    parser.add_argument("--ray", action="store_true")
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(one(asked.one, asked.jobs, asked.engine)))
        return
    engines = [(1, "local"), (2, "local"), *([(2, "ray")] if asked.ray else [])]
    long = TEXT.format(duration="10 s", delays=40, most=200, limits=40)
    short = TEXT.format(duration="0.1 s", delays=100, most=400, limits=100)
    large = TEXT.format(duration="0.01 s", delays=317, most=1000, limits=317)
    for name, text in (("10 s", long), ("0.1 s", short)):
        found = best(text, engines)
        single = found[1, "local"]
        for (jobs, engine), row in found.items():
            rate = row["points"] / row["wall_s"]
            gain = single["wall_s"] / row["wall_s"] / jobs
            overhead = (row["cpu_s"] - row["engine_cpu_s"]) / row["points"] * 1e6
            share = f", {overhead:.0f} µs CPU a point beside the engine" if engine == "local" else ""
            print(
                f"{name}, {engine}, {jobs} workers: {rate:,.0f} points/s, {rate / jobs:,.0f} a worker, "
                f"efficiency {gain:.1%}, engine {row['engine_cpu_s'] / row['points'] * 1e3:.2f} ms a point{share}"
            )
    row = spawned(large, 2)
    print(f"{row['points']:,.0f} points: {row['wall_s']:.1f} s, peak {row['peak_mb']:.0f} MB")


if __name__ == "__main__":
    main()
