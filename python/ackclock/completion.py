"""Completion times of many flows or transfers, and load times of pages: mean, median and high percentiles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

# Classes of sizes begin at these numbers of packets.
CLASSES = (1, 10, 100, 1000, 10_000)
# The same for transfers, in bytes.
BYTE_CLASSES = (1, 10_000, 100_000, 1_000_000, 10_000_000)
# What a row says besides the class and its flows.
STATISTICS = ("mean", "median", "p95", "p99")


def completion(
    table: polars.DataFrame, classes: Sequence[int] = CLASSES, *, size: str = "size_packets"
) -> polars.DataFrame:
    """Sum up the completion times of flows that have a size, or of transfers.

    Parameters
    ----------
    table
        The table ``flows`` of a result; or ``transfers`` with ``size="bytes"``.
    classes
        Sizes with which a class begins; a class without flows has no row.
    size
        The column of the sizes.

    Returns
    -------
    polars.DataFrame
        A row for all and one for each class: ``packets`` or ``bytes`` (the sizes), ``flows`` (how many),
        ``unfinished`` (those of them that were not done when the run ended), and mean, median, p95 and p99 in seconds
        of those that were done; null where none was.

    Raises
    ------
    ValueError
        If the classes do not rise.
    """
    import polars

    if any(one >= next_one for one, next_one in pairwise(classes)):
        raise ValueError(f"classes {list(classes)}: each must begin above the one before")
    column = polars.col(size)
    sized = table.filter(column.is_not_null()).select(size, "completion_time")
    parts = [("all", sized)]
    for low, high in zip(classes, [*classes[1:], None], strict=True):
        label = f"{low:,} and more" if high is None else f"{low:,} to {high - 1:,}"
        parts.append((label, sized.filter((column >= low) & (True if high is None else column < high))))
    tables = [
        part.select(polars.lit(label).alias(size.removeprefix("size_")), *_statistics("flows", "completion_time"))
        for label, part in parts
        if label == "all" or part.height
    ]
    return polars.concat(tables)


def page_loads(pages: polars.DataFrame) -> polars.DataFrame:
    """Sum up the load times of pages, or of exchanges.

    Parameters
    ----------
    pages
        The table ``pages`` of a result.

    Returns
    -------
    polars.DataFrame
        A row for each application: its name, ``pages`` (how many it began to load), ``unfinished`` (those of them
        that were not there when the run ended), and mean, median, p95 and p99 in seconds of the others; null where
        there is none.
    """
    return pages.group_by("application", maintain_order=True).agg(_statistics("pages", "load_time"))


def _statistics(what: str, column: str) -> list[polars.Expr]:
    import polars

    time = polars.col(column)
    return [
        polars.len().cast(polars.Int64).alias(what),
        time.null_count().cast(polars.Int64).alias("unfinished"),
        time.mean().alias("mean"),
        time.median().alias("median"),
        time.quantile(0.95, "linear").alias("p95"),
        time.quantile(0.99, "linear").alias("p99"),
    ]
