"""Printed tables of a paper as data: the numbers, the runs that reproduce them, and checks.

The tables are in ``tables.toml``. A table has one row for each value of a label; a column selects runs and a metric. A
reading is one answer to a question that the paper leaves open. A check computes a known quantity, such as the length of
the run, from the printed numbers of a row. So it detects a table that contradicts itself.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ackclock.files import schema
from ackclock.files.places import Key
from ackclock.files.problems import Problems
from ackclock.files.schema import Amount, Count, Number, Of, Positive, Text, Texts, TextTable, Word, Words
from ackclock.statistics.fairness import jain_index

Rows = Annotated[
    dict[str, Annotated[tuple[Amount, ...], Field(min_length=1)]],
    Words('a table of lists of numbers, such as "1 %" = [1527.8, 1448.6]'),
]
Readings = Annotated[
    dict[str, dict[str, Word]],
    Field(min_length=1),
    Words('a table of tables of labels, such as main = { recovery = "reno" }'),
]


@dataclass(frozen=True)
class Column(schema.Table):
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

    name: Text
    where: TextTable
    metric: Text = ""
    scale: Positive = 1.0


@dataclass(frozen=True)
class Check(schema.Table):
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

    KIND: ClassVar = ("measure", "{key} belongs to checks of the measure {kinds}, not {own}")

    name: Text
    measure: Literal["ratio", "jain"]
    of: Texts
    to: Annotated[Texts, Of(("ratio",))] = ()
    factor: Annotated[Positive, Of(("ratio",))] = 1.0
    power: Annotated[Number, Of(("ratio",))] = 0.0
    low: Number | None = None
    high: Number | None = None
    note: Text = ""

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
class Remark(schema.Table):
    """A remark on a cell; `printed` is the paper's number, if it differs from the number in the table."""

    row: Text
    column: Text
    text: Text
    printed: Text = ""


@dataclass(frozen=True)
class Table(schema.Table):
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
    metric, scale : str, float
        Metric and factor of the columns that have none of their own.
    """

    number: Count
    title: Text
    source: Text
    where: TextTable
    rows: Text
    columns: tuple[Column, ...]
    printed: Rows
    readings: Readings
    remarks: Annotated[tuple[Remark, ...], Field(validation_alias="remark")] = ()
    checks: Annotated[tuple[Check, ...], Field(validation_alias="check")] = ()
    metric: Text = ""
    scale: Positive = 1.0

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


@dataclass(frozen=True)
class Tables(schema.Table):
    """A ``tables.toml``."""

    tables: Annotated[tuple[Table, ...], Field(validation_alias="table")] = ()


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
        If a key is unknown or missing, if a row lacks a number for a column, or if a name is unknown; the message lists
        every problem.
    """
    problems = Problems(place, document)
    file = schema.read(Tables, document, problems)
    problems.check()
    assert file is not None
    found = []
    for number, (table, entry) in enumerate(zip(file.tables, document.get("table", []), strict=True)):
        common: dict[str, Any] = {"metric": table.metric, "scale": table.scale}
        columns = (
            replace(column, **{key: value for key, value in common.items() if key not in own})
            for column, own in zip(table.columns, entry["columns"], strict=True)
        )
        found.append(replace(table, columns=tuple(columns)))
        _check(("table", number), found[-1], labels, metrics, problems)
    problems.check()
    return found


def _check(
    path: Key, table: Table, labels: Mapping[str, Collection[str]], metrics: Collection[str], problems: Problems
) -> None:
    names = [column.name for column in table.columns]
    problems.once(path, names, "{count} columns have the name {word!r}")
    for row in (row for row, numbers in table.printed.items() if len(numbers) != len(names)):
        message = f"row {row} has {len(table.printed[row])} numbers for {len(names)} columns"
        problems.key((*path, "printed", row), message)
    if problems.words((*path, "rows"), "label", [table.rows], labels):
        problems.words((*path, "printed"), table.rows, table.printed, labels[table.rows])
    problems.choice((*path, "where"), table.where, labels)
    for name, where in table.readings.items():
        problems.choice((*path, "readings", name), where, labels)
    for number, column in enumerate(table.columns):
        here = (*path, "columns", number)
        problems.choice((*here, "where"), column.where, labels)
        if not column.metric:
            problems.key(
                (*here, "metric"), "metric is missing; it must be a text, here or for all columns of the table"
            )
        problems.words((*here, "metric"), "metric", filter(None, [column.metric]), sorted(metrics))
    for number, remark in enumerate(table.remarks):
        problems.words((*path, "remark", number, "row"), "row", [remark.row], table.printed)
        problems.words((*path, "remark", number, "column"), "column", [remark.column], names)
    for number, check in enumerate(table.checks):
        problems.words((*path, "check", number), "column", [*check.of, *check.to], names)
