"""Completion times of flows and transfers, and load times of pages: mean, median and high percentiles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ackclock import _core

if TYPE_CHECKING:
    import polars

# Smallest sizes of the classes, in packets.
CLASSES = (1, 10, 100, 1000, 10_000)
# Smallest sizes of the classes of transfers, in bytes.
BYTE_CLASSES = (1, 10_000, 100_000, 1_000_000, 10_000_000)
# Columns of a row after the class and its counts.
STATISTICS = ("mean", "median", "p95", "p99")


def completion(
    table: polars.DataFrame, classes: Sequence[int] = CLASSES, *, size: str = "size_packets"
) -> polars.DataFrame:
    """Summarise the completion times of flows with a size, or of transfers.

    Parameters
    ----------
    table
        The table ``flows`` of a result; or ``transfers``, with ``size="bytes"``.
    classes
        The smallest size of each class; a class without flows has no row.
    size
        The column of the sizes.

    Returns
    -------
    polars.DataFrame
        A row for all flows and one for each class: ``packets`` or ``bytes`` (the sizes), ``flows`` (their number),
        ``unfinished`` (the number not complete at the end of the run), and mean, median, p95 and p99 of the completion
        times in seconds; null if no flow is complete.

    Raises
    ------
    ValueError
        If the classes are not in rising order.
    """
    import polars

    if any(one >= next_one for one, next_one in pairwise(classes)):
        raise ValueError(f"classes {list(classes)}: must be in rising order")
    sized = table.filter(polars.col(size).is_not_null()).select(size, "completion_time")
    return polars.DataFrame(_core.completion(sized.rows(), list(classes), size.removeprefix("size_")))


def page_loads(pages: polars.DataFrame) -> polars.DataFrame:
    """Summarise the load times of pages, or of exchanges.

    Parameters
    ----------
    pages
        The table ``pages`` of a result.

    Returns
    -------
    polars.DataFrame
        A row for each application: its name, ``pages`` (the number whose load began), ``unfinished`` (the number not
        loaded at the end of the run), and mean, median, p95 and p99 of the load times in seconds; null if no page is
        loaded.
    """
    import polars

    return polars.DataFrame(_core.page_loads(pages.select("application", "load_time").rows()))
