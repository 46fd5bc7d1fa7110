"""Pickled runs: the tables of the compiled core as polars frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock import _core

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class PickledTable:
    """A table with the interface of the compiled core's tables."""

    frame: polars.DataFrame

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self.frame.height

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return self.frame.columns

    def __len__(self) -> int:
        return self.frame.height

    def _repr_html_(self) -> str:
        """Return the table for a notebook, as polars shows it."""
        return self.frame._repr_html_()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the Arrow C stream."""
        return self.frame.__arrow_c_stream__(requested_schema)


@dataclass(frozen=True)
class PickledRun:
    """A run with the interface of the compiled core's runs, without packets; the copy stores its summary."""

    flows: PickledTable
    links: PickledTable
    transfers: PickledTable
    pages: PickledTable
    media: PickledTable
    recorded: dict[str, PickledTable]
    warnings: list[tuple[str, list[str], str]]
    summarised: str
    events: int
    cpu_seconds: float
    setup_seconds: float
    trace_hash: str

    @classmethod
    def of(cls, run: _core.RunResult | PickledRun, classes: Sequence[int], byte_classes: Sequence[int]) -> PickledRun:
        """Copy the tables, numbers and summary of a run; the summary has these size classes."""
        return cls(
            flows=_table(run.flows),
            links=_table(run.links),
            transfers=_table(run.transfers),
            pages=_table(run.pages),
            media=_table(run.media),
            recorded={name: _table(run.trace(name)) for name in run.traces},
            warnings=run.warnings,
            summarised=run.summary(classes, byte_classes),
            events=run.events,
            cpu_seconds=run.cpu_seconds,
            setup_seconds=run.setup_seconds,
            trace_hash=run.trace_hash,
        )

    def summary(self, classes: Sequence[int], byte_classes: Sequence[int]) -> str:  # noqa: ARG002 - as the core's
        """Return the summary by the size classes of `of`."""
        return self.summarised

    @property
    def traces(self) -> list[str]:
        """Names of the recorded traces."""
        return list(self.recorded)

    def trace(self, name: str) -> PickledTable:
        """Return a recorded trace."""
        return self.recorded[name]

    @property
    def captured(self) -> list[str]:
        """Captured links and hosts: none, because a result with packets cannot be pickled."""
        return []


def _table(table: _core.Table | PickledTable) -> PickledTable:
    import polars

    return PickledTable(polars.DataFrame(table))
