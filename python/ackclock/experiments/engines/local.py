"""The engine of this machine: threads, since a simulation releases the GIL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TypeVar

from ackclock import _core
from ackclock.experiments import budget
from ackclock.experiments.engines.engine import Collect, Work

T = TypeVar("T")
R = TypeVar("R")


class Local:
    """Threads of this process; see `Engine`.

    Parameters
    ----------
    jobs
        Number of threads; the default is one for each processor.

    Raises
    ------
    ValueError
        If `jobs` is below 1.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self._threads = budget.threads(jobs)

    @property
    def workers(self) -> int:
        """The number of threads."""
        return self._threads

    def each_finished(self, work: Work[T, R], items: Iterable[T], collect: Collect[R], cancel: _core.Cancel) -> None:
        """Apply `work` to every item, on threads; pass each result to `collect` when it is finished."""
        left = iter(enumerate(items))
        done: SimpleQueue[int] = SimpleQueue()
        waiting: dict[int, Future[R]] = {}
        with ThreadPoolExecutor(max_workers=self._threads) as pool:

            def refill() -> bool:
                for index, item in islice(left, 2 * self._threads - len(waiting)):
                    waiting[index] = pool.submit(work, item, cancel)
                    waiting[index].add_done_callback(lambda _, index=index: done.put(index))  # type: ignore[misc]
                return bool(waiting)

            try:
                while refill():
                    index = _next(done)
                    collect(index, waiting[index].result())
                    del waiting[index]
            except BaseException as error:
                cancel.set()
                pool.shutdown(wait=True, cancel_futures=True)
                if isinstance(error, KeyboardInterrupt):
                    for index, future in sorted(waiting.items()):
                        if not future.cancelled() and future.exception() is None:
                            collect(index, future.result())
                raise

    def close(self) -> None:
        """Do nothing: the threads end with `each_finished`."""


def _next(done: SimpleQueue[int]) -> int:
    while True:
        # On some systems Ctrl-C cannot interrupt a wait without a timeout.
        with contextlib.suppress(Empty):
            return done.get(timeout=0.2)
