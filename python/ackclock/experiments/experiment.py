"""An experiment: the one way from a question's points to their measurements."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from ackclock.experiments import execute as executing
from ackclock.experiments.engines.engine import Engine
from ackclock.experiments.engines.timed import RealTime
from ackclock.experiments.execute import Interrupted, Progress
from ackclock.experiments.plan import Point
from ackclock.experiments.store import COMPLETE, Store
from ackclock.formatting.numbers import counted

M = TypeVar("M")
log = logging.getLogger(__name__)


class Experiment:
    """Where a question's points run, and where their measurements stay.

    A question plans points and asks for their measurements; it may ask again, for more points, when it has seen some.
    With a folder, the same question continues an interrupted experiment.

    Parameters
    ----------
    out
        The folder of the measurements; None: memory alone.
    jobs
        Number of parallel runs; by default one for each processor.
    engine
        Where points run, such as `ackclock.Ray`; by default on `jobs` threads of this process.
    progress
        Called after each run with the numbers of finished runs and of all runs.
    budget
        Real time after which no further run begins: seconds, or a text such as ``"20 min"``, or what is left of the
        budget of several experiments.

    Attributes
    ----------
    store : Store
        The measurements.
    failed : dict
        Why runs on a kernel have no result that can be used, by the keys of their points.
    """

    def __init__(
        self,
        out: str | PathLike[str] | None = None,
        *,
        jobs: int | None = None,
        engine: Engine | None = None,
        progress: Progress | None = None,
        budget: float | str | RealTime | None = None,
    ) -> None:
        self.out = None if out is None else Path(out)
        self.store = Store(self.out)
        self.failed: dict[str, str] = {}
        self._jobs, self._engine, self._progress = jobs, engine, progress
        self._budget = budget if isinstance(budget, RealTime) else RealTime(budget)
        self._before = frozenset(self.store)
        self._asked: set[str] = set()
        self._seconds = 0.0

    @contextlib.contextmanager
    def opened(self, kind: str, manifest: Mapping[str, Any], written: Sequence[str] = ()) -> Iterator[Experiment]:
        """Hold the folder for writing; parameters and errors are those of `Store.opened`."""
        with self.store.opened(kind, manifest, written):
            yield self

    def run(self, points: Iterable[Point[Any]]) -> None:
        """Run the points that are not measured, equal ones once.

        Raises
        ------
        Interrupted
            After Ctrl-C, or at the end of the budget; finished points are measured, and the message says how to go on.
        """
        distinct = {point.key: point for point in points}
        began = time.monotonic()
        try:
            done = executing.execute(
                list(distinct.values()), self.store, jobs=self._jobs, engine=self._engine, progress=self._progress,
                budget=self._budget,
            )  # fmt: skip
            self.failed.update(done.failed)
        except Interrupted as stopped:
            raise Interrupted(stopped.results, advice=self.advice, why=stopped.why) from None
        finally:
            self._seconds += time.monotonic() - began
            self._asked |= distinct.keys()

    def use(self, key: str) -> None:
        """Count a stored measurement as one that is used, whose point need not be made again."""
        self._asked.add(key)

    @property
    def reused(self) -> int:
        """Number of points that were stored before, of those that were asked for."""
        return len(self._asked & self._before)

    @property
    def new(self) -> int:
        """Number of points that ran."""
        return sum(key in self.store for key in self._asked - self._before)

    @property
    def advice(self) -> str:
        """How to go on after Ctrl-C."""
        return "run the same command to continue" if self.out else "a folder (out) would keep finished runs"

    def say_what_ran(self) -> None:
        """Log how many points ran, in which time, and how many were stored."""
        stored = f", {self.reused:,} were stored" if self.reused else ""
        log.info("%s in %.1f s%s", counted(self.new, "run"), self._seconds, stored)

    def finish(self, state: str = COMPLETE, **entries: Any) -> None:  # noqa: ANN401 - any JSON
        """Say in the manifest that the experiment is done; see `Store.finish`."""
        self.store.finish(state, **entries)
