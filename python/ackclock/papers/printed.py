"""Printed tables of a paper as data: the numbers, the runs that reproduce them, and checks.

The tables are in ``tables.toml``. A table has one row for each value of a label; a column selects runs and a metric. A
reading is one answer to a question that the paper leaves open. A check computes a known quantity, such as the length of
the run, from the printed numbers of a row. So it detects a table that contradicts itself.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ackclock.files import checks
from ackclock.statistics.fairness import jain_index


@dataclass(frozen=True)
class Column:
    """A column of a printed table.

    Attributes
    ----------
    name : str
        Its heading.
    where : dict
        Labels of its runs, in addition to those of table and row. Without a label of flows, all flows of a run are
        averaged.
    metric : str
        The column of the runs.
    scale : float
        Factor to the printed unit.
    """

    name: str
    where: Mapping[str, str]
    metric: str
    scale: float


@dataclass(frozen=True)
class Check:
    """A check of the numbers of one row.

    Attributes
    ----------
    name : str
        The computed quantity with its unit.
    measure : {"ratio", "jain"}
        ``ratio``: factor · Σof / Σto · row^power. The number `row` begins the row's label; Σto is 1 without `to`.
        ``jain``: Jain's index of `of`.
    of, to : tuple of str
        Columns.
    factor, power : float
        Numbers in the formula of `measure`.
    low, high : float or None
        Limits that a correct table satisfies; None for no limit.
    note : str
        A remark on the check.
    """

    name: str
    measure: Literal["ratio", "jain"]
    of: tuple[str, ...]
    to: tuple[str, ...] = ()
    factor: float = 1.0
    power: float = 0.0
    low: float | None = None
    high: float | None = None
    note: str = ""

    def value(self, row: str, numbers: Mapping[str, float]) -> float | None:
        """Compute the check for a row with its numbers by column; None if the divisor is zero."""
        of = [numbers[name] for name in self.of]
        if self.measure == "jain":
            return jain_index(of)
        below = math.fsum(numbers[name] for name in self.to) if self.to else 1.0
        return self.factor * math.fsum(of) / below * leading(row) ** self.power if below else None

    def fits(self, value: float) -> bool:
        """Whether a value is within the limits."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    @property
    def limits(self) -> str:
        """The limits in words; empty without limits."""
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        return (
            f"at least {self.low:g}" if self.low is not None else "" if self.high is None else f"at most {self.high:g}"
        )


@dataclass(frozen=True)
class Remark:
    """A remark on a cell; `printed` is the paper's number, if it differs from the number in the table."""

    row: str
    column: str
    text: str
    printed: str = ""


@dataclass(frozen=True)
class Table:
    """A printed table.

    Attributes
    ----------
    number : int
        Its number in the paper.
    title, source : str
        Its content with the unit, and its place in the paper.
    where : dict
        Labels of all its runs.
    rows : str
        The label of the rows.
    columns : tuple of Column
        Its columns.
    printed : dict
        The numbers of each row, one for each column.
    readings : dict
        Readings of the paper by name, each with further labels of the runs.
    remarks : tuple of Remark
        Remarks on single cells.
    checks : tuple of Check
        Checks of its rows.
    """

    number: int
    title: str
    source: str
    where: Mapping[str, str]
    rows: str
    columns: tuple[Column, ...]
    printed: Mapping[str, Sequence[float]]
    readings: Mapping[str, Mapping[str, str]]
    remarks: tuple[Remark, ...] = ()
    checks: tuple[Check, ...] = field(default=())

    def numbers(self, row: str) -> dict[str, float]:
        """Return the printed numbers of a row by column."""
        return dict(zip((column.name for column in self.columns), self.printed[row], strict=True))

    def remark(self, row: str, column: str) -> Remark | None:
        """Return the remark on a cell; None if there is none."""
        return next((it for it in self.remarks if (it.row, it.column) == (row, column)), None)


def leading(label: str) -> float:
    """Return the number at the beginning of a label, such as 3 of "3 %"; 1 if there is none."""
    try:
        return float(label.split()[0])
    except (ValueError, IndexError):
        return 1.0


def _are_rows(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(row, list) and row and all(map(checks.is_number, row)) for row in value.values()
    )


def _are_readings(value: object) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(map(checks.is_text_table, value.values()))


TABLE = {
    "number": checks.COUNT,
    "title": checks.TEXT,
    "source": checks.TEXT,
    "where": checks.TEXT_TABLE,
    "rows": checks.TEXT,
    "metric": checks.TEXT,
    "scale": checks.POSITIVE,
    "columns": checks.tables("columns"),
    "printed": checks.Kind('a table of lists of numbers, such as "1 %" = [1527.8, 1448.6]', _are_rows),
    "readings": checks.Kind('a table of tables of labels, such as main = { recovery = "reno" }', _are_readings),
    "remark": checks.tables("table.remark"),
    "check": checks.tables("table.check"),
}
COLUMN = {"name": checks.TEXT, "where": checks.TEXT_TABLE, "metric": checks.TEXT, "scale": checks.POSITIVE}
REMARK = {"row": checks.TEXT, "column": checks.TEXT, "text": checks.TEXT, "printed": checks.TEXT}
CHECK = {
    "name": checks.TEXT,
    "measure": checks.one_of("ratio", "jain"),
    "of": checks.TEXTS,
    "to": checks.TEXTS,
    "factor": checks.POSITIVE,
    "power": checks.NUMBER,
    "low": checks.NUMBER,
    "high": checks.NUMBER,
    "note": checks.TEXT,
}


def parse_tables(
    document: Mapping[str, Any],
    labels: Mapping[str, Collection[str]],
    metrics: Collection[str],
    place: str = "tables.toml",
) -> list[Table]:
    """Read a file of printed tables.

    Parameters
    ----------
    document
        The parsed TOML: a list ``table``.
    labels
        Known labels with their values.
    metrics
        Known columns.
    place
        Name of the file in messages.

    Raises
    ------
    ValueError
        If a key is unknown or missing, if a row lacks a number for a column, or if a name is unknown.
    """
    checks.keys(place, document, {"table": checks.tables("table")})
    found = []
    for number, entry in enumerate(document.get("table", []), start=1):
        here = f"{place}: table {entry.get('number', number)}"
        needed = ["number", "title", "source", "where", "rows", "columns", "printed", "readings"]
        checks.keys(here, entry, TABLE, needed)
        table = _table(here, entry)
        _check_labels(here, table, labels, metrics)
        found.append(table)
    return found


def _table(place: str, entry: Mapping[str, Any]) -> Table:
    columns = []
    for number, column in enumerate(entry["columns"], start=1):
        full = {**{key: entry[key] for key in ("metric", "scale") if key in entry}, **column}
        checks.keys(f"{place}: column {number}", full, COLUMN, ["name", "where", "metric"])
        columns.append(Column(full["name"], full["where"], full["metric"], full.get("scale", 1.0)))
    names = [column.name for column in columns]
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"{place}: {count} columns have the name {name!r}")
    for row, numbers in entry["printed"].items():
        if len(numbers) != len(names):
            raise ValueError(f"{place}: row {row} has {len(numbers)} numbers for {len(names)} columns")
    return Table(
        **{key: entry[key] for key in ("number", "title", "source", "where", "rows", "printed", "readings")},
        columns=tuple(columns),
        remarks=tuple(_remark(place, remark, names, entry["printed"]) for remark in entry.get("remark", [])),
        checks=tuple(_check(place, check, names) for check in entry.get("check", [])),
    )


def _remark(place: str, entry: Mapping[str, Any], columns: Sequence[str], rows: Collection[str]) -> Remark:
    checks.keys(f"{place}: remark", entry, REMARK, ["row", "column", "text"])
    checks.words(f"{place}: remark", "row", [entry["row"]], rows)
    checks.words(f"{place}: remark", "column", [entry["column"]], columns)
    return Remark(**entry)


def _check(place: str, entry: Mapping[str, Any], columns: Sequence[str]) -> Check:
    place = f"{place}: check {entry.get('name', '')}".rstrip()
    checks.keys(place, entry, CHECK, ["name", "measure", "of"])
    checks.words(place, "column", [*entry["of"], *entry.get("to", [])], columns)
    if entry["measure"] == "jain" and (extra := entry.keys() & {"to", "factor", "power"}):
        raise ValueError(f"{place}: {min(extra)} belongs to checks of the measure ratio, not jain")
    return Check(**{**entry, "of": tuple(entry["of"]), "to": tuple(entry.get("to", ()))})


def _check_labels(place: str, table: Table, labels: Mapping[str, Collection[str]], metrics: Collection[str]) -> None:
    checks.words(place, "label", [table.rows], labels)
    checks.words(place, table.rows, table.printed, labels[table.rows])
    checks.choice(f"{place}: where", table.where, labels)
    for name, where in table.readings.items():
        checks.choice(f"{place}: reading {name}", where, labels)
    for column in table.columns:
        checks.choice(f"{place}: column {column.name}", column.where, labels)
        checks.words(f"{place}: column {column.name}", "metric", [column.metric], sorted(metrics))
