"""Finished runs in memory, before they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

JOINED = 200  # tables; a small table needs far more memory than its rows


class Batch:
    """Finished runs that are not written yet, and the number of their files."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.size = 0
        self._entries: list[dict[str, polars.DataFrame]] = []
        self._few = 0  # entries since the last joined one

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, tables: dict[str, polars.DataFrame]) -> None:
        """Add tables of runs; empty ones are left out."""
        entry = {name: table for name, table in tables.items() if table.height}
        if not entry:
            return
        self._entries.append(entry)
        self.size += sum(int(table.estimated_size()) for table in entry.values())
        self._few += 1
        if self._few >= JOINED:
            self._join()

    def parts(self, name: str) -> list[polars.DataFrame]:
        """Return the rows of a table; empty without rows."""
        return [entry[name] for entry in self._entries if name in entry]

    def _join(self) -> None:
        import polars

        last = self._entries[-self._few :]
        names = {name for entry in last for name in entry}
        joined = {name: polars.concat([entry[name] for entry in last if name in entry], rechunk=True) for name in names}
        self._entries = [*self._entries[: -self._few], joined]
        self._few = 0


def shaped(table: polars.DataFrame, schema: polars.Schema) -> polars.DataFrame:
    """Return a table with columns in this order and of these types."""
    import polars

    # Faster than `select` for small tables.
    found = polars.DataFrame([table.get_column(name) for name in schema])
    return found if found.schema == schema else found.cast(schema)


def some_rows(table: polars.DataFrame, wanted: Sequence[bool]) -> polars.DataFrame:
    """Return the rows that are wanted."""
    import polars

    return table if all(wanted) else table.filter(polars.Series(wanted, dtype=polars.Boolean))
