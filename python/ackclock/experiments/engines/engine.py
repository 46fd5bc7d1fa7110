"""The contract of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Protocol, TypeVar

from ackclock import _core
from ackclock.files.checks import Kind

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[T, _core.Cancel], R]
"""A function of an item and of the switch that stops it."""
Collect = Callable[[int, R], None]
"""A function of an item's index and its result."""


class Engine(Protocol):
    """Applies a function to many items at once."""

    @property
    def workers(self) -> int:
        """The number of items that are computed at once."""
        ...

    def each_finished(self, work: Work[T, R], items: Iterable[T], collect: Collect[R], cancel: _core.Cancel) -> None:
        """Apply `work` to every item; pass each result to `collect` when it is finished.

        At most two items for each worker are under way, so that memory does not grow with the number of items.

        Parameters
        ----------
        work
            The function. For a cluster, it can be pickled, and so can items and results.
        items
            The items, which are taken one by one, on this thread.
        collect
            Called on this thread with the index of an item and its result. A result whose collection Ctrl-C interrupts
            is collected again; any other is collected once.
        cancel
            The switch, which Ctrl-C and errors set.

        Raises
        ------
        KeyboardInterrupt
            If Ctrl-C was pressed. Results that were finished by then are collected.
        Exception
            The first error of `work`, `items` or `collect`.
        """
        ...

    def close(self) -> None:
        """End the workers; `contextlib.closing` calls this."""
        ...


AnEngine = Annotated[Engine, Kind("an engine, such as ackclock.Ray()", lambda value: hasattr(value, "each_finished"))]
"""The argument ``engine`` of functions."""
