"""Measures and measurements. A measure declares the traces it needs, the columns it adds, and their derivation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ackclock.result import Result

Rows = list[dict[str, Any]]
M = TypeVar("M")


@dataclass(frozen=True)
class Measure:
    """Columns derived from a run and added to the rows of its flows.

    Attributes
    ----------
    name : str
        Its name in papers.
    columns : tuple of str
        The columns it adds.
    derive : callable
        Function of the rows of all flows and the result; it adds the columns.
    traces : tuple of str
        The traces it needs.
    settings : tuple
        Settings of `derive`, as values of JSON.
    """

    name: str
    columns: tuple[str, ...]
    derive: Callable[[Rows, Result], None]
    traces: tuple[str, ...] = ()
    settings: tuple[Any, ...] = ()

    @property
    def said(self) -> list[Any]:
        """Everything that determines its columns, except the program."""
        return [self.name, self.columns, self.settings]

    @property
    def source(self) -> str:
        """The module of `derive`."""
        return self.derive.__module__


class Measurement(ABC, Generic[M]):
    """Everything that is measured in one run."""

    @property
    @abstractmethod
    def record(self) -> Sequence[str] | None:
        """Traces to record; None: the traces of the scenario."""

    @property
    def capture(self) -> Sequence[str]:
        """Links and hosts at which packets are captured."""
        return ()

    @property
    def said(self) -> object:
        """Everything that determines the measurement, except scenario and program, as values of JSON."""
        return None

    @property
    def sources(self) -> Sequence[str]:
        """The modules that measure; a cache key also covers their imports."""
        return [type(self).__module__]

    @abstractmethod
    def take(self, result: Result) -> M:
        """Measure a run on its thread."""

    def pack(self, measured: M) -> object:
        """Return what was measured as a value of JSON, for a store."""
        return measured

    def unpack(self, value: Any) -> M:  # noqa: ANN401 - any JSON
        """Return what was measured from a value of `pack`."""
        found: M = value
        return found
