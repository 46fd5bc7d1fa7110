"""Comparison of printed tables with measurements: intervals of each number, and checks of both.

A printed number is one run of the paper; a measured number is the mean of many runs. So there are two intervals: one
for the mean, and a wider one for one further run.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars

from ackclock.files import storage
from ackclock.formatting.numbers import number
from ackclock.literature.printed import Check, Column, Remark, Table
from ackclock.metrics.registry import BOUNDS
from ackclock.reports import grids
from ackclock.statistics import joint
from ackclock.statistics.intervals import Interval, Sampling, interval, one_run, rounded
from ackclock.statistics.joint import Joint

Row = Mapping[str, Any]
Place = Literal["inside", "as one run", "outside", "cannot tell", "not run"]
Units = dict[int, float]
PLACES: tuple[Place, ...] = ("inside", "as one run", "outside")
LEAST = 0.01
"""Probability below which a joint test rejects the printed numbers."""


@dataclass(frozen=True)
class Cell:
    """A printed number and its measured counterpart.

    Attributes
    ----------
    row, column : str
        Its row and column.
    printed : float
        The printed number.
    mean : Interval or None
        Measured mean with its interval; None without runs.
    run : Interval or None
        Measured mean with the interval of one further run; None without runs.
    remark : Remark or None
        A remark on the cell.
    """

    row: str
    column: str
    printed: float
    mean: Interval | None
    run: Interval | None
    remark: Remark | None

    @property
    def place(self) -> Place:
        """Place of the printed number: in the interval of the mean, in the interval of one run, or outside.

        A mean without spread is rounded to the printed number of digits.
        """
        if self.mean is None or self.run is None:
            return "not run"
        if not self.mean.known:
            return "cannot tell"
        if self.mean.low == self.mean.high:
            # A formula has no spread, but the paper rounds its value.
            return "inside" if round(self.mean.mean, _decimals(self.printed)) == self.printed else "outside"
        if self.mean.low <= self.printed <= self.mean.high:
            return "inside"
        return "as one run" if self.run.low <= self.printed <= self.run.high else "outside"

    @property
    def ratio(self) -> float | None:
        """The ratio of measured to printed."""
        return None if self.mean is None or not self.printed else self.mean.mean / self.printed


def _decimals(printed: float) -> int:
    """Return the number of digits after the decimal point."""
    return len(f"{printed:.12f}".rstrip("0").partition(".")[2])


@dataclass(frozen=True)
class Checked:
    """A check of one row: of the printed numbers, and of each measured run."""

    check: Check
    row: str
    printed: float | None
    measured: Interval | None

    @property
    def verdict(self) -> str:
        """Whether the printed numbers fit; empty without limits."""
        if not self.check.limits or self.printed is None:
            return ""
        return "fits" if self.check.fits(self.printed) else "contradicts"


@dataclass(frozen=True)
class Compared:
    """A printed table compared with one reading of the paper; `blocks` are joint tests by row and kind of runs."""

    table: Table
    reading: str
    cells: Sequence[Cell]
    checked: Sequence[Checked]
    blocks: Mapping[tuple[str, str], Joint] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name in links."""
        return f"table-{self.table.number}-{self.reading}".lower().replace(" ", "-").replace(",", "")

    @property
    def counts(self) -> dict[Place, int]:
        """Counts of printed numbers by place."""
        counted = Counter(cell.place for cell in self.cells)
        return {place: counted[place] for place in PLACES}

    @property
    def tests(self) -> dict[str, Joint]:
        """Joint tests of the printed numbers of each row, of each kind of runs, and of the whole table.

        The numbers of one run are tested with their covariance. Runs of different rows and kinds are independent, as in
        the paper.
        """
        rows: dict[str, Joint] = {}
        kinds: dict[str, Joint] = {}
        for (row, kind), test in self.blocks.items():
            rows[row] = rows[row] + test if row in rows else test
            kinds[kind] = kinds[kind] + test if kind in kinds else test
        if not rows:
            return {}
        whole = list(rows.values())
        return {**kinds, **rows, "all": sum(whole[1:], whole[0])}


def compare(tables: Sequence[Table], rows: Sequence[Row]) -> list[Compared]:
    """Compare every table with the measurements, once for each reading.

    Parameters
    ----------
    tables
        The tables of the paper.
    rows
        One per run and flow: labels, ``sampling``, ``unit``, and metrics.
    """
    return [
        compared
        for table in tables
        for name, where in table.readings.items()
        for compared in _readings(table, name, where, rows)
    ]


def _readings(table: Table, reading: str, where: Mapping[str, str], rows: Sequence[Row]) -> list[Compared]:
    """Compare a table with runs on drawn paths, and separately with runs on the exact path."""
    # Labels of the reading override those of the table.
    chosen = [row for row in rows if _matches(row, {**table.where, **where})]
    exact = [row for row in chosen if row.get("paths") == "exact"]
    found = [_compare(table, reading, [row for row in chosen if row.get("paths") != "exact"])]
    return [*found, _compare(table, f"{reading}, the exact path", exact)] if exact else found


def _compare(table: Table, reading: str, chosen: Sequence[Row]) -> Compared:
    sampling: Sampling = chosen[0]["sampling"] if chosen else "seed"
    cells, checked = [], []
    blocks: dict[tuple[str, str], Joint] = {}
    for label in table.printed:
        here = [row for row in chosen if row[table.rows] == label]
        samples = {column.name: _sample(column, here) for column in table.columns}
        for column in table.columns:
            value, values = table.numbers(label)[column.name], list(samples[column.name].values())
            mean, run = None, None
            if values:
                bounds = _bounds(column)
                mean, run = interval(values, sampling, bounds=bounds), one_run(values, sampling, bounds=bounds)
            cells.append(Cell(label, column.name, value, mean, run, table.remark(label, column.name)))
        checked += [_checked(check, label, table.numbers(label), samples, sampling) for check in table.checks]
        if sampling == "seed":
            blocks |= {(label, kind): test for kind, test in _joint(table, label, samples, here)}
    return Compared(table, reading, cells, checked, blocks)


def _bounds(column: Column) -> tuple[float, float] | None:
    low, high = BOUNDS.get(column.metric, (-math.inf, math.inf))
    return (low * column.scale, high * column.scale) if math.isfinite(high) else None


def _joint(table: Table, row: str, samples: Mapping[str, Units], rows: Sequence[Row]) -> Iterator[tuple[str, Joint]]:
    """Test the numbers of the same runs jointly; each test is named by the labels that its columns share."""
    kinds: dict[frozenset[str], list[Column]] = {}
    for column in table.columns:
        kinds.setdefault(frozenset(row["hash"] for row in rows if _shows(column, row)), []).append(column)
    for columns in kinds.values():
        names = [column.name for column in columns]
        common = [
            value for label, value in columns[0].where.items() if all(it.where.get(label) == value for it in columns)
        ]
        kind = ", ".join(common) or " and ".join(names)
        units = sorted(set.intersection(*(set(samples[name]) for name in names)))
        numbers = table.numbers(row)
        runs = [[samples[name][unit] for name in names] for unit in units]
        if runs and (test := joint.one_further(runs, [numbers[name] for name in names])) is not None:
            yield kind, test


def _matches(row: Row, where: Mapping[str, str]) -> bool:
    return row.get("seeds") != "common" and all(row[label] == value for label, value in where.items())


def _shows(column: Column, row: Row) -> bool:
    return all(row[label] == wanted for label, wanted in column.where.items())


def _sample(column: Column, rows: Sequence[Row]) -> Units:
    """Return the value of a column for each run, averaged over flows."""
    gathered: dict[int, list[float]] = {}
    for row in rows:
        value = row.get(column.metric)
        if value is not None and _shows(column, row):
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
    """Format a compared table for a report."""
    counts = compared.counts
    checked: dict[str, list[Checked]] = {}
    for item in compared.checked:
        checked.setdefault(item.check.name, []).append(item)
    return {
        "heading": f"Table {compared.table.number}: {compared.table.title}; {compared.reading}",
        "name": compared.name,
        "source": compared.table.source,
        "summary": ", ".join(f"{count} {place}" for place, count in counts.items()),
        "tests": [_shown_test(name, test) for name, test in compared.tests.items()],
        "label": compared.table.rows,
        "cells": [_shown_cell(cell) for cell in compared.cells],
        "grid": _grid(compared),
        "checks": [_shown_check(name, items) for name, items in checked.items()],
    }


def _grid(compared: Compared) -> grids.Table:
    """Return the cells as a table of the page; the result has its colour."""
    heads = ["printed", "measured", "95 % interval", "one run", "measured/printed"]
    columns = [grids.Column(name) for name in (compared.table.rows, "column")]
    columns += [grids.Column(name, "number") for name in heads]
    columns += [grids.Column(name) for name in ("result", "remark")]
    rows = []
    for cell in map(_shown_cell, compared.cells):
        *texts, place = cell["texts"]
        parsed = grids.numbers(["", "", *heads], [texts], left=2).rows[0]
        rows.append([*parsed, grids.Cell(place, mark=cell["slug"]), cell["remark"]])
    return grids.Table(columns, rows)


def _shown_test(name: str, test: Joint) -> str:
    """Format a joint test with its conclusion."""
    tail = test.probability
    said = "contradicts the measured runs" if tail < LEAST else "consistent with the measured runs"
    chance = f"p = {tail:.2g}" if tail >= 1e-4 else "p below 0.0001"
    return f"{name}: χ² = {number(test.statistic, 3)} on {test.freedom} degrees of freedom, {chance}: {said}"


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
    heads = ["from printed numbers", "from measured numbers", "result"]
    columns = [grids.Column("row"), *(grids.Column(head) for head in heads)]
    grid = grids.Table(columns, [[*row[:-1], grids.Cell(row[-1], mark=row[-1])] for row in rows])
    return {"name": name, "limits": check.limits, "note": check.note, "rows": rows, "grid": grid}


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{100 * ratio:.0f} %"


def write(compared: Sequence[Compared], directory: Path) -> None:
    """Write ``tables`` and ``checks``, each as Parquet and as CSV; without tables, write nothing."""
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
