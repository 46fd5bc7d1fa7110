"""Tables of a result, fresh or read from disk, and the summaries of their rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ackclock.arrow import ArrowTable, frame
from ackclock.metrics.completion import BYTE_CLASSES, CLASSES, completion, page_loads

if TYPE_CHECKING:
    import polars


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
        """Summarise the completion times of flows with a size; see `ackclock.metrics.completion.completion`."""
        return completion(frame(self.flows), classes)

    def transfer_times(self, classes: Sequence[int] = BYTE_CLASSES) -> polars.DataFrame:
        """Summarise the completion times of transfers by their bytes; see `ackclock.metrics.completion.completion`."""
        return completion(frame(self.transfers), classes, size="bytes")

    def page_loads(self) -> polars.DataFrame:
        """Summarise the load times of pages; see `ackclock.metrics.completion.page_loads`."""
        return page_loads(frame(self.pages))
