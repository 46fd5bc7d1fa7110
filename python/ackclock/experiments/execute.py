"""Execution of an experiment: threads run the points that are missing from its store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from ackclock import _core
from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.engines.local import Local
from ackclock.experiments.here import Runner, run_point
from ackclock.experiments.plan import Point
from ackclock.texts.numbers import counted

Progress = Callable[[int, int], None]
T = TypeVar("T")
R = TypeVar("R")


class Destination(Protocol):
    """What becomes of measurements; `execute` calls the methods on one thread."""

    def has(self, point: Any) -> bool:  # noqa: ANN401 - a point of any kind
        """Whether it has the measurement of a point."""
        ...

    def put(self, point: Any, measured: Any) -> None:  # noqa: ANN401 - a point and its measurement
        """Take the measurement of a point. A second call with the same point changes nothing."""
        ...


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
    points: Sequence[Point[Any]],
    store: Destination,
    *,
    jobs: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
) -> int:
    """Run the points that are missing from a store; store each measurement as soon as it is finished.

    Parameters
    ----------
    points
        The points, each once.
    store
        The `Store`, or another destination.
    jobs
        Number of threads; the default is one for each processor.
    engine
        Where the points run; by default on `jobs` threads of this process.
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

    def collect(place: int, measured: object) -> None:
        store.put(points[left[place]], measured)
        missing.discard(left[place])
        if progress is not None:
            progress(len(points) - len(missing), len(points))

    if progress is not None and reused:
        progress(reused, len(points))
    try:
        # A point of a plan may know more than a worker needs.
        items = (Point(points[index].scenario, points[index].measurement) for index in left)
        (engine or Local(jobs)).each_finished(_Take(runner), items, collect, cancel)
    except KeyboardInterrupt:
        raise Interrupted([None if index in missing else point for index, point in enumerate(points)]) from None
    return reused


@dataclass(frozen=True)
class _Take:
    """The work of a worker: run a point, and measure it."""

    runner: Runner | None

    def __call__(self, point: Point[Any], cancel: _core.Cancel) -> object:
        return run_point(point, cancel, self.runner)


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
