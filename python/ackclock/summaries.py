"""Tables of a result, fresh or read from disk, and the summaries of their rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ackclock import _core
from ackclock.completion import BYTE_CLASSES, CLASSES, completion, page_loads
from ackclock.texts.numbers import finite

if TYPE_CHECKING:
    import polars


class ArrowTable(Protocol):
    """A table with the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the Arrow C stream."""
        ...


class AnyResult(Protocol):
    """A result, fresh or read from disk, as plots need it."""

    @property
    def name(self) -> str:
        """Name of the scenario."""
        ...

    @property
    def duration(self) -> float:
        """End of the run, in seconds."""
        ...

    @property
    def traces(self) -> list[str]:
        """Names of the recorded traces."""
        ...

    @property
    def flows(self) -> ArrowTable:
        """One row per flow."""
        ...

    @property
    def links(self) -> ArrowTable:
        """One row per link."""
        ...

    def trace(self, name: str) -> ArrowTable:
        """Return a recorded trace."""
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


class Summaries(ABC):
    """Summaries of the tables of a result, fresh or read from disk."""

    __slots__ = ()

    @property
    @abstractmethod
    def flows(self) -> ArrowTable:
        """One row per flow."""

    @property
    @abstractmethod
    def transfers(self) -> ArrowTable:
        """One row per transfer of an application."""

    @property
    @abstractmethod
    def pages(self) -> ArrowTable:
        """One row per page or exchange."""

    def completion(self, classes: Sequence[int] = CLASSES) -> polars.DataFrame:
        """Summarise the completion times of flows with a size; see `ackclock.completion.completion`."""
        return completion(frame(self.flows), classes)

    def transfer_times(self, classes: Sequence[int] = BYTE_CLASSES) -> polars.DataFrame:
        """Summarise the completion times of transfers by their bytes; see `ackclock.completion.completion`."""
        return completion(frame(self.transfers), classes, size="bytes")

    def page_loads(self) -> polars.DataFrame:
        """Summarise the load times of pages; see `ackclock.completion.page_loads`."""
        return page_loads(frame(self.pages))
