"""Completion times of many flows: mean, median and high percentiles, of all and by size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

# Classes of sizes begin at these numbers of packets.
CLASSES = (1, 10, 100, 1000, 10_000)
# What a row says besides the class and its flows.
STATISTICS = ("mean", "median", "p95", "p99")


def completion(flows: polars.DataFrame, classes: Sequence[int] = CLASSES) -> polars.DataFrame:
    """Sum up the completion times of flows that have a size.

    Parameters
    ----------
    flows
        The table ``flows`` of a result.
    classes
        Sizes in packets with which a class begins; a class without flows has no row.

    Returns
    -------
    polars.DataFrame
        A row for all and one for each class: ``packets`` (the sizes), ``flows`` (how many), ``unfinished`` (those of
        them that were not done when the run ended), and mean, median, p95 and p99 in seconds of those that were done;
        null where none was.

    Raises
    ------
    ValueError
        If the classes do not rise.
    """
    import polars

    if any(one >= next_one for one, next_one in pairwise(classes)):
        raise ValueError(f"classes {list(classes)}: each must begin above the one before")
    size = polars.col("size_packets")
    sized = flows.filter(size.is_not_null()).select("size_packets", "completion_time")
    parts = [("all", sized)]
    for low, high in zip(classes, [*classes[1:], None], strict=True):
        label = f"{low:,} and more" if high is None else f"{low:,} to {high - 1:,}"
        parts.append((label, sized.filter((size >= low) & (True if high is None else size < high))))
    time = polars.col("completion_time")
    tables = [
        part.select(
            polars.lit(label).alias("packets"),
            polars.len().cast(polars.Int64).alias("flows"),
            time.null_count().cast(polars.Int64).alias("unfinished"),
            time.mean().alias("mean"),
            time.median().alias("median"),
            time.quantile(0.95, "linear").alias("p95"),
            time.quantile(0.99, "linear").alias("p99"),
        )
        for label, part in parts
        if label == "all" or part.height
    ]
    return polars.concat(tables)
