"""An engine that starts when its first item comes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TypeVar

from ackclock import _core
from ackclock.experiments.engines.engine import Collect, Engine, Work

T = TypeVar("T")
R = TypeVar("R")


class Later:
    """An engine that is made when it is needed, so that wrong input costs no start of a cluster; see `Engine`.

    Parameters
    ----------
    make
        Makes the engine.
    """

    def __init__(self, make: Callable[[], Engine]) -> None:
        self._make = make

    @cached_property
    def _engine(self) -> Engine:
        return self._make()

    @property
    def workers(self) -> int:
        """The number of items that are computed at once."""
        return self._engine.workers

    def each_finished(self, work: Work[T, R], items: Iterable[T], collect: Collect[R], cancel: _core.Cancel) -> None:
        """Apply `work` to every item; pass each result to `collect` when it is finished."""
        self._engine.each_finished(work, items, collect, cancel)

    def close(self) -> None:
        """End the workers, if there are any."""
        if "_engine" in self.__dict__:
            self._engine.close()
