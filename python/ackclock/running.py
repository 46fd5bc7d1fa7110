"""Runs of one scenario, or of many on several threads."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Sequence

from ackclock import _core
from ackclock.experiments.execute import Interrupted, Progress, map_threads
from ackclock.experiments.world import run_here
from ackclock.results import Result
from ackclock.scenario import Scenario

__all__ = ["Interrupted", "run", "run_many"]


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
        The scenario. A ``[sweep]`` gives a warning, and only its base runs; see `Scenario.variants`.
    record
        Traces to record: ``cwnd delivered queue drops sequence rtt internals``; None: those of the scenario.
    capture
        Links and hosts at which to capture packets for `Result.write_pcap`: ``["r1>r2", "s0"]``.
    seed
        The seed; None: that of the scenario.
    cancel
        A handle that stops the run from another thread.

    Raises
    ------
    ScenarioError
        If a trace, or a link or host to capture at, is unknown.
    Interrupted
        After Ctrl-C.
    """
    _check([scenario])
    if seed is not None:
        scenario = scenario.set({"seed": seed})
    if threading.current_thread() is not threading.main_thread() or cancel is not None:
        return run_here(scenario, record, cancel or _core.Cancel(), capture)
    return _run_many([scenario], record=record, capture=capture, jobs=1)[0]


def _check(scenarios: Sequence[Scenario]) -> None:
    """Refuse values that are not scenarios, and warn once of a ``[sweep]``, of which only the base runs."""
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
        text = f"{swept.name} has a [sweep], but only its base runs; pass its variants() to run_many"
        warnings.warn(text, stacklevel=3)


def run_many(
    scenarios: Sequence[Scenario],
    *,
    record: Sequence[str] | None = None,
    capture: Sequence[str] = (),
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Run many scenarios in parallel.

    Parameters
    ----------
    scenarios
        The scenarios. A ``[sweep]`` gives a warning, and only its base runs; see `Scenario.variants`.
    record
        Traces to record; None: those of each scenario.
    capture
        Links and hosts at which to capture packets.
    jobs
        Number of threads; by default one per processor. Results do not depend on it.
    progress
        A function called after each run with the numbers of finished runs and of all runs.

    Returns
    -------
    list of Result
        The results in the order of `scenarios`.

    Raises
    ------
    Interrupted
        After Ctrl-C; its ``results`` holds the finished runs.
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
