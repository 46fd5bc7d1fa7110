"""Counts the engine's instructions per delivered packet, and compares them with the stored table `instructions.json`.

Callgrind counts, so the figures do not depend on the machine's load. Each workload runs twice, for a short and for a
longer time: the differences of instructions and packets leave out the set-up. The table names the compiler of its
figures; with exactly this compiler, the command fails if a row has grown by more than 3 %.

Arguments name workloads and limit the count to them. `--renew` writes the table; `--quick` measures nothing if the
table names another compiler.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import scenarios

TABLE = Path(__file__).resolve().with_suffix(".json")
# The largest growth of a row that passes.
TOLERANCE = 0.03


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes
    ----------
    workload
        Name of a workload.
    spans
        Simulated seconds of the short and of the longer run. The first begins to count after slow start.
    host
        Profile of the hosts of a workload between hosts.
    """

    workload: str
    spans: tuple[int, int]
    host: str | None = None

    @property
    def name(self) -> str:
        """Name of the row."""
        return self.workload if self.host is None else f"{self.workload}_{self.host}"

    def scenario(self, folder: Path) -> str:
        """Return the text of the workload's scenario."""
        if self.host is None:
            return scenarios.scenario(self.workload, folder).read_text()
        return scenarios.host_scenario(self.workload, self.host, folder).read_text()


ROWS = [
    Row("chain", (10, 60)),
    Row("dumbbell_100M_10", (2, 6)),
    Row("queue_gk", (2, 6)),
    Row("queue_drr", (2, 6)),
    *(Row(f"hosts_{control}", (2, 6), host) for control in ("reno_1", "reno_10", "bbr_10") for host in scenarios.HOSTS),
    Row("hosts_cubic_1", (2, 6), "linux"),
    Row("hosts_cubic_10", (2, 6), "linux"),
    *(Row("window_10000", (1, 2), host) for host in scenarios.HOSTS),
]


def compiler() -> str:
    """Name the compiler and the platform that it compiles for."""
    lines = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout.splitlines()
    host = next(line.removeprefix("host: ") for line in lines if line.startswith("host: "))
    return f"{lines[0]}, {host}"


def run(binary: Path, text: str, span: int, folder: Path) -> tuple[int, int]:
    """Run a scenario for `span` seconds; return its instructions and the packets delivered."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml", dir=folder) as file:
        file.write(scenarios.shortened(text, span))
        file.flush()
        counter = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"]
        done = subprocess.run([*counter, str(binary), file.name], capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None:
        sys.exit(f"valgrind {binary} failed:\n{done.stderr}")
    return int(collected[1]), int(json.loads(done.stdout)["packets"])


def count(binary: Path, rows: list[Row]) -> dict[str, int]:
    """Count the instructions per delivered packet of each row."""
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(name)
        texts = [row.scenario(folder) for row in rows]
        runs = [
            [pool.submit(run, binary, text, span, folder) for span in row.spans]
            for row, text in zip(rows, texts, strict=True)
        ]
        figures = {}
        for row, pair in zip(rows, runs, strict=True):
            (first, before), (second, after) = (future.result() for future in pair)
            figures[row.name] = round((second - first) / (after - before))
        return figures


def compare(stored: dict[str, int], counted: dict[str, int]) -> list[str]:
    """Print the rows beside those of the table; return the names of the rows that have grown too much."""
    grown = []
    print(f"{'instructions per packet':<28}{'table':>8}{'now':>8}{'change':>10}")
    for name, now in counted.items():
        before = stored.get(name)
        change = "new" if before is None else f"{now / before - 1:+.1%}"
        print(f"{name:<28}{before or '-':>8}{now:>8}{change:>10}")
        if before is not None and now > before * (1 + TOLERANCE):
            grown.append(name)
    return grown


def main() -> None:
    """Count, and compare or write the table."""
    parser = argparse.ArgumentParser(description="count the engine's instructions per delivered packet")
    names = {row.name: row for row in ROWS}
    parser.add_argument("rows", nargs="*", metavar="NAME", help=f"rows to count: {', '.join(names)}")
    parser.add_argument("--renew", action="store_true", help="write the table")
    parser.add_argument("--quick", action="store_true", help="measure nothing if the table names another compiler")
    options = parser.parse_args()
    unknown = [name for name in options.rows if name not in names]
    if unknown:
        parser.error(f"no row is named {unknown[0]}; known: {', '.join(names)}")
    if shutil.which("valgrind") is None:
        print("skipped: the count of instructions needs valgrind (Debian package valgrind)", file=sys.stderr)
        return
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {"compiler": None, "rows": {}}
    here = compiler()
    same = table["compiler"] == here
    if options.quick and not same:
        print(f"skipped: instructions are compared only with {table['compiler']}; this is {here}", file=sys.stderr)
        return
    counted = count(scenarios.build(), [names[name] for name in options.rows] or ROWS)
    grown = compare(table["rows"], counted)
    if options.renew:
        kept = table["rows"] if same else {}
        rows = {name: count for name, count in {**kept, **counted}.items() if name in names}
        TABLE.write_text(json.dumps({"compiler": here, "rows": rows}, indent=2) + "\n")
    elif grown and same:
        sys.exit(
            f"more than {TOLERANCE:.0%} more instructions per packet: {', '.join(grown)}."
            " If the growth is worth it, renew the table: python benches/instructions.py --renew"
        )
    elif grown:
        print(f"the table names another compiler, {table['compiler']}: its figures are no limit here", file=sys.stderr)


if __name__ == "__main__":
    main()
