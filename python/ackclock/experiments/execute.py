"""Execution of an experiment: threads run the points that are missing from its store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

from ackclock import _core
from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.engines.local import Local
from ackclock.experiments.engines.timed import RealTime
from ackclock.experiments.plan import FailedError, Point
from ackclock.experiments.world import World
from ackclock.formatting.numbers import counted

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
    """Runs were stopped by Ctrl-C, or at the end of their budget of real time.

    Parameters
    ----------
    results
        Finished results in the order of the input; None for unfinished ones.
    noun
        What a result is of.
    advice
        Advice for the message.
    why
        What stopped the runs.

    Attributes
    ----------
    results : list of Result or None
        Finished results in the order of the input; None for unfinished ones.
    found : object
        What the finished runs of a question show so far, such as a `Comparison`; None if there is nothing yet.
    """

    found: Any = None

    def __init__(
        self, results: Sequence[object], *, noun: str = "run", advice: str = "", why: str = "interrupted"
    ) -> None:
        done = sum(result is not None for result in results)
        end = f"; {advice}" if advice else ""
        verb = "is" if len(results) == 1 else "are"
        super().__init__(f"{why}: {done:,} of {counted(len(results), noun)} {verb} finished{end}")
        self.results: list[Any] = list(results)
        self.why = why


@dataclass
class Executed:
    """What became of points.

    Attributes
    ----------
    reused : int
        Number of measurements that were in the store already.
    failed : dict
        Why runs on a kernel have no result that can be used, by the keys of their points. The next attempt repeats
        them.
    """

    reused: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def execute(
    points: Sequence[Point[Any]],
    store: Destination,
    *,
    jobs: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    budget: RealTime | None = None,
) -> Executed:
    """Run the points that are missing from a store; store each measurement as soon as it is finished.

    Each world's points run together, in the order of their worlds. Those of a world in real time run on this computer,
    as many at once as the world allows.

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
    budget
        Real time after which no further point begins.

    Raises
    ------
    Interrupted
        After Ctrl-C, or at the end of the budget. Every finished measurement is in the store; ``results`` has the
        finished points.
    """
    left = [index for index, point in enumerate(points) if not store.has(point)]
    done = Executed(reused=len(points) - len(left))
    missing = set(left)
    if progress is not None and done.reused:
        progress(done.reused, len(points))

    def run(places: Sequence[int], engine: Engine) -> None:
        def collect(index: int, measured: object) -> None:
            point = points[places[index]]
            if isinstance(measured, FailedError):
                done.failed[point.key] = str(measured)
            else:
                store.put(point, measured)
            missing.discard(places[index])
            if progress is not None:
                progress(len(points) - len(missing), len(points))

        # A point of a plan may know more than a worker needs.
        engine.each_finished(_take, map(_item, map(points.__getitem__, places)), collect, _core.Cancel())

    by_world: dict[str, tuple[World, list[int]]] = {}
    for index in left:
        world = points[index].world
        by_world.setdefault(world.name, (world, []))[1].append(index)
    try:
        for world, places in by_world.values():
            own = (engine or Local(jobs)) if world.virtual else Local(world.jobs)
            run(places, own if budget is None else budget.of(own))
    except KeyboardInterrupt as stop:
        found = [None if index in missing else point for index, point in enumerate(points)]
        raise Interrupted(found, why=str(stop) or "interrupted") from None
    return done


def _item(point: Point[Any]) -> Point[Any]:
    return Point(point.scenario, point.measurement, world=point.world)


def _take(point: Point[Any], cancel: _core.Cancel) -> object:
    try:
        return point.run(cancel)
    except FailedError as error:
        return error


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
