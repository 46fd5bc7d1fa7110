"""Runs: one, or many at once on several threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from ackclock import _core
from ackclock.result import Result
from ackclock.scenario import Scenario

Progress = Callable[[int, int], None]
T = TypeVar("T")
R = TypeVar("R")


class Interrupted(KeyboardInterrupt):
    """Runs were stopped by Ctrl-C.

    Attributes
    ----------
    results : list of Result or None
        What was finished before, in the order of the input; None for the rest.
    """

    def __init__(self, results: Sequence[object]) -> None:
        done = sum(result is not None for result in results)
        super().__init__(f"interrupted: {done} of {len(results)} runs are finished")
        self.results: list[Any] = list(results)


def run(
    scenario: Scenario,
    *,
    record: Sequence[str] | None = None,
    seed: int | None = None,
    cancel: _core.Cancel | None = None,
) -> Result:
    """Run a scenario.

    Parameters
    ----------
    scenario
        What to run; of a ``[sweep]`` only the base: see `Scenario.variants`.
    record
        Traces to record instead of the scenario's: ``cwnd delivered queue drops sequence rtt internals``.
    seed
        Seed instead of the scenario's.
    cancel
        Stops the run from another thread.

    Raises
    ------
    ScenarioError
        If a trace is unknown.
    Interrupted
        If Ctrl-C was pressed.
    """
    if seed is not None:
        scenario = scenario.set({"seed": seed})
    if threading.current_thread() is not threading.main_thread() or cancel is not None:
        return run_here(scenario, record, cancel or _core.Cancel())
    return run_many([scenario], record=record, jobs=1)[0]


def run_here(scenario: Scenario, record: Sequence[str] | None, cancel: _core.Cancel) -> Result:
    """Run on this thread; Ctrl-C is then the caller's affair."""
    traces = None if record is None else list(record)
    return Result(scenario, _core.run(scenario.core, traces, scenario.controls or None, cancel))


def run_many(
    scenarios: Sequence[Scenario],
    *,
    record: Sequence[str] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Run many scenarios at once.

    Parameters
    ----------
    scenarios
        What to run.
    record
        Traces to record instead of each scenario's own.
    jobs
        Threads; by default as many as the machine has processors. Results do not depend on it.
    progress
        Called with the number of finished runs and of all runs, after each.

    Returns
    -------
    list of Result
        In the order of `scenarios`.

    Raises
    ------
    Interrupted
        If Ctrl-C was pressed; its ``results`` are what was finished.
    """
    cancel = _core.Cancel()
    return map_threads(
        lambda scenario: run_here(scenario, record, cancel), scenarios, cancel, jobs=jobs, progress=progress
    )


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
    if jobs is not None and jobs < 1:
        raise ValueError("jobs must be at least 1")
    with ThreadPoolExecutor(max_workers=jobs or os.cpu_count() or 1) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            _watch(futures, progress)
        except BaseException as error:
            cancel.set()
            pool.shutdown(wait=True, cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):
                finished: list[R | None] = [_finished(future) for future in futures]
                raise Interrupted(finished) from None
            raise
    return [future.result() for future in futures]


def _watch(futures: Sequence[Future[R]], progress: Progress | None) -> None:
    pending = set(futures)
    while pending:
        # The timeout lets the main thread notice Ctrl-C on systems where a wait without end cannot be interrupted.
        done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
        if progress is not None and done:
            progress(len(futures) - len(pending), len(futures))


def _finished(future: Future[R]) -> R | None:
    if future.cancelled() or not future.done() or future.exception() is not None:
        return None
    return future.result()
