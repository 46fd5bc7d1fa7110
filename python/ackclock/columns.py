"""Columns of the tables of a result, with their units and meanings, as the engine declares them.

>>> import ackclock
>>> ackclock.columns.of("trace rtt")[2]
Column(name='rtt', unit='s', kind='numbers', meaning='round-trip time of the segment that caused the ACK')
"""

from __future__ import annotations

import inspect
import json
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ackclock import _core
from ackclock.files import checks, reading

if TYPE_CHECKING:
    import polars

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
        Its name.
    unit : str
        Its unit; empty for texts and plain numbers.
    kind : str
        The kind of its values: texts, whole numbers or numbers.
    meaning : str
        Its meaning.
    """

    name: str
    unit: str
    kind: str
    meaning: str


@dataclass(frozen=True)
class Table:
    """A table of a result.

    Attributes
    ----------
    name : str
        Its name: ``flows``, or ``trace cwnd``.
    trace : str or None
        The name of the trace in ``record``; None: the table is not a trace.
    row : str
        The thing described by a row.
    columns : tuple of Column
        Its columns in their order.
    """

    name: str
    trace: str | None
    row: str
    columns: tuple[Column, ...]


@cache
def tables() -> dict[str, Table]:
    """Return every table by its name: flows, links, transfers, pages, media, runs, and the traces."""
    return {table.name: table for table in map(_table, json.loads(_core.tables()))}


def _table(said: dict[str, Any]) -> Table:
    columns = (Column(entry["name"], entry["unit"], entry["kind"], entry["doc"]) for entry in said["columns"])
    return Table(said["name"], said["trace"], said["row"], tuple(columns))


def of(table: str) -> tuple[Column, ...]:
    """Return the columns of a table.

    Parameters
    ----------
    table
        ``flows``, ``links``, ``transfers``, ``pages``, ``media``, ``runs``, or a trace, as in ``trace cwnd``.

    Raises
    ------
    ValueError
        If the table does not exist.
    """
    if table not in tables():
        raise ValueError(f"there is no table {table!r}{checks.near(table, tables())}")
    return tables()[table].columns


def checking(name: str, *, whole: bool = True) -> reading.Check:
    """Return a check of a stored table: it refuses a declared column of another type or, if `whole`, a missing one."""
    wanted = of(name)

    def check(table: polars.DataFrame, path: Path) -> None:
        for column in wanted:
            kind = table.schema.get(column.name)
            if kind is None:
                if not whole:
                    continue
                raise reading.DamagedError(path, f"there is no column {column.name!r}, or another version wrote it")
            if not _is(kind, column.kind):
                raise reading.DamagedError(path, f"the column {column.name!r} has the type {kind}")
        names = [column.name for column in wanted]
        if whole and [name for name in table.columns if name in names] != names:
            raise reading.DamagedError(path, "its columns are in another order")

    return check


def _is(kind: polars.DataType, declared: str) -> bool:
    """Whether a type of polars fits a declared kind."""
    if declared == "texts":
        return kind.base_type().__name__ in ("String", "Categorical", "Enum")
    return kind.is_integer() if declared == "whole numbers" else kind.is_float()


def documented(*names: str) -> Callable[[Method], Method]:
    """Append the columns of these tables to a docstring."""

    def append(method: Method) -> Method:
        if method.__doc__:  # python -OO has none
            sections = "\n\n".join("\n".join(_section(tables()[name])) for name in names)
            method.__doc__ = f"{inspect.cleandoc(method.__doc__)}\n\n{sections}\n"
        return method

    return append


def _section(table: Table) -> Iterator[str]:
    title = f"Columns of {table.name}"
    yield from [title, "-" * len(title)]
    for column in table.columns:
        yield f"{column.name} : {column.kind}" + (f", {column.unit}" if column.unit else "")
        yield textwrap.fill(column.meaning, 116, initial_indent="    ", subsequent_indent="    ")
