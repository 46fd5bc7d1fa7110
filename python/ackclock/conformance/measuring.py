"""What a clause asks of a run: a query on its tables."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ackclock import extras
from ackclock.conformance.suites import TESTED
from ackclock.experiments.measurement import Measurement
from ackclock.results import Result
from ackclock.results.coverage import tallies

SETTINGS = ("enable_external_access = false", "autoinstall_known_extensions = false", "threads = 1")
TABLES = ("flows", "links", "transfers", "pages", "media")
"""The tables of a run that a query reads; every recorded trace is a table of its own name."""
STATES = "(states)"
"""The key of the states that a run went through, beside the columns of the answer."""
VIEWS = {
    "tested": f"SELECT * FROM flows WHERE name = '{TESTED}'",
    "windows": "SELECT time, cwnd, ssthresh, lag(cwnd) OVER walk AS before, lag(ssthresh) OVER walk AS ssthresh_before"
    f" FROM cwnd WHERE flow = '{TESTED}' WINDOW walk AS (ORDER BY time, rowid)",
    "reductions": "SELECT row_number() OVER (ORDER BY time) AS n, time, before, cwnd, ssthresh, ssthresh_before,"
    " ssthresh / before AS factor FROM windows WHERE ssthresh < ssthresh_before",
}
"""What most queries begin with: the row of the flow under test; its windows, each with the one before; and the times at
which the threshold fell, with the window before, numbered from 1."""


@dataclass(frozen=True)
class Seen(Measurement[dict[str, Any]]):
    """The answer of a clause's query, in the order of its columns.

    Attributes
    ----------
    query : str
        The query.
    where : str
        The clause, for messages.
    covers : bool
        Whether to count the states of controls too.
    """

    query: str
    where: str
    covers: bool = False

    @property
    def record(self) -> None:
        """The traces are those of the scenario."""
        return

    @property
    def fingerprint(self) -> object:
        """The query."""
        return [self.query, STATES] if self.covers else self.query

    def take(self, result: Result) -> dict[str, Any]:
        """Ask the tables of a run; the states have the key `STATES`.

        Raises
        ------
        ValueError
            If DuckDB refuses the query; the message names the clause.
        MissingError
            If DuckDB is not installed.
        """
        with extras.needed("sql", "a clause of a suite"):
            import duckdb

        with duckdb.connect() as connection:
            for setting in SETTINGS:
                connection.execute(f"SET {setting}")
            given = {name: getattr(result, name) for name in TABLES}
            for name, table in {**given, **{name: result.trace(name) for name in result.traces}}.items():
                # A table of DuckDB's own keeps the order of rows at the same time.
                connection.register("given", table)
                connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
            for name, query in VIEWS.items():
                # A trace that was not recorded leaves out the views on it.
                with contextlib.suppress(duckdb.CatalogException):
                    connection.execute(f"CREATE VIEW {name} AS {query}")
            try:
                answer = connection.execute(self.query)
                row = answer.fetchone()
                columns = [column[0] for column in answer.description or ()]
            except duckdb.Error as error:
                raise ValueError(f"{self.where}: seen: {str(error).strip()}") from None
        found = {} if row is None else {name: _plain(value) for name, value in zip(columns, row, strict=True)}
        return {**found, STATES: [asdict(tally) for tally in tallies(result)]} if self.covers else found


def _plain(value: Any) -> object:  # noqa: ANN401 - any value of DuckDB
    """Return a value as JSON has it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    number = float(value)
    return number if math.isfinite(number) else str(number)


def verdict(seen: Mapping[str, Any]) -> bool | None:
    """Whether the clause holds: the first column of the answer; None if the run did not come to the point."""
    first = next((value for name, value in seen.items() if name != STATES), None)
    return None if first is None else bool(first)
