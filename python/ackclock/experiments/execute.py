"""Executing an experiment: the points that its store lacks are run on threads."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from ackclock import _core
from ackclock.experiments import budget
from ackclock.experiments.plan import Point
from ackclock.experiments.store import Store
from ackclock.result import Result
from ackclock.scenario import Scenario

Progress = Callable[[int, int], None]
T = TypeVar("T")
R = TypeVar("R")
P = TypeVar("P", bound=Point[Any])
M = TypeVar("M")


class Interrupted(KeyboardInterrupt):
    """Runs were stopped by Ctrl-C.

    Parameters
    ----------
    results
        What was finished before, in the order of the input; None for the rest.
    advice
        What to do next, for the message.

    Attributes
    ----------
    results : list of Result or None
        What was finished before, in the order of the input; None for the rest.
    """

    def __init__(self, results: Sequence[object], *, advice: str = "") -> None:
        done = sum(result is not None for result in results)
        end = f"; {advice}" if advice else ""
        super().__init__(f"interrupted: {done} of {len(results)} runs are finished{end}")
        self.results: list[Any] = list(results)


def execute(
    points: Sequence[P], store: Store[P, M], *, jobs: int | None = None, progress: Progress | None = None
) -> int:
    """Run the points that a store lacks, on threads, and put each measurement there as soon as it is finished.

    Parameters
    ----------
    points
        What to run, each once.
    store
        Where measurements are and go; it is called on this thread.
    jobs
        Runs at once; by default as many as the machine has processors.
    progress
        Called with the number of finished points and of all points, on this thread.

    Returns
    -------
    int
        How many measurements were there before.

    Raises
    ------
    Interrupted
        If Ctrl-C was pressed; every finished measurement is in the store, and ``results`` are the finished points.
    """
    left = [index for index, point in enumerate(points) if not store.has(point)]
    reused = len(points) - len(left)
    cancel = _core.Cancel()
    missing = set(left)

    def run(index: int) -> M:
        return cast("M", run_point(points[index], cancel))

    def collect(place: int, measured: M) -> None:
        store.put(points[left[place]], measured)
        missing.discard(left[place])
        if progress is not None:
            progress(len(points) - len(missing), len(points))

    if progress is not None and reused:
        progress(reused, len(points))
    try:
        each_finished(run, left, cancel, collect, jobs=jobs)
    except KeyboardInterrupt:
        raise Interrupted([None if index in missing else point for index, point in enumerate(points)]) from None
    return reused


def run_point(point: Point[M], cancel: _core.Cancel) -> M:
    """Run a point on this thread, and measure it."""
    measurement = point.measurement
    return measurement.take(run_here(point.scenario, measurement.record, cancel, measurement.capture))


def run_here(
    scenario: Scenario, record: Sequence[str] | None, cancel: _core.Cancel, capture: Sequence[str] = ()
) -> Result:
    """Run on this thread; Ctrl-C is then the caller's affair."""
    if isinstance(capture, str):
        raise TypeError(f"capture: expected a list of links and hosts, such as [{capture!r}]")
    if isinstance(record, str):
        raise TypeError(f"record: expected a list of traces, such as [{record!r}]")
    traces = None if record is None else list(record)
    return Result(scenario, _core.run(scenario.core, traces, scenario.controls or None, cancel, list(capture)))


def map_threads(
    function: Callable[[T], R],
    items: Sequence[T],
    cancel: _core.Cancel,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[R]:
    """Apply a function to every item on threads, in input order; Ctrl-C sets `cancel` and keeps what is finished.

    Raises
    ------
    ValueError
        If `jobs` is below 1.
    Interrupted
        If Ctrl-C was pressed; its ``results`` are in the order of `items`, None where nothing came.
    """
    results: list[R | None] = [None] * len(items)
    done = 0

    def keep(index: int, result: R) -> None:
        nonlocal done
        results[index] = result
        done += 1
        if progress is not None:
            progress(done, len(items))

    try:
        each_finished(function, items, cancel, keep, jobs=jobs)
    except KeyboardInterrupt:
        raise Interrupted(results) from None
    return cast("list[R]", results)


def each_finished(
    function: Callable[[T], R],
    items: Sequence[T],
    cancel: _core.Cancel,
    collect: Callable[[int, R], None],
    *,
    jobs: int | None = None,
) -> None:
    """Apply a function to every item on threads, and hand over each result, with its index, as soon as it is there.

    Results are handed over on the calling thread and not kept; at most twice as many as there are threads are waiting,
    so that memory does not grow with the items. After Ctrl-C `cancel` is set, and what is finished is still handed
    over. The result during whose collection Ctrl-C comes is handed over again.

    Raises
    ------
    ValueError
        If `jobs` is below 1.
    KeyboardInterrupt
        If Ctrl-C was pressed.
    """
    threads = budget.threads(jobs)
    left = iter(enumerate(items))
    done: SimpleQueue[int] = SimpleQueue()
    waiting: dict[int, Future[R]] = {}
    with ThreadPoolExecutor(max_workers=threads) as pool:

        def refill() -> bool:
            for index, item in islice(left, 2 * threads - len(waiting)):
                waiting[index] = pool.submit(function, item)
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


def _next(done: SimpleQueue[int]) -> int:
    while True:
        # The timeout lets the main thread notice Ctrl-C on systems where a wait without end cannot be interrupted.
        with contextlib.suppress(Empty):
            return done.get(timeout=0.2)
