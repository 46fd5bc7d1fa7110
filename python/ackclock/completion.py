"""Completion times of many flows or transfers, and load times of pages: mean, median and high percentiles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ackclock import _core

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
    sized = table.filter(polars.col(size).is_not_null()).select(size, "completion_time")
    return polars.DataFrame(_core.completion(sized.rows(), list(classes), size.removeprefix("size_")))


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
    import polars

    return polars.DataFrame(_core.page_loads(pages.select("application", "load_time").rows()))
