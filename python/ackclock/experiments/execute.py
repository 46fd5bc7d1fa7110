"""Execution of an experiment: threads run the points that are missing from its store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from ackclock import _core
from ackclock.experiments.engines.local import Local
from ackclock.experiments.plan import Point
from ackclock.experiments.store import Store
from ackclock.result import Result
from ackclock.scenario import Scenario
from ackclock.texts.numbers import counted

Progress = Callable[[int, int], None]
Runner = Callable[[Scenario, Sequence[str] | None, _core.Cancel, Sequence[str]], Result]
"""A function that runs a scenario on its thread: scenario, traces, handle that stops it, places to capture."""
T = TypeVar("T")
R = TypeVar("R")
P = TypeVar("P", bound=Point[Any])
M = TypeVar("M")


class Interrupted(KeyboardInterrupt):
    """Runs were stopped by Ctrl-C.

    Parameters
    ----------
    results
        Finished results in the order of the input; None for unfinished ones.
    advice
        Advice for the message.

    Attributes
    ----------
    results : list of Result or None
        Finished results in the order of the input; None for unfinished ones.
    """

    def __init__(self, results: Sequence[object], *, advice: str = "") -> None:
        done = sum(result is not None for result in results)
        end = f"; {advice}" if advice else ""
        verb = "is" if len(results) == 1 else "are"
        super().__init__(f"interrupted: {done:,} of {counted(len(results), 'run')} {verb} finished{end}")
        self.results: list[Any] = list(results)


def execute(
    points: Sequence[P],
    store: Store[P, M],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
) -> int:
    """Run the points that are missing from a store, on threads; store each measurement as soon as it is finished.

    Parameters
    ----------
    points
        The points, each once.
    store
        The store, which is called on this thread.
    jobs
        Number of threads; the default is one for each processor.
    progress
        Called with the number of finished points and of all points, on this thread.
    runner
        The function that runs a scenario; the default is `run_here`.

    Returns
    -------
    int
        Number of measurements that were in the store already.

    Raises
    ------
    Interrupted
        After Ctrl-C. Every finished measurement is in the store; ``results`` has the finished points.
    """
    left = [index for index, point in enumerate(points) if not store.has(point)]
    reused = len(points) - len(left)
    cancel = _core.Cancel()
    missing = set(left)

    def run(index: int, cancel: _core.Cancel) -> M:
        return cast("M", run_point(points[index], cancel, runner))

    def collect(place: int, measured: M) -> None:
        store.put(points[left[place]], measured)
        missing.discard(left[place])
        if progress is not None:
            progress(len(points) - len(missing), len(points))

    if progress is not None and reused:
        progress(reused, len(points))
    try:
        Local(jobs).each_finished(run, left, collect, cancel)
    except KeyboardInterrupt:
        raise Interrupted([None if index in missing else point for index, point in enumerate(points)]) from None
    return reused


def run_point(point: Point[M], cancel: _core.Cancel, runner: Runner | None = None) -> M:
    """Run a point on this thread, by default in the simulation, and measure it."""
    measurement = point.measurement
    return measurement.take((runner or run_here)(point.scenario, measurement.record, cancel, measurement.capture))


def run_here(
    scenario: Scenario, record: Sequence[str] | None, cancel: _core.Cancel, capture: Sequence[str] = ()
) -> Result:
    """Run a scenario on this thread; the caller handles Ctrl-C."""
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
    """Apply a function to every item on threads; return the results in the order of the input.

    Raises
    ------
    ValueError
        If `jobs` is below 1.
    Interrupted
        After Ctrl-C, which sets `cancel`; ``results`` has None for every unfinished item.
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
        Local(jobs).each_finished(lambda item, _: function(item), items, keep, cancel)
    except KeyboardInterrupt:
        raise Interrupted(results) from None
    return cast("list[R]", results)
