"""Runs: one, or many at once on several threads."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from ackclock import _core
from ackclock.result import Result
from ackclock.scenario import Scenario

Progress = Callable[[int, int], None]
T = TypeVar("T")
R = TypeVar("R")


class Interrupted(KeyboardInterrupt):
    """Runs were stopped by Ctrl-C.

    Parameters
    ----------
    results
        What was finished before, in the order of the input; None for the rest.
    noun
        What the results are of.
    advice
        What to do next, for the message.

    Attributes
    ----------
    results : list of Result or None
        What was finished before, in the order of the input; None for the rest.
    """

    def __init__(self, results: Sequence[object], *, noun: str = "runs", advice: str = "") -> None:
        done = sum(result is not None for result in results)
        end = f"; {advice}" if advice else ""
        super().__init__(f"interrupted: {done} of {len(results)} {noun} are finished{end}")
        self.results: list[Any] = list(results)


def run(
    scenario: Scenario,
    *,
    record: Sequence[str] | None = None,
    capture: Sequence[str] = (),
    seed: int | None = None,
    cancel: _core.Cancel | None = None,
) -> Result:
    """Run a scenario.

    Parameters
    ----------
    scenario
        What to run; of a ``[sweep]`` only the base, with a warning: see `Scenario.variants`.
    record
        Traces to record instead of the scenario's: ``cwnd delivered queue drops sequence rtt internals``.
    capture
        Links and hosts at which packets are captured, for `Result.write_pcap`: ``["r1>r2", "s0"]``.
    seed
        Seed instead of the scenario's.
    cancel
        Stops the run from another thread.

    Raises
    ------
    ScenarioError
        If a trace is unknown, or a link or host to capture.
    Interrupted
        If Ctrl-C was pressed.
    """
    _check([scenario])
    if seed is not None:
        scenario = scenario.set({"seed": seed})
    if threading.current_thread() is not threading.main_thread() or cancel is not None:
        return run_here(scenario, record, cancel or _core.Cancel(), capture)
    return _run_many([scenario], record=record, capture=capture, jobs=1)[0]


def _check(scenarios: Sequence[Scenario]) -> None:
    """Refuse what is no scenario, and warn once of a ``[sweep]``, of which only the base is run."""
    if isinstance(scenarios, Scenario):
        raise TypeError("run_many: expected a list of scenarios, as [scenario]; run(scenario) runs one")
    if isinstance(scenarios, (str, os.PathLike)):
        raise TypeError(f"expected scenarios, not the name of a file; write load({str(scenarios)!r})")
    for scenario in scenarios:
        if isinstance(scenario, (str, os.PathLike)):
            raise TypeError(f"expected a scenario, not the name of a file; write load({str(scenario)!r})")
        if not isinstance(scenario, Scenario):
            raise TypeError(f"expected a scenario, not {scenario!r}")
    swept = next((scenario for scenario in scenarios if scenario.core.sweep), None)
    if swept is not None:
        text = f"{swept.name} has a [sweep], of which only the base is run; run_many takes its variants()"
        warnings.warn(text, stacklevel=3)


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


def run_many(
    scenarios: Sequence[Scenario],
    *,
    record: Sequence[str] | None = None,
    capture: Sequence[str] = (),
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Run many scenarios at once.

    Parameters
    ----------
    scenarios
        What to run; of a ``[sweep]`` only the base, with a warning: see `Scenario.variants`.
    record
        Traces to record instead of each scenario's own.
    capture
        Links and hosts at which packets are captured.
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
    _check(scenarios)
    return _run_many(scenarios, record=record, capture=capture, jobs=jobs, progress=progress)


def _run_many(
    scenarios: Sequence[Scenario],
    *,
    record: Sequence[str] | None,
    capture: Sequence[str],
    jobs: int | None,
    progress: Progress | None = None,
) -> list[Result]:
    cancel = _core.Cancel()
    return map_threads(
        lambda scenario: run_here(scenario, record, cancel, capture), scenarios, cancel, jobs=jobs, progress=progress
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
    if jobs is not None and jobs < 1:
        raise ValueError("jobs must be at least 1")
    threads = jobs or os.cpu_count() or 1
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
                index = _take(done)
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


def _take(done: SimpleQueue[int]) -> int:
    while True:
        # The timeout lets the main thread notice Ctrl-C on systems where a wait without end cannot be interrupted.
        with contextlib.suppress(Empty):
            return done.get(timeout=0.2)
