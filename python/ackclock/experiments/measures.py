"""Measures: what is measured of a run. Each declares the traces it needs, the columns it adds, and their derivation."""

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
    """Columns that are added to the rows of a run's flows.

    Attributes
    ----------
    name : str
        What a paper calls it.
    columns : tuple of str
        The columns that it adds.
    derive : callable
        Adds them: takes the rows of all flows, which it changes, and the result.
    traces : tuple of str
        The traces that it needs.
    settings : tuple
        What `derive` was made with, as JSON can hold it.
    """

    name: str
    columns: tuple[str, ...]
    derive: Callable[[Rows, Result], None]
    traces: tuple[str, ...] = ()
    settings: tuple[Any, ...] = ()

    @property
    def said(self) -> list[Any]:
        """All that determines what it gives, but the program."""
        return [self.name, self.columns, self.settings]

    @property
    def source(self) -> str:
        """The module that derives it."""
        return self.derive.__module__


class Measurement(ABC, Generic[M]):
    """All that is measured of one run."""

    @property
    @abstractmethod
    def record(self) -> Sequence[str] | None:
        """Traces to record; None: those that the scenario records."""

    @property
    def capture(self) -> Sequence[str]:
        """Links and hosts at which packets are captured."""
        return ()

    @property
    def said(self) -> object:
        """All that determines what is measured but the scenario and the program, as JSON can hold it."""
        return None

    @property
    def sources(self) -> Sequence[str]:
        """The modules that measure; what they import counts as well."""
        return [type(self).__module__]

    @abstractmethod
    def take(self, result: Result) -> M:
        """Measure a run; called on the thread that ran it."""
