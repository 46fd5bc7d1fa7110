"""A paper's printed tables beside what was measured: every number with its interval, and arithmetic on both.

A printed number is one run of the paper, a measured one the mean of many. So there are two intervals: the one in which
the mean lies, and the wider one in which a single further run would lie.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars

from ackclock import storage
from ackclock.intervals import Interval, Sampling, interval, one_run, rounded
from ackclock.numbers import number
from ackclock.printed import Check, Column, Remark, Table

Row = Mapping[str, Any]
Place = Literal["inside", "as one run", "outside", "not run"]
Units = dict[int, float]
PLACES: tuple[Place, ...] = ("inside", "as one run", "outside")


@dataclass(frozen=True)
class Cell:
    """A printed number beside the measured one.

    Attributes
    ----------
    row, column : str
        Where it stands.
    printed : float
        The number.
    mean : Interval or None
        What was measured, with the interval in which the mean lies; None if these runs were not made.
    run : Interval or None
        The same with the interval in which one further run lies.
    remark : Remark or None
        What must be known besides.
    """

    row: str
    column: str
    printed: float
    mean: Interval | None
    run: Interval | None
    remark: Remark | None

    @property
    def place(self) -> Place:
        """Where the printed number lies: in the mean's interval, in that of one run, or outside.

        What has no spread is compared to the digits that are printed.
        """
        if self.mean is None or self.run is None:
            return "not run"
        if self.mean.low == self.mean.high:
            # A formula has no spread; the paper rounds.
            return "inside" if round(self.mean.mean, _decimals(self.printed)) == self.printed else "outside"
        if self.mean.low <= self.printed <= self.mean.high:
            return "inside"
        return "as one run" if self.run.low <= self.printed <= self.run.high else "outside"

    @property
    def ratio(self) -> float | None:
        """Measured over printed."""
        return None if self.mean is None or not self.printed else self.mean.mean / self.printed


def _decimals(printed: float) -> int:
    """Count the digits after the point that a number is written with."""
    return len(f"{printed:.12f}".rstrip("0").partition(".")[2])


@dataclass(frozen=True)
class Checked:
    """A check on one row: of the printed numbers, and of the measured ones run by run."""

    check: Check
    row: str
    printed: float | None
    measured: Interval | None

    @property
    def verdict(self) -> str:
        """Whether the printed numbers fit; empty if nothing says what they must be."""
        if not self.check.limits or self.printed is None:
            return ""
        return "fits" if self.check.fits(self.printed) else "contradicts"


@dataclass(frozen=True)
class Compared:
    """A printed table beside one reading of the paper."""

    table: Table
    reading: str
    cells: Sequence[Cell]
    checked: Sequence[Checked]

    @property
    def name(self) -> str:
        """A name for links."""
        return f"table-{self.table.number}-{self.reading}".lower().replace(" ", "-").replace(",", "")

    @property
    def counts(self) -> dict[Place, int]:
        """How many printed numbers lie where."""
        counted = Counter(cell.place for cell in self.cells)
        return {place: counted[place] for place in PLACES}


def compare(tables: Sequence[Table], rows: Sequence[Row]) -> list[Compared]:
    """Put every table beside what was measured, once for each reading.

    Parameters
    ----------
    tables
        The paper's.
    rows
        One per run and flow: labels, ``sampling``, ``unit``, and metrics.
    """
    return [_compare(table, name, where, rows) for table in tables for name, where in table.readings.items()]


def _compare(table: Table, reading: str, where: Mapping[str, str], rows: Sequence[Row]) -> Compared:
    # What the reading and the column say goes before what the table says.
    chosen = [row for row in rows if _matches(row, {**table.where, **where})]
    sampling: Sampling = chosen[0]["sampling"] if chosen else "seed"
    cells, checked = [], []
    for label in table.printed:
        here = [row for row in chosen if row[table.rows] == label]
        samples = {column.name: _sample(column, here) for column in table.columns}
        for name, value in table.numbers(label).items():
            values = list(samples[name].values())
            mean, run = (interval(values, sampling), one_run(values, sampling)) if values else (None, None)
            cells.append(Cell(label, name, value, mean, run, table.remark(label, name)))
        checked += [_checked(check, label, table.numbers(label), samples, sampling) for check in table.checks]
    return Compared(table, reading, cells, checked)


def _matches(row: Row, where: Mapping[str, str]) -> bool:
    return row.get("seeds") != "common" and all(row[label] == value for label, value in where.items())


def _sample(column: Column, rows: Sequence[Row]) -> Units:
    """Give the column's value by run; several flows of one run are averaged."""
    gathered: dict[int, list[float]] = {}
    for row in rows:
        value = row.get(column.metric)
        if value is not None and all(row[label] == wanted for label, wanted in column.where.items()):
            gathered.setdefault(row["unit"], []).append(value * column.scale)
    return {unit: sum(values) / len(values) for unit, values in sorted(gathered.items())}


def _checked(
    check: Check, row: str, numbers: Mapping[str, float], samples: Mapping[str, Units], sampling: Sampling
) -> Checked:
    used = [samples[name] for name in (*check.of, *check.to)]
    units = sorted(set.intersection(*(set(sample) for sample in used)))
    each = [
        check.value(row, {name: sample[unit] for name, sample in samples.items() if unit in sample}) for unit in units
    ]
    values = [value for value in each if value is not None]
    return Checked(check, row, check.value(row, numbers), interval(values, sampling) if values else None)


def shown(compared: Compared) -> dict[str, Any]:
    """Give a printed table beside its measurements as texts, for a report."""
    counts = compared.counts
    checked: dict[str, list[Checked]] = {}
    for item in compared.checked:
        checked.setdefault(item.check.name, []).append(item)
    return {
        "heading": f"Table {compared.table.number}: {compared.table.title}; {compared.reading}",
        "name": compared.name,
        "source": compared.table.source,
        "summary": ", ".join(f"{count} {place}" for place, count in counts.items()),
        "label": compared.table.rows,
        "cells": [_shown_cell(cell) for cell in compared.cells],
        "checks": [_shown_check(name, items) for name, items in checked.items()],
    }


def _shown_cell(cell: Cell) -> dict[str, Any]:
    mean, ends, run = "–", "", ""
    if cell.mean is not None and cell.run is not None:
        mean, low, high = rounded(cell.mean)
        ends = f"[{low}, {high}]"
        run = "[{1}, {2}]".format(*rounded(cell.run))
    remark = cell.remark
    return {
        "texts": [cell.row, cell.column, f"{cell.printed:,}", mean, ends, run, _percent(cell.ratio), cell.place],
        "slug": cell.place.replace(" ", "-"),
        "remark": "" if remark is None else f"{f'printed {remark.printed}: ' if remark.printed else ''}{remark.text}",
    }


def _shown_check(name: str, items: Sequence[Checked]) -> dict[str, Any]:
    rows = []
    for item in items:
        measured = "–" if item.measured is None else "{} [{}, {}]".format(*rounded(item.measured))
        printed = "–" if item.printed is None else number(item.printed, 4)
        rows.append([item.row, printed, measured, item.verdict])
    check = items[0].check
    return {"name": name, "limits": check.limits, "note": check.note, "rows": rows}


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{100 * ratio:.0f} %"


def write(compared: Sequence[Compared], directory: Path) -> None:
    """Write ``tables`` and ``checks``, each as Parquet and as CSV; nothing if there are no tables."""
    if not compared:
        return
    for name, rows in (("tables", _cell_rows(compared)), ("checks", _check_rows(compared))):
        frame = polars.DataFrame(rows, infer_schema_length=None)
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        storage.write_bytes(directory / f"{name}.parquet", buffer.getvalue())
        storage.write_text(directory / f"{name}.csv", frame.write_csv())


def _cell_rows(compared: Sequence[Compared]) -> list[dict[str, Any]]:
    return [
        {
            "table": item.table.number,
            "reading": item.reading,
            "row": cell.row,
            "column": cell.column,
            "printed": float(cell.printed),
            **_columns("measured", cell.mean),
            "one_run_low": cell.run.low if cell.run else None,
            "one_run_high": cell.run.high if cell.run else None,
            "runs": cell.mean.count if cell.mean else 0,
            "ratio": cell.ratio,
            "place": cell.place,
            "remark": cell.remark.text if cell.remark else None,
        }
        for item in compared
        for cell in item.cells
    ]


def _check_rows(compared: Sequence[Compared]) -> list[dict[str, Any]]:
    return [
        {
            "table": item.table.number,
            "reading": item.reading,
            "check": checked.check.name,
            "row": checked.row,
            "printed": checked.printed,
            **_columns("measured", checked.measured),
            "must_be": checked.check.limits or None,
            "verdict": checked.verdict or None,
        }
        for item in compared
        for checked in item.checked
    ]


def _columns(name: str, value: Interval | None) -> dict[str, float | None]:
    if value is None:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    return {name: value.mean, f"{name}_low": value.low, f"{name}_high": value.high}
