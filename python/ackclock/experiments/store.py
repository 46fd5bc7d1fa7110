"""Stores of measurements: the next attempt skips stored points."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from ackclock.experiments.plan import Point

P = TypeVar("P", bound=Point[Any], contravariant=True)
M = TypeVar("M", contravariant=True)


class Store(Protocol[P, M]):
    """A store of measurements; `execute` calls its methods on one thread."""

    def has(self, point: P) -> bool:
        """Whether the store has the measurement of a point."""
        ...

    def put(self, point: P, measured: M) -> None:
        """Store a measurement. A second call with the same point changes nothing."""
        ...
