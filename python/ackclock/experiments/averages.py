"""Means over the seeds of each point of a sweep, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.datasets.dataset import Dataset
from ackclock.statistics.intervals import Interval, interval


@dataclass(frozen=True)
class Average:
    """A point of a sweep over its seeds.

    Attributes
    ----------
    labels : dict
        Its labels.
    runs : int
        Number of its runs that ended without an error.
    failed : int
        Number of its runs that ended with an error.
    means : dict
        Mean and Student's 95 % interval of each measure over the runs that have a value; None without values.
    """

    labels: dict[str, str]
    runs: int
    failed: int
    means: dict[str, Interval | None]


def averages(dataset: Dataset, measures: Sequence[str], most: int | None = None) -> list[Average]:
    """Average the runs of each point, in the order of the points.

    Parameters
    ----------
    dataset
        The dataset.
    measures
        Columns of the table ``runs``.
    most
        Number of points to average; None: all.
    """
    import polars

    values = [polars.col(name).filter(polars.col("error").is_null()).alias(name) for name in measures]
    # Copies of equal points with the same labels are no further runs.
    runs = dataset.runs.unique([*dataset.labels, "run"], keep="first", maintain_order=True)
    groups = runs.group_by(dataset.labels or [polars.lit("").alias("")], maintain_order=False).agg(
        polars.col("point").min(), polars.col("error").count().alias("failed"), polars.len().alias("all"), *values
    )
    ordered = groups.sort("point")
    rows = (ordered if most is None else ordered.head(most)).collect()
    return [_average(row, dataset.labels, measures) for row in rows.iter_rows(named=True)]


def _average(row: dict[str, Any], labels: Sequence[str], measures: Sequence[str]) -> Average:
    means = {}
    for name in measures:
        sample = [float(value) for value in row[name] if value is not None]
        means[name] = interval(sample, "seed") if sample else None
    return Average({name: row[name] for name in labels}, row["all"] - row["failed"], row["failed"], means)
