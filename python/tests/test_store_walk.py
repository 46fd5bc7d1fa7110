"""Stored results and journals with random damage: they are read, or refused with a message and without a traceback."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ackclock
from ackclock.files.journal import Journal
from ackclock.results.stored import StoredResult

WALKS = int(os.environ.get("ACKCLOCK_WALKS", "100"))
"""Number of damaged files of each test; more find more."""
KEYS = ("program", "kind", "name", "seed", "labels", "traces", "runs", "path", "version", "scenario", "started")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.sampled_from(KEYS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
DEEP = "[" * 100_000
READ: list[Callable[[StoredResult], object]] = [
    repr,
    lambda result: result.labels,
    lambda result: result.summary,
    lambda result: result.links,
    lambda result: result.scenario,
    lambda result: [result.trace(name) for name in result.traces],
]


@st.composite
def damage(draw: st.DrawFn, content: bytes, *, parquet: bool) -> bytes:
    """Draw a damaged form of a file: cut, changed in a few bytes, replaced, or with another value of JSON."""
    # Polars aborts the process at some changed bytes of a Parquet file.
    kind = draw(
        st.sampled_from(["cut", "replace", "deep"] if parquet else ["cut", "change", "replace", "value", "deep"])
    )
    if kind == "cut":
        return content[: draw(st.integers(0, len(content)))]
    if kind == "change":
        changed = bytearray(content)
        for _ in range(draw(st.integers(1, 6))):
            if changed:
                changed[draw(st.integers(0, len(changed) - 1))] = draw(st.integers(0, 255))
        return bytes(changed)
    if kind == "value":
        try:
            table = json.loads(content)
            table[draw(st.sampled_from(sorted(table)))] = draw(VALUES)
            return json.dumps(table).encode()
        except (ValueError, TypeError, AttributeError):
            return b""
    return DEEP.encode() if kind == "deep" else draw(st.binary(max_size=60)) or json.dumps(draw(VALUES)).encode()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored") / "run"
    ackclock.run(ackclock.Scenario("one", duration="1 s", record=["cwnd"], flow=[{}])).write(folder)
    return folder


@settings(max_examples=WALKS, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_damaged_result_is_read_or_refused(data: st.DataObject, stored: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(stored, folder)
    file = data.draw(st.sampled_from(sorted(path for path in folder.rglob("*") if path.is_file())))
    if data.draw(st.integers(0, 9)):
        file.write_bytes(data.draw(damage(file.read_bytes(), parquet=file.suffix == ".parquet")))
    else:
        file.unlink()
    for read in READ:
        try:
            for result in ackclock.datasets.runs(folder):
                read(result)
        except (OSError, ValueError) as error:  # noqa: PERF203 - few iterations
            assert str(error)


@settings(max_examples=WALKS, suppress_health_check=list(HealthCheck))
@given(
    lines=st.lists(
        st.binary(max_size=40) | VALUES.map(lambda value: json.dumps(value).encode()) | st.just(DEEP.encode()),
        max_size=4,
    )
)
def test_a_journal_keeps_what_was_added(lines: list[bytes], tmp_path: Path) -> None:
    file = tmp_path / "journal"
    file.write_bytes(b"\n".join(lines))
    journal = Journal(file)
    journal.add("mine", '{"x": 1}')
    assert journal.read()["mine"] == '{"x": 1}'
