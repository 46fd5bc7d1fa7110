"""Derivations: columns that the tables of a run lack, added to the rows of its flows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ackclock.arrow import ArrowTable
from ackclock.metrics.registry import of
from ackclock.scenario import Scenario

Rows = list[dict[str, Any]]


class Run(Protocol):
    """A finished run, as measures need it."""

    @property
    def scenario(self) -> Scenario:
        """What ran."""
        ...

    @property
    def duration(self) -> float:
        """End of the run, in seconds."""
        ...

    @property
    def flows(self) -> ArrowTable:
        """One row per flow."""
        ...

    @property
    def links(self) -> ArrowTable:
        """One row per link and direction."""
        ...

    @property
    def transfers(self) -> ArrowTable:
        """One row per transfer of an application."""
        ...

    @property
    def pages(self) -> ArrowTable:
        """One row per page or exchange."""
        ...

    @property
    def media(self) -> ArrowTable:
        """One row per player of a video, and per source of frames."""
        ...

    def trace(self, name: str) -> ArrowTable:
        """Return a recorded trace."""
        ...


@dataclass(frozen=True)
class Derivation:
    """Measures that are derived together from a run.

    Attributes
    ----------
    name : str
        Its name in the key `derived` of papers.
    columns : tuple of str
        The measures, which are the columns that it adds.
    derive : callable
        Function of the rows of all flows and the run; it adds the columns.
    traces : tuple of str
        The traces it needs.
    settings : tuple
        Settings of `derive`, as values of JSON.
    """

    name: str
    columns: tuple[str, ...]
    derive: Callable[[Rows, Run], None]
    traces: tuple[str, ...] = ()
    settings: tuple[Any, ...] = ()

    @property
    def fingerprint(self) -> list[Any]:
        """Everything that determines its columns, except the program: also the versions of its measures."""
        return [self.name, [[name, of(name).version] for name in self.columns], self.settings]

    @property
    def source(self) -> str:
        """The module of `derive`."""
        return self.derive.__module__
