"""Writing of sweeps: tables with the rows of all runs, and a line for each run without traces.

A run with traces has its own folder, which `Result.write` creates. Any other run has a line in `runs.jsonl` with its
manifest and scenario. Its rows are in the tables of the sweep, under its labels.
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
BATCH = 200  # tables joined at once; a small table needs far more memory than its rows


@dataclass(frozen=True)
class Entry:
    """The part of a run that a sweep stores until its end.

    Attributes
    ----------
    line : str or None
        The line of the run in `LINES`; None if the run has its own folder.
    tables : dict
        The rows of the run, by the names in `TABLES`.
    """

    line: str | None
    tables: Mapping[str, polars.DataFrame]


class Writer:
    """Writes a sweep into an existing folder.

    Parameters
    ----------
    folder
        The folder.
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
        """Write the run's own folder, if it has traces, and return its entry for `add`; safe on any thread."""
        labels = dict(self._labels[index])
        tables = result.tables
        if result.traces:
            result.write(self._folder / self._names[index], labels)
            return Entry(None, tables)
        line = {"name": self._names[index], "manifest": result.manifest(labels), "scenario": result.scenario.to_toml()}
        return Entry(json.dumps(line) + "\n", tables)

    def add(self, index: int, entry: Entry) -> None:
        """Add a run; a second call with the same run changes nothing."""
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
    """The rows of many runs, added in any order."""

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
        """Return all rows in the order of the runs, with labels as columns; None without runs."""
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
    """Return the column of a label in a sweep's tables; a label that is also a column gets a prefix."""
    return f"label.{label}" if label in columns else label
