"""Synthetic runs for tests of datasets; as a program, a writer that a test can kill.

usage: python synthetic.py FOLDER FIRST LAST PAUSE
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars

from ackclock.datasets import Dataset, Writer, layout
from ackclock.datasets.relabelling import Changes
from ackclock.files import storage

LABEL = "topology.bottleneck.delay"
SCENARIO = 'duration = "1 s"\n[flow]\n[sweep]\n"topology.bottleneck.delay" = ["1 ms", "2 ms"]\n'
FAILED = 7
FLOWS = 3


def runs(points: Iterable[int], label: str = LABEL, program: str = "p", shift: int = 0) -> polars.DataFrame:
    """Return a run for each point; run 10 N + 9 equals run 10 N + 8, and run 7 fails."""
    numbers = list(points)
    content = [number - 1 if number % 10 == 9 else number for number in numbers]
    rows = {
        "point": [number + shift for number in numbers],
        label: [f"{number} ms" for number in content],
        "seed": [1] * len(numbers),
        "hash": [f"h{number}" for number in content],
        "run": [f"{program}{number}" for number in content],
        "error": ["too many events" if number == FAILED else None for number in content],
        "goodput_bps": [None if number == FAILED else number / 3 for number in content],
        "queue_max": [number * 2 for number in content],
    }
    types = {"error": polars.String, "goodput_bps": polars.Float64}
    return polars.DataFrame(rows, schema_overrides=types)


def tables(table: polars.DataFrame) -> dict[str, polars.DataFrame]:
    """Return the rows of the other tables: three flows and a link for each run, and a page for each even run."""
    found = sorted(set(table.filter(polars.col("error").is_null())["run"]))
    flows = {
        "run": [run for run in found for _ in range(FLOWS)],
        "name": [f"flow{flow}" for _ in found for flow in range(FLOWS)],
        "sent_packets": [int(run[1:]) * 10 + flow for run in found for flow in range(FLOWS)],
    }
    even = [run for run in found if int(run[1:]) % 2 == 0]
    return {
        "flows": polars.DataFrame(flows),
        "links": polars.DataFrame(
            {"run": found, "name": "n1>n2"}, schema={"run": polars.String, "name": polars.String}
        ),
        "pages": polars.DataFrame({"run": even, "bytes": [1000] * len(even)}),
    }


def plan(points: Iterable[int], label: str = LABEL, program: str = "p", shift: int = 0) -> polars.DataFrame:
    """Return the plan of these points."""
    return runs(points, label, program, shift).select("point", label, "seed", "hash", "run")


def writer(folder: Path, label: str = LABEL) -> Writer:
    """Open a dataset for writing."""
    return Writer(folder, manifest={"scenario": "synthetic", "planned": 1}, labels=[label], scenario=SCENARIO)


def sweep(
    folder: Path,
    points: Sequence[int],
    label: str = LABEL,
    program: str = "p",
    shift: int = 0,
    pause: float = 0.0,
    size: int = 5,
) -> tuple[Changes, int]:
    """Do what `ackclock sweep` does: continue a dataset, in batches; return the number of runs too."""
    with writer(folder, label) as open_writer:
        changes, ran = continued(open_writer, points, label, program, shift, pause, size)
        open_writer.finish()
    return changes, ran


def continued(
    open_writer: Writer,
    points: Sequence[int],
    label: str = LABEL,
    program: str = "p",
    shift: int = 0,
    pause: float = 0.0,
    size: int = 5,
) -> tuple[Changes, int]:
    """Add the missing runs."""
    changes = open_writer.relabel(plan(points, label, program, shift))
    stored = set(open_writer.stored()["point"])
    missing = [point for point in points if point + shift not in stored]
    for start in range(0, len(missing), size):
        table = runs(missing[start : start + size], label, program, shift)
        open_writer.add(table, tables(table))
        open_writer.flush()
        time.sleep(pause)
    return changes, len(missing)


def rows(folder: Path) -> Mapping[str, list[tuple[object, ...]]]:
    """Return the sorted rows of every view of a dataset."""
    dataset = Dataset(folder)
    views = {name: getattr(dataset, name).collect() for name in (layout.RUNS, *layout.TABLES)}
    return {name: sorted(table.rows(), key=str) for name, table in views.items()}


def start(folder: Path, first: int, last: int, pause: float = 0.0) -> subprocess.Popen[str]:
    """Start a writer in a process of its own; return when it has imported its modules."""
    command = [sys.executable, __file__, str(folder), str(first), str(last), str(pause)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def check_batches(folder: Path) -> None:
    """Every stored row belongs to a run, stands once, and no file is left over."""
    names = files(folder)
    assert not [name for name in names if "/." in name or name.startswith(".") or layout.NEW_RUNS in name]
    there = {Path(name).name for name in names if name.startswith(("runs/", "earlier/1", "earlier/2"))}
    assert {Path(name).name for name in names if name.endswith(".parquet")} <= there
    for name in names:
        assert not name.endswith(".parquet") or polars.read_parquet(folder / name).height > 0
    for name in layout.TABLES:
        found = layout.batches(folder / name).values()
        if found:
            table = polars.concat([polars.read_parquet(path) for path in found])
            assert not table.is_duplicated().any(), name


def check_readers(folder: Path) -> None:
    """Every run that a reader sees has its rows in the other tables."""
    if not (folder / storage.MANIFEST).exists():
        return
    dataset = Dataset(folder)
    finished = dataset.runs.filter(polars.col("error").is_null()).select("point").collect()["point"]
    flows = dataset.flows.group_by("point").len().collect()
    assert sorted(flows["point"]) == finished.to_list()
    assert set(flows["len"]) <= {FLOWS}


if __name__ == "__main__":
    print("started", flush=True)
    sweep(Path(sys.argv[1]), range(int(sys.argv[2]), int(sys.argv[3])), pause=float(sys.argv[4]))
