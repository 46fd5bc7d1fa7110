"""Datasets: batches that are complete or absent, continued and changed sweeps, readers while a writer works."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars
import pytest

import ackclock
from ackclock.datasets import Dataset, layout
from ackclock.files import storage

from . import synthetic
from .synthetic import LABEL, rows, runs, sweep, tables


def start(folder: Path, first: int, last: int, pause: float = 0.0) -> subprocess.Popen[str]:
    """Start a writer in a process of its own; return when it has imported its modules."""
    command = [sys.executable, synthetic.__file__, str(folder), str(first), str(last), str(pause)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def check_batches(folder: Path) -> None:
    """Every stored row belongs to a run, stands once, and no file is left over."""
    names = files(folder)
    assert not [name for name in names if "/." in name or name.startswith(".") or layout.NEW_RUNS in name]
    there = {Path(name).name for name in names if name.startswith(("runs/", "earlier/1", "earlier/2"))}
    assert {Path(name).name for name in names if name.endswith(".parquet")} <= there
    for name in layout.TABLES:
        found = layout.batches(folder / name).values()
        if found:
            table = polars.concat([polars.read_parquet(path) for path in found])
            assert not table.is_duplicated().any(), name


def test_a_dataset_has_the_rows_that_were_added(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(12))
    dataset = ackclock.open(folder)
    assert dataset.complete
    assert dataset.labels == [LABEL]
    assert dataset.scenario is not None
    assert len(dataset.scenario.sweep_points()) == 2
    stored = dataset.runs.collect()
    assert stored.columns == ["point", LABEL, "seed", "hash", "run", "version", "error", "goodput_bps", "queue_max"]
    assert stored["point"].to_list() == list(range(12))
    assert stored["point"].dtype == stored["seed"].dtype == polars.UInt64
    assert set(stored["version"]) == {ackclock.__version__}
    assert stored.filter(polars.col("error").is_not_null())["point"].to_list() == [7]
    flows = dataset.flows.collect()
    assert flows.columns == ["point", LABEL, "seed", "run", "name", "sent_packets"]
    # The equal points 8 and 9 share the rows of one run; the failed run has none.
    assert flows.height == 11 * synthetic.FLOWS
    assert (
        flows.filter(polars.col("point") == 9)
        .drop("point")
        .equals(flows.filter(polars.col("point") == 8).drop("point"))
    )
    assert dataset.transfers.collect().height == 0
    assert "completion_time" in dataset.transfers.collect_schema()
    check_batches(folder)


def test_nothing_is_added_twice(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    sweep(first, range(10))
    with synthetic.writer(second) as writer:
        for points in (range(6), range(3, 10), range(10)):
            table = runs(points)
            writer.add(table, tables(table))
            writer.add(table, tables(table))
            writer.flush()
        writer.finish()
    assert rows(first) == rows(second)
    check_batches(second)


def test_a_killed_sweep_ends_with_the_rows_of_an_undisturbed_one(tmp_path: Path) -> None:
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    sweep(undisturbed, range(300))
    times = random.Random(1)
    seen = []
    for _ in range(20):
        process = start(disturbed, 0, 300, pause=0.02)
        time.sleep(times.uniform(0, 0.15))
        kill(process)
        if (disturbed / storage.MANIFEST).exists():
            seen.append(Dataset(disturbed).runs.collect().height)
    assert seen == sorted(seen), "a kill lost finished runs"
    assert seen[-1] > 0
    # The sweep is still to be finished, so that the kills were kills of a working process.
    process = start(disturbed, 0, 300)
    process.communicate()
    assert process.returncode == 0
    assert rows(disturbed) == rows(undisturbed)
    check_batches(disturbed)


class Killed(BaseException):
    """Stands for SIGKILL: every later change of a file fails too."""


@contextmanager
def killed_at(monkeypatch: pytest.MonkeyPatch, count: int) -> Iterator[list[int]]:
    """Let each change of the file system from the given one on fail; yield a list with the number of changes."""
    done = [0]

    def counted(original: Any) -> Any:
        def change(*arguments: Any, **options: Any) -> Any:
            done[0] += 1
            if done[0] >= count:
                raise Killed
            return original(*arguments, **options)

        return change

    with monkeypatch.context() as patched:
        for name in ("rename", "replace", "unlink", "mkdir", "rmdir"):
            patched.setattr(os, name, counted(getattr(os, name)))
        yield done


def every_kill(
    monkeypatch: pytest.MonkeyPatch, before: Path, folder: Path, points: range, **form: Any
) -> Iterator[int]:
    """Kill a sweep at each of its changes of the file system, and yield after each kill."""
    for count in range(1, 1000):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(before, folder)
        writer = None
        with killed_at(monkeypatch, count):
            try:
                writer = synthetic.writer(folder, form.get("label", LABEL))
                synthetic.continued(writer, points, **form)
                writer.finish()
                return
            except Killed:
                pass
            finally:
                if writer is not None:
                    writer._lock.release()
        yield count


def test_a_kill_at_any_step_of_a_new_sweep_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, before = tmp_path / "wanted", tmp_path / "before"
    sweep(wanted, range(20))
    before.mkdir()
    kills = 0
    for kills in every_kill(monkeypatch, before, tmp_path / "out", range(20)):
        sweep(tmp_path / "out", range(20))
        assert rows(tmp_path / "out") == rows(wanted)
        check_batches(tmp_path / "out")
    assert kills > 15


def test_a_kill_at_any_step_of_a_changed_plan_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, before, out = tmp_path / "wanted", tmp_path / "before", tmp_path / "out"
    sweep(before, range(30))
    form: dict[str, Any] = {"label": "delay", "shift": 100}
    sweep(wanted, range(20, 50), **form)
    kills = 0
    for kills in every_kill(monkeypatch, before, out, range(20, 50), **form):
        changes, _ = sweep(out, range(20, 50), **form)
        assert changes.kept + changes.relabelled >= 10, "a known run was not used again"
        assert rows(out) == rows(wanted)
        check_batches(out)
        _, ran = sweep(out, range(50))
        assert ran == 0, "a finished run was lost"
        check_batches(out)
    assert kills > 30
