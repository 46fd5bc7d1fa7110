"""The measurement of a run: the traces that it needs, and what it makes of the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from ackclock.results import Result

M = TypeVar("M")


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
    def fingerprint(self) -> object:
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
