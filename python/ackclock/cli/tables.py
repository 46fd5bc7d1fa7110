"""The first rows of a table over many runs."""

from __future__ import annotations

from typing import Any

from ackclock.cli.output import MOST_ROWS


class FirstRows:
    """The first rows of one table over all runs, in the order of the runs; runs finish in any order.

    Attributes
    ----------
    seen : set of str
        Columns with a value other than 0 in any row.
    """

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._parts: dict[int, list[dict[str, Any]]] = {}
        self.seen: set[str] = set()

    @property
    def total(self) -> int:
        """Number of rows of all runs."""
        return sum(self._counts.values())

    def add(self, index: int, part: list[dict[str, Any]], count: int) -> None:
        """Add the first rows of a run, and its number of rows; a repeated call changes nothing."""
        if not count:
            return
        self._counts[index] = count
        self._parts[index] = part[:MOST_ROWS]
        self.seen.update(column for column in ("marks", "losses") if any(row.get(column) for row in part))
        if len(self._parts) > 2 * MOST_ROWS:
            self._parts = {index: self._parts[index] for index, _ in self.rows()}

    def rows(self) -> list[tuple[int, dict[str, Any]]]:
        """Return the rows to print, each with the index of its run."""
        found = [(index, row) for index in sorted(self._parts) for row in self._parts[index]]
        return found[:MOST_ROWS]
