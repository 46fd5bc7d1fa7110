"""The budget of real time of an experiment, on any engine."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ackclock import _core
from ackclock.arguments import seconds
from ackclock.experiments.engines.engine import Collect, Engine, Work
from ackclock.formatting.numbers import in_words

T = TypeVar("T")
R = TypeVar("R")


class UsedUp(KeyboardInterrupt):
    """The budget of real time is used up. What Ctrl-C would leave is left: finished runs, and the way to continue."""


class RealTime:
    """A budget of real time, which starts with the first run.

    Parameters
    ----------
    budget
        Seconds, or a text such as ``"20 min"``; None: no limit.
    """

    def __init__(self, budget: float | str | None) -> None:
        self._seconds = None if budget is None else seconds(budget)
        self._end: float | None = None

    def of(self, engine: Engine) -> Engine:
        """Return an engine that begins no item when the time is over, and then ends with `UsedUp`."""
        return engine if self._seconds is None else _Limited(engine, self)

    @property
    def is_over(self) -> bool:
        """Whether the time is over; the first call starts it."""
        now = time.monotonic()
        if self._end is None:
            self._end = now + (self._seconds or 0)
        return self._seconds is not None and now >= self._end

    @property
    def said(self) -> str:
        """That the time is over, in words."""
        return f"the budget of {in_words(self._seconds or 0)} is used up"


class _Limited:
    """An engine with a budget of real time; see `Engine`."""

    def __init__(self, engine: Engine, budget: RealTime) -> None:
        self._engine, self._budget = engine, budget

    @property
    def workers(self) -> int:
        """The number of items that are computed at once."""
        return self._engine.workers

    def each_finished(self, work: Work[T, R], items: Iterable[T], collect: Collect[R], cancel: _core.Cancel) -> None:
        """Apply `work` to the items that begin in time; pass each result to `collect` when it is finished."""
        left = iter(items)
        over = False

        def within() -> Iterator[T]:
            nonlocal over
            for item in left:
                if self._budget.is_over:
                    over = True
                    return
                yield item

        self._engine.each_finished(work, within(), collect, cancel)
        if over:
            raise UsedUp(self._budget.said)

    def close(self) -> None:
        """End the workers."""
        self._engine.close()
