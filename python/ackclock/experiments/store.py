"""Where the measurements of an experiment are stored, so that the next attempt does not run the same points again."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from ackclock.experiments.plan import Point

P = TypeVar("P", bound=Point[Any], contravariant=True)
M = TypeVar("M", contravariant=True)


class Store(Protocol[P, M]):
    """What `execute` asks for measurements and hands them to; it calls both methods on its own thread."""

    def has(self, point: P) -> bool:
        """Whether the measurement of a point is there."""
        ...

    def put(self, point: P, measured: M) -> None:
        """Store a measurement. A second call with the same point changes nothing."""
        ...
