"""Tables of a result, fresh or read from disk, and the summaries of their rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ackclock import qlogs
from ackclock.arrow import ArrowTable, frame
from ackclock.metrics.completion import BYTE_CLASSES, CLASSES, completion, page_loads

if TYPE_CHECKING:
    import polars


class AnyResult(qlogs.Recorded, Protocol):
    """A result, fresh or read from disk, as plots need it."""

    @property
    def duration(self) -> float:
        """End of the run, in seconds."""
        ...

    @property
    def links(self) -> ArrowTable:
        """One row per link."""
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

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the scenario."""

    @property
    @abstractmethod
    def traces(self) -> list[str]:
        """Names of the recorded traces."""

    @abstractmethod
    def trace(self, name: str) -> ArrowTable:
        """Return a recorded trace."""

    @abstractmethod
    def _document(self) -> str:
        """Return the scenario with every default, as TOML."""

    def qlog(
        self, flow: str | Sequence[str] | None = None, *, dialect: str = "current", sequential: bool = False
    ) -> bytes:
        """Return the log of flows in the format qlog, from the recorded traces.

        Parameters
        ----------
        flow
            Names of flows; None: all.
        dialect
            ``current`` for the current drafts, ``qvis`` for version 0.3, which the tool qvis reads.
        sequential
            Whether to return a JSON text sequence of one flow instead of one JSON text.

        Raises
        ------
        KeyError
            If none of ``ackclock.qlogs.TRACES`` was recorded.
        ValueError
            If there is no such flow or dialect, or a sequence would have several flows.
        """
        return qlogs.encode(self, self._document(), flow, dialect=dialect, sequential=sequential)

    def write_qlog(
        self, path: str | Path, *, flow: str | Sequence[str] | None = None, dialect: str = "current"
    ) -> list[Path]:
        """Write the log of `qlog` into a file.

        Parameters
        ----------
        path
            The file; ``-`` is standard output. With the ending ``.sqlog`` it is a JSON text sequence, and several flows
            have a file each, ``NAME-FLOW.sqlog``.
        flow, dialect
            As for `qlog`.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        KeyError
            If none of ``ackclock.qlogs.TRACES`` was recorded.
        OSError
            If a file cannot be written.

        Examples
        --------
        >>> import ackclock
        >>> result = ackclock.run(ackclock.load("scenario.toml"), record=ackclock.qlogs.TRACES)    # doctest: +SKIP
        >>> result.write_qlog("run.qlog")                                                          # doctest: +SKIP
        """
        return qlogs.write(self, self._document(), Path(path), flow, dialect=dialect)

    def completion(self, classes: Sequence[int] = CLASSES) -> polars.DataFrame:
        """Summarise the completion times of flows with a size; see `ackclock.metrics.completion.completion`."""
        return completion(frame(self.flows), classes)

    def transfer_times(self, classes: Sequence[int] = BYTE_CLASSES) -> polars.DataFrame:
        """Summarise the completion times of transfers by their bytes; see `ackclock.metrics.completion.completion`."""
        return completion(frame(self.transfers), classes, size="bytes")

    def page_loads(self) -> polars.DataFrame:
        """Summarise the load times of pages; see `ackclock.metrics.completion.page_loads`."""
        return page_loads(frame(self.pages))
