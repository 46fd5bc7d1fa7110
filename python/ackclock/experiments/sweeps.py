"""Writing sweeps: tables with the rows of all runs, and a line for each run that recorded no traces.

A run with traces has a folder of its own, as `Result.write` makes it. Any other has no file: `runs.jsonl` has its
manifest and its scenario, and its rows are those of the sweep's tables with its labels.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock import _core
from ackclock.files import storage
from ackclock.files.sweeps import LINES
from ackclock.result import Result

if TYPE_CHECKING:
    import polars

TABLES = ("flows", "links", "transfers", "pages")
BATCH = 200  # tables are joined by so many, as a small table takes far more memory than its rows


@dataclass(frozen=True)
class Entry:
    """What a sweep keeps of a run until it ends.

    Attributes
    ----------
    line : str or None
        Its line of `LINES`; None: it has a folder of its own.
    tables : dict
        Its rows of each of `TABLES` that has any.
    """

    line: str | None
    tables: Mapping[str, polars.DataFrame]


class Writer:
    """Writes a sweep into a folder that is there.

    Parameters
    ----------
    folder
        Where to.
    names
        The name of each run.
    labels
        The labels of each run.
    """

    def __init__(self, folder: Path, names: Sequence[str], labels: Sequence[Mapping[str, str]]) -> None:
        self._folder = folder
        self._names = names
        self._labels = labels
        self._tables = {name: _Joined() for name in TABLES}
        self._done: set[int] = set()

    def entry(self, index: int, result: Result) -> Entry:
        """Write what is the run's own, and give what `add` takes; safe on any thread."""
        labels = dict(self._labels[index])
        tables = result.tables
        if result.traces:
            result.write(self._folder / self._names[index], labels)
            return Entry(None, tables)
        line = {"name": self._names[index], "manifest": result.manifest(labels), "scenario": result.scenario.to_toml()}
        return Entry(json.dumps(line) + "\n", tables)

    def add(self, index: int, entry: Entry) -> None:
        """Take in a run; once more changes nothing."""
        if index in self._done:
            return
        if entry.line is not None:
            with (self._folder / LINES).open("a", encoding="utf-8") as file:
                file.write(entry.line)
        for name, table in entry.tables.items():
            self._tables[name].add(index, table)
        self._done.add(index)

    def finish(self, scenario: str, state: str) -> None:
        """Write tables and manifest."""
        for name, table in self._tables.items():
            joined = table.joined(self._labels)
            if joined is not None:
                storage.write_parquet(self._folder / f"{name}.parquet", joined)
        entries = {
            "scenario": scenario,
            "core": _core.__version__,
            "state": state,
            "planned": len(self._names),
            "runs": [self._names[index] for index in sorted(self._done)],
        }
        storage.write_manifest(self._folder, "sweep", entries)


class _Joined:
    """The rows of many runs, which come in any order."""

    def __init__(self) -> None:
        self._runs: dict[int, int] = {}
        self._parts: list[polars.DataFrame] = []
        self._fresh: list[polars.DataFrame] = []

    def add(self, index: int, table: polars.DataFrame) -> None:
        if index not in self._runs:
            self._runs[index] = table.height
            self._fresh.append(table)
        if len(self._fresh) >= BATCH:
            self._join()

    def _join(self) -> None:
        import polars

        if self._fresh:
            self._parts.append(polars.concat(self._fresh, how="vertical_relaxed", rechunk=True))
            self._fresh = []

    def joined(self, labels: Sequence[Mapping[str, str]]) -> polars.DataFrame | None:
        """Give all rows in the order of the runs, with their labels as columns; None if there is no run."""
        import numpy as np
        import polars

        if not self._runs:
            return None
        self._join()
        table = polars.concat(self._parts, how="vertical_relaxed")
        run = np.repeat(list(self._runs), list(self._runs.values()))
        order = np.argsort(run, kind="stable")
        columns = {
            label_column(label, table.columns): polars.Series(
                [labels[index][label] for index in run[order]], dtype=polars.String
            )
            for label in labels[0]
        }
        return polars.DataFrame(columns).hstack(table[order])


def label_column(label: str, columns: Sequence[str]) -> str:
    """Give the column of a label in a sweep's tables: a label may be called like another column."""
    return f"label.{label}" if label in columns else label
