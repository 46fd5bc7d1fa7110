"""Measured values of stored runs, grouped by the labels of their sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ackclock.formatting.labels import find
from ackclock.formatting.units import positions
from ackclock.result import StoredResult

if TYPE_CHECKING:
    import polars

SEED = "seed"
"""The label over which samples are averaged."""
TABLES = ("flows", "links", "pages", "transfers")


@dataclass(frozen=True)
class Scale:
    """Positions of the values of a label on an axis.

    Attributes
    ----------
    unit : str
        Unit of the first value; empty for words and for numbers without a unit.
    places : dict
        Position of each value; words are numbered.
    words : bool
        Whether the values are words.
    """

    unit: str
    places: dict[str, float]
    words: bool

    @property
    def ordered(self) -> list[str]:
        """The values in the order of their positions."""
        return sorted(self.places, key=lambda value: self.places[value])


@dataclass(frozen=True)
class Sample:
    """Values of the rows of one table of one run.

    Attributes
    ----------
    labels : dict
        The labels of the run.
    values : list
        One value for each row; None for a row without a value, such as an unfinished flow.
    """

    labels: Mapping[str, str]
    values: list[float | None]

    @property
    def mean(self) -> float | None:
        """Mean of the rows that have a value; None if no row has one."""
        known = [value for value in self.values if value is not None]
        return sum(known) / len(known) if known else None


def scale_of(values: Sequence[str]) -> Scale:
    """Return the positions of a label's values: numbers by size, words in the given order.

    >>> scale_of(["100 ms", "20 ms", "1 s"]).ordered
    ['20 ms', '100 ms', '1 s']
    >>> scale_of(["1 packet", "20 packets", "3 packets"]).ordered
    ['1 packet', '3 packets', '20 packets']
    """
    distinct = list(dict.fromkeys(values))
    if (known := positions(distinct)) is not None:
        places, unit = known
        return Scale({"packet": "packets", "segment": "segments"}.get(unit, unit), places, words=False)
    return Scale("", {value: float(place) for place, value in enumerate(distinct)}, words=True)


def samples(results: Sequence[StoredResult], column: str, link: str | None = None) -> list[Sample]:
    """Read a column of every run.

    Parameters
    ----------
    results
        The runs.
    column
        A column of the first table that has it: flows, links, pages, transfers; or ``TABLE.COLUMN``.
    link
        The link, if the column belongs to links.

    Raises
    ------
    ValueError
        If no table has the column, if its values are not numbers, or if it needs a link and `link` is None.
    """
    word, _, name = column.rpartition(".")
    known: list[str] = []
    for table in (word,) if word else TABLES:
        if table not in TABLES:
            raise ValueError(f"y={column}: there is no table {table!r}; known: {', '.join(TABLES)}")
        found = [_table(result, table) for result in results]
        there = next((each for each in found if each is not None), None)
        if there is None and word:
            raise ValueError(f"y={column}: no run has {table}")
        if there is None:
            continue
        numeric = [each for each, kind in there.schema.items() if kind.is_numeric()]
        known += numeric
        if name in numeric:
            chosen = _of_link(found, name, link) if table == "links" else found
            made = [_sample(result, each, name) for result, each in zip(results, chosen, strict=True)]
            if any(value is not None for sample in made for value in sample.values) or word:
                return made
    if name in known:
        raise ValueError(f"y={column}: no run has a value in this column")
    return samples(results, find(f"--y {column}", "numeric column", name, known), link)


def _table(result: StoredResult, name: str) -> polars.DataFrame | None:
    try:
        table: polars.DataFrame = getattr(result, name)
    except KeyError:  # no application has this table
        return None
    return table


def _of_link(tables: Sequence[polars.DataFrame | None], column: str, link: str | None) -> list[polars.DataFrame | None]:
    names = [name for table in tables if table is not None for name in table["name"].to_list()]
    if link is None or link not in names:
        known = ", ".join(dict.fromkeys(names))
        raise ValueError(f"y={column}: belongs to links; name one with --link (known: {known})")
    return [None if table is None else table.filter(table["name"] == link) for table in tables]


def _sample(result: StoredResult, table: polars.DataFrame | None, column: str) -> Sample:
    values = [] if table is None else table[column].cast(float).to_list()
    return Sample(result.labels, [None if value != value else value for value in values])


def grouped(found: Sequence[Sample], keys: Sequence[str]) -> dict[tuple[str, ...], list[Sample]]:
    """Group runs by the values of some labels, in the order of these values."""
    scales = [scale_of([sample.labels[key] for sample in found]) for key in keys]
    groups: dict[tuple[str, ...], list[Sample]] = {}
    for sample in found:
        groups.setdefault(tuple(sample.labels[key] for key in keys), []).append(sample)
    order = sorted(groups, key=lambda group: [scale.places[value] for scale, value in zip(scales, group, strict=True)])
    return {group: groups[group] for group in order}


def pooled(found: Sequence[Sample]) -> Sample:
    """Pool the values of several runs."""
    return replace(found[0], values=[value for sample in found for value in sample.values])


def rows_of(sample: Sample) -> tuple[list[float], int]:
    """Return the known values, and the number of rows without a value."""
    known = [value for value in sample.values if value is not None]
    return known, len(sample.values) - len(known)
