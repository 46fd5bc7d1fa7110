"""Tables of flows and links that the command `run` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ackclock.cli.output import MOST_ROWS

FLOW_COLUMNS = {
    "flow": "name", "goodput (bit/s)": "goodput_bps", "sent": "sent_packets", "resent": "retransmitted_packets",
    "timeouts": "timeouts", "cwnd max": "cwnd_max", "slow start exit": "slow_start_exit_reason",
    "at (s)": "slow_start_exit_time", "cwnd": "slow_start_exit_cwnd",
}  # fmt: skip
LINK_COLUMNS = {
    "link": "name", "discipline": "queue", "rate (bit/s)": "rate_bps", "utilisation": "utilisation", "drops": "drops",
    "marks": "marks", "losses": "losses", "queue mean": "queue_mean", "queue max": "queue_max",
    "sojourn (s)": "sojourn_mean", "max (s)": "sojourn_max",
}  # fmt: skip


def link_columns(links: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the columns of a table of links; marks only if there are any."""
    marked = any(row["marks"] for row in links)
    return {title: column for title, column in LINK_COLUMNS.items() if marked or column != "marks"}


def link_rows(links: Sequence[dict[str, Any]], columns: dict[str, str]) -> list[list[object]]:
    """Return the cells of a table of links."""
    shown = [{**row, "queue": None if row["queue"] == "unlimited" else row["queue"]} for row in links]
    return [[row[column] for column in columns.values()] for row in shown]


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
