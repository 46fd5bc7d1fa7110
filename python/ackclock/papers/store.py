"""Stored runs of a paper: a file of rows for each cell, and a file of curves for each drawn run."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ackclock.curves import Line
from ackclock.experiments.sources import digest
from ackclock.files import storage, stored
from ackclock.files.journal import Journal
from ackclock.metrics.derivation import Rows
from ackclock.papers.measurement import Lines, Measured
from ackclock.papers.plan import PlannedRun


class Parts:
    """The measurements of runs in files of a folder; an unreadable measurement counts as missing.

    Every finished run is appended as a line; its curves have a separate file. So a killed process loses only the runs
    in progress.

    Parameters
    ----------
    folder
        The folder, which must exist.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cells: dict[str, dict[str, Rows]] = {}

    def has(self, run: PlannedRun) -> bool:
        """Whether rows and curves of a run are stored."""
        if run.key not in self._rows(run):
            return False
        return not run.curves.kinds or _read_lines(self._drawing(run)) is not None

    def put(self, run: PlannedRun, measured: Measured) -> None:
        """Store the curves of a run, then its rows: a run with rows counts as stored."""
        if run.curves.kinds:
            storage.write_bytes(self._drawing(run), _pack(measured.lines))
        self._rows(run)[run.key] = measured.rows
        Journal(self._part(run)).add(run.key, measured.rows)

    def get(self, run: PlannedRun) -> Measured:
        """Return the measurement of a stored run."""
        lines = _read_lines(self._drawing(run)) if run.curves.kinds else None
        return Measured(self._rows(run)[run.key], lines or {})

    def _rows(self, run: PlannedRun) -> dict[str, Rows]:
        path = self._part(run)
        if path.name not in self._cells:
            found = Journal(path).read()
            self._cells[path.name] = {key: rows for key, rows in found.items() if _are_rows(rows)}
        return self._cells[path.name]

    def _part(self, run: PlannedRun) -> Path:
        return self._folder / f"{_name(run.labels)}.jsonl"

    def _drawing(self, run: PlannedRun) -> Path:
        return self._folder / f"{_name(run.labels)}.{run.key}.npz"


def _name(labels: Mapping[str, str]) -> str:
    return digest(dict(labels), length=20)


def _are_rows(measured: object) -> bool:
    return isinstance(measured, list) and all(isinstance(row, dict) and "flow" in row for row in measured)


def _pack(lines: Lines) -> bytes:
    arrays: dict[str, Any] = {"names": np.array(list(lines))}
    for name, line in lines.items():
        arrays[f"{name}.x"], arrays[f"{name}.y"], arrays[f"{name}.step"] = line.x, line.y, np.array(line.step)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _read_lines(path: Path) -> Lines | None:
    """Read the curves of a run; None if they are missing or unreadable."""
    try:
        stored.check_regular(path)
        with np.load(path) as arrays:
            return {
                str(name): Line("", arrays[f"{name}.x"], arrays[f"{name}.y"], step=bool(arrays[f"{name}.step"]))
                for name in arrays["names"]
            }
    except (OSError, ValueError, LookupError, EOFError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error):
        return None
