"""Arrow tables of the compiled core or of a file, read as polars frames or as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ackclock import _core
from ackclock.formatting.numbers import finite

if TYPE_CHECKING:
    import polars


class ArrowTable(Protocol):
    """A table with the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the Arrow C stream."""
        ...


def frame(table: ArrowTable) -> polars.DataFrame:
    """Read an Arrow table as a polars frame, without a copy if polars allows it."""
    import polars

    return polars.DataFrame(table)


def rows(table: ArrowTable, most: int | None = None) -> list[dict[str, Any]]:
    """Read the rows of an Arrow table, or the first `most`, as dictionaries; NaN and infinities become None."""
    if isinstance(table, _core.Table):
        return table.rows(most)
    read = frame(table) if most is None else frame(table).head(most)
    return [finite(row) for row in read.iter_rows(named=True)]
