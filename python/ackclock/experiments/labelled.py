"""Measured values of stored runs, grouped by the labels of their sweep."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ackclock.datasets import Dataset
from ackclock.files import checks
from ackclock.formatting.labels import find
from ackclock.formatting.units import positions
from ackclock.results import StoredResult

if TYPE_CHECKING:
    import polars

SEED = "seed"
"""The label over which samples are averaged."""
TABLES = ("flows", "links", "pages", "transfers", "media")


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


def samples(source: Dataset | Sequence[StoredResult], column: str, link: str | None = None) -> list[Sample]:
    """Read a column of every run that has it.

    Parameters
    ----------
    source
        A dataset, or its runs.
    column
        A column of the first table that has it: flows, links, pages, transfers, media, or ``runs`` of a dataset; or
        ``TABLE.COLUMN``.
    link
        The link, if the column belongs to links.

    Raises
    ------
    ValueError
        If no table has the column, if its values are not numbers, or if it needs a link and `link` is None.
    DamagedError
        If a file of the dataset is damaged.
    """
    import polars

    word, _, name = column.rpartition(".")
    tables = (*TABLES, "runs") if isinstance(source, Dataset) else TABLES
    known: list[str] = []
    checks.words(f"--y {column}", "table", [word] if word else [], tables)
    for table in (word,) if word else tables:
        view = _of_dataset(source, table) if isinstance(source, Dataset) else _of_runs(source, table)
        numeric = [each for each, kind in view.collect_schema().items() if kind.is_numeric()]
        known += numeric
        if name not in numeric:
            continue
        if table == "links":
            names = polars.col("name").cast(polars.String)
            links = view.select(names.unique(maintain_order=True)).collect()["name"].to_list()
            if link not in links:
                raise ValueError(f"--y {column}: belongs to links; name one with --link (known: {', '.join(links)})")
            view = view.filter(names == link)
        value = polars.col(name).cast(polars.Float64).fill_nan(None)
        # The rows of a table have no order of their own.
        sorted_ = view.select("_place", "_labels", value.alias("_value")).sort("_place", maintain_order=True)
        rows = sorted_.group_by("_place", "_labels", maintain_order=True).agg("_value").collect()
        if rows["_value"].explode().is_not_null().any():
            return [Sample(row["_labels"] or {}, row["_value"]) for row in rows.iter_rows(named=True)]
    if name in known:
        raise ValueError(f"--y {column}: no run has a value in this column")
    return samples(source, find(f"--y {column}", "numeric column", name, known), link)


def _of_dataset(data: Dataset, table: str) -> polars.LazyFrame:
    """Return a table of a dataset with place and labels of each row's run."""
    import polars

    keys = dict.fromkeys([*data.labels, SEED])
    labels = polars.struct(polars.col(key).cast(polars.String).fill_null("–") for key in keys)
    view: polars.LazyFrame = getattr(data, table)
    return view.with_columns(_place=polars.struct("point", "seed"), _labels=labels)


def _of_runs(results: Sequence[StoredResult], table: str) -> polars.LazyFrame:
    """Return a table of all runs with place and labels of each row's run."""
    import polars

    frames = []
    keys = dict.fromkeys(key for result in results for key in result.labels)
    for place, result in enumerate(results):
        texts = [polars.lit(result.labels.get(key, "–")).alias(key) for key in keys]
        labels = polars.struct(texts) if texts else polars.lit(None)
        with contextlib.suppress(KeyError):  # no application has this table
            frames.append(getattr(result, table).lazy().with_columns(_place=polars.lit(place), _labels=labels))
    return polars.concat(frames) if frames else polars.LazyFrame()


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
