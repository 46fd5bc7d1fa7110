"""The store of an experiment: finished runs survive the end of a process, and leave the bytes of undisturbed work."""

from __future__ import annotations

import contextlib
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ackclock.experiments import store as store_module
from ackclock.experiments.store import TABLE, Store
from ackclock.files import storage
from ackclock.files.locking import LockedError

KIND = "comparison"


def filled(folder: Path, count: int = 60) -> Store:
    store = Store(folder)
    with store.opened(KIND, {"contenders": []}):
        for number in range(count):
            store[f"k{number}"] = {"value": number / 7, "none": None}
        store.finish(runs=count)
    return store


def test_random_attempts_give_what_a_dictionary_gives(tmp_path: Path) -> None:
    for seed in range(40):
        rng = random.Random(seed)
        out, model = tmp_path / str(seed), {}
        store = Store(out)
        for attempt in range(rng.randrange(1, 6)):
            if rng.random() < 0.7:
                store = Store(out)
            before = {key: store[key] for key in store}
            assert before == {key: model[key] for key in before}
            if attempt and rng.random() < 0.3:
                store["held"] = model["held"] = attempt
            with store.opened(KIND, {"attempt": attempt}):
                for _ in range(rng.randrange(4)):
                    key, value = f"k{rng.randrange(6)}", rng.choice([1.5, "text", None, [1, {"a": float("inf")}]])
                    store[key] = model[key] = value
                if rng.random() < 0.3:
                    copy = shutil.copytree(out, tmp_path / f"{seed}-{attempt}")
                if rng.random() < 0.5:
                    store.finish()
            if (copy := tmp_path / f"{seed}-{attempt}").exists() and rng.random() < 0.5:
                # As if the process had been killed.
                shutil.rmtree(out)
                copy.rename(out)
            assert dict(store) == model
            assert len(store) == len(model)
            assert dict(Store(out)) == model


def test_the_state_tells_how_the_work_ended(tmp_path: Path) -> None:
    store = Store(tmp_path / "o")
    with pytest.raises(RuntimeError), store.opened(KIND, {"contenders": ["a"]}):
        store["k"] = 1
        assert state(tmp_path / "o") == "running"
        raise RuntimeError
    assert state(tmp_path / "o") == "interrupted"
    assert dict(Store(tmp_path / "o")) == {"k": 1}
    (tmp_path / "o" / "report.html").write_text(f"<!doctype html>{storage.GENERATOR}")
    (tmp_path / "o" / "notes.txt").write_text("mine")
    with store.opened(KIND, {"contenders": ["a"]}, ["report.html"]):
        assert not (tmp_path / "o" / "report.html").exists()
        store.finish(runs=1)
    manifest = storage.read_manifest(tmp_path / "o", KIND)
    assert (manifest["state"], manifest["runs"], manifest["contenders"]) == ("complete", 1, ["a"])
    assert (tmp_path / "o" / "notes.txt").read_text() == "mine"


def state(folder: Path) -> str:
    return str(storage.read_manifest(folder)["state"])


def test_nothing_is_written_without_a_folder_or_before_it_is_open(tmp_path: Path) -> None:
    memory = Store()
    with memory.opened(KIND, {}):
        memory["k"] = 1
        memory.finish()
    assert dict(memory) == {"k": 1}
    held = Store(tmp_path / "o")
    held["k"] = 2
    assert not (tmp_path / "o").exists()
    del memory["k"]
    with pytest.raises(KeyError):
        del memory["k"]
    with held.opened(KIND, {}):
        pass
    assert dict(Store(tmp_path / "o")) == {"k": 2}


def test_a_folder_of_the_users_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / "lock").write_text("mine")
    filled(tmp_path / "other", 1)
    for name, kind, message in [
        ("mine", KIND, "was not written by ackclock"),
        ("locked", KIND, "was not written by ackclock"),
        ("other", "matrix", "holds results of `ackclock compare`"),
    ]:
        with pytest.raises(FileExistsError, match=message), Store(tmp_path / name).opened(kind, {}):
            pass
    assert (tmp_path / "locked" / "lock").read_text() == "mine"
    assert not (tmp_path / "locked" / "manifest.json").exists()


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    store, again = filled(tmp_path / "o", 1), Store(tmp_path / "o")
    with store.opened(KIND, {}):
        with pytest.raises(LockedError, match=r"o: process \d+ on .* writes to it"), again.opened(KIND, {}):
            pass
        assert state(tmp_path / "o") == "running", "the refused one changes nothing"


def test_a_changed_byte_is_no_measurement(tmp_path: Path) -> None:
    filled(tmp_path / "o", 3)
    table = tmp_path / "o" / TABLE
    data = bytearray(table.read_bytes())
    data[len(data) // 2] ^= 1
    table.write_bytes(data)
    assert dict(Store(tmp_path / "o")) == {}


def test_ctrl_c_at_any_line_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "o"
    filled(folder, 3)
    wanted = {key: [value] for key, value in Store(folder).items()}
    wanted["k1"].append("other")
    line, ended = 0, False
    while not ended:
        line += 1
        out = shutil.copytree(folder, tmp_path / str(line))
        with contextlib.suppress(KeyboardInterrupt):
            work_until(out, line)
            ended = True
        found = dict(Store(out))
        assert found.keys() == wanted.keys(), line
        assert all(found[key] in wanted[key] for key in wanted), line
    assert line > 10


def work_until(folder: Path, line: int) -> None:
    """Read and write a stored folder; Ctrl-C comes before the n-th line of the store."""
    left = line

    def traced(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        nonlocal left
        if frame.f_code.co_filename != store_module.__file__:
            return None
        left -= event == "line"
        if left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return traced

    store = Store(folder)
    with store.opened(KIND, {"contenders": []}):
        before = sys.gettrace()
        sys.settrace(traced)
        try:
            assert store["k0"] == {"value": 0, "none": None}
            store["k1"] = "other"
            assert store["k1"] == "other"
            store.finish()
        finally:
            sys.settrace(before)
