"""Datasets whose writer is killed: nothing finished is lost, and nothing is stored twice."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ackclock.datasets import Dataset

from . import synthetic
from .synthetic import LABEL, check_batches, check_readers, plan, rows, sweep


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
    kills = []
    for kill_at in every_kill(monkeypatch, before, tmp_path / "out", range(20)):
        check_readers(tmp_path / "out")
        sweep(tmp_path / "out", range(20), size=8)
        assert rows(tmp_path / "out") == rows(wanted)
        check_batches(tmp_path / "out")
        kills.append(kill_at)
    assert len(kills) > 15


def test_a_kill_at_any_step_of_a_changed_plan_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, before, out = tmp_path / "wanted", tmp_path / "before", tmp_path / "out"
    sweep(before, range(15))
    form: dict[str, Any] = {"label": "delay", "shift": 100}
    sweep(wanted, range(10, 20), **form)
    kills = []
    for kill_at in every_kill(monkeypatch, before, out, range(10, 20), **form):
        check_readers(out)
        changes, _ = sweep(out, range(10, 20), **form, size=8)
        assert changes.kept + changes.relabelled >= 5, "a known run was not used again"
        assert rows(out) == rows(wanted)
        check_batches(out)
        _, ran = sweep(out, range(20))
        assert ran == 1, "a finished run was lost, or the failed run that had left the plan did not run again"
        check_batches(out)
        kills.append(kill_at)
    assert len(kills) > 30


def test_a_kill_at_any_step_of_a_return_to_an_earlier_plan_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, before, out = tmp_path / "wanted", tmp_path / "before", tmp_path / "out"
    sweep(wanted, range(10))
    sweep(before, range(10))
    sweep(before, range(5, 15), label="delay", shift=100)
    kills = []
    for kill_at in every_kill(monkeypatch, before, out, range(10)):
        check_readers(out)
        _, ran = sweep(out, range(10))
        assert ran == 0, "a finished run was lost"
        assert rows(out) == rows(wanted)
        check_batches(out)
        kills.append(kill_at)
    assert len(kills) > 20


def test_a_change_of_the_plan_that_was_killed_between_its_renames_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    sweep(folder, range(20))
    writer = synthetic.writer(folder, "delay")
    original = os.replace

    def killed(source: Path, target: Path) -> None:
        original(source, target)
        if Path(source).name == "runs":
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", killed)
        with pytest.raises(Killed):
            writer.relabel(plan(range(10, 20), "delay"))
    writer._lock.release()
    assert not (folder / "runs").exists()
    dataset = Dataset(folder)
    assert dataset.runs.collect()["point"].to_list() == list(range(10, 20))
    with synthetic.writer(folder, "delay"):
        pass
    assert (folder / "runs").exists()
    assert dataset.labels == ["delay"]
    assert dataset.runs.collect()["point"].to_list() == list(range(10, 20))
    check_readers(folder)
